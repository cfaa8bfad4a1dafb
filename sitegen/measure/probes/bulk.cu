// How fast memory is read and written by Hopper's bulk copy engine: one thread per block keeps a ring of STAGES
// chunks of CHUNK bytes in shared memory under way.  Only the mix of two reads and a write needs registers.
#define SHARED(pointer) ((unsigned)__cvta_generic_to_shared(pointer))

__device__ void expect(unsigned long long* full, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SHARED(full)), "r"(bytes) : "memory");
}

__device__ void fetch(void* to, const char* from, unsigned bytes, unsigned long long* full) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(SHARED(to)),
                 "l"(from), "r"(bytes), "r"(SHARED(full))
                 : "memory");
}

__device__ void load(void* to, const char* from, unsigned bytes, unsigned long long* full) {
    expect(full, bytes);
    fetch(to, from, bytes, full);
}

// A chunk of `a` and the same chunk of `b`, one behind the other.
__device__ void load_two(char* to, const char* a, const char* b, unsigned bytes, unsigned long long* full) {
    expect(full, 2 * bytes);
    fetch(to, a, bytes, full);
    fetch(to + CHUNK, b, bytes, full);
}

// What threads wrote to shared memory is seen by the engine, in whichever order the threads ran.
__device__ void show_to_engine() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}

__device__ void store(char* to, void* from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(SHARED(from)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__device__ void wait_full(unsigned long long* full, unsigned parity) {
    unsigned done = 0;
    while (!done)
        asm volatile(
            "{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}\n"
            : "=r"(done)
            : "r"(SHARED(full)), "r"(parity)
            : "memory");
}

struct Share {  // of the chunks: every gridDim.x-th one, from this block's own
    long long bytes;
    __device__ long long count() const {
        long long chunks = (bytes + CHUNK - 1) / CHUNK;
        return blockIdx.x < chunks ? (chunks - blockIdx.x + gridDim.x - 1) / gridDim.x : 0;
    }
    __device__ long long at(long long k) const { return (blockIdx.x + k * gridDim.x) * CHUNK; }
    __device__ unsigned size(long long k) const { return (unsigned)min((long long)CHUNK, bytes - at(k)); }
};

__device__ void open(unsigned long long* full) {
    for (int s = 0; s < STAGES; s++)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(SHARED(full + s)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// reads : writes = 1 : 0
extern "C" __global__ void bulk_1_0(const char* a, char* sink, long long vectors) {
    extern __shared__ __align__(128) char ring[];
    __shared__ unsigned long long full[STAGES];
    const Share mine{vectors * 16};
    const long long n = mine.count();
    open(full);
    for (long long k = 0; k < min((long long)STAGES, n); k++) load(ring + k * CHUNK, a + mine.at(k), mine.size(k), full + k);
    for (long long k = 0; k < n; k++) {
        const int stage = k % STAGES;
        wait_full(full + stage, k / STAGES & 1);
        if (k + STAGES < n) load(ring + stage * CHUNK, a + mine.at(k + STAGES), mine.size(k + STAGES), full + stage);
    }
    if (vectors < 0) sink[0] = ring[0];
}

// 1 : 1.  A stage is loaded again once the store out of it has read it: all but the newest store are waited for.
extern "C" __global__ void bulk_1_1(const char* a, char* y, long long vectors) {
    extern __shared__ __align__(128) char ring[];
    __shared__ unsigned long long full[STAGES];
    const Share mine{vectors * 16};
    const long long n = mine.count(), ahead = STAGES - 1;
    open(full);
    for (long long k = 0; k < min(ahead, n); k++) load(ring + k * CHUNK, a + mine.at(k), mine.size(k), full + k);
    for (long long k = 0; k < n; k++) {
        const int stage = k % STAGES, next = (k + ahead) % STAGES;
        wait_full(full + stage, k / STAGES & 1);
        store(y + mine.at(k), ring + stage * CHUNK, mine.size(k));
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        if (k + ahead < n) load(ring + next * CHUNK, a + mine.at(k + ahead), mine.size(k + ahead), full + next);
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// 2 : 1, an exclusive or of two arrays.  The threads leave it where the chunk of `a` was, from where it is stored.
extern "C" __global__ void bulk_2_1(const char* a, const char* b, char* y, long long vectors) {
    extern __shared__ __align__(128) char ring[];
    __shared__ unsigned long long full[STAGES];
    const Share mine{vectors * 16};
    const long long n = mine.count(), ahead = STAGES - 1;
    if (threadIdx.x == 0) {
        open(full);
        for (long long k = 0; k < min(ahead, n); k++)
            load_two(ring + k * 2 * CHUNK, a + mine.at(k), b + mine.at(k), mine.size(k), full + k);
    }
    __syncthreads();
    for (long long k = 0; k < n; k++) {
        const int stage = k % STAGES, next = (k + ahead) % STAGES;
        char* both = ring + stage * 2 * CHUNK;
        wait_full(full + stage, k / STAGES & 1);
        for (unsigned at = threadIdx.x * 16; at < mine.size(k); at += blockDim.x * 16) {
            uint4* x = (uint4*)(both + at);
            const uint4 v = *x, w = *(const uint4*)(both + CHUNK + at);
            *x = make_uint4(v.x ^ w.x, v.y ^ w.y, v.z ^ w.z, v.w ^ w.w);
        }
        show_to_engine();
        if (threadIdx.x == 0) {
            store(y + mine.at(k), both, mine.size(k));
            asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
            const long long j = k + ahead;
            if (j < n) load_two(ring + next * 2 * CHUNK, a + mine.at(j), b + mine.at(j), mine.size(j), full + next);
        }
    }
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// 0 : 1, one chunk of numbers that differ, stored again and again.
extern "C" __global__ void bulk_0_1(char* y, long long vectors) {
    extern __shared__ __align__(128) char ring[];
    const Share mine{vectors * 16};
    for (unsigned i = threadIdx.x; i < CHUNK / 4; i += blockDim.x)
        ((unsigned*)ring)[i] = (blockIdx.x * (CHUNK / 4) + i) * 2654435761u;
    show_to_engine();
    if (threadIdx.x != 0) return;
    for (long long k = 0; k < mine.count(); k++) store(y + mine.at(k), ring, mine.size(k));
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
