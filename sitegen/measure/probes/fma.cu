// The rate of fp32 multiply-adds: CHAINS independent chains in each thread, `rounds` times STEPS steps, two operations
// a step.  x ← x² + c with c near −1.85 neither settles nor grows: numbers that stand still would draw less power.
// STEPS is large since the loop's own three instructions take the same issue slots.
extern "C" __global__ void __launch_bounds__(THREADS) fma_chains(float* sink, int rounds) {
    const float c = -1.8f - threadIdx.x * 1e-4f;
    float x[CHAINS];
#pragma unroll
    for (int i = 0; i < CHAINS; i++) x[i] = 0.1f * i;
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int step = 0; step < STEPS; step++)
#pragma unroll
            for (int i = 0; i < CHAINS; i++) x[i] = fmaf(x[i], x[i], c);
    }
    float all = 0;
#pragma unroll
    for (int i = 0; i < CHAINS; i++) all += x[i];
    if (all == 1.2345e-30f) sink[0] = all;  // never, which the compiler does not know
}
