// The kernel of double_buffered.cu, with its blocks in another order.
//
// Blocks that run at the same time read the same rows of A and columns of B, and L2 serves all but the first of them.
// About 264 blocks run at a time.  In order of rows these are 264 / 32 = 8 rows of tiles at 4096, and all 32 columns.
// Here a group of GROUP rows of tiles is gone through column by column: at 4096 that is 8 rows and 32 columns again.
// So DRAM reads no less: on an H100 392 MB, where double_buffered.cu reads 385 MB.  The time is 1 % less, but the
// compiler makes another loop, too: it has 1175 instructions instead of 1201.
// A block needs 256 numbers for 16384 multiply-adds.  Even if each came from memory, that would be 1024 bytes in 128
// clocks for an SM and 2.1 TB/s for all.  The memory of an H200 gives twice this rate, and that of an H100 1.5 times.

// region: tile
constexpr int ROWS = 128, COLUMNS = 128, DEPTH = 8, THREADS = 128;
constexpr int STAGES = 4;        // slices of K in shared memory; all but one are under way
constexpr int PITCH = ROWS + 4;  // of a step of A: 8 steps of 4 rows fall into 32 different banks
constexpr int GROUP = 8;         // rows of tiles that neighbouring blocks share

struct Slice {
    float a[DEPTH][PITCH], b[DEPTH][COLUMNS];
};

union Four {
    float4 all;
    float element[4];
    __device__ Four() {}
};
// endregion

// region: load
// cp.async: N bytes from global to shared memory, past the registers; zeros when not inside.
template <int N>
__device__ void copy(float* to, const float* from, bool inside) {
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    const int size = inside ? N : 0;
    if constexpr (N == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(size) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(size) : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int PENDING>
__device__ void wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

// The slice from step k on.  A number beyond the last row of A or column of B is replaced by one that is there: what
// comes of it is not stored.  A number beyond the last step is replaced by zero.
template <bool ALIGNED>
__device__ void load(Slice& to, const float* a, const float* b, int top, int left, int k, int M, int N, int K) {
    const int step = threadIdx.x % DEPTH, row = threadIdx.x / DEPTH;
#pragma unroll
    for (int i = 0; i < ROWS; i += THREADS / DEPTH)
        copy<4>(&to.a[step][row + i], a + (long long)min(top + row + i, M - 1) * K + k + step, k + step < K);
    constexpr int WIDTH = ALIGNED ? 4 : 1, ACROSS = COLUMNS / WIDTH;
    const int column = threadIdx.x % ACROSS * WIDTH, first = threadIdx.x / ACROSS;
    const float* from_b = b + (long long)first * N + min(left + column, N - WIDTH);
#pragma unroll ALIGNED ? DEPTH : 1
    for (int i = 0; i < DEPTH; i += THREADS / ACROSS)
        copy<4 * WIDTH>(&to.b[first + i][column], from_b + (long long)(k + i) * N, k + first + i < K);
}
// endregion

// region: multiply
// What a thread needs for one step: its 8 rows of A and 16 columns of B.
struct Fragment {
    Four a[2], b[4];
};

__device__ Four read(const float* shared) {
    Four four;
    four.all = *reinterpret_cast<const float4*>(shared);
    return four;
}

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

// region: store
template <bool ALIGNED>
__device__ void store(float* c, const float (&sums)[8][16], int top, int left, int M, int N) {
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 16; j += 4) {
            const int row = top + i / 4 * 32 + i % 4, column = left + 4 * j;
            float* to = c + (long long)row * N + column;
            Four four;
#pragma unroll
            for (int e = 0; e < 4; ++e) four.element[e] = sums[i][j + e];
            if (row >= M || column >= N) continue;
            if constexpr (ALIGNED)
                *reinterpret_cast<float4*>(to) = four.all;
            else
                for (int e = 0; e < 4; ++e)
                    if (column + e < N) to[e] = four.element[e];
        }
}
// endregion

// region: kernel
template <bool ALIGNED>
__device__ void product(Slice* ring, const float* a, const float* b, float* c, int top, int left, int M, int N, int K) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;  // a warp: 64 x 64, as 8 x 4 threads
    const int our_top = warp % 2 * 64 + lane / 4 * 4, our_left = warp / 2 * 64 + lane % 4 * 4;
    const unsigned slices = (K + DEPTH - 1) / DEPTH;
    const auto start = [&](unsigned slice) {  // an empty group when there is no such slice, so that groups and slices agree
        if (slice < slices) load<ALIGNED>(ring[slice % STAGES], a, b, top, left, slice * DEPTH, M, N, K);
        commit();
    };

    const auto arrive = [&] {  // all but the newest STAGES - 2 slices are there, for every thread
        wait<STAGES - 2>();
        __syncthreads();
    };

    float sums[8][16] = {};
    for (unsigned slice = 0; slice < STAGES - 1; ++slice) start(slice);
    arrive();
    Fragment ours[2] = {fragment(ring[0], 0, our_top, our_left)};
    for (unsigned slice = 0; slice < slices; ++slice) {
#pragma unroll
        for (int step = 0; step < DEPTH; ++step) {
            if (step < DEPTH - 1) {
                ours[(step + 1) % 2] = fragment(ring[slice % STAGES], step + 1, our_top, our_left);
            } else {
                arrive();
                ours[0] = fragment(ring[(slice + 1) % STAGES], 0, our_top, our_left);
            }
            if (step == 0) start(slice + STAGES - 1);
            multiply(sums, ours[step % 2]);
        }
    }
    store<ALIGNED>(c, sums, top + our_top, left + our_left, M, N);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    matmul_block_order(const float* a, const float* b, float* c, long long M, long long N, long long K) {
    __shared__ __align__(16) Slice ring[STAGES];
    // Blocks go down GROUP rows of tiles before the next column of tiles.
    const int across = (N + COLUMNS - 1) / COLUMNS, down = (M + ROWS - 1) / ROWS;
    const int first = blockIdx.x / (GROUP * across) * GROUP, height = min(down - first, GROUP);
    const int top = (first + blockIdx.x % (GROUP * across) % height) * ROWS;
    const int left = blockIdx.x % (GROUP * across) / height * COLUMNS;
    const bool aligned = N % 4 == 0 && ((size_t)b | (size_t)c) % 16 == 0;
    if (aligned)
        product<true>(ring, a, b, c, top, left, M, N, K);
    else
        product<false>(ring, a, b, c, top, left, M, N, K);
}
// endregion
