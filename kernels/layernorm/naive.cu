#include <cuda_bf16.h>

// Layer normalisation as the formula reads: the mean, the variance and the result, with a pass over the row for each.
//
// The block reads its row three times and writes it once.  Memory does not serve all three reads: six blocks of 256
// threads share an SM, so at 8192 columns of float32 (32 KB a row) 132 SMs work on 26 MB, which fits L2.  At 65536
// columns they work on eight times as much, and every pass goes to memory.
// Each load is one element, and each pass waits for the result of the pass before.

constexpr float EPSILON = 1e-5f;

// region: reduce
__device__ float block_sum(float value) {  // every thread gets the result
    __shared__ float tree[THREADS];
    __syncthreads();  // an earlier call may still be reading
    tree[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
        __syncthreads();
    }
    return tree[0];
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
    layernorm_naive(const DTYPE* x, const DTYPE* w, const DTYPE* b, DTYPE* y, long long N) {
    x += blockIdx.x * N;
    y += blockIdx.x * N;

    float sum = 0.0f;
    for (long long i = threadIdx.x; i < N; i += THREADS) sum += float(x[i]);
    const float mean = block_sum(sum) / N;

    float squares = 0.0f;
    for (long long i = threadIdx.x; i < N; i += THREADS) {
        const float distance = float(x[i]) - mean;
        squares += distance * distance;
    }
    const float scale = rsqrtf(block_sum(squares) / N + EPSILON);

    for (long long i = threadIdx.x; i < N; i += THREADS)
        y[i] = DTYPE((float(x[i]) - mean) * scale * float(w[i]) + float(b[i]));
}
// endregion
