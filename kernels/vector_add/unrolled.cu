#include <cuda_bf16.h>

// 2·UNROLL loads of 16 bytes a thread before the first store, each marked as read once.
//
// The same 3·N elements.  All loads were meant to be under way together.  The compiler does not leave it so: it adds
// the first pairs before it loads the last ones.  With UNROLL 4, at most five of the eight loads are under way in
// float32, and four in bfloat16, so a thread waits at least twice.  Fewer, longer blocks spend less of their life on
// starting and ending.

// region: kernel
union Vector {
    uint4 bits;
    DTYPE element[16 / sizeof(DTYPE)];
    __device__ Vector() {}
};

__device__ uint4 sum(uint4 a, uint4 b) {
    Vector left, right;
    left.bits = a;
    right.bits = b;
#pragma unroll
    for (int e = 0; e < 16 / sizeof(DTYPE); ++e) left.element[e] = DTYPE(float(left.element[e]) + float(right.element[e]));
    return left.bits;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    vector_add_unrolled(const DTYPE* a, const DTYPE* b, DTYPE* c, long long N) {
    constexpr long long TILE = (long long)THREADS * UNROLL * 16 / sizeof(DTYPE);
    const long long start = blockIdx.x * TILE;
    const bool aligned = ((size_t)a | (size_t)b | (size_t)c) % 16 == 0;
    if (aligned && start + TILE <= N) {
        const uint4* left = reinterpret_cast<const uint4*>(a + start) + threadIdx.x;
        const uint4* right = reinterpret_cast<const uint4*>(b + start) + threadIdx.x;
        uint4* to = reinterpret_cast<uint4*>(c + start) + threadIdx.x;
        uint4 l[UNROLL], r[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            l[k] = __ldcs(left + k * THREADS);
            r[k] = __ldcs(right + k * THREADS);
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) __stcs(to + k * THREADS, sum(l[k], r[k]));
    } else {  // the last tile, or pointers that are not on 16 bytes
        for (long long i = start + threadIdx.x; i < N && i < start + TILE; i += THREADS)
            c[i] = DTYPE(float(a[i]) + float(b[i]));
    }
}
// endregion
