#include <cuda_bf16.h>

// The tile of shared.cu, with one unused element at the end of each row.
//
// Only the declaration of `tile` differs.  A row is STRIDE = 33 elements long, so the elements of a column lie 33 apart and, in
// float32, fall into 32 different banks: a load of a column takes one clock, like one of a row.  In bfloat16 two rows
// are 33 words of 4 bytes, so the elements of a column fall into 32 different halves of words and at most two share a
// bank.  The price is 3 % more shared memory, and rows that no longer begin at multiples of 16 bytes.

// region: kernel
constexpr int TILE = 32, DOWN = 8;  // a block of TILE x DOWN threads moves TILE x TILE elements

extern "C" __global__ void __launch_bounds__(TILE* DOWN)
    transpose_padded(const DTYPE* x, DTYPE* y, long long M, long long N) {
    __shared__ DTYPE tile[TILE][STRIDE];
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
