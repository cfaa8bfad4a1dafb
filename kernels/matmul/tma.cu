#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// bfloat16 through wgmma, with loads by the copy engine (TMA).
//
// One change from `wgmma`: the loads.  There the threads issue a cp.async for every 16 bytes of a slice, 3072 in all,
// and compute 3072 addresses.  Here one thread issues five instructions for the slice, each for a box of 64 columns:
// one for the 128 rows of A, four for the 256 columns of B.  The copy engine computes the addresses, fills in zeros
// beyond the edges and writes the box with the swizzle that wgmma expects.  It writes through the async proxy, the path
// on which the tensor cores read, so no proxy fence is needed.
// An mbarrier counts the bytes that arrive.  A thread that waits at it goes on when the whole slice is there.

// region: tile
constexpr int ROWS = 128, COLUMNS = 256, DEPTH = 64, THREADS = 256, STAGES = 4;
constexpr int PANEL = 64 * 64 * 2;  // bytes of 64 lines of 64 elements
constexpr int A_BYTES = ROWS * DEPTH * 2, B_BYTES = DEPTH * COLUMNS * 2;
constexpr int STAGE = A_BYTES + B_BYTES;
constexpr int SHARED = STAGES * (STAGE + 8);  // with one barrier of 8 bytes for each stage
constexpr int GROUP = 16;                     // rows of tiles that neighbouring blocks share

using Element = DTYPE;

__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

struct Tile {
    int top, left;
};

// The tile with this number, in an order that goes down GROUP rows of tiles before the next column of tiles.
__device__ Tile tile_at(int number, int down, int across) {
    const int first = number / (GROUP * across) * GROUP, height = min(down - first, GROUP);
    const int within = number % (GROUP * across);
    return {(first + within % height) * ROWS, within / height * COLUMNS};
}
// endregion

// region: wgmma
// Describes a tile in shared memory to the tensor cores.  The tile consists of atoms of 8 lines of 128 bytes.  Piece p
// of line i, 16 bytes, lies at place `p ^ i` of that line, so that the pieces p of 8 lines lie in different banks.
// This is the 128-byte swizzle, number 1 in the two highest bits.  `along` is the distance in bytes from an atom to the
// next one in the direction of its lines, `across` the distance to the next 8 lines.  If lines run along K, `along` is
// not used.
__device__ uint64_t descriptor(unsigned tile, int along, int across) {
    return (uint64_t)(tile >> 4 & 0x3fff) | (uint64_t)(along >> 4) << 16 | (uint64_t)(across >> 4) << 32 | 1ull << 62;
}

#define FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)

// d = a b, or d += a b when `add`: 64 x 16 times 16 x 256.  The four warps of a warpgroup issue it together and go on
// at once, while the tensor cores work on it.  The last two numbers say how the operands lie.  The lines of A run along
// K, which is the usual way (0).  The lines of B run along N, so B is read transposed (1).
__device__ void wgmma(float (&d)[128], uint64_t a, uint64_t b, bool add) {
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
    const uint64_t from_a = descriptor(a, 16, 1024), from_b = descriptor(b, PANEL, 1024);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < DEPTH / 16; ++k)  // 16 columns of A are 32 bytes further, 16 rows of B are 2048
        wgmma(d, from_a + k * (32 >> 4), from_b + k * (2048 >> 4), add || k > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// endregion

// region: barriers
__device__ void init_barrier(unsigned barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Arrives, and makes the phase wait for so many bytes too.
__device__ void expect_bytes(unsigned barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Waits until the phase with this parity is complete.  For a new barrier, the phase with parity 1 counts as complete.
__device__ void wait(unsigned barrier, unsigned parity) {
    unsigned done;
    do {
        asm volatile(
            "{\n.reg .pred done;\n"
            "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
            "selp.u32 %0, 1, 0, done;\n}"
            : "=r"(done)
            : "r"(barrier), "r"(parity)
            : "memory");
    } while (!done);
}
// endregion

// region: copy
// Starts the copy of a box, whose bytes are reported to `barrier` when they are there; zeros beyond the matrix.
__device__ void load(unsigned to, const CUtensorMap* matrix, int row, int column, unsigned barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(matrix), "r"(column), "r"(row), "r"(barrier)
        : "memory");
}
// endregion

// region: store
// A lane holds two neighbours in a row, and two more eight rows below.  A store instruction of a warp therefore writes
// 4 bytes a lane, 16 bytes into each of eight rows.
__device__ void store(Element* c, const float (&d)[128], int top, int left, int M, int N) {
    const int row = top + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4, column = left + threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < COLUMNS / 8; ++j)
            if (row + i * 8 < M && column + j * 8 < N)
                *reinterpret_cast<__nv_bfloat162*>(c + (int64_t)(row + i * 8) * N + column + j * 8) =
                    __floats2bfloat162_rn(d[j * 4 + i * 2], d[j * 4 + i * 2 + 1]);
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    matmul_tma_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, Element* c, int M,
                      int N, int K) {
    extern __shared__ __align__(1024) unsigned char memory[];
    const unsigned ring = address(memory), full = ring + STAGES * STAGE;
    const int slices = (K + DEPTH - 1) / DEPTH, warpgroup = threadIdx.x / 128;
    const Tile tile = tile_at(blockIdx.x, (M + ROWS - 1) / ROWS, (N + COLUMNS - 1) / COLUMNS);
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) init_barrier(full + stage * 8, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");  // for the copy engine
    }
    __syncthreads();

    const auto load_slice = [&](int slice) {
        if (threadIdx.x != 0 || slice >= slices) return;
        const unsigned stage = ring + slice % STAGES * STAGE, barrier = full + slice % STAGES * 8;
        expect_bytes(barrier, STAGE);
        load(stage, &a, tile.top, slice * DEPTH, barrier);
        for (int panel = 0; panel < COLUMNS / 64; ++panel)
            load(stage + A_BYTES + panel * PANEL, &b, slice * DEPTH, tile.left + panel * 64, barrier);
    };

    float sums[128];
    for (int slice = 0; slice < STAGES - 2; ++slice) load_slice(slice);
    for (int slice = 0; slice < slices; ++slice) {
        wait_for_wgmma<1>();  // the slice before the last one is multiplied, so its stage may be filled again
        __syncthreads();      // that holds for all threads
        load_slice(slice + STAGES - 2);
        wait(full + slice % STAGES * 8, slice / STAGES % 2);
        const unsigned stage = ring + slice % STAGES * STAGE;
        multiply(sums, stage + warpgroup * PANEL, stage + A_BYTES, slice > 0);
    }
    wait_for_wgmma<0>();
    store(c, sums, tile.top + warpgroup * 64, tile.left, M, N);
}
// endregion

// region: host
// One thread, one element: for rows that are no multiple of 16 bytes long, which the copy engine cannot address.
__global__ void matmul_plain(const Element* a, const Element* b, Element* c, int64_t M, int64_t N, int64_t K) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M * N) return;
    float sum = 0.0f;
    for (int64_t k = 0; k < K; ++k) sum += float(a[i / N * K + k]) * float(b[k * N + i % N]);
    c[i] = Element(sum);
}

// Describes a matrix to the copy engine: its rows and columns, and the box that one instruction copies, 64 columns
// wide.  The function comes from the driver at run time, so that this file needs no library but the CUDA runtime.
static int describe(CUtensorMap* map, void* matrix, int64_t rows, int64_t columns, int box_rows) {
    void* encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
    if (encode == nullptr) return cudaErrorNotSupported;
    const cuuint64_t sizes[] = {(cuuint64_t)columns, (cuuint64_t)rows}, row_bytes[] = {(cuuint64_t)columns * 2};
    const cuuint32_t box[] = {64, (cuuint32_t)box_rows}, steps[] = {1, 1};
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
        map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, matrix, sizes, row_bytes, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

extern "C" int matmul_tma(void** buffers, const int64_t* dims, const double*, void* stream) {
    const int64_t M = dims[0], N = dims[1], K = dims[2];
    Element *a = (Element*)buffers[0], *b = (Element*)buffers[1], *c = (Element*)buffers[2];
    if (N % 8 != 0 || K % 8 != 0 || ((uintptr_t)a | (uintptr_t)b | (uintptr_t)c) % 16 != 0) {
        matmul_plain<<<(M * N + 255) / 256, 256, 0, (cudaStream_t)stream>>>(a, b, c, M, N, K);
        return cudaGetLastError();
    }
    CUtensorMap map_a, map_b;
    if (int error = describe(&map_a, a, M, K, ROWS)) return error;
    if (int error = describe(&map_b, b, K, N, DEPTH)) return error;
    static const cudaError_t allowed =
        cudaFuncSetAttribute(matmul_tma_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
    if (allowed != cudaSuccess) return allowed;
    const int64_t tiles = (M + ROWS - 1) / ROWS * ((N + COLUMNS - 1) / COLUMNS);
    matmul_tma_kernel<<<tiles, THREADS, SHARED, (cudaStream_t)stream>>>(map_a, map_b, c, M, N, K);
    return cudaGetLastError();
}
// endregion
