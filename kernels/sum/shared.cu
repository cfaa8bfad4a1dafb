#include <cuda_bf16.h>

// A sum by a tree in shared memory.
//
// N elements are read once, one element a load.  A block then halves its THREADS sums in shared memory until one is
// left, with a barrier at each of the eight steps, once in a block's life.  The block that arrives last adds the sums
// of all blocks in a fixed order, so every call gives the same bits, and its counter wraps to zero for the next call:
// one launch, and nothing to be zeroed before it.

__device__ float partials[BLOCKS];
__device__ unsigned arrived;  // one launch at a time: two on different streams would count each other's blocks

// region: tree
__device__ float block_sum(float value) {
    __shared__ float tree[THREADS];
    tree[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
        __syncthreads();
    }
    return tree[0];
}
// endregion

// region: last-block
__device__ void add_blocks(float ours, DTYPE* total) {  // thread 0 holds `ours`, the block's sum
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = ours;
        __threadfence();  // the sum is visible before the arrival is counted
        last = atomicInc(&arrived, BLOCKS - 1) == BLOCKS - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    float mine = 0.0f;
    for (int i = threadIdx.x; i < BLOCKS; i += THREADS) mine += __ldcg(&partials[i]);
    const float all = block_sum(mine);
    if (threadIdx.x == 0) total[0] = DTYPE(all);
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS) sum_shared(const DTYPE* x, DTYPE* total, long long N) {
    float mine = 0.0f;
    const long long step = (long long)BLOCKS * THREADS;
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < N; i += step) mine += float(x[i]);
    add_blocks(block_sum(mine), total);
}
// endregion
