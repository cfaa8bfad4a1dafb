#include <cuda_bf16.h>

// The gradients one after the other: a kernel for dx, row by row, and a kernel for dw, column by column.
//
// dx needs a sum along its row, dw needs sums along the columns.  The first kernel reads x and dy and writes dx.  The
// second kernel reads all of x and dy again.  At 8192 columns of float32 the rows in work, 69 MB, do not fit L2, so the
// second pass of the first kernel over a row goes to memory, too: on an H100 six reads and a write of M·N elements
// where two reads and a write would do.  In bfloat16 the caches of an H100 serve about 70 % of the second pass.

// region: rows
constexpr int THREADS = 256;

__device__ float block_sum(float value) {  // every thread gets the result
    __shared__ float tree[THREADS];
    tree[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
        __syncthreads();
    }
    return tree[0];
}

__global__ void __launch_bounds__(THREADS)
    gradient_of_x(const DTYPE* x, const DTYPE* dy, const DTYPE* w, const float* rstds, DTYPE* dx, long long N) {
    const float rstd = rstds[blockIdx.x];
    x += blockIdx.x * N;
    dy += blockIdx.x * N;
    dx += blockIdx.x * N;
    float sum = 0.0f;  // of g·x̂, where g = w·dy and x̂ = x·rstd
    for (long long i = threadIdx.x; i < N; i += THREADS) sum += float(w[i]) * float(dy[i]) * float(x[i]) * rstd;
    const float slope = block_sum(sum) / N;
    for (long long i = threadIdx.x; i < N; i += THREADS)
        dx[i] = DTYPE((float(w[i]) * float(dy[i]) - float(x[i]) * rstd * slope) * rstd);
}
// endregion

// region: columns
constexpr int ACROSS = 32, DOWN = 32;  // threads of a block

__global__ void __launch_bounds__(ACROSS * DOWN)
    gradient_of_weights(const DTYPE* x, const DTYPE* dy, const float* rstds, DTYPE* dw, long long M, long long N) {
    __shared__ float tile[DOWN][ACROSS];
    const int lane = threadIdx.x % ACROSS, down = threadIdx.x / ACROSS;
    const long long column = blockIdx.x * (long long)ACROSS + lane;
    float sum = 0.0f;
    if (column < N)
#pragma unroll 4
        for (long long row = down; row < M; row += DOWN)
            sum += float(dy[row * N + column]) * float(x[row * N + column]) * rstds[row];
    tile[down][lane] = sum;
    __syncthreads();
    if (down > 0 || column >= N) return;
    for (int i = 1; i < DOWN; ++i) sum += tile[i][lane];
    dw[column] = DTYPE(sum);
}
// endregion

// region: host
extern "C" int rmsnorm_backward_two_passes(void** buffers, const long* dims, const double*, void* stream) {
    const long long M = dims[0], N = dims[1];
    const DTYPE *x = (DTYPE*)buffers[0], *dy = (DTYPE*)buffers[1], *w = (DTYPE*)buffers[2];
    const float* rstds = (float*)buffers[3];
    DTYPE *dx = (DTYPE*)buffers[4], *dw = (DTYPE*)buffers[5];
    gradient_of_x<<<M, THREADS, 0, (cudaStream_t)stream>>>(x, dy, w, rstds, dx, N);
    gradient_of_weights<<<(N + ACROSS - 1) / ACROSS, ACROSS * DOWN, 0, (cudaStream_t)stream>>>(x, dy, rstds, dw, M, N);
    return cudaGetLastError();
}
// endregion
