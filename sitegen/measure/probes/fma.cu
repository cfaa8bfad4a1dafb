// The rate of fp32 multiply-adds: CHAINS independent chains in each thread, ROUNDS steps each, two operations a step.
extern "C" __global__ void __launch_bounds__(THREADS) fma_chains(float* sink, float a, float b) {
    float x[CHAINS];
#pragma unroll
    for (int i = 0; i < CHAINS; i++) x[i] = threadIdx.x * 0.001f + i;
    for (int round = 0; round < ROUNDS / 16; round++) {
#pragma unroll
        for (int step = 0; step < 16; step++)
#pragma unroll
            for (int i = 0; i < CHAINS; i++) x[i] = fmaf(x[i], a, b);
    }
    float all = 0;
#pragma unroll
    for (int i = 0; i < CHAINS; i++) all += x[i];
    if (all == 1.2345e-30f) sink[0] = all;
}
