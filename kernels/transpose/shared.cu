#include <cuda_bf16.h>

// A block moves a tile of 32 x 32 elements through shared memory, so that warps read rows and write rows.
//
// The turn happens in shared memory: a warp stores a row of the tile there and later loads a column.  Global memory sees
// whole rows only, 128 bytes of float32 on both sides.  But the 32 elements of a column lie 32 elements apart.  Shared
// memory has 32 banks of 4 bytes, so in float32 all elements of a column lie in one bank, and the load of a column takes
// 32 clocks instead of one.  In bfloat16 a column lies in two banks and takes 16 clocks; a row has 64 bytes only.

// region: kernel
constexpr int TILE = 32, DOWN = 8;  // a block of TILE x DOWN threads moves TILE x TILE elements

extern "C" __global__ void __launch_bounds__(TILE* DOWN)
    transpose_shared(const DTYPE* x, DTYPE* y, long long M, long long N) {
    __shared__ DTYPE tile[TILE][TILE];
    const long long top = (long long)blockIdx.y * TILE, left = (long long)blockIdx.x * TILE;
    const int lane = threadIdx.x % TILE, warp = threadIdx.x / TILE;
#pragma unroll
    for (int i = warp; i < TILE + warp; i += DOWN)
        if (top + i < M && left + lane < N) tile[i][lane] = x[(top + i) * N + left + lane];
    __syncthreads();  // the tile is complete
#pragma unroll
    for (int i = warp; i < TILE + warp; i += DOWN)
        if (left + i < N && top + lane < M) y[(left + i) * M + top + lane] = tile[lane][i];
}
// endregion
