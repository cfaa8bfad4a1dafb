#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// Attention in one kernel through wgmma and the copy engine (TMA), with warps that only load and warps that only
// compute.
//
// A block takes 128 queries of a head.  One thread of warpgroup 0, the producer, fills two rings in shared memory,
// one of tiles of 128 keys and one of tiles of 128 values.  The two other warpgroups, the consumers, take 64 queries
// each.  For each tile a consumer computes scores, turns them into weights and adds the weighted values to its sums.
// When a tile brings a larger score, the sums so far are multiplied by a factor (the online softmax). The weights
// never go to shared memory.  wgmma leaves the scores in registers, each number where the second product wants it as
// its left operand, so two neighbours are rounded into one register and are used from there. The consumers do not
// wait for each other: one may multiply while the other one computes exponentials. With a causal mask, each
// head starts its longest blocks first.  The heads follow each other, so the blocks that end last are still the longest
// of the last head.  `grouped.cu` changes that.

// region: tile
constexpr int ROWS = 128, KEYS = 128, WIDTH = 128, STAGES = 2;  // WIDTH: numbers of a query, a key and a value
constexpr int CONSUMERS = 2, THREADS = 128 * (1 + CONSUMERS);   // warpgroup 0 loads, the others compute 64 rows each
constexpr int PANEL = 128 * 64 * 2;                             // bytes of 128 lines of 64 elements
constexpr int TILE = 2 * PANEL;                                 // of a tile of queries, keys or values
constexpr int SHARED = TILE * (1 + 2 * STAGES) + 8 * (1 + 4 * STAGES);

using Element = DTYPE;

__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }
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
#define SUMS                                                                              \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "             \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "    \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "    \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"

// d = a b, or d += a b when `add`: 64 x 16 queries times 16 x 128 of the keys, which lie with their numbers along K.
__device__ void wgmma(float (&d)[64], uint64_t a, uint64_t b, bool add) {
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " SUMS ", %64, %65, add, 1, 1, 0, 0;\n}"
                 : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)
                 : "l"(a), "l"(b), "r"((int)add));
}

// The same for 64 x 16 weights, which each thread holds in four registers, times 16 x 128 of the values.
__device__ void wgmma(float (&d)[64], const unsigned* a, uint64_t b, bool add) {
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %69, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " SUMS
                 ", {%64, %65, %66, %67}, %68, add, 1, 1, 1;\n}"
                 : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"((int)add));
}

__device__ void fence_wgmma() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit_wgmma() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

template <int PENDING>  // returns when all groups of wgmma but the last PENDING are done
__device__ void wait_for_wgmma() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

__device__ void start_scores(float (&scores)[64], unsigned queries, unsigned keys) {
    const uint64_t from_q = descriptor(queries, 16, 1024), from_k = descriptor(keys, 16, 1024);
    fence_wgmma();
#pragma unroll
    for (int k = 0; k < WIDTH / 16; ++k) {
        const int offset = (k / 4 * PANEL + k % 4 * 32) >> 4;
        wgmma(scores, from_q + offset, from_k + offset, k > 0);
    }
    commit_wgmma();
}

__device__ void start_sums(float (&sums)[64], const unsigned (&weights)[32], unsigned values, bool add) {
    const uint64_t from_v = descriptor(values, PANEL, 1024);
    fence_wgmma();
#pragma unroll
    for (int k = 0; k < KEYS / 16; ++k) wgmma(sums, weights + 4 * k, from_v + (k * 2048 >> 4), add || k > 0);
    commit_wgmma();
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

__device__ void arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
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
// Starts the copy of a box, whose bytes are reported to `barrier` when they are there; zeros beyond the last row.
__device__ void load(unsigned to, const CUtensorMap* matrix, int head, int row, int column, unsigned barrier) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
        "l"(matrix), "r"(column), "r"(row), "r"(head), "r"(barrier)
        : "memory");
}

__device__ void load_tile(unsigned to, const CUtensorMap* matrix, int head, int row, unsigned barrier) {
    expect_bytes(barrier, TILE);
    load(to, matrix, head, row, 0, barrier);
    load(to + PANEL, matrix, head, row, 64, barrier);
}

__device__ void store(const CUtensorMap* matrix, int head, int row, int column, unsigned from) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(matrix),
                 "r"(column), "r"(row), "r"(head), "r"(from)
                 : "memory");
}
// endregion

// region: softmax
__device__ float exp2_of(float x) {
    float y;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// The largest of four lanes, which hold the numbers of a row together.
__device__ float largest_of_row(float x) {
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

// What a thread knows of its two rows, 8 apart: the largest score so far, and its share of the sum of the weights.
struct Rows {
    float largest[2], total[2];
};

// Turns scores into weights 2^(unit (score - largest)).  Returns in `shrink` by what earlier sums must be multiplied.
__device__ void weigh(float (&scores)[64], Rows& rows, float (&shrink)[2], float unit) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float largest = rows.largest[half];
#pragma unroll
        for (int i = 0; i < 32; ++i) largest = fmaxf(largest, scores[i / 2 * 4 + half * 2 + i % 2]);
        largest = largest_of_row(largest);
        shrink[half] = exp2_of((rows.largest[half] - largest) * unit);
        rows.largest[half] = largest;
        const float origin = largest * unit;
        float total = rows.total[half] * shrink[half];
#pragma unroll
        for (int i = 0; i < 32; ++i) {
            float& score = scores[i / 2 * 4 + half * 2 + i % 2];
            score = exp2_of(fmaf(score, unit, -origin));
            total += score;
        }
        rows.total[half] = total;
    }
}

// The weights in bfloat16, two neighbours in a register, as wgmma takes them.
__device__ void round_to_pairs(unsigned (&pairs)[32], const float (&numbers)[64]) {
#pragma unroll
    for (int i = 0; i < 32; ++i) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(numbers[2 * i], numbers[2 * i + 1]);
        pairs[i] = reinterpret_cast<const unsigned&>(pair);
    }
}

__device__ void scale_rows(float (&sums)[64], const float (&by)[2]) {
#pragma unroll
    for (int i = 0; i < 64; ++i) sums[i] *= by[i / 2 % 2];
}
// endregion

// region: kernel
template <bool CAUSAL>
__global__ void __launch_bounds__(THREADS, 1)
    attention_specialised_kernel(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
                     const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap o, int T, float unit) {
    extern __shared__ __align__(1024) unsigned char memory[];
    const unsigned queries = address(memory), keys = queries + TILE, values = keys + STAGES * TILE;
    const unsigned queries_full = values + STAGES * TILE, keys_full = queries_full + 8;
    const unsigned keys_empty = keys_full + 8 * STAGES;
    const unsigned values_full = keys_empty + 8 * STAGES, values_empty = values_full + 8 * STAGES;
    const int warpgroup = threadIdx.x / 128, head = blockIdx.y;
    const int tile = CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x;  // the longest first
    const int tiles = CAUSAL ? tile + 1 : (T + KEYS - 1) / KEYS;        // of keys: the last one first, then downwards
    if (threadIdx.x == 0) {
        init_barrier(queries_full, 1);
        for (int i = 0; i < STAGES; ++i) {
            init_barrier(keys_full + i * 8, 1), init_barrier(keys_empty + i * 8, CONSUMERS);
            init_barrier(values_full + i * 8, 1), init_barrier(values_empty + i * 8, CONSUMERS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");  // for the copy engine
    }
    __syncthreads();

    if (warpgroup == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x != 0) return;
        load_tile(queries, &q, head, tile * ROWS, queries_full);
        for (int i = 0; i <= tiles; ++i) {  // the keys of tile i, the values of the tile before
            if (i < tiles) {
                wait(keys_empty + i % STAGES * 8, i / STAGES % 2 ^ 1);
                load_tile(keys + i % STAGES * TILE, &k, head, (tiles - 1 - i) * KEYS, keys_full + i % STAGES * 8);
            }
            if (i > 0) {
                const int j = i - 1;
                wait(values_empty + j % STAGES * 8, j / STAGES % 2 ^ 1);
                load_tile(values + j % STAGES * TILE, &v, head, (tiles - 1 - j) * KEYS, values_full + j % STAGES * 8);
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
        const int consumer = warpgroup - 1, thread = threadIdx.x % 128, lane = threadIdx.x % 32, warp = thread / 32;
        const unsigned ours = queries + consumer * (PANEL / 2);
        const int top = consumer * 64 + warp * 16 + lane / 4;  // of our two rows in the tile: `top` and `top + 8`
        float scores[64], sums[64];
        unsigned weights[32];
        Rows rows = {{-INFINITY, -INFINITY}, {0.0f, 0.0f}};
        float shrink[2];
        wait(queries_full, 0);

        wait(keys_full, 0);
        start_scores(scores, ours, keys);
        wait_for_wgmma<0>();
        if (thread == 0) arrive(keys_empty);
        // Only the first tile, which holds the last keys, needs a mask.
        const int first_key = (tiles - 1) * KEYS + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < 64; ++i) {
            const int key = first_key + i / 4 * 8 + i % 2, row = tile * ROWS + top + i / 2 % 2 * 8;
            if (key >= T || (CAUSAL && key > row)) scores[i] = -INFINITY;
        }
        weigh(scores, rows, shrink, unit);
        round_to_pairs(weights, scores);
        wait(values_full, 0);
        start_sums(sums, weights, values, false);
        wait_for_wgmma<0>();
        if (thread == 0) arrive(values_empty);
        for (int i = 1; i < tiles; ++i) {
            const int stage = i % STAGES;
            const unsigned parity = i / STAGES % 2;
            wait(keys_full + stage * 8, parity);
            start_scores(scores, ours, keys + stage * TILE);
            wait_for_wgmma<0>();
            if (thread == 0) arrive(keys_empty + stage * 8);
            weigh(scores, rows, shrink, unit);
            scale_rows(sums, shrink);
            round_to_pairs(weights, scores);
            wait(values_full + stage * 8, parity);
            start_sums(sums, weights, values + stage * TILE, true);
            wait_for_wgmma<0>();
            if (thread == 0) arrive(values_empty + stage * 8);
        }

        float share[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float total = rows.total[half];
            total += __shfl_xor_sync(~0u, total, 1);
            total += __shfl_xor_sync(~0u, total, 2);
            share[half] = 1.0f / total;
        }
        scale_rows(sums, share);
        round_to_pairs(weights, sums);
        // The result leaves through the place of our queries, which nobody needs any more.
#pragma unroll
        for (int panel = 0; panel < 2; ++panel) {
            const unsigned box = ours + panel * PANEL + warp * 16 * 128, to = box + lane % 16 * 128;
#pragma unroll
            for (int piece = 0; piece < 8; piece += 2) {
                const unsigned* four = weights + panel * 16 + piece * 2;
                asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                                 to + ((piece + lane / 16) ^ lane % 8) * 16),
                             "r"(four[0]), "r"(four[1]), "r"(four[2]), "r"(four[3])
                             : "memory");
            }
        }
        // The copy engine reads through the async proxy.  Without this fence it may read what lay there before.
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp();
        if (lane == 0) {
            const int row = tile * ROWS + consumer * 64 + warp * 16;
            for (int panel = 0; panel < 2; ++panel)
                store(&o, head, row, panel * 64, ours + panel * PANEL + warp * 16 * 128);
            asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
        }
    }
}
// endregion

// region: host
// Describes a tensor to the copy engine: (heads, T, WIDTH), and the box that one instruction copies, 64 numbers of
// `box_rows` rows of a head.  The function comes from the driver at run time, so that this file needs no library but
// the CUDA runtime.
static int describe(CUtensorMap* map, void* tensor, int64_t heads, int64_t T, int box_rows) {
    void* encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
    if (encode == nullptr) return cudaErrorNotSupported;
    const cuuint64_t sizes[] = {WIDTH, (cuuint64_t)T, (cuuint64_t)heads};
    const cuuint64_t bytes[] = {WIDTH * 2, (cuuint64_t)T * WIDTH * 2};
    const cuuint32_t box[] = {64, (cuuint32_t)box_rows, 1}, steps[] = {1, 1, 1};
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
        map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, tensor, sizes, bytes, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

template <bool CAUSAL>
static int launch(void** buffers, int64_t heads, int64_t T, cudaStream_t stream) {
    CUtensorMap maps[4];
    for (int i = 0; i < 4; ++i)
        if (int error = describe(&maps[i], buffers[i], heads, T, i < 3 ? 128 : 16)) return error;
    static const cudaError_t allowed =
        cudaFuncSetAttribute(attention_specialised_kernel<CAUSAL>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
    if (allowed != cudaSuccess) return allowed;
    const float unit = 1.4426950408889634f / 11.313708498984761f;  // log2(e) / sqrt(WIDTH)
    const dim3 grid((T + ROWS - 1) / ROWS, heads);
    attention_specialised_kernel<CAUSAL><<<grid, THREADS, SHARED, stream>>>(
        maps[0], maps[1], maps[2], maps[3], (int)T, unit);
    return cudaGetLastError();
}

extern "C" int attention_specialised(void** buffers, const int64_t* dims, const double* params, void* stream) {
    const int64_t heads = dims[0] * dims[1], T = dims[2];
    return params[0] != 0 ? launch<true>(buffers, heads, T, (cudaStream_t)stream)
                          : launch<false>(buffers, heads, T, (cudaStream_t)stream);
}
// endregion
