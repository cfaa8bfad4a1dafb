#include <cuda_bf16.h>

// A number a thread, from the row that the index names.
//
// N indices of 4 bytes and N·WIDTH numbers are read, N·WIDTH numbers are written.  What memory delivers depends on the
// index: the 32 threads of a warp load from at most 32 places.  L2 delivers a sector of 32 bytes for each place, and
// DRAM two sectors, of which the second one is wasted unless it is needed soon.  Neighbouring numbers share four
// sectors; numbers 32 bytes or more apart take 32 sectors, of which 4 bytes each are used.
// The second load needs the result of the first, so a thread waits for memory twice, with 4 bytes under way.

// region: kernel
extern "C" __global__ void gather_scalar(const DTYPE* x, const int* index, DTYPE* y, long long N) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N * WIDTH) y[i] = x[(long long)index[i / WIDTH] * WIDTH + i % WIDTH];
}
// endregion
