#include <cuda_bf16.h>

// The gradients one after the other: a kernel for dx, row by row, and a kernel for dw and db, column by column.
//
// dx needs two sums along its row, dw and db need sums along the columns.  The first kernel reads x and dy and writes
// dx.  The second kernel reads all of x and dy again.  At 8192 columns of float32 the rows in work, 69 MB, do not fit
// L2, so the second pass of the first kernel over a row goes to memory, too: on an H100 six reads and a write of M·N
// elements where two reads and a write would do.  In bfloat16 the caches of an H100 serve about 53 % of the second
// pass.

// region: rows
constexpr int THREADS = 256;

__device__ float2 block_sum(float2 value) {  // every thread gets the result
    __shared__ float2 tree[THREADS];
    tree[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            tree[threadIdx.x].x += tree[threadIdx.x + half].x;
            tree[threadIdx.x].y += tree[threadIdx.x + half].y;
        }
        __syncthreads();
    }
    return tree[0];
}

__global__ void __launch_bounds__(THREADS) gradient_of_x(const DTYPE* x, const DTYPE* dy, const DTYPE* w,
                                                         const float* means, const float* rstds, DTYPE* dx,
                                                         long long N) {
    const float mean = means[blockIdx.x], rstd = rstds[blockIdx.x];
    x += blockIdx.x * N;
    dy += blockIdx.x * N;
    dx += blockIdx.x * N;
    float2 sums = {0.0f, 0.0f};  // of g and of g·x̂, where g = w·dy and x̂ = (x - mean)·rstd
    for (long long i = threadIdx.x; i < N; i += THREADS) {
        const float g = float(w[i]) * float(dy[i]);
        sums.x += g;
        sums.y += g * (float(x[i]) - mean) * rstd;
    }
    sums = block_sum(sums);
    const float shift = sums.x / N, slope = sums.y / N;
    for (long long i = threadIdx.x; i < N; i += THREADS) {
        const float g = float(w[i]) * float(dy[i]), normal = (float(x[i]) - mean) * rstd;
        dx[i] = DTYPE((g - shift - normal * slope) * rstd);
    }
}
// endregion

// region: columns
constexpr int ACROSS = 32, DOWN = 32;  // threads of a block

__global__ void __launch_bounds__(ACROSS * DOWN)
    gradient_of_weights(const DTYPE* x, const DTYPE* dy, const float* means, const float* rstds, DTYPE* dw, DTYPE* db,
                        long long M, long long N) {
    __shared__ float2 tile[DOWN][ACROSS];
    const int lane = threadIdx.x % ACROSS, down = threadIdx.x / ACROSS;
    const long long column = blockIdx.x * (long long)ACROSS + lane;
    float2 sums = {0.0f, 0.0f};
    if (column < N)
#pragma unroll 4
        for (long long row = down; row < M; row += DOWN) {
            const float g = float(dy[row * N + column]);
            sums.x += g * (float(x[row * N + column]) - means[row]) * rstds[row];
            sums.y += g;
        }
    tile[down][lane] = sums;
    __syncthreads();
    if (down > 0 || column >= N) return;
    for (int i = 1; i < DOWN; ++i) {
        sums.x += tile[i][lane].x;
        sums.y += tile[i][lane].y;
    }
    dw[column] = DTYPE(sums.x);
    db[column] = DTYPE(sums.y);
}
// endregion

// region: host
extern "C" int layernorm_backward_two_passes(void** buffers, const long* dims, const double*, void* stream) {
    const long long M = dims[0], N = dims[1];
    const DTYPE *x = (DTYPE*)buffers[0], *dy = (DTYPE*)buffers[1], *w = (DTYPE*)buffers[2];
    const float *means = (float*)buffers[3], *rstds = (float*)buffers[4];
    DTYPE *dx = (DTYPE*)buffers[5], *dw = (DTYPE*)buffers[6], *db = (DTYPE*)buffers[7];
    gradient_of_x<<<M, THREADS, 0, (cudaStream_t)stream>>>(x, dy, w, means, rstds, dx, N);
    gradient_of_weights<<<(N + ACROSS - 1) / ACROSS, ACROSS * DOWN, 0, (cudaStream_t)stream>>>(x, dy, means, rstds, dw,
                                                                                              db, M, N);
    return cudaGetLastError();
}
// endregion
