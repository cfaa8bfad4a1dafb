#include <cuda_bf16.h>

// Several short rows in one block, each in the registers of WARPS warps.
//
// An SM holds at most 32 blocks.  At 512 columns of bfloat16 a row is 1 KB and needs one warp, so with a row a block an
// SM has 32 warps of the 64 that fit, and one start and one end of a block for every KB.  With four rows a block has
// 128 threads, and sixteen blocks fill the SM.
// The rest is as in `registers`: a row in one read and one write, 16-byte pieces, all of them under way before the first
// is used.  A row in one warp needs no barrier.  Rows of three warps and more get a block each, as before.

// region: pieces
constexpr int LANES = 32 * WARPS;  // of a row
constexpr int VEC = 16 / sizeof(DTYPE);
constexpr int CHUNKS = (COLUMNS + VEC * LANES - 1) / (VEC * LANES);  // of 16 bytes, for each thread
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
        if (column < COLUMNS) chunk.bits = *reinterpret_cast<const uint4*>(row + column);
    } else {
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            if (column + e < COLUMNS) chunk.element[e] = row[column + e];
    }
    return chunk;
}

__device__ void store(DTYPE* row, int column, Chunk chunk) {
    if constexpr (COLUMNS % VEC == 0) {
        if (column < COLUMNS) *reinterpret_cast<uint4*>(row + column) = chunk.bits;
    } else {
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            if (column + e < COLUMNS) row[column + e] = chunk.element[e];
    }
}
// endregion

// region: reduce
// Every thread of a row gets the row's result; `warps` has a place for each warp of the block.
template <typename Combine>
__device__ float across_row(float value, Combine combine, float nothing, float* warps) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value = combine(value, __shfl_xor_sync(0xffffffff, value, lane));
    if constexpr (WARPS == 1) return value;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) warps[warp] = value;
    __syncthreads();
    value = lane < WARPS ? warps[warp / WARPS * WARPS + lane] : nothing;
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value = combine(value, __shfl_xor_sync(0xffffffff, value, lane));
    return value;
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(LANES * ROWS) softmax_rows(const DTYPE* x, DTYPE* y, long long M) {
    __shared__ float largests[WARPS * ROWS], sums[WARPS * ROWS];  // two, so that no barrier is needed between them
    const long long row = blockIdx.x * (long long)ROWS + threadIdx.x / LANES;
    const bool inside = row < M;  // the last block may have rows to spare: they take part in the barriers only
    x += row * COLUMNS;
    y += row * COLUMNS;
    const auto column = [](int k) { return (k * LANES + (int)threadIdx.x % LANES) * VEC; };

    Chunk chunks[CHUNKS];
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) chunks[k] = load(x, inside ? column(k) : COLUMNS);

    float values[CHUNKS][VEC], largest = LOWEST;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) {
            values[k][e] = float(chunks[k].element[e]);
            largest = fmaxf(largest, values[k][e]);
        }
    largest = across_row(largest, [](float a, float b) { return fmaxf(a, b); }, LOWEST, largests);

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) sum += values[k][e] = __expf(values[k][e] - largest);
    sum = across_row(sum, [](float a, float b) { return a + b; }, 0.0f, sums);

    const float scale = 1.0f / sum;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
#pragma unroll
        for (int e = 0; e < VEC; ++e) chunks[k].element[e] = DTYPE(values[k][e] * scale);
        store(y, inside ? column(k) : COLUMNS, chunks[k]);
    }
}
// endregion
