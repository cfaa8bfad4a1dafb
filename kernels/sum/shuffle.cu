#include <cuda_bf16.h>

// A sum by warp shuffles.
//
// As with a tree in shared memory, but 32 threads exchange registers directly: five shuffles for a warp, one barrier
// for the block, and five more shuffles for warp 0, where the tree needed nine barriers.  N elements are still read
// once, one element a load; what is saved is time that a block spends once, after adding thousands of elements.

__device__ float partials[BLOCKS];
__device__ unsigned arrived;  // one launch at a time: two on different streams would count each other's blocks

// region: tree
__device__ float warp_sum(float value) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffff, value, lane);
    return value;
}

__device__ float block_sum(float value) {  // the result is warp 0's
    __shared__ float warps[THREADS / 32];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    return warp_sum(threadIdx.x < THREADS / 32 ? warps[threadIdx.x] : 0.0f);
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
extern "C" __global__ void __launch_bounds__(THREADS) sum_shuffle(const DTYPE* x, DTYPE* total, long long N) {
    float mine = 0.0f;
    const long long step = (long long)BLOCKS * THREADS;
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < N; i += step) mine += float(x[i]);
    add_blocks(block_sum(mine), total);
}
// endregion
