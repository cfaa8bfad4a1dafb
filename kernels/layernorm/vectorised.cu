#include <cuda_bf16.h>

// The three passes of `naive` with 16-byte loads and stores, and with shuffles instead of a tree.
//
// The row is read three times, but 512 threads have few rows in work on an SM: at 8192 columns of float32 four rows of
// 32 KB.  L1 or L2 serves most of the later passes: memory reads 5 % more than one read on an H100, and 2 % on an H200.
// At 65536 columns of float32 a row is 256 KB, and the rows in work are 138 MB, more than L2 has: the later passes go
// to memory.  In bfloat16 memory still reads 2.9 to 3 times what one read takes.

// region: pieces
constexpr float EPSILON = 1e-5f;
constexpr int VEC = 16 / sizeof(DTYPE);

union Chunk {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Chunk() {}
};

// Calls `use` for every element of this thread.  16 bytes a load, or an element a load where the rows
// are no multiple of 16 bytes long and may begin anywhere.
template <typename Use>
__device__ void for_each(const DTYPE* row, int N, Use use) {
    if (N % VEC == 0) {
#pragma unroll 4
        for (int piece = threadIdx.x; piece < N / VEC; piece += THREADS) {
            Chunk chunk;
            chunk.bits = reinterpret_cast<const uint4*>(row)[piece];
#pragma unroll
            for (int e = 0; e < VEC; ++e) use(float(chunk.element[e]));
        }
    } else {
        for (int i = threadIdx.x; i < N; i += THREADS) use(float(row[i]));
    }
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
    layernorm_vectorised(const DTYPE* x, const DTYPE* w, const DTYPE* b, DTYPE* y, int N) {
    __shared__ float sums[THREADS / 32], squares[THREADS / 32];  // two, so that no barrier is needed between them
    x += blockIdx.x * (long long)N;
    y += blockIdx.x * (long long)N;

    float sum = 0.0f;
    for_each(x, N, [&](float value) { sum += value; });
    const float mean = block_sum(sum, sums) / N;

    float square = 0.0f;
    for_each(x, N, [&](float value) { square += (value - mean) * (value - mean); });
    const float scale = rsqrtf(block_sum(square, squares) / N + EPSILON);

    if (N % VEC == 0) {
#pragma unroll 4
        for (int piece = threadIdx.x; piece < N / VEC; piece += THREADS) {
            Chunk chunk, weights, biases;
            chunk.bits = reinterpret_cast<const uint4*>(x)[piece];
            weights.bits = reinterpret_cast<const uint4*>(w)[piece];
            biases.bits = reinterpret_cast<const uint4*>(b)[piece];
#pragma unroll
            for (int e = 0; e < VEC; ++e)
                chunk.element[e] = DTYPE((float(chunk.element[e]) - mean) * scale * float(weights.element[e]) +
                                         float(biases.element[e]));
            reinterpret_cast<uint4*>(y)[piece] = chunk.bits;
        }
    } else {
        for (int i = threadIdx.x; i < N; i += THREADS)
            y[i] = DTYPE((float(x[i]) - mean) * scale * float(w[i]) + float(b[i]));
    }
}
// endregion
