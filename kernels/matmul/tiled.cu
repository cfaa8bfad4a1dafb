#include <cuda_bf16.h>

// float32 without tensor cores: 128 x 128 of C for a block, 8 x 8 of it for a thread.
//
// 2·M·N·K operations are M·N·K fused multiply-adds, of which an SM does 128 in a clock.  They wait for shared memory
// first: a multiply-add needs two numbers, and an SM reads 32 in a clock.  A thread that holds 8 rows and 8 columns
// needs 16 numbers for 64 multiply-adds, in four loads of 16 bytes, and its neighbours in the warp ask for the same
// ones: half of what shared memory can do.  The tile needs 256 numbers of L2 for 16384 multiply-adds.
// STAGES slices of K lie in shared memory, brought by cp.async; while one is multiplied the next ones are under way.  Two
// blocks share an SM, so that one works while the other waits at its barrier.
// Rows that are no multiple of 16 bytes long are loaded an element at a time.

// region: tile
constexpr int ROWS = 128, COLUMNS = 128, DEPTH = 16, THREADS = 256;
constexpr int VEC = 4;                                     // elements of 16 bytes
constexpr int PITCH = DEPTH + VEC;                         // of a row of A: four rows fall into different banks
constexpr int STAGE = ROWS * PITCH + DEPTH * COLUMNS;      // elements of both slices
constexpr int GROUP = 8;                                   // rows of tiles that neighbouring blocks share

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
    constexpr int ACROSS = WIDTH / VEC;
#pragma unroll ALIGNED ? HEIGHT * ACROSS / THREADS : 1
    for (int i = threadIdx.x; i < HEIGHT * ACROSS; i += THREADS) {
        const int row = top + i / ACROSS, column = left + i % ACROSS * VEC;
        Element* piece = to + i / ACROSS * STEP + i % ACROSS * VEC;
        const Element* source = from + (long long)row * width + column;
        if constexpr (ALIGNED) {
            const bool inside = row < height && column < width;
            copy_16_bytes(piece, inside ? source : from, inside);
        } else {
            for (int e = 0; e < VEC; ++e) piece[e] = row < height && column + e < width ? source[e] : Element(0.0f);
        }
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
#pragma unroll
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
            if (row >= M || column >= N) continue;
            if (aligned)
                *reinterpret_cast<float4*>(to) = make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
            else
                for (int e = 0; e < 4; ++e)
                    if (column + e < N) to[e] = sums[i][j + e];
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
    // Blocks walk down GROUP rows of tiles before the next column of tiles.
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
