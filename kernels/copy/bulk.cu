#include <cuda_bf16.h>

// The copy engine does the work: one thread of a block asks for CHUNK bytes at a time, and no register holds any.
//
// Each block owns a ring of STAGES chunks in shared memory.  A chunk is loaded by one `cp.async.bulk`, which reports to
// a barrier, and stored by another; while one chunk is being stored the next ones are on their way in.  A block stays
// for the whole kernel.  It starts a load when the store before has left its place, so at most STAGES - 1 of its chunks
// are being loaded: three blocks of 4 x 16 KB have up to 144 KB of loads and 48 KB of stores of an SM under way.

__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

__device__ void start_load(void* to, const void* from, unsigned bytes, unsigned long long* full) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(full)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     address(to)),
                 "l"(from), "r"(bytes), "r"(address(full))
                 : "memory");
}

__device__ void start_store(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(address(from)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

template <int PENDING>  // returns when all but the last PENDING stores have read their chunk
__device__ void wait_for_stores() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

__device__ void wait_for_load(unsigned long long* full, unsigned parity) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(address(full)),
        "r"(parity)
        : "memory");
}

// region: kernel
extern "C" __global__ void copy_bulk(const DTYPE* x, DTYPE* y, long long N) {
    extern __shared__ __align__(128) unsigned char ring[];
    __shared__ unsigned long long full[STAGES];
    const bool aligned = ((size_t)x | (size_t)y) % 16 == 0;
    const long long bytes = aligned ? N * (long long)sizeof(DTYPE) / 16 * 16 : 0;
    const long long chunks = (bytes + CHUNK - 1) / CHUNK;
    const char* from = reinterpret_cast<const char*>(x);
    char* to = reinterpret_cast<char*>(y);

    const auto size = [&](long long chunk) { return (unsigned)min((long long)CHUNK, bytes - chunk * CHUNK); };
    const auto load = [&](long long i) {  // the i-th chunk of this block, if there is one
        const long long chunk = blockIdx.x + i * gridDim.x;
        const int stage = i % STAGES;
        if (chunk < chunks) start_load(ring + stage * CHUNK, from + chunk * CHUNK, size(chunk), &full[stage]);
    };

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&full[stage])) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        for (int i = 0; i < STAGES - 1; ++i) load(i);
        for (long long i = 0, chunk = blockIdx.x; chunk < chunks; ++i, chunk += gridDim.x) {
            const int stage = i % STAGES;
            wait_for_load(&full[stage], i / STAGES % 2);
            start_store(to + chunk * CHUNK, ring + stage * CHUNK, size(chunk));
            wait_for_stores<1>();  // the chunk before this one has left: its place is free
            load(i + STAGES - 1);
        }
        wait_for_stores<0>();
    }
    const long long rest = bytes / (long long)sizeof(DTYPE);  // what does not fill 16 bytes; all of it when not aligned
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = rest + (long long)blockIdx.x * blockDim.x + threadIdx.x; i < N; i += step) y[i] = x[i];
}
// endregion
