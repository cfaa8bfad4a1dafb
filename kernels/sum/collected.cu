#include <cuda_bf16.h>

// The sum of `chunks`, with one more block, which only collects.
//
// One change: the end.  A block of `chunks` writes its sum, waits until L2 has it, counts its arrival, and waits for
// the count.  The block that arrives last then reads all sums.  These are three round trips to L2, one after the other,
// when memory has nothing else to do.  Here the sum of a chunk and the number of the call are one word of 8 bytes.  A
// block writes its word and ends.  The last block of the grid reads the words while the others still work, and waits
// for each that is missing.  After the last chunk its word goes to L2, and a load of the collector brings it from
// there.
// The collector adds the sums always in the same order.  It may wait for blocks that have not begun; these need a place
// on the GPU beside the one that it holds.

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

// region: collect
// Of each chunk the sum in the low half, and in the high half the call that it belongs to.  Both are written and read
// as one word, so no reader sees one half without the other.
__device__ unsigned long long words[CHUNKS];

// How many blocks have begun, in all calls.  Each call has CHUNKS + 1, so the quotient numbers the calls.  Only one
// launch may run at a time, and each must end: after one that was cut off, the blocks of a call would have two numbers,
// and the collector would wait for ever.
__device__ unsigned long long begun;

// `relaxed.gpu` goes to L2, where all blocks see the same word.
__device__ void publish(int chunk, float sum, unsigned call) {
    const unsigned long long word = (unsigned long long)call << 32 | __float_as_uint(sum);
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(&words[chunk]), "l"(word) : "memory");
}

__device__ float wait_for(int chunk, unsigned call) {
    unsigned long long word;
    do asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(&words[chunk]) : "memory");
    while (word >> 32 != call);
    return __uint_as_float((unsigned)word);
}

__device__ void collect(unsigned call_of_thread_0, DTYPE* total) {
    __shared__ unsigned call;
    if (threadIdx.x == 0) call = call_of_thread_0;
    __syncthreads();
    float mine = 0.0f;
    for (int i = threadIdx.x; i < CHUNKS; i += THREADS) mine += wait_for(i, call);
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
extern "C" __global__ void __launch_bounds__(THREADS) sum_collected(const DTYPE* x, DTYPE* total, long long N) {
    unsigned call = 0;  // only thread 0 asks for it; the compiler divides at once, so warp 0 waits before its first load
    if (threadIdx.x == 0) call = (unsigned)(atomicAdd(&begun, 1ull) / (CHUNKS + 1)) + 1;
    if (blockIdx.x == CHUNKS) return collect(call, total);
    const long long begin = blockIdx.x * (ROUNDS * TILE), end = min(begin + ROUNDS * TILE, N);
    float lanes[VEC] = {};
    long long i = begin;
    if ((size_t)x % 16 == 0)
        for (; i + TILE <= end; i += TILE) add_tile(x + i, lanes);
    for (i += threadIdx.x; i < end; i += THREADS) lanes[0] += float(x[i]);  // what no whole tile holds
    float mine = 0.0f;
#pragma unroll
    for (int e = 0; e < VEC; ++e) mine += lanes[e];
    const float ours = block_sum(mine);
    if (threadIdx.x == 0) publish(blockIdx.x, ours, call);
}
// endregion
