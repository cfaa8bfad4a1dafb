#include <cuda_bf16.h>

// One thread moves one element.  Neighbouring threads read neighbours of a row and write neighbours of a column.
//
// A warp reads 32 elements that lie side by side: 128 bytes of float32, four sectors of 32 bytes.  It writes 32 elements
// that lie M elements apart: 32 sectors, each with 4 bytes of its own (2 in bfloat16).  L2 takes 32 sectors from a warp
// where 4 would hold the same bytes.  Neighbouring warps fill the rest of a sector later, if L2 still holds it.

// region: kernel
constexpr int TILE = 32, DOWN = 8;  // a block of TILE x DOWN threads moves TILE x TILE elements

extern "C" __global__ void __launch_bounds__(TILE* DOWN)
    transpose_naive(const DTYPE* x, DTYPE* y, long long M, long long N) {
    const long long top = (long long)blockIdx.y * TILE, left = (long long)blockIdx.x * TILE;
    const int lane = threadIdx.x % TILE, warp = threadIdx.x / TILE;
#pragma unroll
    for (int i = warp; i < TILE + warp; i += DOWN)
        if (top + i < M && left + lane < N) y[(left + lane) * M + top + i] = x[(top + i) * N + left + lane];
}
// endregion
