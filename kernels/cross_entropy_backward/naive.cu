#include <cuda_bf16.h>

// The gradient as the formula reads: a block passes over its row, and a thread takes one element at a time.
//
// One read and one write of M·N elements, of two bytes each.  log Σ exp(logits) was saved by the forward pass, so no
// element waits for another one.
// For the compiler a store to dlogits may change lse and dloss, so in the listing a thread loads both again for each
// element.
// A thread has one load of 2 bytes of the logits under way: 2048 threads have 4 KB of an SM under way.  An H200 needs
// about 10.3 KB, by the count in copy/scalar.cu, and an H100 7.2 KB.

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
    cross_entropy_backward_naive(const DTYPE* logits, const long long* target, const float* lse, const float* dloss,
                                 DTYPE* dlogits, long long N) {
    const long long row = blockIdx.x;
    const long long correct = target[row];
    for (long long i = threadIdx.x; i < N; i += THREADS) {
        const float probability = __expf(float(logits[row * N + i]) - lse[row]);
        dlogits[row * N + i] = DTYPE((probability - (i == correct ? 1.0f : 0.0f)) * dloss[row]);
    }
}
// endregion
