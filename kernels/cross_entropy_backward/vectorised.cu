#include <cuda_bf16.h>

// Loads and stores of 16 bytes, UNROLL of them together, in the order of the addresses.
//
// A block takes THREADS x UNROLL pieces of a row, and the next block the pieces behind them, as in a copy.  All loads of
// a thread are under way before the first exponential.
// The exponential is `ex2.approx.ftz`: results below 1.2e-38 become 0.  bfloat16 could hold some of them, but they are
// far below the tolerance.  Only the thread that holds the target subtracts dloss of the row, behind one comparison for
// 8 elements.
// Rows whose length is no multiple of 16 bytes may begin anywhere, and are loaded an element at a time.

// region: exponential
__device__ float exp_of(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.4426950408889634f));  // log2(e)
    return y;
}
// endregion

// region: kernel
constexpr int VEC = 16 / sizeof(DTYPE);

union Chunk {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Chunk() {}
};

extern "C" __global__ void __launch_bounds__(THREADS)
    cross_entropy_backward_vectorised(const DTYPE* logits, const long long* target, const float* lse,
                                      const float* dloss, DTYPE* dlogits, long long N) {
    const long long row = blockIdx.x / TILES;
    const int tile = blockIdx.x % TILES;
    logits += row * N;
    dlogits += row * N;
    const float whole = lse[row], factor = dloss[row];
    const long long correct = target[row];
    const auto gradient = [&](float logit) { return exp_of(logit - whole) * factor; };
    if (N % VEC != 0) {
        for (long long i = tile * THREADS + threadIdx.x; i < N; i += TILES * THREADS)
            dlogits[i] = DTYPE(gradient(float(logits[i])) - (i == correct ? factor : 0.0f));
        return;
    }
    const auto piece = [&](int k) { return (tile * UNROLL + k) * THREADS + (int)threadIdx.x; };
    const int pieces = (int)(N / VEC);
    Chunk chunks[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k)
        if (piece(k) < pieces) chunks[k].bits = __ldg(reinterpret_cast<const uint4*>(logits) + piece(k));
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        float values[VEC];
#pragma unroll
        for (int e = 0; e < VEC; ++e) values[e] = gradient(float(chunks[k].element[e]));
        if (piece(k) == correct / VEC) {
#pragma unroll
            for (int e = 0; e < VEC; ++e) values[e] -= e == correct % VEC ? factor : 0.0f;
        }
#pragma unroll
        for (int e = 0; e < VEC; ++e) chunks[k].element[e] = DTYPE(values[e]);
        if (piece(k) < pieces) __stcs(reinterpret_cast<uint4*>(dlogits) + piece(k), chunks[k].bits);
    }
}
// endregion
