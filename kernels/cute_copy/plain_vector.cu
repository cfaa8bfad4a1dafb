// Four neighbouring numbers a thread, with one load of 16 bytes.  A block copies a tile of 1024 numbers.

// region: kernel
extern "C" __global__ void plain_copy_vector(const float* x, float* y, long long N) {
    const long long first = blockIdx.x * 1024 + threadIdx.x * 4;  // computed in 32 bits: up to 2^32 numbers
    const bool aligned = ((size_t)x | (size_t)y) % 16 == 0;
    if (aligned && (blockIdx.x + 1) * 1024ll <= N) {
        *reinterpret_cast<float4*>(y + first) = *reinterpret_cast<const float4*>(x + first);
    } else {  // the last tile, which is not whole, or pointers that are not on 16 bytes
        for (int k = 0; k < 4; ++k)
            if (first + k < N) y[first + k] = x[first + k];
    }
}
// endregion
