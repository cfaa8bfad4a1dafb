// How fast the L2 is read: all SMs read the same buffer again and again, 16 bytes per thread and access, past the L1.
// Tiles of THREADS * UNROLL vectors, one after the other and from the first again after the last, so that (unless the
// grid divides the tiles) every SM comes to read every tile, whichever half of the L2 holds it.  There must be at least
// as many tiles as blocks: SMs that want one line at the same time are answered together, faster than the L2 reads.
// All words that were read are summed: the host knows what must come out.
extern "C" __global__ void __launch_bounds__(THREADS)
l2_read(const uint4* a, unsigned* sum, unsigned tiles, unsigned passes) {
    unsigned all = 0;
    for (unsigned i = blockIdx.x; i < tiles * passes; i += gridDim.x) {
        const uint4* tile = a + (unsigned long long)(i % tiles) * (THREADS * UNROLL) + threadIdx.x;
        uint4 v[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) v[u] = __ldcg(tile + u * THREADS);
#pragma unroll
        for (int u = 0; u < UNROLL; u++) all += v[u].x + v[u].y + v[u].z + v[u].w;
    }
    atomicAdd(sum, all);
}
