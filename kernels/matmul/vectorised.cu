// The tiles of register_tile.cu, loaded and stored 16 bytes at a time.
//
// A thread's 8 rows and 8 columns are now two groups of four neighbours, so that one 16-byte load brings four of them:
// 4 loads from shared memory for 64 multiply-adds instead of 16.  A step has 68 instructions instead of 80, and 94 % of
// them are multiply-adds; of the whole loop 512 of 589 are, 87 %.  One 16-byte load brings a thread's part of a slice
// of A and one its part of B, instead of four each.  The bytes are the same as before, and so are the clocks that
// shared memory needs for them.
// Rows that are no multiple of 16 bytes long are loaded and stored an element at a time.

// region: tile
constexpr int ROWS = 128, COLUMNS = 128, DEPTH = 8, THREADS = 256;
constexpr int SIDE = 16;  // the threads stand in SIDE rows of SIDE

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

// region: kernel
struct Slices {
    float a[DEPTH][ROWS + 4], b[DEPTH][COLUMNS];
};

template <bool ALIGNED>
__device__ void product(Slices& slices, const float* a, const float* b, float* c, int M, int N, int K) {
    const int top = blockIdx.y * ROWS, left = blockIdx.x * COLUMNS;
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    const int row_a = threadIdx.x / 2, step_a = threadIdx.x % 2 * 4;         // this thread's four numbers of a slice of A
    const int step_b = threadIdx.x / 32, column_b = threadIdx.x % 32 * 4;  // and of B
    Four sums[8][2];
    for (int k = 0; k < K; k += DEPTH) {
        const Four from_a = load<ALIGNED>(a, top + row_a, k + step_a, M, K);
        const Four from_b = load<ALIGNED>(b, k + step_b, left + column_b, K, N);
#pragma unroll
        for (int e = 0; e < 4; ++e) slices.a[step_a + e][row_a] = from_a.element[e];
        *reinterpret_cast<float4*>(&slices.b[step_b][column_b]) = from_b.all;
        __syncthreads();
#pragma unroll
        for (int step = 0; step < DEPTH; ++step) {
            const Four ours_a[2] = {read(&slices.a[step][y * 4]), read(&slices.a[step][ROWS / 2 + y * 4])};
            const Four ours_b[2] = {read(&slices.b[step][x * 4]), read(&slices.b[step][COLUMNS / 2 + x * 4])};
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    sums[i][j / 4].element[j % 4] += ours_a[i / 4].element[i % 4] * ours_b[j / 4].element[j % 4];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j)
            store<ALIGNED>(c, sums[i][j], top + i / 4 * (ROWS / 2) + y * 4 + i % 4, left + j * (COLUMNS / 2) + x * 4, M, N);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    matmul_vectorised(const float* a, const float* b, float* c, long long M, long long N, long long K) {
    __shared__ __align__(16) Slices slices;
    const bool aligned = N % 4 == 0 && K % 4 == 0 && ((size_t)a | (size_t)b | (size_t)c) % 16 == 0;
    if (aligned)
        product<true>(slices, a, b, c, M, N, K);
    else
        product<false>(slices, a, b, c, M, N, K);
}
// endregion
