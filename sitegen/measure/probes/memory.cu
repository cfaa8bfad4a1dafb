// How fast memory is read and written: 16 bytes per thread and access, UNROLL of them in flight, in tiles of
// THREADS * UNROLL vectors.  A grid of one block per tile and a grid that strides over the tiles are both tried.
// STREAMING: the accesses say that the line will not be used again.
#if STREAMING
#define LOAD(pointer) __ldcs(pointer)
#define STORE(pointer, value) __stcs(pointer, value)
#else
#define LOAD(pointer) __ldg(pointer)
#define STORE(pointer, value) (*(pointer) = (value))
#endif
#define FOR_TILES for (long long tile = blockIdx.x; tile * (THREADS * UNROLL) < n; tile += gridDim.x)
#define AT(i) (tile * (THREADS * UNROLL) + (i) * THREADS + threadIdx.x)

// reads : writes = 1 : 0.  The exclusive or of all that was read is stored if it is a value that it never has,
// so that the compiler must keep the loads.
extern "C" __global__ void __launch_bounds__(THREADS) read_1_0(const uint4* __restrict__ a, uint4* sink, long long n) {
    unsigned all = 0;
    FOR_TILES {
        uint4 v[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; i++) v[i] = AT(i) < n ? LOAD(a + AT(i)) : make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int i = 0; i < UNROLL; i++) all ^= (v[i].x * 3u) ^ (v[i].y * 5u) ^ (v[i].z * 7u) ^ (v[i].w * 11u);
    }
    if (all == 0x9e3779b9u && n < 0) sink[0] = make_uint4(all, 0, 0, 0);
}

// 1 : 1, a copy.
extern "C" __global__ void __launch_bounds__(THREADS)
copy_1_1(const uint4* __restrict__ a, uint4* __restrict__ y, long long n) {
    FOR_TILES {
        uint4 v[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; i++)
            if (AT(i) < n) v[i] = LOAD(a + AT(i));
#pragma unroll
        for (int i = 0; i < UNROLL; i++)
            if (AT(i) < n) STORE(y + AT(i), v[i]);
    }
}

// 2 : 1, an exclusive or of two arrays.
extern "C" __global__ void __launch_bounds__(THREADS)
mix_2_1(const uint4* __restrict__ a, const uint4* __restrict__ b, uint4* __restrict__ y, long long n) {
    FOR_TILES {
        uint4 v[UNROLL], w[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; i++)
            if (AT(i) < n) v[i] = LOAD(a + AT(i)), w[i] = LOAD(b + AT(i));
#pragma unroll
        for (int i = 0; i < UNROLL; i++)
            if (AT(i) < n)
                STORE(y + AT(i), make_uint4(v[i].x ^ w[i].x, v[i].y ^ w[i].y, v[i].z ^ w[i].z, v[i].w ^ w[i].w));
    }
}

// 0 : 1, a fill with numbers that differ, since equal ones may travel faster.
extern "C" __global__ void __launch_bounds__(THREADS) write_0_1(uint4* __restrict__ y, long long n) {
    FOR_TILES {
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            unsigned x = (unsigned)AT(i) * 2654435761u;
            if (AT(i) < n) STORE(y + AT(i), make_uint4(x, x ^ 0x85ebca6bu, x * 5u, x * 9u));
        }
    }
}
