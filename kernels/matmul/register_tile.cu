// One thread computes 8 x 8 numbers of C, which it keeps in 64 registers; a block computes 128 x 128.
//
// For each step along K a thread reads 8 numbers of A and 8 of B from shared memory and does 64 multiply-adds with
// them.  In shared.cu it read 2 numbers for one.  Shared memory gives 32 numbers in a clock and an SM does 128
// multiply-adds in a clock, so the 16 numbers and the 64 multiply-adds of 32 threads both take 16 clocks: neither waits
// long for the other.  A step has 80 instructions for 64 multiply-adds, 80 %.  The whole loop also loads the slices:
// 512 of its 760 instructions are multiply-adds, which leaves 67 % of the peak at most.  No load of global memory is
// under way while a block multiplies, so its latency shows at each slice of 8 steps, unless the other block on the SM
// multiplies then.
// A slice of A lies in shared memory with K as its first index.  Its rows are four numbers longer than the tile, so that
// the 8 x 4 numbers that a warp stores together fall into 32 different banks.

// region: tile
constexpr int ROWS = 128, COLUMNS = 128, DEPTH = 8, THREADS = 256;
constexpr int SIDE = 16;  // the threads stand in SIDE rows of SIDE; their numbers lie SIDE apart
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    matmul_register_tile(const float* a, const float* b, float* c, long long M, long long N, long long K) {
    __shared__ float slice_a[DEPTH][ROWS + 4], slice_b[DEPTH][COLUMNS];
    const long long top = (long long)blockIdx.y * ROWS, left = (long long)blockIdx.x * COLUMNS;
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    const int row_a = threadIdx.x / DEPTH, step_a = threadIdx.x % DEPTH;        // where this thread's first number of a
    const int step_b = threadIdx.x / COLUMNS, column_b = threadIdx.x % COLUMNS;  // slice of A lies, and of B
    float sums[8][8] = {};
    for (long long k = 0; k < K; k += DEPTH) {
#pragma unroll
        for (int i = 0; i < ROWS; i += THREADS / DEPTH) {
            const long long row = top + row_a + i;
            slice_a[step_a][row_a + i] = row < M && k + step_a < K ? a[row * K + k + step_a] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < DEPTH; i += THREADS / COLUMNS) {
            const long long step = k + step_b + i, column = left + column_b;
            slice_b[step_b + i][column_b] = step < K && column < N ? b[step * N + column] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int step = 0; step < DEPTH; ++step) {
            float ours_a[8], ours_b[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) ours_a[i] = slice_a[step][y + i * SIDE];
#pragma unroll
            for (int j = 0; j < 8; ++j) ours_b[j] = slice_b[step][x + j * SIDE];
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) sums[i][j] += ours_a[i] * ours_b[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            const long long row = top + y + i * SIDE, column = left + x + j * SIDE;
            if (row < M && column < N) c[row * N + column] = sums[i][j];
        }
}
// endregion
