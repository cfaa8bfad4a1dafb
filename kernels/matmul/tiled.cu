#include <cuda_bf16.h>

// float32 without tensor cores: 128 x 128 of C for a block, 8 x 8 of it for a thread.
//
// 2·M·N·K operations are M·N·K fused multiply-adds, of which an SM does 128 in a clock.  Each needs two numbers, and
// shared memory gives 32 in a clock, so a thread reads 8 rows and 8 columns, 16 numbers in four loads, for 64 of them.
// Every other instruction takes the place of 32 multiply-adds.  While a slice is multiplied, 2048 of 2348 instructions
// are multiply-adds, 87 %.  The copies of the next slice and the barrier are 98 more, which leaves 84 % of the peak at
// most.  The tile needs 256 numbers of L2 for 16384 multiply-adds, which is little.
// STAGES slices of K lie in shared memory, brought by cp.async; while one is multiplied the next ones are under way.
// Two blocks share an SM, with 128 registers for each thread, so that one works while the other waits at its barrier.
// Rows that are no multiple of 16 bytes long are loaded an element at a time.

// region: tile
constexpr int ROWS = 128, COLUMNS = 128, DEPTH = 32, THREADS = 256;
constexpr int VEC = 4;                                 // elements of 16 bytes
constexpr int PITCH = DEPTH + VEC;                     // of a row of A: four rows fall into different banks
constexpr int STAGE = ROWS * PITCH + DEPTH * COLUMNS;  // elements of both slices
constexpr int GROUP = 8;                               // rows of tiles that neighbouring blocks share

using Element = DTYPE;
// endregion

// region: load
__device__ void copy_16_bytes(Element* to, const Element* from, bool inside) {  // zeros when not
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(inside ? 16 : 0)
                 : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int PENDING>
__device__ void wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

// HEIGHT x WIDTH from (top, left) of a matrix of height x width; zeros beyond its edges.
template <int HEIGHT, int WIDTH, int STEP, bool ALIGNED>
__device__ void load_slice(Element* to, const Element* from, int top, int left, int height, int width) {
    constexpr int ACROSS = WIDTH / VEC, DOWN = THREADS / ACROSS;  // threads side by side; rows that all load at once
    const int row = threadIdx.x / ACROSS, column = threadIdx.x % ACROSS * VEC;
    to += row * STEP + column;
    from += (long long)(top + row) * width + left + column;
    const bool across = left + column < width;
#pragma unroll ALIGNED ? HEIGHT / DOWN : 1
    for (int i = 0; i < HEIGHT; i += DOWN) {
        const bool inside = top + row + i < height;
        const Element* source = from + (long long)i * width;
        if constexpr (ALIGNED)
            copy_16_bytes(to + i * STEP, source, inside && across);
        else
            for (int e = 0; e < VEC; ++e)
                to[i * STEP + e] = inside && left + column + e < width ? source[e] : Element(0.0f);
    }
}
// endregion

// region: multiply
union Four {
    float4 all;
    float element[4];
    __device__ Four() {}
};

__device__ Four read(const Element* place) {
    Four four;
    four.all = *reinterpret_cast<const float4*>(place);
    return four;
}

// A thread's rows are top, top + 4, …, top + 28, its columns left to left + 3 and left + 32 to left + 35.
__device__ void multiply(float (&sums)[8][8], const Element* slice_a, const Element* slice_b, int top, int left) {
#pragma unroll 2  // more would not fit into 128 registers
    for (int k = 0; k < DEPTH; k += 4) {
        Four a[8];  // four steps along K of each row
#pragma unroll
        for (int i = 0; i < 8; ++i) a[i] = read(slice_a + (top + 4 * i) * PITCH + k);
#pragma unroll
        for (int step = 0; step < 4; ++step) {
            const Four b[2] = {read(slice_b + (k + step) * COLUMNS + left),
                               read(slice_b + (k + step) * COLUMNS + left + 32)};
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) sums[i][j] = fmaf(a[i].element[step], b[j / 4].element[j % 4], sums[i][j]);
        }
    }
}
// endregion

// region: store
__device__ void store(Element* c, const float (&sums)[8][8], int top, int left, int M, int N) {
    const bool aligned = N % VEC == 0 && (size_t)c % 16 == 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; j += 4) {
            const int row = top + 4 * i, column = left + 8 * j;
            Element* to = c + (long long)row * N + column;
            const float* four = sums[i] + j;
            if (row >= M || column >= N) continue;
            if (aligned)
                *reinterpret_cast<float4*>(to) = make_float4(four[0], four[1], four[2], four[3]);
            else
                for (int e = 0; e < 4; ++e)
                    if (column + e < N) to[e] = four[e];
        }
    }
}
// endregion

// region: kernel
template <bool ALIGNED>
__device__ void product(const Element* a, const Element* b, Element* c, int M, int N, int K, int top, int left) {
    extern __shared__ __align__(128) unsigned char memory[];
    Element* ring = reinterpret_cast<Element*>(memory);
    const int slices = (K + DEPTH - 1) / DEPTH;
    const auto load = [&](int slice) {  // an empty group when there is none, so that groups and slices agree
        Element* stage = ring + slice % STAGES * STAGE;
        if (slice < slices) {
            load_slice<ROWS, DEPTH, PITCH, ALIGNED>(stage, a, top, slice * DEPTH, M, K);
            load_slice<DEPTH, COLUMNS, COLUMNS, ALIGNED>(stage + ROWS * PITCH, b, slice * DEPTH, left, K, N);
        }
        commit();
    };

    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;  // a warp: 32 x 64, as 4 x 8 threads
    const int our_top = warp % 4 * 32 + lane / 8, our_left = warp / 4 * 64 + lane % 8 * 4;
    float sums[8][8] = {};
    for (int slice = 0; slice < STAGES - 1; ++slice) load(slice);
    for (int slice = 0; slice < slices; ++slice) {
        wait<STAGES - 2>();
        __syncthreads();  // everybody's part of this slice is there, and everybody is done with the one before
        load(slice + STAGES - 1);
        const Element* stage = ring + slice % STAGES * STAGE;
        multiply(sums, stage, stage + ROWS * PITCH, our_top, our_left);
    }
    store(c, sums, top + our_top, left + our_left, M, N);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    matmul_tiled(const Element* a, const Element* b, Element* c, long long M, long long N, long long K) {
    // Blocks go down GROUP rows of tiles before the next column of tiles.
    const int across = (N + COLUMNS - 1) / COLUMNS, down = (M + ROWS - 1) / ROWS;
    const int first = blockIdx.x / (GROUP * across) * GROUP, height = min(down - first, GROUP);
    const int top = (first + blockIdx.x % (GROUP * across) % height) * ROWS;
    const int left = blockIdx.x % (GROUP * across) / height * COLUMNS;
    const bool aligned = N % VEC == 0 && K % VEC == 0 && ((size_t)a | (size_t)b) % 16 == 0;
    if (aligned)
        product<true>(a, b, c, M, N, K, top, left);
    else
        product<false>(a, b, c, M, N, K, top, left);
}
// endregion
