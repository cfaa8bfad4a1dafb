// The copy of `plain_rows`, in which each thread copies one piece of 16 bytes instead of four.  A warp copies 512 bytes
// of one row at a time, not 128 bytes of each of four rows.

// region: kernel
extern "C" __global__ void plain_tiled_single(const float* x, float* y, long long M, long long N) {
    const long long row = blockIdx.y * 8 + threadIdx.x / 32, column = blockIdx.x * 128 + threadIdx.x % 32 * 4;
    const long long first = row * N + column;
    const bool aligned = N % 4 == 0 && ((size_t)x | (size_t)y) % 16 == 0;
    if (aligned && (blockIdx.y + 1) * 8 <= M && (blockIdx.x + 1) * 128 <= N) {
        *reinterpret_cast<float4*>(y + first) = *reinterpret_cast<const float4*>(x + first);
    } else {  // a tile that is not whole, or rows that do not begin at multiples of 16 bytes
        for (int k = 0; k < 4; ++k)
            if (row < M && column + k < N) y[first + k] = x[first + k];
    }
}
// endregion
