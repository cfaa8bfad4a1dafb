#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstdint>

// Numbers of 8 bits through wgmma and the copy engine, with the order of the work of `matmul/tuned.cu`.
//
// Changes from `specialised`:
// - A block takes one tile after the other.  It rounds the sums of a tile into 64 registers, starts the next tile, and
//   stores one panel of the last tile after each of the next slices that it starts.
// - The stores go through shared memory, from which the copy engine writes full rows of 128 bytes.
// - Two blocks are a cluster and share a tile of B: each loads half of it for both.
// - The first GROUP rows of tiles are taken from left to right, the next ones from right to left.  The slices of every
//   second tile are taken from the last to the first, because L2 still holds the shared slices that were loaded last.
// - The producer sleeps while the ring is full.  That was meant to leave power to the tensor cores.  No record shows
//   what it does by itself.
// In bfloat16 a tile of 4096 along K takes 64 slices, here it takes 32 of the same size in bytes.  What happens once a
// tile, the stores and the first loads, therefore counts twice as much.

// region: tile
constexpr int ROWS = 128, COLUMNS = 256, DEPTH = 128, STAGES = 4;
constexpr int CONSUMERS = 2, THREADS = 128 * (1 + CONSUMERS);  // warpgroup 0 loads, the others multiply
constexpr int PANEL = 64 * DEPTH;  // bytes of 64 lines of 128 elements
constexpr int A_BYTES = ROWS * DEPTH, B_BYTES = COLUMNS * DEPTH;
constexpr int STAGE = A_BYTES + B_BYTES;
constexpr int BOX = 16 * 64 * 2, BOXES = 2, PANELS = COLUMNS / 64;  // a warp has two boxes of 16 rows, in bytes
constexpr int SHARED = STAGES * (STAGE + 2 * 8) + CONSUMERS * 4 * BOXES * BOX;
constexpr int CLUSTER = 2;
constexpr int GROUP = 8;  // rows of the clusters' tiles that neighbouring clusters share

using Element = DTYPE;  // __nv_fp8_e4m3
using Result = __nv_bfloat16;

__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

struct Tile {
    int top, left;
};

// The tile of this block in the cluster's tile with this number: 256 rows, of which each block computes 128.  The order
// goes down GROUP rows of the clusters' tiles before the next column of tiles, and turns back at the edge of C.
__device__ Tile tile_at(int number, int down, int across, int rank) {
    const int first = number / (GROUP * across) * GROUP, height = min(down - first, GROUP);
    const int within = number % (GROUP * across), column = within / height;
    const bool leftwards = first / GROUP % 2 != 0;
    return {((first + within % height) * CLUSTER + rank) * ROWS, (leftwards ? across - 1 - column : column) * COLUMNS};
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

// d = a b, or d += a b when `add`: 64 x 32 times 32 x 256.  The four warps of a warpgroup issue it together and go on
// at once, while the tensor cores work on it.  The lines of both operands must run along K: for numbers of 8 bits there
// is no instruction that reads an operand transposed.
__device__ void wgmma(float (&d)[128], uint64_t a, uint64_t b, bool add) {
    asm volatile(
        "{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
        "}, %128, %129, add, 1, 1;\n}"
        : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), SIXTEEN(64), SIXTEEN(80), SIXTEEN(96), SIXTEEN(112)
        : "l"(a), "l"(b), "r"((int)add));
}

template <int PENDING>  // returns when all groups of wgmma but the last PENDING are done
__device__ void wait_for_wgmma() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

// One slice of 128 along K, as one group of four wgmma: 64 rows of A times the slice of B.
__device__ void multiply(float (&d)[128], unsigned a, unsigned b, bool add) {
    const uint64_t from_a = descriptor(a, 16, 1024), from_b = descriptor(b, 16, 1024);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < DEPTH / 32; ++k)  // 32 numbers along K are 32 bytes
        wgmma(d, from_a + k * (32 >> 4), from_b + k * (32 >> 4), add || k > 0);
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

// Arrives at the barrier that lies at the same place in the shared memory of a block of the cluster.
__device__ void arrive(unsigned barrier, int block) {
    asm volatile(
        "{\n.reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
        "r"(block)
        : "memory");
}

// Every thread of the two blocks waits for all the others.
__device__ void sync_cluster() {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
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

// The same for a thread that has time: it asks without waiting, and sleeps before it asks again.
__device__ void wait_asleep(unsigned barrier, unsigned parity) {
    unsigned done;
    while (true) {
        asm volatile(
            "{\n.reg .pred done;\n"
            "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
            "selp.u32 %0, 1, 0, done;\n}"
            : "=r"(done)
            : "r"(barrier), "r"(parity)
            : "memory");
        if (done) return;
        __nanosleep(100);
    }
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

// The same, into the same place of both blocks of the cluster; each block's own barrier is told.
__device__ void load_for_both(unsigned to, const CUtensorMap* matrix, int row, int column, unsigned barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"(matrix), "r"(column), "r"(row), "r"(barrier), "h"((unsigned short)3)
        : "memory");
}

// Starts the copy of a box of 64 columns to C; what lies beyond the matrix is not written.
__device__ void store(const CUtensorMap* matrix, int row, int column, unsigned from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(matrix),
                 "r"(column), "r"(row), "r"(from)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

template <int PENDING>  // returns when all but the last PENDING stores of this thread have read their box
__device__ void wait_for_stores() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}
// endregion

// region: store
// Stores one panel of a warp's sums, 16 rows of 64 columns.  Every warp has two boxes of its own in shared memory and
// its first lane starts the copies, so that warps do not wait for each other.
// stmatrix writes the numbers that lie across the lanes as rows of 16 bytes, with the same swizzle as the loads:
// without bank conflicts, and as the copy engine expects it.
__device__ void store_panel(const CUtensorMap* c, const unsigned (&pairs)[64], int panel, unsigned boxes, int top,
                            int left) {
    const int lane = threadIdx.x % 32;
    const unsigned box = boxes + panel % BOXES * BOX, to = box + lane % 16 * 128;
    if (lane == 0) wait_for_stores<BOXES - 1>();  // the last copy of this box has read it
    __syncwarp();
#pragma unroll
    for (int piece = 0; piece < 8; piece += 2) {
        const unsigned* four = pairs + panel * 16 + piece * 2;
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         to + ((piece + lane / 16) ^ lane % 8) * 16),
                     "r"(four[0]), "r"(four[1]), "r"(four[2]), "r"(four[3])
                     : "memory");
    }
    // The copy engine reads through the async proxy.  Without this fence it may read what lay there before.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (lane == 0) store(c, top, left + panel * 64, box);
}

// The sums in bfloat16, two neighbours in a register.
__device__ void round_to_pairs(unsigned (&pairs)[64], const float (&sums)[128]) {
#pragma unroll
    for (int i = 0; i < 64; ++i) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(sums[2 * i], sums[2 * i + 1]);
        pairs[i] = reinterpret_cast<const unsigned&>(pair);
    }
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    matmul_fp8_tuned_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                        const __grid_constant__ CUtensorMap c, int M, int N, int K) {
    extern __shared__ __align__(1024) unsigned char memory[];
    const unsigned ring = address(memory), boxes = ring + STAGES * STAGE;
    const unsigned full = boxes + CONSUMERS * 4 * BOXES * BOX, empty = full + STAGES * 8;
    const int down = (M + CLUSTER * ROWS - 1) / (CLUSTER * ROWS), across = (N + COLUMNS - 1) / COLUMNS;
    const int slices = (K + DEPTH - 1) / DEPTH, warpgroup = threadIdx.x / 128, rank = blockIdx.x % CLUSTER;
    const int first = blockIdx.x / CLUSTER, step = gridDim.x / CLUSTER;  // in tiles of clusters
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            init_barrier(full + i * 8, 1);
            init_barrier(empty + i * 8, CLUSTER * CONSUMERS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");  // for the copy engine and the other block
    }
    sync_cluster();

    int stage = 0;        // where this warpgroup is in the ring
    unsigned parity = 0;  // of the phase that its barriers are in: changes with every turn of the ring
    const auto advance = [&] {
        if (++stage == STAGES) stage = 0, parity ^= 1;
    };
    if (warpgroup == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        for (int number = first; threadIdx.x == 0 && number < down * across; number += step) {
            const Tile tile = tile_at(number, down, across, rank);
            const bool backwards = (number - first) / step % 2 != 0;
            for (int slice = 0; slice < slices; ++slice, advance()) {
                const int depth = (backwards ? slices - 1 - slice : slice) * DEPTH;
                wait_asleep(empty + stage * 8, parity ^ 1);  // the consumers of both blocks are done with this stage
                const unsigned to = ring + stage * STAGE, barrier = full + stage * 8;
                expect_bytes(barrier, STAGE);  // also what the other block sends
                load(to, &a, tile.top, depth, barrier);
                const int half = rank * (COLUMNS / CLUSTER);  // the lines of B that this block loads for both
                load_for_both(to + A_BYTES + half * DEPTH, &b, tile.left + half, depth, barrier);
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
        const int consumer = warpgroup - 1, thread = threadIdx.x % 128, warp = threadIdx.x / 32 - 4;
        float sums[128];
        int before = 0;  // the stage of the slice that was started last
        const auto start = [&](bool add) {
            wait(full + stage * 8, parity);
            multiply(sums, ring + stage * STAGE + consumer * PANEL, ring + stage * STAGE + A_BYTES, add);
        };
        const auto release = [&] {
            if (thread < CLUSTER) arrive(empty + before * 8, thread);
        };
        const auto finish_before = [&] {  // the slice before is multiplied, this one keeps the tensor cores busy
            wait_for_wgmma<1>();
            release();
            before = stage;
            advance();
        };

        unsigned pairs[64];  // the sums of the last tile, rounded and not yet stored
        int last = -1;       // its number
        for (int number = first; number < down * across; number += step) {
            start(false);
            before = stage;
            advance();
            const Tile done = tile_at(max(last, 0), down, across, rank);
#pragma unroll
            for (int panel = 0; panel < PANELS; ++panel) {  // and slices 1 to 4 of this tile, as far as it has them
                if (panel + 1 < slices) start(true);
                if (last >= 0)
                    store_panel(&c, pairs, panel, boxes + warp * BOXES * BOX, done.top + warp * 16, done.left);
                if (panel + 1 < slices) finish_before();
            }
            for (int slice = PANELS + 1; slice < slices; ++slice) {
                start(true);
                finish_before();
            }
            wait_for_wgmma<0>();
            release();
            round_to_pairs(pairs, sums);
            last = number;
        }
        const Tile done = tile_at(last, down, across, rank);
#pragma unroll
        for (int panel = 0; panel < PANELS; ++panel)
            store_panel(&c, pairs, panel, boxes + warp * BOXES * BOX, done.top + warp * 16, done.left);
        if (threadIdx.x % 32 == 0) wait_for_stores<0>();  // shared memory must stay until it was read
    }
    sync_cluster();  // a block must not end while the other one still writes to its shared memory
}
// endregion

// region: host
// One thread, one element: for rows that are no multiple of 16 bytes long, which the copy engine cannot address.
__global__ void matmul_fp8_plain(const Element* a, const Element* b, Result* c, int64_t M, int64_t N, int64_t K) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M * N) return;
    float sum = 0.0f;
    for (int64_t k = 0; k < K; ++k) sum += float(a[i / N * K + k]) * float(b[i % N * K + k]);
    c[i] = Result(sum);
}

// Describes a matrix to the copy engine: its rows and columns, and the box that one instruction copies, 128 bytes
// wide.  The function comes from the driver at run time, so that this file needs no library but the CUDA runtime.
template <typename T>
static int describe(CUtensorMap* map, T* matrix, int64_t rows, int64_t columns, int box_rows) {
    void* encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
    if (encode == nullptr) return cudaErrorNotSupported;
    const cuuint64_t sizes[] = {(cuuint64_t)columns, (cuuint64_t)rows}, row_bytes[] = {columns * sizeof(T)};
    const cuuint32_t box[] = {128 / sizeof(T), (cuuint32_t)box_rows}, steps[] = {1, 1};
    const auto type = sizeof(T) == 1 ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
        map, type, 2, matrix, sizes, row_bytes, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

// The smallest number of clusters that needs no more turns than a cluster on each of `places` pairs of SMs.  At 4096,
// the 256 tiles of clusters take four turns on 66 pairs, and on 64 pairs too.  The power that four idle SMs do not take
// is left to the others.
static int64_t blocks_for(int64_t tiles, int64_t places) {
    const int64_t turns = (tiles + places - 1) / places;
    return (tiles + turns - 1) / turns;
}

extern "C" int matmul_fp8_tuned(void** buffers, const int64_t* dims, const double*, void* stream) {
    const int64_t M = dims[0], N = dims[1], K = dims[2];
    Element *a = (Element*)buffers[0], *b = (Element*)buffers[1];
    Result* c = (Result*)buffers[2];
    if (N % 8 != 0 || K % 16 != 0 || ((uintptr_t)a | (uintptr_t)b | (uintptr_t)c) % 16 != 0) {
        matmul_fp8_plain<<<(M * N + 255) / 256, 256, 0, (cudaStream_t)stream>>>(a, b, c, M, N, K);
        return cudaGetLastError();
    }
    CUtensorMap map_a, map_b, map_c;
    if (int error = describe(&map_a, a, M, K, ROWS)) return error;
    if (int error = describe(&map_b, b, N, K, COLUMNS / CLUSTER)) return error;
    if (int error = describe(&map_c, c, M, N, 16)) return error;  // a warp stores 16 rows
    static const cudaError_t allowed =
        cudaFuncSetAttribute(matmul_fp8_tuned_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
    if (allowed != cudaSuccess) return allowed;
    static const int sms = [] {
        int device = 0, count = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
        return count;
    }();
    const int64_t tiles = (M + CLUSTER * ROWS - 1) / (CLUSTER * ROWS) * ((N + COLUMNS - 1) / COLUMNS);
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {CLUSTER, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(CLUSTER * blocks_for(tiles, sms / CLUSTER));
    config.blockDim = dim3(THREADS);
    config.dynamicSmemBytes = SHARED;
    config.stream = (cudaStream_t)stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, matmul_fp8_tuned_kernel, map_a, map_b, map_c, (int)M, (int)N, (int)K);
}
// endregion
