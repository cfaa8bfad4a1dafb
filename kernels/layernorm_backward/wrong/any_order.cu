#include <cuda_bf16.h>

// Wrong: every block adds its rows to dw and db in memory, with atomics.  The sums are right to a few digits, but their
// order, and so their last digits, is another one at each run.

extern "C" __global__ void gradients_in_any_order(const DTYPE* x, const DTYPE* dy, const DTYPE* w, const float* means,
                                                  const float* rstds, DTYPE* dx, float* dw, float* db, long long N) {
    __shared__ float2 tree[256];
    const float mean = means[blockIdx.x], rstd = rstds[blockIdx.x];
    const long long first = blockIdx.x * N;
    float2 sums = {0.0f, 0.0f};
    for (long long i = threadIdx.x; i < N; i += 256) {
        const float normal = (float(x[first + i]) - mean) * rstd, g = float(w[i]) * float(dy[first + i]);
        sums.x += g;
        sums.y += g * normal;
        atomicAdd(&dw[i], float(dy[first + i]) * normal);
        atomicAdd(&db[i], float(dy[first + i]));
    }
    tree[threadIdx.x] = sums;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            tree[threadIdx.x].x += tree[threadIdx.x + half].x;
            tree[threadIdx.x].y += tree[threadIdx.x + half].y;
        }
        __syncthreads();
    }
    for (long long i = threadIdx.x; i < N; i += 256) {
        const float normal = (float(x[first + i]) - mean) * rstd, g = float(w[i]) * float(dy[first + i]);
        dx[first + i] = DTYPE((g - tree[0].x / N - normal * (tree[0].y / N)) * rstd);
    }
}

extern "C" int layernorm_backward_any_order(void** buffers, const long* dims, const double*, void* stream) {
    const long long M = dims[0], N = dims[1];
    cudaMemsetAsync(buffers[6], 0, N * sizeof(float), (cudaStream_t)stream);
    cudaMemsetAsync(buffers[7], 0, N * sizeof(float), (cudaStream_t)stream);
    gradients_in_any_order<<<M, 256, 0, (cudaStream_t)stream>>>(
        (DTYPE*)buffers[0], (DTYPE*)buffers[1], (DTYPE*)buffers[2], (float*)buffers[3], (float*)buffers[4],
        (DTYPE*)buffers[5], (float*)buffers[6], (float*)buffers[7], N);
    return cudaGetLastError();
}
