#include <cuda_bf16.h>

// Wrong: a thread takes a larger maximum, but does not scale down what it has added so far.  Right only where a
// thread meets its largest value first.

extern "C" __global__ void __launch_bounds__(THREADS)
    cross_entropy_not_rescaled(const DTYPE* logits, const long long* target, float* loss, long long N) {
    __shared__ float ms[THREADS], ds[THREADS];
    logits += blockIdx.x * N;
    float m = -3.402823466e38f, d = 0.0f;
    for (long long i = threadIdx.x; i < N; i += THREADS) {
        m = fmaxf(m, float(logits[i]));
        d += __expf(float(logits[i]) - m);
    }
    ms[threadIdx.x] = m;
    ds[threadIdx.x] = d;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int i = 0; i < THREADS; ++i) m = fmaxf(m, ms[i]);
    d = 0.0f;
    for (int i = 0; i < THREADS; ++i) d += ds[i] * __expf(ms[i] - m);
    loss[blockIdx.x] = logf(d) + (m - float(logits[target[blockIdx.x]]));
}
