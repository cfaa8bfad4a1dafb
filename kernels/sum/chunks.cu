#include <cuda_bf16.h>

// The sum of `vec4`, in as many blocks as the array has chunks.
//
// Two changes: a block reads one chunk of ROUNDS tiles that lie side by side, and ends.  The GPU starts the next block
// wherever an SM has room, so all SMs should end at nearly the same time.  And UNROLL is 1 instead of 4.  That only
// says which loads the source joins: the compiler unrolls the loop over the tiles, so a thread has four or five loads
// under way, as in `vec4`.
// The block that arrives last adds the sums of all chunks, always in the same order.

__device__ float partials[CHUNKS];
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
        last = atomicInc(&arrived, CHUNKS - 1) == CHUNKS - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    float mine = 0.0f;
    for (int i = threadIdx.x; i < CHUNKS; i += THREADS) mine += __ldcg(&partials[i]);
    const float all = block_sum(mine);
    if (threadIdx.x == 0) total[0] = DTYPE(all);
}
// endregion

// region: tile
constexpr int VEC = 16 / sizeof(DTYPE);
constexpr long long TILE = (long long)THREADS * UNROLL * VEC;

union Vector {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Vector() {}
};

__device__ void add_tile(const DTYPE* tile, float (&lanes)[VEC]) {
    Vector held[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k)
        held[k].bits = __ldcs(reinterpret_cast<const uint4*>(tile) + k * THREADS + threadIdx.x);
#pragma unroll
    for (int k = 0; k < UNROLL; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) lanes[e] += float(held[k].element[e]);
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS) sum_chunks(const DTYPE* x, DTYPE* total, long long N) {
    const long long begin = blockIdx.x * (ROUNDS * TILE), end = min(begin + ROUNDS * TILE, N);
    float lanes[VEC] = {};
    long long i = begin;
    if ((size_t)x % 16 == 0)
        for (; i + TILE <= end; i += TILE) add_tile(x + i, lanes);
    for (i += threadIdx.x; i < end; i += THREADS) lanes[0] += float(x[i]);  // what no whole tile holds
    float mine = 0.0f;
#pragma unroll
    for (int e = 0; e < VEC; ++e) mine += lanes[e];
    add_blocks(block_sum(mine), total);
}
// endregion
