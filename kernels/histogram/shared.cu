#include <cuda_bf16.h>

// A histogram with counters in shared memory.
//
// One change from `global_atomics`: a block counts its numbers in 256 counters of its own, and adds these to the
// counters in global memory once, at its end.  BLOCKS · 256 additions go to L2 instead of N.
// The counters lie in 32 banks.  When several different values of a warp's 32 numbers meet in one bank, their
// additions take turns.
// Equal numbers take one turn together: an addition of 1 compiles to an instruction that counts the lanes with one
// address.

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

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS) histogram_shared(const DTYPE* x, int* counts, long long N) {
    __shared__ unsigned ours[VALUES];
    for (int value = threadIdx.x; value < VALUES; value += THREADS) ours[value] = 0;
    __syncthreads();
    const long long step = (long long)BLOCKS * THREADS;
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < N; i += step) atomicAdd(&ours[x[i]], 1u);
    __syncthreads();
    for (int value = threadIdx.x; value < VALUES; value += THREADS) atomicAdd(&totals[value], ours[value]);
    move_totals(counts);
}
// endregion
