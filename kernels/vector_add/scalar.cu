#include <cuda_bf16.h>

// One element a thread: two loads, an addition, a store.
//
// It loads 2·N elements and stores N.  A thread has two loads under way, an SM of 2048 threads 16 KB (8 KB in
// bfloat16).  Two thirds of the 4.4 TB/s of an H200, times the 0.65 us that a busy memory is supposed to take here, is
// 14 KB for each of 132 SMs: just enough in float32.
// In bfloat16 DRAM can write more than the kernel stores: 1.8 GB instead of 1.1 GB for 2^29 elements on an H100, but
// not for 2^28.  A warp stores 64 bytes at once.  Why DRAM writes more is not measured.

// region: kernel
extern "C" __global__ void vector_add_scalar(const DTYPE* a, const DTYPE* b, DTYPE* c, long long N) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) c[i] = DTYPE(float(a[i]) + float(b[i]));
}
// endregion
