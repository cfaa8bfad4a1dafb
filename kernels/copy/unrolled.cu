#include <cuda_bf16.h>

// Several 16-byte loads a thread before the first store, each marked as read once.
//
// A thread that stores what it has just loaded waits for memory once per load; UNROLL loads together wait once.
// `cs` (cache streaming) tells L2 to give these lines up first: nobody reads them again.

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS) copy_unrolled(const DTYPE* x, DTYPE* y, long long N) {
    constexpr int VEC = 16 / sizeof(DTYPE);
    constexpr long long TILE = (long long)THREADS * UNROLL * VEC;
    const long long start = blockIdx.x * TILE;
    const bool aligned = ((size_t)x | (size_t)y) % 16 == 0;
    if (aligned && start + TILE <= N) {
        const uint4* from = reinterpret_cast<const uint4*>(x + start) + threadIdx.x;
        uint4* to = reinterpret_cast<uint4*>(y + start) + threadIdx.x;
        uint4 held[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) held[k] = __ldcs(from + k * THREADS);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) __stcs(to + k * THREADS, held[k]);
    } else {  // the last tile, or pointers that are not on 16 bytes
        for (long long i = start + threadIdx.x; i < N && i < start + TILE; i += THREADS) y[i] = x[i];
    }
}
// endregion
