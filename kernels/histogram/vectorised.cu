#include <cuda_bf16.h>

// The histogram of `shared`, with loads of 16 bytes.
//
// One change: a load brings 4 numbers of int32 or 16 of uint8: 16 bytes instead of 4 or 1.  (It also says that they are
// read once, by `__ldcs`.)  The compiler unrolls the
// loops of both kernels four times.  In int32 it starts four loads before the first addition, so a thread has 64 bytes
// under way instead of 16.  In uint8 it starts two before it and two right after it.  So a thread has
// 32 bytes under way, then up to 48, instead of 4.
// The additions stay the same: one instruction for each 32 numbers, which takes as many turns as the fullest bank has
// different numbers.

// region: totals
constexpr int VALUES = 256;
__device__ unsigned totals[VALUES];  // zero between calls
__device__ unsigned arrived;  // one launch at a time: two on different streams would count each other's blocks

// The block that arrives last moves the totals of all blocks to the output, and leaves zeros for the next call.
__device__ void move_totals(int* counts) {
    __shared__ bool last;
    __threadfence();  // this thread's additions are visible before the arrival of its block is counted
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&arrived, BLOCKS - 1) == BLOCKS - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (int value = threadIdx.x; value < VALUES; value += THREADS) counts[value] = (int)atomicExch(&totals[value], 0u);
}
// endregion

// region: vectors
constexpr int VEC = 16 / sizeof(DTYPE);

union Vector {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Vector() {}
};

// Calls `count` with each number of this thread.
template <typename Count>
__device__ void each_number(const DTYPE* x, long long N, Count count) {
    const long long first = (long long)blockIdx.x * THREADS + threadIdx.x, step = (long long)BLOCKS * THREADS;
    const long long vectors = (size_t)x % 16 == 0 ? N / VEC : 0;  // a view into a tensor may begin anywhere
    for (long long i = first; i < vectors; i += step) {
        Vector held;
        held.bits = __ldcs(reinterpret_cast<const uint4*>(x) + i);
#pragma unroll
        for (int e = 0; e < VEC; ++e) count(held.element[e]);
    }
    for (long long i = vectors * VEC + first; i < N; i += step) count(x[i]);
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS) histogram_vectorised(const DTYPE* x, int* counts, long long N) {
    __shared__ unsigned ours[VALUES];
    for (int value = threadIdx.x; value < VALUES; value += THREADS) ours[value] = 0;
    __syncthreads();
    each_number(x, N, [&](DTYPE value) { atomicAdd(&ours[value], 1u); });
    __syncthreads();
    for (int value = threadIdx.x; value < VALUES; value += THREADS) atomicAdd(&totals[value], ours[value]);
    move_totals(counts);
}
// endregion
