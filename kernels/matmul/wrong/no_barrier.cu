#include <cuda_bf16.h>

// Wrong: no __syncthreads between the threads that bring a tile into shared memory and those that read it.  By chance
// the warps may keep step, so a random wait before each tile shows at once what a busy machine shows now and then.

__device__ void wait_at_random() {
    const long long start = clock64();
    while (clock64() - start < (start >> 4) % 512) {
    }
}

extern "C" __global__ void __launch_bounds__(TILE* TILE)
    matmul_no_barrier(const DTYPE* a, const DTYPE* b, DTYPE* c, long long M, long long N, long long K) {
    __shared__ volatile float left[TILE][TILE], right[TILE][TILE];
    const int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    const long long row = (long long)blockIdx.y * TILE + y, column = (long long)blockIdx.x * TILE + x;
    left[y][x] = right[y][x] = 0.0f;  // what another kernel left there would be a mistake of its own
    __syncthreads();
    float sum = 0.0f;
    for (long long k = 0; k < K; k += TILE) {
        wait_at_random();
        left[y][x] = row < M && k + x < K ? float(a[row * K + k + x]) : 0.0f;
        right[y][x] = k + y < K && column < N ? float(b[(k + y) * N + column]) : 0.0f;
        for (int i = 0; i < TILE; ++i) sum += left[y][i] * right[i][x];
    }
    if (row < M && column < N) c[row * N + column] = DTYPE(sum);
}
