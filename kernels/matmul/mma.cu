#include <cuda_bf16.h>

// bfloat16 on the tensor cores, by the instruction of one warp: mma.sync m16n8k16, sums in float32.
//
// A block computes 128 x 256 of C with eight warps of 64 x 64, whose sums are 128 registers a thread.  For 16 steps
// along K the eight warps read 32 KB of shared memory, 256 clocks, and do 256 mma, which at the full speed of the
// tensor cores would be 256 clocks too.  On Hopper only wgmma reaches that speed, and it reads shared memory by itself;
// mma.sync is said to get a little over 60 % of it.  This kernel gets 38 %: at 4096 it takes 665 000 clocks on an H100,
// and wgmma at full speed would take 254 000.
// STAGES slices of K lie in shared memory, three of them under way while one is multiplied.  cp.async brings them in
// pieces of 16 bytes, which are put where eight rows of the same column fall into different banks.
// Rows that are no multiple of 16 bytes long are loaded an element at a time: right, and slow.

// region: tile
constexpr int ROWS = 128, COLUMNS = 256, DEPTH = 64, THREADS = 256;
constexpr int VEC = 8;                           // elements of 16 bytes
constexpr int STAGE = (ROWS + COLUMNS) * DEPTH;  // elements of both slices
constexpr int GROUP = 8;                         // rows of tiles that neighbouring blocks share

using Element = DTYPE;

// Where the 16 bytes at (row, piece) lie in a slice with WIDTH pieces a row.
template <int WIDTH>
__device__ int place(int row, int piece) {
    return (row * WIDTH + (piece ^ row % 8)) * VEC;
}
// endregion

// region: load
__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

__device__ void copy_16_bytes(Element* to, const Element* from, bool inside) {  // zeros when not
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address(to)), "l"(from), "r"(inside ? 16 : 0)
                 : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int PENDING>
__device__ void wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

// HEIGHT x WIDTH pieces from (top, left) of a matrix of height x width elements; zeros beyond its edges.
template <int HEIGHT, int WIDTH, bool ALIGNED>
__device__ void load_slice(Element* to, const Element* from, int top, int left, int height, int width) {
    constexpr int DOWN = THREADS / WIDTH;  // rows that all threads load at once: a multiple of 8, so places stay alike
    const int row = threadIdx.x / WIDTH, column = threadIdx.x % WIDTH * VEC;
    to += place<WIDTH>(row, threadIdx.x % WIDTH);
    from += (long long)(top + row) * width + left + column;
    const bool across = left + column < width;
#pragma unroll ALIGNED ? HEIGHT / DOWN : 1
    for (int i = 0; i < HEIGHT; i += DOWN) {
        const bool inside = top + row + i < height;
        const Element* source = from + (long long)i * width;
        Element* piece = to + i * WIDTH * VEC;
        if constexpr (ALIGNED)
            copy_16_bytes(piece, source, inside && across);
        else
            for (int e = 0; e < VEC; ++e) piece[e] = inside && left + column + e < width ? source[e] : Element(0.0f);
    }
}
// endregion

// region: multiply
__device__ void load_a(unsigned (&a)[4], const Element* place) {  // 16 x 16, rows along M
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(address(place))
                 : "memory");
}

__device__ void load_b(unsigned (&left)[2], unsigned (&right)[2], const Element* place) {  // 16 x 8 twice, rows along K
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(left[0]), "=r"(left[1]), "=r"(right[0]), "=r"(right[1])
                 : "r"(address(place))
                 : "memory");
}

__device__ void mma(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// One slice: 64 x 64 of the sums, of the warp at (top, left) of the tile.
__device__ void multiply(float (&sums)[4][8][4], const Element* slice_a, const Element* slice_b, int top, int left) {
    const int row = threadIdx.x % 16, half = threadIdx.x % 32 / 16;  // where this lane's address of an ldmatrix points
#pragma unroll
    for (int k = 0; k < DEPTH; k += 16) {
        unsigned a[4][4], b[8][2];
#pragma unroll
        for (int i = 0; i < 4; ++i) load_a(a[i], slice_a + place<DEPTH / VEC>(top + i * 16 + row, k / VEC + half));
#pragma unroll
        for (int j = 0; j < 8; j += 2)
            load_b(b[j], b[j + 1], slice_b + place<COLUMNS / VEC>(k + row, left / VEC + j + half));
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 8; ++j) mma(sums[i][j], a[i], b[j]);
    }
}
// endregion

// region: store
// A lane holds two neighbours in a row, and two more eight rows below.
__device__ void store(Element* c, const float (&sums)[4][8][4], int top, int left, int M, int N) {
    const bool pairs = N % 2 == 0 && (size_t)c % 4 == 0;
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int row = top + i * 8 + lane / 4;
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            const int column = left + j * 8 + lane % 4 * 2;
            const float first = sums[i / 2][j][i % 2 * 2], second = sums[i / 2][j][i % 2 * 2 + 1];
            Element* to = c + (long long)row * N + column;
            if (row >= M || column >= N) continue;
            if (pairs) {
                *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(first, second);
            } else {
                to[0] = Element(first);
                if (column + 1 < N) to[1] = Element(second);
            }
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
            load_slice<ROWS, DEPTH / VEC, ALIGNED>(stage, a, top, slice * DEPTH, M, K);
            load_slice<DEPTH, COLUMNS / VEC, ALIGNED>(stage + ROWS * DEPTH, b, slice * DEPTH, left, K, N);
        }
        commit();
    };

    const int warp = threadIdx.x / 32, warp_top = warp % 2 * 64, warp_left = warp / 2 * 64;
    float sums[4][8][4] = {};
    for (int slice = 0; slice < STAGES - 1; ++slice) load(slice);
    for (int slice = 0; slice < slices; ++slice) {
        wait<STAGES - 2>();
        __syncthreads();  // everybody's part of this slice is there, and everybody is done with the one before
        load(slice + STAGES - 1);
        const Element* stage = ring + slice % STAGES * STAGE;
        multiply(sums, stage, stage + ROWS * DEPTH, warp_top, warp_left);
    }
    store(c, sums, top + warp_top, left + warp_left, M, N);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    matmul_mma(const Element* a, const Element* b, Element* c, long long M, long long N, long long K) {
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
