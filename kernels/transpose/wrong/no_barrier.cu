#include <cuda_bf16.h>

// Wrong: no __syncthreads between the threads that fill the tile and those that read it.  By chance the warps may keep
// step, so a wait of another length in each warp shows at once what a busy machine shows now and then.

constexpr int TILE = 32, DOWN = 8;

extern "C" __global__ void __launch_bounds__(TILE* DOWN)
    transpose_no_barrier(const DTYPE* x, DTYPE* y, long long M, long long N) {
    __shared__ volatile float tile[TILE][TILE + 1];
    const long long top = (long long)blockIdx.y * TILE, left = (long long)blockIdx.x * TILE;
    const int lane = threadIdx.x % TILE, warp = threadIdx.x / TILE;
    for (int i = warp; i < TILE; i += DOWN) tile[i][lane] = 0.0f;  // what another kernel left there is another mistake
    __syncthreads();
    for (const long long start = clock64(); clock64() - start < (start >> 4) % 512;) {
    }
    for (int i = warp; i < TILE; i += DOWN)
        if (top + i < M && left + lane < N) tile[i][lane] = float(x[(top + i) * N + left + lane]);
    for (int i = warp; i < TILE; i += DOWN)
        if (left + i < N && top + lane < M) y[(left + i) * M + top + lane] = DTYPE(float(tile[lane][i]));
}
