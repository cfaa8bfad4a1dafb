#include <cuda_bf16.h>

// Wrong: `<=` where `<` belongs.  One element is written past the end.

extern "C" __global__ void copy_one_past(const DTYPE* x, DTYPE* y, long long N) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= N) y[i] = x[i];
}
