#include <cuda_bf16.h>

// bfloat16 on the tensor cores, by the instruction of a warpgroup: wgmma m64n256k16, sums in float32.
//
// The main change from `mma` is the instruction.  The tile of 128 x 256, the ring of four slices and their loads by
// cp.async stay.  But only two slices are under way instead of three, because the slice before may still be multiplied.
// And GROUP is 16 instead of 8, so DRAM reads less: at 4096 on an H100 148 MB instead of 187 MB.
// mma.sync takes its operands from registers, so a warp first reads them from shared memory with ldmatrix.  wgmma takes
// them from shared memory by itself.  Four warps, a warpgroup, issue it together: 64 rows of A times 256 columns of B,
// 16 deep, in 128 clocks.  A block has two warpgroups, one for each half of the 128 rows.
// At 4096 operations a clock and SM, 2 x 4096^3 operations take 254 000 clocks on 132 SMs.
// Now the loads take time.  Each thread issues 12 cp.async for a slice and computes their addresses, and all threads
// meet at a barrier once a slice.
// Rows that are no multiple of 16 bytes long are loaded an element at a time: right, and slow.

// region: tile
constexpr int ROWS = 128, COLUMNS = 256, DEPTH = 64, THREADS = 256;
constexpr int VEC = 8;                           // elements of 16 bytes
constexpr int LINE = 64;                         // elements of 128 bytes, what the tensor cores take as a line
constexpr int PANEL = 64 * LINE * 2;             // bytes of 64 lines
constexpr int STAGE = (ROWS + COLUMNS) * DEPTH;  // elements of both slices
constexpr int GROUP = 16;                        // rows of tiles that neighbouring blocks share

using Element = DTYPE;
using uint64 = unsigned long long;  // the compiler of files without host code has no <cstdint>

// Where the 16 bytes at (line, piece) lie, in elements: the swizzle that wgmma expects.
__device__ int place(int line, int piece) { return line * LINE + (piece ^ line % 8) * VEC; }
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

// LINES lines of 64 elements from (top, left) of a matrix of height x width elements; zeros beyond its edges.
template <int LINES, bool ALIGNED>
__device__ void load_lines(Element* to, const Element* from, int top, int left, int height, int width) {
    constexpr int DOWN = THREADS / (LINE / VEC);  // lines that all threads load at once: a multiple of 8
    const int line = threadIdx.x / (LINE / VEC), column = threadIdx.x % (LINE / VEC) * VEC;
    to += place(line, threadIdx.x % (LINE / VEC));
    from += (long long)(top + line) * width + left + column;
    const bool across = left + column < width;
#pragma unroll ALIGNED ? LINES / DOWN : 1
    for (int i = 0; i < LINES; i += DOWN) {
        const bool inside = top + line + i < height;
        const Element* source = from + (long long)i * width;
        Element* piece = to + i * LINE;
        if constexpr (ALIGNED)
            copy_16_bytes(piece, source, inside && across);
        else
            for (int e = 0; e < VEC; ++e) piece[e] = inside && left + column + e < width ? source[e] : Element(0.0f);
    }
}
// endregion

// region: wgmma
// Describes a tile in shared memory to the tensor cores.  The tile consists of atoms of 8 lines of 128 bytes.  Piece p
// of line i, 16 bytes, lies at place `p ^ i` of that line, so that the pieces p of 8 lines lie in different banks.
// This is the 128-byte swizzle, number 1 in the two highest bits.  `along` is the distance in bytes from an atom to the
// next one in the direction of its lines, `across` the distance to the next 8 lines.  If lines run along K, `along` is
// not used.
__device__ uint64 descriptor(unsigned tile, int along, int across) {
    return (uint64)(tile >> 4 & 0x3fff) | (uint64)(along >> 4) << 16 | (uint64)(across >> 4) << 32 | 1ull << 62;
}

#define FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)

// d = a b, or d += a b when `add`: 64 x 16 times 16 x 256.  The four warps of a warpgroup issue it together and go on
// at once, while the tensor cores work on it.  The last two numbers say how the operands lie.  The lines of A run along
// K, which is the usual way (0).  The lines of B run along N, so B is read transposed (1).
__device__ void wgmma(float (&d)[128], uint64 a, uint64 b, bool add) {
    asm volatile(
        "{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
        "}, %128, %129, add, 1, 1, 0, 1;\n}"
        : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), SIXTEEN(64), SIXTEEN(80), SIXTEEN(96), SIXTEEN(112)
        : "l"(a), "l"(b), "r"((int)add));
}

template <int PENDING>  // returns when all groups of wgmma but the last PENDING are done
__device__ void wait_for_wgmma() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

// One slice of 64 along K, as one group of four wgmma: 64 rows of A times the slice of B.
__device__ void multiply(float (&d)[128], unsigned a, unsigned b, bool add) {
    const uint64 from_a = descriptor(a, 16, 1024), from_b = descriptor(b, PANEL, 1024);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < DEPTH / 16; ++k)  // 16 columns of A are 32 bytes further, 16 rows of B are 2048
        wgmma(d, from_a + k * (32 >> 4), from_b + k * (2048 >> 4), add || k > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// endregion

// region: store
// A lane holds two neighbours in a row, and two more eight rows below.
__device__ void store(Element* c, const float (&d)[128], int top, int left, int M, int N) {
    const bool pairs = N % 2 == 0 && (size_t)c % 4 == 0;
    const int row = top + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4, column = left + threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < COLUMNS / 8; ++j) {
            const float first = d[j * 4 + i * 2], second = d[j * 4 + i * 2 + 1];
            Element* to = c + (long long)(row + i * 8) * N + column + j * 8;
            if (row + i * 8 >= M || column + j * 8 >= N) continue;
            if (pairs) {
                *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(first, second);
            } else {
                to[0] = Element(first);
                if (column + j * 8 + 1 < N) to[1] = Element(second);
            }
        }
}
// endregion

// region: kernel
template <bool ALIGNED>
__device__ void product(const Element* a, const Element* b, Element* c, int M, int N, int K, int top, int left) {
    extern __shared__ __align__(1024) unsigned char memory[];  // atoms start at multiples of 1024 bytes
    Element* ring = reinterpret_cast<Element*>(memory);
    const int slices = (K + DEPTH - 1) / DEPTH;
    const auto load = [&](int slice) {  // an empty group when there is none, so that groups and slices agree
        Element* stage = ring + slice % STAGES * STAGE;
        if (slice < slices) {
            load_lines<ROWS, ALIGNED>(stage, a, top, slice * DEPTH, M, K);
#pragma unroll
            for (int panel = 0; panel < COLUMNS / LINE; ++panel)
                load_lines<DEPTH, ALIGNED>(stage + ROWS * DEPTH + panel * PANEL / 2, b, slice * DEPTH,
                                           left + panel * LINE, K, N);
        }
        commit();
    };

    const int warpgroup = threadIdx.x / 128;
    float sums[128];
    for (int slice = 0; slice < STAGES - 2; ++slice) load(slice);
    for (int slice = 0; slice < slices; ++slice) {
        wait<STAGES - 3>();  // this thread's part of the slice is there
        // The tensor cores read shared memory through another path than loads and stores do, the async proxy.  Without
        // this fence they may read what lay there before.
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        wait_for_wgmma<1>();  // the slice before the last one is multiplied, so its stage may be filled again
        __syncthreads();      // that holds for all threads
        load(slice + STAGES - 2);
        const unsigned stage = address(ring + slice % STAGES * STAGE);
        multiply(sums, stage + warpgroup * PANEL, stage + ROWS * DEPTH * 2, slice > 0);
    }
    wait_for_wgmma<0>();
    store(c, sums, top + warpgroup * 64, left, M, N);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    matmul_wgmma(const Element* a, const Element* b, Element* c, long long M, long long N, long long K) {
    // Neighbouring blocks take tiles down GROUP rows before the next column of tiles.
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
