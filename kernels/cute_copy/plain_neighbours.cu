// Four numbers a thread, `step` places apart.  The launch passes 1, but the compiler cannot know that.

// region: kernel
extern "C" __global__ void plain_copy_neighbours(const float* x, float* y, long long N, long long step) {
    const long long first = blockIdx.x * 1024 + threadIdx.x * 4;  // computed in 32 bits: up to 2^32 numbers
    float held[4];
    if ((blockIdx.x + 1) * 1024ll <= N) {
        for (int k = 0; k < 4; ++k) held[k] = x[(first + k) * step];
        for (int k = 0; k < 4; ++k) y[(first + k) * step] = held[k];
    } else {  // the last tile, which is not whole
        for (int k = 0; k < 4; ++k)
            if (first + k < N) y[(first + k) * step] = x[(first + k) * step];
    }
}
// endregion
