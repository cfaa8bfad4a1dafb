// A warp computes 64 x 64 numbers of C, and a thread 8 x 16 of them; a block computes 128 x 128 as before.
//
// What a tile is cut into is new.  In vectorised.cu a thread had 8 x 8 numbers and read 16 numbers for each 64
// multiply-adds; now it reads 24 for 128.  Shared memory gives 32 numbers in a clock: 24 clocks for a warp's step
// beside the 32 clocks that 128 multiply-adds take; in vectorised.cu it was 16 beside 16.  6 loads and 128
// multiply-adds are 134 instructions, 96 % of which are multiply-adds; of the whole loop 1024 of 1154 are, 89 %.  The
// 32 threads of a warp stand in 8 rows of 4, so that they share numbers: a warp needs 64 rows and 64 columns, 128
// numbers, where a warp of vectorised.cu needed 16 rows and 128 columns for half the multiply-adds.  The price is
// registers: 128 for the sums, so that only 8 warps fit on an SM instead of 16.

// region: tile
constexpr int ROWS = 128, COLUMNS = 128, DEPTH = 8, THREADS = 128;

struct Slice {
    float a[DEPTH][ROWS + 4], b[DEPTH][COLUMNS];
};

union Four {
    float4 all;
    float element[4];
    __device__ Four() : all(make_float4(0.0f, 0.0f, 0.0f, 0.0f)) {}
};
// endregion

// region: access
// Four neighbours of a row from (row, column) on; zeros beyond the edges of a matrix of height x width.
template <bool ALIGNED>
__device__ Four load(const float* from, int row, int column, int height, int width) {
    Four four;
    const float* place = from + (long long)row * width + column;
    if (row >= height || column >= width) return four;
    if constexpr (ALIGNED)
        four.all = *reinterpret_cast<const float4*>(place);
    else
        for (int e = 0; e < 4; ++e)
            if (column + e < width) four.element[e] = place[e];
    return four;
}

template <bool ALIGNED>
__device__ void store(float* to, const Four& four, int row, int column, int height, int width) {
    float* place = to + (long long)row * width + column;
    if (row >= height || column >= width) return;
    if constexpr (ALIGNED)
        *reinterpret_cast<float4*>(place) = four.all;
    else
        for (int e = 0; e < 4; ++e)
            if (column + e < width) place[e] = four.element[e];
}

__device__ Four read(const float* shared) {
    Four four;
    four.all = *reinterpret_cast<const float4*>(shared);
    return four;
}
// endregion

// region: multiply
// What a thread needs for one step: its 8 rows of A and 16 columns of B.
struct Fragment {
    Four a[2], b[4];
};

__device__ Fragment fragment(const Slice& slice, int step, int top, int left) {
    Fragment ours;
#pragma unroll
    for (int i = 0; i < 2; ++i) ours.a[i] = read(&slice.a[step][top + 32 * i]);
#pragma unroll
    for (int j = 0; j < 4; ++j) ours.b[j] = read(&slice.b[step][left + 16 * j]);
    return ours;
}

__device__ void multiply(float (&sums)[8][16], const Fragment& ours) {
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 16; ++j)
            sums[i][j] = fmaf(ours.a[i / 4].element[i % 4], ours.b[j / 4].element[j % 4], sums[i][j]);
}
// endregion

// region: kernel
template <bool ALIGNED>
__device__ void product(Slice& slice, const float* a, const float* b, float* c, int M, int N, int K) {
    const int top = blockIdx.y * ROWS, left = blockIdx.x * COLUMNS;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;  // a warp: 64 x 64, as 8 x 4 threads
    const int our_top = warp % 2 * 64 + lane / 4 * 4, our_left = warp / 2 * 64 + lane % 4 * 4;
    const int row_a = threadIdx.x / 2, step_a = threadIdx.x % 2 * 4;       // this thread's first numbers of a slice of A
    const int step_b = threadIdx.x / 32, column_b = threadIdx.x % 32 * 4;  // and of B; the others lie half a slice on
    float sums[8][16] = {};
    for (int k = 0; k < K; k += DEPTH) {
        Four from_a[2], from_b[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            from_a[i] = load<ALIGNED>(a, top + row_a + i * (ROWS / 2), k + step_a, M, K);
            from_b[i] = load<ALIGNED>(b, k + step_b + i * (DEPTH / 2), left + column_b, K, N);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int e = 0; e < 4; ++e) slice.a[step_a + e][row_a + i * (ROWS / 2)] = from_a[i].element[e];
            *reinterpret_cast<float4*>(&slice.b[step_b + i * (DEPTH / 2)][column_b]) = from_b[i].all;
        }
        __syncthreads();
#pragma unroll
        for (int step = 0; step < DEPTH; ++step) multiply(sums, fragment(slice, step, our_top, our_left));
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 16; j += 4) {
            Four four;
#pragma unroll
            for (int e = 0; e < 4; ++e) four.element[e] = sums[i][j + e];
            store<ALIGNED>(c, four, top + our_top + i / 4 * 32 + i % 4, left + our_left + 4 * j, M, N);
        }
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    matmul_warp_tile(const float* a, const float* b, float* c, long long M, long long N, long long K) {
    __shared__ __align__(16) Slice slice;
    const bool aligned = N % 4 == 0 && K % 4 == 0 && ((size_t)a | (size_t)b | (size_t)c) % 16 == 0;
    if (aligned)
        product<true>(slice, a, b, c, M, N, K);
    else
        product<false>(slice, a, b, c, M, N, K);
}
// endregion
