#include <cuda_bf16.h>

// Online softmax: the maximum and the sum in one pass, a second pass to write.
//
// A thread carries a pair (m, d), the largest value so far and the sum of exp(value - m).  When a larger value comes,
// d is scaled down to it; two pairs merge in the same way.  Two reads and a write of M·N elements, and two exponentials
// an element in the first pass.

// region: kernel
struct Pair {
    float m, d;
};

__device__ Pair merge(Pair a, Pair b) {
    const float m = fmaxf(a.m, b.m);
    return {m, a.d * __expf(a.m - m) + b.d * __expf(b.m - m)};
}

__device__ Pair across_warp(Pair p) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
        p = merge(p, {__shfl_xor_sync(0xffffffff, p.m, lane), __shfl_xor_sync(0xffffffff, p.d, lane)});
    return p;
}

// The lowest finite float and not -inf: -inf - -inf would be NaN in the pair of a thread that saw no value.
constexpr Pair NOTHING = {-3.402823466e38f, 0.0f};

__device__ Pair across_block(Pair p) {
    __shared__ Pair warps[THREADS / 32];
    p = across_warp(p);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = p;
    __syncthreads();
    return across_warp(threadIdx.x % 32 < THREADS / 32 ? warps[threadIdx.x % 32] : NOTHING);
}

extern "C" __global__ void __launch_bounds__(THREADS) softmax_online(const DTYPE* x, DTYPE* y, long long N) {
    x += blockIdx.x * N;
    y += blockIdx.x * N;
    Pair row = NOTHING;
    for (long long i = threadIdx.x; i < N; i += THREADS) row = merge(row, {float(x[i]), 1.0f});
    row = across_block(row);
    const float scale = 1.0f / row.d;
    for (long long i = threadIdx.x; i < N; i += THREADS) y[i] = DTYPE(__expf(float(x[i]) - row.m) * scale);
}
// endregion
