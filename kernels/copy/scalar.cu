#include <cuda_bf16.h>

// One element a thread: the copy that everybody writes first.
//
// It loads N elements and stores N, yet a thread asks for 4 bytes (2 in bfloat16) and then waits.  An SM holds 2048
// threads, so 8 KB are under way in it.  Half of 4.3 TB/s, times the 0.65 us that a busy memory is supposed to take
// here, is 10.3 KB for each of 132 SMs.
// In bfloat16 DRAM can write more than the kernel stores: 3.5 GB instead of 2.1 GB for 2^30 elements on an H100, but
// not for 2^28.  A warp stores 64 bytes at once.  Why DRAM writes more is not measured.

// region: kernel
extern "C" __global__ void copy_scalar(const DTYPE* x, DTYPE* y, long long N) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = x[i];
}
// endregion
