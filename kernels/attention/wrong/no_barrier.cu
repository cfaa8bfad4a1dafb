#include <cuda_bf16.h>

// Wrong: no __syncthreads between the threads that compute the weights of a query and those that add up the values.
// By chance the warps may keep step, so a random wait before each score shows at once what a busy machine shows now and
// then.

__device__ void wait_at_random() {
    const long long start = clock64();
    while (clock64() - start < (start >> 4) % 512) {
    }
}

// One block, one query; thread t has the keys t, t + 128, … and element t of the result.
extern "C" __global__ void __launch_bounds__(128)
    attention_no_barrier(const DTYPE* q, const DTYPE* k, const DTYPE* v, DTYPE* o, long long T, long long causal) {
    extern __shared__ volatile float weights[];
    const long long head = blockIdx.x / T * T * 128, row = blockIdx.x % T, end = causal ? row + 1 : T;
    for (long long key = threadIdx.x; key < end; key += 128) weights[key] = 0.0f;
    __syncthreads();
    for (long long key = threadIdx.x; key < end; key += 128) {
        wait_at_random();
        float score = 0.0f;
        for (int d = 0; d < 128; ++d) score += float(q[head + row * 128 + d]) * float(k[head + key * 128 + d]);
        weights[key] = expf(score * 0.08838835f);
    }
    float total = 0.0f, sum = 0.0f;
    for (long long key = 0; key < end; ++key) {
        total += weights[key];
        sum += weights[key] * float(v[head + key * 128 + threadIdx.x]);
    }
    o[head + row * 128 + threadIdx.x] = DTYPE(sum / total);
}
