#include <cuda_bf16.h>

// 16 bytes a thread: the widest load that a thread of an H100 or H200 has, four floats or eight bfloat16.
//
// The same 2·N elements with a quarter of the loads and stores (an eighth in bfloat16), and 32 KB under way in an SM of
// 2048 threads: enough.  Every block lives for one load only, so blocks start and end all the time.  That costs little:
// on both GPUs it is the fastest program of this kernel.

// region: kernel
extern "C" __global__ void copy_vec4(const DTYPE* x, DTYPE* y, long long N) {
    constexpr int VEC = 16 / sizeof(DTYPE);
    const long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * VEC;
    const bool aligned = ((size_t)x | (size_t)y) % 16 == 0;  // a view into a tensor may not be
    if (aligned && i + VEC <= N) {
        *reinterpret_cast<uint4*>(y + i) = *reinterpret_cast<const uint4*>(x + i);
    } else {
        for (long long j = i; j < N && j < i + VEC; ++j) y[j] = x[j];
    }
}
// endregion
