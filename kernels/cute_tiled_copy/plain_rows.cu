// A copy by all threads of a block.  Neighbouring threads copy neighbouring pieces of 16 bytes of a row.

// region: kernel
extern "C" __global__ void plain_tiled_rows(const float* x, float* y, long long M, long long N) {
    const long long row = blockIdx.y * 32 + threadIdx.x / 8, column = blockIdx.x * 128 + threadIdx.x % 8 * 4;
    const long long first = row * N + column;
    const bool aligned = N % 4 == 0 && ((size_t)x | (size_t)y) % 16 == 0;
    if (aligned && (blockIdx.y + 1) * 32 <= M && (blockIdx.x + 1) * 128 <= N) {
        float4 held[4];
        for (int k = 0; k < 4; ++k) held[k] = *reinterpret_cast<const float4*>(x + first + k * 32);
        for (int k = 0; k < 4; ++k) *reinterpret_cast<float4*>(y + first + k * 32) = held[k];
    } else {  // a tile that is not whole, or rows that do not begin at multiples of 16 bytes
        for (int k = 0; k < 16; ++k) {
            const int right = k / 4 * 32 + k % 4;
            if (row < M && column + right < N) y[first + right] = x[first + right];
        }
    }
}
// endregion
