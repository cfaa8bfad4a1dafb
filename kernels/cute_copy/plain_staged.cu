// As plain_direct.cu, through registers: all four loads come before the first store.

// region: kernel
extern "C" __global__ void plain_copy_staged(const float* x, float* y, long long N) {
    const long long first = blockIdx.x * 1024 + threadIdx.x;  // computed in 32 bits: up to 2^32 numbers
    if ((blockIdx.x + 1) * 1024ll <= N) {
        float held[4];
        for (int k = 0; k < 4; ++k) held[k] = x[first + k * 256];
        for (int k = 0; k < 4; ++k) y[first + k * 256] = held[k];
    } else {  // the last tile, which is not whole
        for (int k = 0; k < 4; ++k)
            if (first + k * 256 < N) y[first + k * 256] = x[first + k * 256];
    }
}
// endregion
