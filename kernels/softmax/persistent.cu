#include <cuda_bf16.h>

// A block that stays: while it reduces and stores a row, the copy engine loads its next rows into shared memory.
//
// Each block owns a ring of STAGES rows in shared memory.  One thread asks for a row with one `cp.async.bulk`, which
// reports to a barrier, and asks again for the place of a row as soon as every thread holds its part in registers.  So
// loads do not pause while a block reduces, and no block starts or ends in between.
// The traffic is that of `registers`, one read and one write.  Rows that fit no ring (STAGES is 0), or whose length is
// no multiple of 16 bytes, take three passes instead.
// The file is compiled for the row's length, COLUMNS.

// region: pieces
constexpr int VEC = 16 / sizeof(DTYPE);
constexpr int CHUNKS = (COLUMNS + VEC * THREADS - 1) / (VEC * THREADS);  // of 16 bytes, for each thread
constexpr unsigned ROW_BYTES = COLUMNS * sizeof(DTYPE);
constexpr bool RING = STAGES > 0 && ROW_BYTES % 16 == 0;
constexpr float LOWEST = -3.402823466e38f;  // not -inf: -inf - -inf is NaN; a row of -inf gives NaN anyway, by 0 / 0

union Chunk {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Chunk() {}
};
// endregion

// region: ring
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

__device__ void open_ring(unsigned long long* full) {  // one thread's work
    for (int stage = 0; stage < STAGES; ++stage)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&full[stage])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// endregion

// region: reduce
template <typename Combine>
__device__ float across_block(float value, Combine combine, float nothing, float* warps) {  // every thread gets it
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value = combine(value, __shfl_xor_sync(0xffffffff, value, lane));
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % 32 < THREADS / 32 ? warps[threadIdx.x % 32] : nothing;
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value = combine(value, __shfl_xor_sync(0xffffffff, value, lane));
    return value;
}

__device__ float block_max(float value, float* warps) {
    return across_block(value, [](float a, float b) { return fmaxf(a, b); }, LOWEST, warps);
}

__device__ float block_sum(float value, float* warps) {
    return across_block(value, [](float a, float b) { return a + b; }, 0.0f, warps);
}
// endregion

// region: row
// Softmax of a row in shared memory.  `release` runs when every thread has taken its part out of it.
template <typename Release>
__device__ void softmax_row(const unsigned char* row, DTYPE* y, float* largests, float* sums, Release release) {
    const auto place = [](int k) { return k * THREADS + (int)threadIdx.x; };  // of a 16-byte piece
    float values[CHUNKS][VEC], largest = LOWEST;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
        Chunk chunk;
        const bool inside = place(k) * VEC < COLUMNS;
        if (inside) chunk.bits = reinterpret_cast<const uint4*>(row)[place(k)];
#pragma unroll
        for (int e = 0; e < VEC; ++e) {
            values[k][e] = inside ? float(chunk.element[e]) : __int_as_float(0xff800000);  // -inf
            largest = fmaxf(largest, values[k][e]);
        }
    }
    largest = block_max(largest, largests);
    release();  // the barrier within block_max came after every thread's last look at the row

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) sum += values[k][e] = __expf(values[k][e] - largest);
    const float scale = 1.0f / block_sum(sum, sums);
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
        Chunk chunk;
#pragma unroll
        for (int e = 0; e < VEC; ++e) chunk.element[e] = DTYPE(values[k][e] * scale);
        if (place(k) * VEC < COLUMNS) reinterpret_cast<uint4*>(y)[place(k)] = chunk.bits;
    }
}

// The same from memory, an element at a time.
__device__ void softmax_passes(const DTYPE* x, DTYPE* y, float* largests, float* sums) {
    float largest = LOWEST, sum = 0.0f;
    for (int i = threadIdx.x; i < COLUMNS; i += THREADS) largest = fmaxf(largest, float(x[i]));
    largest = block_max(largest, largests);
    for (int i = threadIdx.x; i < COLUMNS; i += THREADS) sum += __expf(float(x[i]) - largest);
    const float scale = 1.0f / block_sum(sum, sums);
    for (int i = threadIdx.x; i < COLUMNS; i += THREADS) y[i] = DTYPE(__expf(float(x[i]) - largest) * scale);
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS) softmax_persistent(const DTYPE* x, DTYPE* y, long long M) {
    // A row's maxima are read before the barrier of its sum, and its sums before that of the next row's maximum.
    __shared__ float largests[THREADS / 32], sums[THREADS / 32];
    if constexpr (RING) {
        extern __shared__ __align__(128) unsigned char ring[];
        __shared__ unsigned long long full[STAGES > 0 ? STAGES : 1];
        const auto load = [&](long long row, int stage) {
            if (row < M) start_load(ring + stage * ROW_BYTES, x + row * COLUMNS, ROW_BYTES, &full[stage]);
        };
        if (threadIdx.x == 0) {
            open_ring(full);
            for (int stage = 0; stage < STAGES; ++stage) load(blockIdx.x + stage * (long long)gridDim.x, stage);
        }
        __syncthreads();
        int stage = 0;
        unsigned parity = 0;
        for (long long row = blockIdx.x; row < M; row += gridDim.x) {
            wait_for_load(&full[stage], parity);
            softmax_row(ring + stage * ROW_BYTES, y + row * COLUMNS, largests, sums, [&] {
                if (threadIdx.x == 0) load(row + STAGES * (long long)gridDim.x, stage);
            });
            if (++stage == STAGES) stage = 0, parity ^= 1;
        }
    } else {
        for (long long row = blockIdx.x; row < M; row += gridDim.x)
            softmax_passes(x + row * COLUMNS, y + row * COLUMNS, largests, sums);
    }
}
// endregion
