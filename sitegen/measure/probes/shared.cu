// How fast shared memory is read: the 32 lanes of a warp read 16 bytes each, side by side, which is four times all 32
// banks and no conflict.  A block reads its THREADS * UNROLL vectors `passes` times; `volatile` keeps the compiler from
// reading them once.  All words that were read are summed: the host knows what must come out.
extern "C" __global__ void __launch_bounds__(THREADS) shared_read(const uint4* a, unsigned* sum, int passes) {
    extern __shared__ uint4 words[];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) words[u * THREADS + threadIdx.x] = a[u * THREADS + threadIdx.x];
    __syncthreads();
    const unsigned address = (unsigned)__cvta_generic_to_shared(words + threadIdx.x);
    unsigned all = 0;
#pragma unroll 4
    for (int pass = 0; pass < passes; pass++) {
        uint4 v[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v[u].x), "=r"(v[u].y), "=r"(v[u].z), "=r"(v[u].w)
                         : "r"(address + u * THREADS * 16));
#pragma unroll
        for (int u = 0; u < UNROLL; u++) all += v[u].x + v[u].y + v[u].z + v[u].w;
    }
    atomicAdd(sum, all);
}
