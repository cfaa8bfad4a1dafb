#include <cuda_bf16.h>

// A histogram by additions to one counter for each value, in global memory.
//
// N numbers are read once.  An addition to global memory is done by L2: the SM sends it off and goes on.  All SMs send
// theirs to the same 256 counters of 4 bytes, which lie in 32 sectors, and a sector takes one addition after the other.

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
extern "C" __global__ void __launch_bounds__(THREADS)
    histogram_global_atomics(const DTYPE* x, int* counts, long long N) {
    const long long step = (long long)BLOCKS * THREADS;
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < N; i += step) atomicAdd(&totals[x[i]], 1u);
    move_totals(counts);
}
// endregion
