#include <cuda_bf16.h>

// A row in the registers of one block: one read and one write of M·N elements.
//
// Each thread holds a few 16-byte pieces of the row, all of them under way before the first is used.  A block that
// reduces loads nothing, so several blocks have to share an SM: at 8192 columns of float32 a row is 32 KB in 1024
// threads, and two fit.  One of 1024 threads has 64 registers, so at 65536 columns, 64 values for each, some of them
// spill to memory, and at 131072 most.
// Compiled for the row's length, COLUMNS: an array in registers has no size at run time.
// Rows whose length is no multiple of 16 bytes start anywhere, and are loaded an element at a time.

// region: pieces
constexpr int VEC = 16 / sizeof(DTYPE);
constexpr int CHUNKS = (COLUMNS + VEC * THREADS - 1) / (VEC * THREADS);  // of 16 bytes, for each thread
constexpr bool FULL = COLUMNS % (VEC * THREADS) == 0;
constexpr float LOWEST = -3.402823466e38f;  // not -inf: -inf - -inf is NaN; a row of -inf gives NaN anyway, by 0 / 0

union Chunk {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Chunk() {}
};

__device__ Chunk load(const DTYPE* row, int column) {
    Chunk chunk;
#pragma unroll
    for (int e = 0; e < VEC; ++e) chunk.element[e] = DTYPE(__int_as_float(0xff800000));  // -inf
    if constexpr (COLUMNS % VEC == 0) {
        if (FULL || column < COLUMNS) chunk.bits = *reinterpret_cast<const uint4*>(row + column);
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
// endregion

// region: reduce
template <typename Combine>
__device__ float across_block(float value, Combine combine, float nothing) {  // every thread gets the result
    __shared__ float warps[THREADS / 32];
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value = combine(value, __shfl_xor_sync(0xffffffff, value, lane));
    if constexpr (THREADS == 32) return value;
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % 32 < THREADS / 32 ? warps[threadIdx.x % 32] : nothing;
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value = combine(value, __shfl_xor_sync(0xffffffff, value, lane));
    return value;
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS) softmax_registers(const DTYPE* x, DTYPE* y) {
    x += blockIdx.x * (long long)COLUMNS;
    y += blockIdx.x * (long long)COLUMNS;
    const auto column = [](int k) { return (k * THREADS + (int)threadIdx.x) * VEC; };

    Chunk chunks[CHUNKS];
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) chunks[k] = load(x, column(k));

    float values[CHUNKS][VEC], largest = LOWEST;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) {
            values[k][e] = float(chunks[k].element[e]);
            largest = fmaxf(largest, values[k][e]);
        }
    largest = across_block(largest, [](float a, float b) { return fmaxf(a, b); }, LOWEST);

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) sum += values[k][e] = __expf(values[k][e] - largest);
    sum = across_block(sum, [](float a, float b) { return a + b; }, 0.0f);

    const float scale = 1.0f / sum;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
#pragma unroll
        for (int e = 0; e < VEC; ++e) chunks[k].element[e] = DTYPE(values[k][e] * scale);
        store(y, column(k), chunks[k]);
    }
}
// endregion
