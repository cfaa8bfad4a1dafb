#include <cuda_bf16.h>

// The mean and the variance in one pass (Welford's method), and a second pass to write.
//
// The block reads its row twice instead of three times.  A thread carries its count, its mean and the sum of squared
// distances from that mean.  Σx² - N·mean² would also need one pass only, but it subtracts two large numbers: where the
// mean is 32 and the standard deviation 1, three of the seven decimal digits that float32 has cancel.
// A thread of THREADS takes every THREADS-th element, so counts differ by one at most, and a thread of a short row may
// have none.

constexpr float EPSILON = 1e-5f;

// region: moments
struct Moments {
    float count, mean, squares;  // squares: the sum of (value - mean)²
};

__device__ Moments merge(Moments a, Moments b) {
    const float count = a.count + b.count, distance = b.mean - a.mean;
    const float share = b.count / fmaxf(count, 1.0f);  // two empty parts stay empty
    return {count, a.mean + distance * share, a.squares + b.squares + distance * distance * a.count * share};
}

__device__ Moments across_warp(Moments m) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
        m = merge(m, {__shfl_xor_sync(0xffffffff, m.count, lane), __shfl_xor_sync(0xffffffff, m.mean, lane),
                      __shfl_xor_sync(0xffffffff, m.squares, lane)});
    return m;
}

__device__ Moments across_block(Moments m) {  // every thread gets the result
    __shared__ Moments warps[THREADS / 32];
    m = across_warp(m);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = m;
    __syncthreads();
    return across_warp(threadIdx.x % 32 < THREADS / 32 ? warps[threadIdx.x % 32] : Moments{0.0f, 0.0f, 0.0f});
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
    layernorm_welford(const DTYPE* x, const DTYPE* w, const DTYPE* b, DTYPE* y, long long N) {
    x += blockIdx.x * N;
    y += blockIdx.x * N;

    Moments row = {0.0f, 0.0f, 0.0f};
    for (long long i = threadIdx.x; i < N; i += THREADS) {
        const float value = float(x[i]), distance = value - row.mean;
        row.count += 1.0f;
        row.mean += __fdividef(distance, row.count);
        row.squares += distance * (value - row.mean);
    }
    row = across_block(row);

    const float scale = rsqrtf(row.squares / N + EPSILON);
    for (long long i = threadIdx.x; i < N; i += THREADS)
        y[i] = DTYPE((float(x[i]) - row.mean) * scale * float(w[i]) + float(b[i]));
}
// endregion
