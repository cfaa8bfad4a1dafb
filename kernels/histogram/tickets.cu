#include <cuda_bf16.h>

// The histogram of `vectorised`, in blocks that ask for their next chunk.
//
// In `vectorised` each block has its share from the start.  Blocks end at different times, and the last ones alone
// cannot keep memory busy.  Here the array is cut into chunks of 64 KB.  A block begins with the chunk of its own
// number and gets each further one by a ticket, from a counter in memory.  So all blocks end within about the time of
// one chunk.  Thread 0 asks for the next ticket before the block counts a chunk, so the answer should be there when the
// chunk is counted.
// At the end each block adds its 256 counters to the totals, as in `vectorised`.  A block has 1024 threads instead of
// 256, so an SM has a quarter of the blocks, and L2 gets a quarter of the additions.

// region: totals
constexpr int VALUES = 256;
__device__ unsigned totals[VALUES];  // zero between calls
__device__ unsigned tickets;  // zero between calls
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
    if (threadIdx.x == 0) tickets = 0;
}
// endregion

// region: chunk
constexpr int VEC = 16 / sizeof(DTYPE);
constexpr int TILE = THREADS * UNROLL * VEC;
constexpr long long CHUNK = 65536 / sizeof(DTYPE);  // numbers; a whole number of tiles

union Vector {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Vector() {}
};

__device__ void count_tile(const DTYPE* tile, unsigned* ours) {
    Vector held[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k)
        held[k].bits = __ldcs(reinterpret_cast<const uint4*>(tile) + k * THREADS + threadIdx.x);
#pragma unroll
    for (int k = 0; k < UNROLL; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) atomicAdd(&ours[held[k].element[e]], 1u);
}

__device__ void count_chunk(const DTYPE* x, long long begin, long long end, unsigned* ours) {
    long long i = begin;
    if ((size_t)x % 16 == 0)  // a view into a tensor may begin anywhere
        for (; i + TILE <= end; i += TILE) count_tile(x + i, ours);
    for (i += threadIdx.x; i < end; i += THREADS) atomicAdd(&ours[x[i]], 1u);  // what no whole tile holds
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS, 2048 / THREADS)
    histogram_tickets(const DTYPE* x, int* counts, long long N) {
    __shared__ unsigned ours[VALUES];
    __shared__ unsigned next[2];  // in turn, so that one barrier a chunk is enough
    for (int value = threadIdx.x; value < VALUES; value += THREADS) ours[value] = 0;
    __syncthreads();

    const long long chunks = (N + CHUNK - 1) / CHUNK;
    int turn = 0;
    for (long long chunk = blockIdx.x; chunk < chunks; turn ^= 1) {
        unsigned ticket = 0;
        if (threadIdx.x == 0) ticket = atomicAdd(&tickets, 1u);  // on its way while this chunk is counted
        count_chunk(x, chunk * CHUNK, min((chunk + 1) * CHUNK, N), ours);
        if (threadIdx.x == 0) next[turn] = BLOCKS + ticket;
        __syncthreads();
        chunk = next[turn];
    }

    for (int value = threadIdx.x; value < VALUES; value += THREADS) atomicAdd(&totals[value], ours[value]);
    move_totals(counts);
}
// endregion
