#include <cuda_bf16.h>

// A row in the registers of one block: one read and one write of M·N elements.
//
// Each thread holds a few 16-byte pieces of the row.  All of them are under way before the first is used.  The mean and
// the squared distances from it then come from registers, so the variance is as exact as with three passes.  A block
// that reduces loads nothing, so several blocks have to share an SM: at 8192 columns of float32 a row is 32 KB in 1024
// threads, and two fit.
// A row of 65536 columns does not fit: a thread has 64 registers and spills 304 bytes in float32, 224 in
// bfloat16, so DRAM moves more than the elements.  In float32 it writes 1.2 GB instead of 0.54 on an H100.
// `ld.global.cg` keeps the row out of L1, where the weights of 64 KB stay for the next block on the same SM.
// The file is compiled for the row's length, COLUMNS.  Rows whose length is no multiple of 16 bytes may begin anywhere,
// and are loaded an element at a time.

// region: pieces
constexpr float EPSILON = 1e-5f;
constexpr int VEC = 16 / sizeof(DTYPE);
constexpr int CHUNKS = (COLUMNS + VEC * THREADS - 1) / (VEC * THREADS);  // of 16 bytes, for each thread
constexpr bool FULL = COLUMNS % (VEC * THREADS) == 0;

union Chunk {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Chunk() {}
};

template <bool ONCE>  // whether nobody reads it again
__device__ Chunk load(const DTYPE* row, int column) {
    Chunk chunk;
    chunk.bits = make_uint4(0, 0, 0, 0);
    if constexpr (COLUMNS % VEC == 0) {
        const uint4* from = reinterpret_cast<const uint4*>(row + column);
        if (FULL || column < COLUMNS) chunk.bits = ONCE ? __ldcg(from) : __ldg(from);
    } else {
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            if (column + e < COLUMNS) chunk.element[e] = row[column + e];
    }
    return chunk;
}

__device__ void store(DTYPE* row, int column, Chunk chunk) {
    if constexpr (COLUMNS % VEC == 0) {
        if (FULL || column < COLUMNS) *reinterpret_cast<uint4*>(row + column) = chunk.bits;
    } else {
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            if (column + e < COLUMNS) row[column + e] = chunk.element[e];
    }
}

// Tells the compiler that the bits may have changed, so that it converts them again where they are used next.  It would
// keep every element as a float instead, which takes twice the registers in bfloat16.
__device__ void keep_packed(Chunk& chunk) {
    asm volatile("" : "+r"(chunk.bits.x), "+r"(chunk.bits.y), "+r"(chunk.bits.z), "+r"(chunk.bits.w));
}
// endregion

// region: reduce
__device__ float warp_sum(float value) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffff, value, lane);
    return value;
}

__device__ float block_sum(float value, float* warps) {  // every thread gets the result
    value = warp_sum(value);
    if constexpr (THREADS == 32) return value;
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    return warp_sum(threadIdx.x % 32 < THREADS / 32 ? warps[threadIdx.x % 32] : 0.0f);
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
    layernorm_registers(const DTYPE* x, const DTYPE* w, const DTYPE* b, DTYPE* y) {
    __shared__ float sums[THREADS / 32], squares[THREADS / 32];  // two, so that no barrier is needed between them
    x += blockIdx.x * (long long)COLUMNS;
    y += blockIdx.x * (long long)COLUMNS;
    const auto column = [](int k) { return (k * THREADS + (int)threadIdx.x) * VEC; };

    Chunk chunks[CHUNKS];
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) chunks[k] = load<true>(x, column(k));

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) sum += float(chunks[k].element[e]);
    const float mean = block_sum(sum, sums) / COLUMNS;

#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) keep_packed(chunks[k]);
    float square = 0.0f;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) {
            const float distance = float(chunks[k].element[e]) - mean;
            square += FULL || column(k) + e < COLUMNS ? distance * distance : 0.0f;
        }
    const float scale = rsqrtf(block_sum(square, squares) / COLUMNS + EPSILON);
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) keep_packed(chunks[k]);

#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
        const Chunk weights = load<false>(w, column(k)), biases = load<false>(b, column(k));
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            chunks[k].element[e] = DTYPE((float(chunks[k].element[e]) - mean) * scale * float(weights.element[e]) +
                                         float(biases.element[e]));
        store(y, column(k), chunks[k]);
    }
}
// endregion
