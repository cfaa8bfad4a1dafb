// Four numbers a thread, 256 places apart.  A block copies a tile of 1024 numbers.

// region: kernel
extern "C" __global__ void plain_copy_direct(const float* x, float* y, long long N) {
    const long long first = blockIdx.x * 1024 + threadIdx.x;  // computed in 32 bits: up to 2^32 numbers
    if ((blockIdx.x + 1) * 1024ll <= N) {
        for (int k = 0; k < 4; ++k) y[first + k * 256] = x[first + k * 256];
    } else {  // the last tile, which is not whole
        for (int k = 0; k < 4; ++k)
            if (first + k * 256 < N) y[first + k * 256] = x[first + k * 256];
    }
}
// endregion
