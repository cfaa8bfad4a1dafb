// One number a thread.  A block copies a tile of 256 numbers.

// region: kernel
extern "C" __global__ void plain_copy_scalar(const float* x, float* y, long long N) {
    const long long i = blockIdx.x * 256 + threadIdx.x;  // computed in 32 bits: up to 2^32 numbers
    if (i < N) y[i] = x[i];
}
// endregion
