// One thread computes one number of C.  Neighbouring threads take neighbouring rows.
//
// A thread reads a row of A and a column of B: two loads for each multiply-add.  The 32 threads of a warp have 16 rows
// and 2 columns.  Their load of A touches 16 rows, which lie in 16 different lines of 128 bytes; their load of B touches
// one line.  The L1 cache looks up one line in a clock, so 32 multiply-adds take 17 clocks.  The arithmetic units of an
// SM do 128 multiply-adds in one clock, so they would need a quarter of a clock: 0.25 / 17 = 1.5 % of the peak.

// region: kernel
constexpr int TILE = 16;  // a block computes TILE x TILE numbers of C

extern "C" __global__ void __launch_bounds__(TILE* TILE)
    matmul_naive(const float* a, const float* b, float* c, long long M, long long N, long long K) {
    const long long row = (long long)blockIdx.y * TILE + threadIdx.x % TILE;
    const long long column = (long long)blockIdx.x * TILE + threadIdx.x / TILE;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (long long k = 0; k < K; ++k) sum += a[row * K + k] * b[k * N + column];
    c[row * N + column] = sum;
}
// endregion
