#include <cuda_bf16.h>

// The copy engine loads: a block stays for the whole kernel, and the loads of its next row begin before a row ends.
//
// Each block owns a ring of STAGES chunks of CHUNK bytes in shared memory.  One thread asks for chunks in the order of
// the block's rows, and a chunk that has been read is filled again at once.  So memory keeps working while the pairs of a
// row are merged, and no register holds a load that is under way.
// A thread adds its part of a chunk as `vectorised` does: the maximum first, then one exponential an element.
// Rows whose length is no multiple of 16 bytes may begin anywhere, and are loaded an element at a time.

// region: pair
struct Pair {
    float m, d;
};

__device__ Pair merge(Pair a, Pair b) {
    const float m = fmaxf(a.m, b.m);
    return {m, a.d * __expf(a.m - m) + b.d * __expf(b.m - m)};
}

__device__ Pair across_warp(Pair p) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
        p = merge(p, {__shfl_xor_sync(0xffffffff, p.m, lane), __shfl_xor_sync(0xffffffff, p.d, lane)});
    return p;
}

// The lowest finite float and not -inf: -inf - -inf would be NaN in the pair of a thread that saw no value.
constexpr Pair NOTHING = {-3.402823466e38f, 0.0f};

__device__ Pair across_block(Pair p) {
    __shared__ Pair warps[THREADS / 32];
    p = across_warp(p);
    __syncthreads();  // the row before may still be read
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = p;
    __syncthreads();
    return across_warp(threadIdx.x % 32 < THREADS / 32 ? warps[threadIdx.x % 32] : NOTHING);
}
// endregion

// region: ring
constexpr int VEC = 16 / sizeof(DTYPE);
constexpr int UNROLL = CHUNK / (16 * THREADS);  // 16-byte pieces of a chunk for each thread

__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

__device__ void start_load(void* to, const void* from, unsigned bytes, unsigned long long* full) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(full)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     address(to)),
                 "l"(from), "r"(bytes), "r"(address(full))
                 : "memory");
}

__device__ void wait_for_load(unsigned long long* full, unsigned parity) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(address(full)),
        "r"(parity)
        : "memory");
}
// endregion

// region: chunk
union Piece {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Piece() {}
};

__device__ Pair add_chunk(Pair row, const unsigned char* chunk, int bytes) {
    Piece held[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        const int place = (k * THREADS + (int)threadIdx.x) * 16;
        if (place < bytes) {
            held[k].bits = *reinterpret_cast<const uint4*>(chunk + place);
        } else {
#pragma unroll
            for (int e = 0; e < VEC; ++e) held[k].element[e] = DTYPE(__int_as_float(0xff800000));  // -inf
        }
    }
    float m = row.m;
#pragma unroll
    for (int k = 0; k < UNROLL; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) m = fmaxf(m, float(held[k].element[e]));
    float d = row.d * __expf(row.m - m);
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        float sum = 0.0f;
#pragma unroll
        for (int e = 0; e < VEC; ++e) sum += __expf(float(held[k].element[e]) - m);
        d += sum;
    }
    return {m, d};
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
    cross_entropy_ring(const DTYPE* logits, const long long* target, float* loss, int M, int N) {
    extern __shared__ __align__(128) unsigned char ring[];
    __shared__ unsigned long long full[STAGES];
    const unsigned row_bytes = N % VEC == 0 ? N * (unsigned)sizeof(DTYPE) : 0;
    const int chunks = (row_bytes + CHUNK - 1) / CHUNK;  // of a row; the last one may be shorter
    const int rows = (M - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x;

    const auto size = [&](int chunk) { return min((unsigned)CHUNK, row_bytes - chunk * CHUNK); };
    int next_row = blockIdx.x, next_chunk = 0, asked = 0;
    const auto load_next = [&] {  // thread 0 only
        if (next_row >= M || chunks == 0) return;
        const char* from = reinterpret_cast<const char*>(logits + (long long)next_row * N) + next_chunk * CHUNK;
        start_load(ring + asked % STAGES * CHUNK, from, size(next_chunk), &full[asked % STAGES]);
        ++asked;
        if (++next_chunk == chunks) next_chunk = 0, next_row += gridDim.x;
    };

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&full[stage])) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        for (int stage = 0; stage < STAGES; ++stage) load_next();
    }
    __syncthreads();

    int used = 0;
    for (int i = 0; i < rows; ++i) {
        const long long r = blockIdx.x + i * (long long)gridDim.x;
        float correct = 0.0f;
        if (threadIdx.x == 0) correct = float(logits[r * N + target[r]]);
        Pair row = NOTHING;
        for (int chunk = 0; chunk < chunks; ++chunk, ++used) {
            wait_for_load(&full[used % STAGES], used / STAGES % 2);
            row = add_chunk(row, ring + used % STAGES * CHUNK, size(chunk));
            __syncthreads();  // everybody has read the chunk: its place is free
            if (threadIdx.x == 0) load_next();
        }
        for (int k = row_bytes / sizeof(DTYPE) + threadIdx.x; k < N; k += THREADS)
            row = merge(row, {float(logits[r * N + k]), 1.0f});
        row = across_block(row);
        if (threadIdx.x == 0) loss[r] = logf(row.d) + (row.m - correct);
    }
}
// endregion
