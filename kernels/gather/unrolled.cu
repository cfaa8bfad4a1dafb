#include <cuda_bf16.h>

// The gather of `scalar` with UNROLL numbers a thread.
//
// One change: a thread loads UNROLL indices before it uses the first one, and then has UNROLL loads from the table
// under way.  It waits for memory twice, as before, for UNROLL times the bytes.  The numbers of a thread are THREADS
// apart.  Neighbouring threads still load neighbouring indices, so the sectors of a warp's load stay the same.

// region: kernel
constexpr int TILE = THREADS * UNROLL;

extern "C" __global__ void __launch_bounds__(THREADS)
    gather_unrolled(const DTYPE* x, const int* index, DTYPE* y, long long N) {
    const long long first = (long long)blockIdx.x * TILE + threadIdx.x, numbers = N * WIDTH;
    if (first - threadIdx.x + TILE <= numbers) {
        long long from[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const long long i = first + k * THREADS;
            from[k] = (long long)index[i / WIDTH] * WIDTH + i % WIDTH;
        }
        DTYPE held[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) held[k] = x[from[k]];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) y[first + k * THREADS] = held[k];
    } else {  // the last tile
        for (long long i = first; i < numbers; i += THREADS)
            y[i] = x[(long long)index[i / WIDTH] * WIDTH + i % WIDTH];
    }
}
// endregion
