#include <cuda_bf16.h>

// The histogram of `tickets`, with the counters of `privatised`.
//
// Three changes to `tickets`.  There are COPIES counters for each value, side by side, and lane l of a warp adds to copy
// l % COPIES.  In uint8 the additions of `tickets` decide its time: of 32 random values several share a bank, so an
// instruction takes more than one turn.  With 32 copies each lane has a bank of its own.  A chunk is 32 KB instead of
// 64 KB, so a block has less to do after the last ticket.  And the place of a counter is an offset in bytes (`count`).
// The main change to `privatised`: blocks of 1024 threads that ask for their chunks.  So all blocks end at about the same
// time, an SM adds two sums of copies to the totals instead of six, and 2048 threads run on it instead of 1536.
// 32 copies are 32 KB, and two blocks of 1024 threads on an SM take 64 KB.

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
constexpr long long CHUNK = 32768 / sizeof(DTYPE);  // numbers; one tile, in `tickets` two

union Vector {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Vector() {}
};

// The place of the counter is an offset in bytes.  With an index the compiler adds an instruction to each addition.
__device__ void count(unsigned* ours, unsigned value) {
    const unsigned offset = value * (4 * COPIES) + threadIdx.x % COPIES * 4;
    atomicAdd(reinterpret_cast<unsigned*>(reinterpret_cast<char*>(ours) + offset), 1u);
}

__device__ void count_tile(const DTYPE* tile, unsigned* ours) {
    Vector held[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k)
        held[k].bits = __ldcs(reinterpret_cast<const uint4*>(tile) + k * THREADS + threadIdx.x);
#pragma unroll
    for (int k = 0; k < UNROLL; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) count(ours, held[k].element[e]);
}

__device__ void count_chunk(const DTYPE* x, long long begin, long long end, unsigned* ours) {
    long long i = begin;
    if ((size_t)x % 16 == 0)  // a view into a tensor may begin anywhere
        for (; i + TILE <= end; i += TILE) count_tile(x + i, ours);
    for (i += threadIdx.x; i < end; i += THREADS) count(ours, x[i]);  // what no whole tile holds
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS, 2048 / THREADS)
    histogram_private_tickets(const DTYPE* x, int* counts, long long N) {
    __shared__ unsigned ours[VALUES * COPIES];
    __shared__ unsigned next[2];  // in turn, so that one barrier a chunk is enough
    for (int i = threadIdx.x; i < VALUES * COPIES; i += THREADS) ours[i] = 0;
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

    for (int value = threadIdx.x; value < VALUES; value += THREADS) {
        unsigned sum = 0;
        for (int i = 0; i < COPIES; ++i)  // neighbouring threads begin at different copies, which are different banks
            sum += ours[value * COPIES + (i + value) % COPIES];
        atomicAdd(&totals[value], sum);
    }
    move_totals(counts);
}
// endregion
