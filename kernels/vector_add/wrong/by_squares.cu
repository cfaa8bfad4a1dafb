#include <cuda_bf16.h>

// Wrong: (a² - b²) / (a - b) is a + b on paper.  Where a equals b it is 0 / 0, so NaN.  In float32 the compiler rounds
// only b², so the numerator may be a rounding error instead of 0, and the result is then infinite.

extern "C" __global__ void vector_add_by_squares(const DTYPE* a, const DTYPE* b, DTYPE* c, long long N) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const float left = float(a[i]), right = float(b[i]);
    c[i] = DTYPE((left * left - right * right) / (left - right));
}
