#include <cuda_bf16.h>

// The gather of `unrolled` with 16-byte accesses wherever four numbers are known to be neighbours.
//
// One change: the four numbers of a thread are neighbours in y.  Rows of one number: a thread loads its four indices in
// one access and stores four numbers in one; the four loads from the table stay loads of 4 bytes.  Rows of 4, 8, 12, …
// numbers: a thread copies 16 bytes of one row.
// The price for rows of one number is in L1.  The k-th loads of a warp's threads are four places apart in the index, so
// in ascending order each of these four loads touches 16 sectors instead of four.  The sectors are the same ones four
// times: L2 sees them once if L1 holds them from the first load to the fourth.

// region: kernel
constexpr int VEC = 4;  // numbers in 16 bytes
static_assert(sizeof(DTYPE) == 4);

union Vector {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Vector() {}
};

extern "C" __global__ void __launch_bounds__(THREADS)
    gather_vectorised(const DTYPE* x, const int* index, DTYPE* y, long long N) {
    const long long first = ((long long)blockIdx.x * THREADS + threadIdx.x) * VEC, numbers = N * WIDTH;
    const bool aligned = ((size_t)x | (size_t)index | (size_t)y) % 16 == 0;  // a view into a tensor may not be
    if ((WIDTH == 1 || WIDTH % VEC == 0) && aligned && first + VEC <= numbers) {
        Vector held;
        if constexpr (WIDTH == 1) {
            const int4 rows = *reinterpret_cast<const int4*>(index + first);
            held.element[0] = x[rows.x];
            held.element[1] = x[rows.y];
            held.element[2] = x[rows.z];
            held.element[3] = x[rows.w];
        } else {
            const long long from = (long long)index[first / WIDTH] * WIDTH + first % WIDTH;
            held.bits = *reinterpret_cast<const uint4*>(x + from);
        }
        *reinterpret_cast<uint4*>(y + first) = held.bits;
    } else {
        for (long long i = first; i < numbers && i < first + VEC; ++i)
            y[i] = x[(long long)index[i / WIDTH] * WIDTH + i % WIDTH];
    }
}
// endregion
