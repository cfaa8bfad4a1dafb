extern "C" __global__ void scale(const float* x, float* y, long long N) {
    for (long long i = threadIdx.x; i < N; i += blockDim.x) y[i] = 2 * x[i];
}
