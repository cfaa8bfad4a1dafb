#include <cuda_bf16.h>

// Online softmax with one exponential an element, 16-byte loads and UNROLL of them together.
//
// `online` merges one element at a time into its pair (m, d): two exponentials each, in one chain.  Here a thread takes
// VEC x UNROLL elements, finds their maximum first, scales its sum once, and then adds exponentials that do not wait for
// each other.  The traffic is the same, two reads and a write of M·N elements.
// Rows whose length is no multiple of 16 bytes may begin anywhere, and are handled an element at a time.  So are the
// columns behind the last whole tile of THREADS x UNROLL x VEC elements.  With 512 threads and UNROLL = 2 that is every
// column of a row of less than 4096 elements in float32, or 8192 in bfloat16.

// region: pair
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
// endregion

// region: tile
constexpr int VEC = 16 / sizeof(DTYPE);
constexpr int TILE = THREADS * UNROLL * VEC;

union Chunk {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Chunk() {}
};

__device__ void load_tile(Chunk (&held)[UNROLL], const DTYPE* tile) {
#pragma unroll
    for (int k = 0; k < UNROLL; ++k)
        held[k].bits = reinterpret_cast<const uint4*>(tile)[k * THREADS + threadIdx.x];
}

__device__ Pair add_tile(Pair row, const DTYPE* tile) {
    Chunk held[UNROLL];
    load_tile(held, tile);
    float m = row.m, sums[UNROLL] = {};
#pragma unroll
    for (int k = 0; k < UNROLL; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) m = fmaxf(m, float(held[k].element[e]));
#pragma unroll
    for (int k = 0; k < UNROLL; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) sums[k] += __expf(float(held[k].element[e]) - m);
    float d = row.d * __expf(row.m - m);
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) d += sums[k];
    return {m, d};
}

__device__ void write_tile(DTYPE* to, const DTYPE* tile, float largest, float scale) {
    Chunk held[UNROLL];
    load_tile(held, tile);
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            held[k].element[e] = DTYPE(__expf(float(held[k].element[e]) - largest) * scale);
        reinterpret_cast<uint4*>(to)[k * THREADS + threadIdx.x] = held[k].bits;
    }
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS) softmax_online_tiles(const DTYPE* x, DTYPE* y, long long N) {
    x += blockIdx.x * N;
    y += blockIdx.x * N;
    const long long tiled = N % VEC == 0 ? N / TILE * TILE : 0;
    Pair row = NOTHING;
    for (long long i = 0; i < tiled; i += TILE) row = add_tile(row, x + i);
    for (long long i = tiled + threadIdx.x; i < N; i += THREADS) row = merge(row, {float(x[i]), 1.0f});
    row = across_block(row);
    const float scale = 1.0f / row.d;
    for (long long i = 0; i < tiled; i += TILE) write_tile(y + i, x + i, row.m, scale);
    for (long long i = tiled + threadIdx.x; i < N; i += THREADS) y[i] = DTYPE(__expf(float(x[i]) - row.m) * scale);
}
// endregion
