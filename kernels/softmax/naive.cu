#include <cuda_bf16.h>

// Softmax as the formula reads: the maximum, the sum of the exponentials, the division, a pass over the row for each.
//
// Three reads and a write of M·N elements where one read and one write would do.  Not all three reach memory: six
// blocks of 256 threads share an SM (40 registers a thread in float32), so at 8192 columns, 32 KB a row, 132 SMs work
// on 26 MB, and the second and the third pass can find their row in L2.  At 65536 columns, with eight times as much, they
// cannot.
// An element a load, and each pass waits for the one before.

// region: reduce
template <typename Combine>
__device__ float across_block(float value, Combine combine) {  // every thread gets the result
    __shared__ float tree[THREADS];
    __syncthreads();  // an earlier call may still be reading
    tree[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) tree[threadIdx.x] = combine(tree[threadIdx.x], tree[threadIdx.x + half]);
        __syncthreads();
    }
    return tree[0];
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS) softmax_naive(const DTYPE* x, DTYPE* y, long long N) {
    x += blockIdx.x * N;
    y += blockIdx.x * N;

    float largest = __int_as_float(0xff800000);  // -inf
    for (long long i = threadIdx.x; i < N; i += THREADS) largest = fmaxf(largest, float(x[i]));
    largest = across_block(largest, [](float a, float b) { return fmaxf(a, b); });

    float sum = 0.0f;
    for (long long i = threadIdx.x; i < N; i += THREADS) sum += __expf(float(x[i]) - largest);
    sum = across_block(sum, [](float a, float b) { return a + b; });

    const float scale = 1.0f / sum;
    for (long long i = threadIdx.x; i < N; i += THREADS) y[i] = DTYPE(__expf(float(x[i]) - largest) * scale);
}
// endregion
