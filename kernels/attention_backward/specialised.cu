#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// The gradients of attention through wgmma and the copy engine, with warps that only load and warps that only compute.
//
// Three kernels.  `prepare` computes delta, the sum of o times do of each query, and clears the sums for dq.  The main
// kernel computes the scores of a tile once and uses them for all three gradients.  `finish` rounds dq.
// A block of the main kernel takes 128 keys, 64 for each of two consumers, and passes over the queries in tiles of 64.
// It computes the transposes of the scores and of dP: their rows are keys.  wgmma leaves them in registers where the
// products for dv and dk want their left operand, so the weights never go to shared memory for those.  Only dS does,
// once, because dq needs the keys of both consumers: each consumer multiplies all 128 keys for 64 of the 128 numbers.
// The sums of dk and dv stay in registers to the end.  Those of dq are added to memory in float32 by all blocks of a
// head, four numbers in an instruction (`red.global.add.v4.f32`).  The order of these additions is not fixed, so dq is
// not the same bit for bit in every run.

// region: tile
constexpr int KEYS = 128, ROWS = 64, WIDTH = 128, STAGES = 2;  // of a tile; WIDTH: numbers of a query, a key and a value
constexpr int CONSUMERS = 2, THREADS = 128 * (1 + CONSUMERS);  // warpgroup 0 loads, the others compute 64 keys each
constexpr int KEY_PANEL = KEYS * 64 * 2, ROW_PANEL = ROWS * 64 * 2;  // bytes of the lines of 64 numbers of a tile
constexpr int KEY_TILE = 2 * KEY_PANEL, ROW_TILE = 2 * ROW_PANEL;
constexpr int SLOPES = KEYS * ROWS * 2;                              // bytes of dS
constexpr int NUMBERS = ROWS * 4;                                    // bytes of a float for each query of a tile
constexpr int STAGE = ROW_TILE + NUMBERS;                            // of queries with their lse, or of do with its delta
constexpr int SHARED = 2 * KEY_TILE + 2 * STAGES * STAGE + 2 * SLOPES + 8 * (1 + 4 * STAGES);

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
#define SUMS_32                                                                           \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "             \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define SUMS_64                                                                           \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "             \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "    \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "    \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"

// d = a b, or d += a b when `add`: 64 x 16 times 16 x 64.  ACROSS = 1: the lines of both operands run across K.
template <int ACROSS>
__device__ void wgmma(float (&d)[32], uint64_t a, uint64_t b, bool add) {
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " SUMS_32 ", %32, %33, add, 1, 1, %35, %35;\n}"
                 : SIXTEEN(0), SIXTEEN(16)
                 : "l"(a), "l"(b), "r"((int)add), "n"(ACROSS));
}

// The same for 64 x 16 numbers, which each thread holds in four registers, times 16 x 128 whose lines run across K.
__device__ void wgmma(float (&d)[64], const unsigned* a, uint64_t b, bool add) {
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %69, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " SUMS_64
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

// 64 keys or values times 64 queries or rows of do: the transpose of the scores or of dP.
__device__ void start_transposed(float (&d)[32], unsigned ours, unsigned rows) {
    const uint64_t a = descriptor(ours, 16, 1024), b = descriptor(rows, 16, 1024);
    fence_wgmma();
#pragma unroll
    for (int k = 0; k < WIDTH / 16; ++k)
        wgmma<0>(d, a + ((k / 4 * KEY_PANEL + k % 4 * 32) >> 4), b + ((k / 4 * ROW_PANEL + k % 4 * 32) >> 4), k > 0);
    commit_wgmma();
}

// Adds 64 keys x 64 queries, from registers, times the queries or do of those rows.
__device__ void start_sums(float (&sums)[64], const unsigned (&left)[16], unsigned rows, bool add) {
    const uint64_t b = descriptor(rows, ROW_PANEL, 1024);
    fence_wgmma();
#pragma unroll
    for (int k = 0; k < ROWS / 16; ++k) wgmma(sums, left + 4 * k, b + (k * 2048 >> 4), add || k > 0);
    commit_wgmma();
}

// 64 queries times 128 keys, of which dS holds the transpose, times one panel of the keys.
__device__ void start_queries(float (&d)[32], unsigned slopes, unsigned keys) {
    const uint64_t a = descriptor(slopes, 16, 1024), b = descriptor(keys, 16, 1024);
    fence_wgmma();
#pragma unroll
    for (int k = 0; k < KEYS / 16; ++k) wgmma<1>(d, a + (k * 2048 >> 4), b + (k * 2048 >> 4), k > 0);
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

__device__ void load_numbers(unsigned to, const float* from, unsigned barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(NUMBERS), "r"(barrier)
                 : "memory");
}

__device__ void store(const CUtensorMap* matrix, int head, int row, int column, unsigned from) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(matrix),
                 "r"(column), "r"(row), "r"(head), "r"(from)
                 : "memory");
}

__device__ void add_four(float* to, float a, float b, float c, float d) {
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
}

// Both consumers wait for each other.
__device__ void sync_consumers() { asm volatile("bar.sync 1, 256;" ::: "memory"); }
// endregion

// region: pieces
__device__ float exp2_of(float x) {
    float y;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}


template <int COUNT>  // in bfloat16, two neighbours in a register, as wgmma takes them
__device__ void round_to_pairs(unsigned (&pairs)[COUNT], const float (&numbers)[2 * COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(numbers[2 * i], numbers[2 * i + 1]);
        pairs[i] = reinterpret_cast<const unsigned&>(pair);
    }
}

// Stores 16 rows of 64 numbers of a warp into lines of 128 bytes with the 128-byte swizzle.
__device__ void store_box(unsigned box, const unsigned* pairs) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int piece = 0; piece < 8; piece += 2) {
        const unsigned* four = pairs + piece * 2;
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         box + lane % 16 * 128 + ((piece + lane / 16) ^ lane % 8) * 16),
                     "r"(four[0]), "r"(four[1]), "r"(four[2]), "r"(four[3])
                     : "memory");
    }
}

// wgmma and the copy engine read through the async proxy.  Without this fence they may read what lay there before.
__device__ void fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// The two numbers of a thread's column pair `j` in the transposed tile.
__device__ float2 number_pair(unsigned numbers, int j) {
    float2 pair;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                 : "=f"(pair.x), "=f"(pair.y)
                 : "r"(numbers + (j * 8 + threadIdx.x % 4 * 2) * 4));
    return pair;
}

// Rounds 64 keys x 128 sums of a consumer, and stores them through `place`, where its 64 lines of two panels lie.
__device__ void store_sums(const CUtensorMap* matrix, const float (&sums)[64], float factor, unsigned place, int head,
                           int row) {
    float scaled[64];
    unsigned pairs[32];
#pragma unroll
    for (int i = 0; i < 64; ++i) scaled[i] = sums[i] * factor;
    round_to_pairs(pairs, scaled);
    const int warp = threadIdx.x / 32 % 4;
#pragma unroll
    for (int panel = 0; panel < 2; ++panel) store_box(place + panel * KEY_PANEL + warp * 2048, pairs + panel * 16);
    fence_proxy();
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        for (int panel = 0; panel < 2; ++panel)
            store(matrix, head, row + warp * 16, panel * 64, place + panel * KEY_PANEL + warp * 2048);
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
}
// endregion

// region: kernel
struct Maps {
    CUtensorMap q, k, v, gradient, dk, dv;  // gradient: do
};

template <bool CAUSAL>
__global__ void __launch_bounds__(THREADS, 1)
    attention_backward_kernel(const __grid_constant__ Maps maps, const float* lse, const float* delta, float* dq, int T,
                              int row_tiles, float unit, float scale) {
    extern __shared__ __align__(1024) unsigned char memory[];
    const unsigned keys = address(memory), values = keys + KEY_TILE, slopes = values + KEY_TILE;
    const unsigned queries = slopes + 2 * SLOPES, gradients = queries + STAGES * ROW_TILE;
    const unsigned logs = gradients + STAGES * ROW_TILE, deltas = logs + STAGES * NUMBERS;
    const unsigned keys_full = deltas + STAGES * NUMBERS, queries_full = keys_full + 8;
    const unsigned queries_empty = queries_full + 8 * STAGES, gradients_full = queries_empty + 8 * STAGES;
    const unsigned gradients_empty = gradients_full + 8 * STAGES;
    const int warpgroup = threadIdx.x / 128, head = blockIdx.y, first_key = blockIdx.x * KEYS;
    const int first = CAUSAL ? first_key / ROWS : 0, tiles = row_tiles - first;  // of queries; the longest blocks first
    if (threadIdx.x == 0) {
        init_barrier(keys_full, 1);
        for (int i = 0; i < STAGES; ++i) {
            init_barrier(queries_full + i * 8, 1), init_barrier(queries_empty + i * 8, CONSUMERS);
            init_barrier(gradients_full + i * 8, 1), init_barrier(gradients_empty + i * 8, CONSUMERS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");  // for the copy engine
    }
    __syncthreads();

    if (warpgroup == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x != 0) return;
        expect_bytes(keys_full, 2 * KEY_TILE);
        for (int panel = 0; panel < 2; ++panel) {
            load(keys + panel * KEY_PANEL, &maps.k, head, first_key, panel * 64, keys_full);
            load(values + panel * KEY_PANEL, &maps.v, head, first_key, panel * 64, keys_full);
        }
        for (int i = 0; i < tiles; ++i) {
            const int stage = i % STAGES, row = (first + i) * ROWS;
            const int64_t number = ((int64_t)head * row_tiles + first + i) * ROWS;
            unsigned barrier = queries_full + stage * 8;
            wait(queries_empty + stage * 8, i / STAGES % 2 ^ 1);
            expect_bytes(barrier, STAGE);
            for (int panel = 0; panel < 2; ++panel)
                load(queries + stage * ROW_TILE + panel * ROW_PANEL, &maps.q, head, row, panel * 64, barrier);
            load_numbers(logs + stage * NUMBERS, lse + number, barrier);
            barrier = gradients_full + stage * 8;
            wait(gradients_empty + stage * 8, i / STAGES % 2 ^ 1);
            expect_bytes(barrier, STAGE);
            for (int panel = 0; panel < 2; ++panel)
                load(gradients + stage * ROW_TILE + panel * ROW_PANEL, &maps.gradient, head, row, panel * 64, barrier);
            load_numbers(deltas + stage * NUMBERS, delta + number, barrier);
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
        const int consumer = warpgroup - 1, thread = threadIdx.x % 128, lane = threadIdx.x % 32, warp = thread / 32;
        const unsigned our_keys = keys + consumer * (KEY_PANEL / 2), our_values = values + consumer * (KEY_PANEL / 2);
        const int top = first_key + consumer * 64 + warp * 16 + lane / 4;  // of our two keys: `top` and `top + 8`
        float* const sums_of_queries = dq + ((int64_t)head * row_tiles + first) * (ROWS * WIDTH) +
                                       consumer * (ROWS * 64) + thread * 4;
        float scores[32], slope[32], dk[64], dv[64];
        unsigned weights[16], pairs[16];
        wait(keys_full, 0);

        for (int i = 0; i < tiles; ++i) {
            const int stage = i % STAGES, parity = i / STAGES % 2;
            const unsigned our_slopes = slopes + i % 2 * SLOPES;
            wait(queries_full + stage * 8, parity);
            start_transposed(scores, our_keys, queries + stage * ROW_TILE);
            wait(gradients_full + stage * 8, parity);
            start_transposed(slope, our_values, gradients + stage * ROW_TILE);
            wait_for_wgmma<1>();  // the scores are there
            if (CAUSAL && i < KEYS / ROWS) {  // only the tiles at the diagonal need a mask
                const int row = (first + i) * ROWS + lane % 4 * 2;
#pragma unroll
                for (int j = 0; j < 32; ++j)
                    if (row + j / 4 * 8 + j % 2 < top + j / 2 % 2 * 8) scores[j] = -INFINITY;
            }
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                const float2 log = number_pair(logs + stage * NUMBERS, j);
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    scores[j * 4 + half * 2] = exp2_of(fmaf(scores[j * 4 + half * 2], unit, -log.x));
                    scores[j * 4 + half * 2 + 1] = exp2_of(fmaf(scores[j * 4 + half * 2 + 1], unit, -log.y));
                }
            }
            round_to_pairs(weights, scores);
            wait_for_wgmma<0>();  // dP is there
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                const float2 mean = number_pair(deltas + stage * NUMBERS, j);
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    slope[j * 4 + half * 2] = scores[j * 4 + half * 2] * (slope[j * 4 + half * 2] - mean.x);
                    slope[j * 4 + half * 2 + 1] = scores[j * 4 + half * 2 + 1] * (slope[j * 4 + half * 2 + 1] - mean.y);
                }
            }
            round_to_pairs(pairs, slope);
            start_sums(dv, weights, gradients + stage * ROW_TILE, i > 0);
            store_box(our_slopes + (consumer * 64 + warp * 16) * 128, pairs);
            fence_proxy();
            sync_consumers();  // dS of both is there, and dS of the tile before is read
            start_queries(slope, our_slopes, keys + consumer * KEY_PANEL);
            start_sums(dk, pairs, queries + stage * ROW_TILE, i > 0);
            wait_for_wgmma<1>();  // the sums of dv and of the queries are there
            if (thread == 0) arrive(gradients_empty + stage * 8);
            float* const to = sums_of_queries + (int64_t)i * (ROWS * WIDTH);
#pragma unroll
            for (int j = 0; j < 8; ++j)
                add_four(to + j * 512, slope[j * 4], slope[j * 4 + 1], slope[j * 4 + 2], slope[j * 4 + 3]);
            wait_for_wgmma<0>();
            if (thread == 0) arrive(queries_empty + stage * 8);
        }
        sync_consumers();  // the keys of both are read, so that dk may leave through their place
        const int row = first_key + consumer * 64;
        store_sums(&maps.dv, dv, 1.0f, our_values, head, row);
        store_sums(&maps.dk, dk, scale, our_keys, head, row);
        if (lane == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}
// endregion

// region: around
// A warp takes a query: lse times log2(e), delta, and zeros for the sums of dq.  Beyond the last query of a head lse is
// infinite, so that the weights there are 0.
__global__ void prepare(const Element* o, const Element* gradient, const float* lse, float* logs, float* deltas,
                        float4* dq, int T, int padded) {
    const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t head = blockIdx.y, at = head * padded + row;
    if (row >= padded) return;
    dq[at * 32 + lane] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float sum = 0.0f;
    if (row < T) {
        const int64_t place = (head * T + row) * WIDTH + lane * 4;
        const __nv_bfloat162 *a = (const __nv_bfloat162*)(o + place), *b = (const __nv_bfloat162*)(gradient + place);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const float2 left = __bfloat1622float2(a[i]), right = __bfloat1622float2(b[i]);
            sum += left.x * right.x + left.y * right.y;
        }
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) {
        logs[at] = row < T ? lse[head * T + row] * 1.4426950408889634f : INFINITY;
        deltas[at] = sum;
    }
}

// A thread takes the numbers that one thread of a consumer added together: four of two queries, 8 apart.
__global__ void finish(const float4* dq, Element* result, int T, int row_tiles, float scale) {
    const int thread = threadIdx.x, tile = blockIdx.x / 2, consumer = blockIdx.x % 2;
    const int64_t head = blockIdx.y;
    const int row = tile * ROWS + thread / 32 * 16 + thread % 32 / 4, column = consumer * 64 + thread % 4 * 2;
    const float4* from = dq + ((head * row_tiles + tile) * 2 + consumer) * 1024 + thread;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
        const float4 four = from[j * 128];
        Element* to = result + (head * T + row) * WIDTH + column + j * 8;
        if (row < T) *(__nv_bfloat162*)to = __floats2bfloat162_rn(four.x * scale, four.y * scale);
        if (row + 8 < T) *(__nv_bfloat162*)(to + 8 * WIDTH) = __floats2bfloat162_rn(four.z * scale, four.w * scale);
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

// Memory for the sums of dq, for lse and for delta.  The driver keeps it from one call to the next.
static int allocate(float** memory, size_t bytes, cudaStream_t stream) {
    static const cudaError_t kept = [] {
        int device = 0;
        cudaMemPool_t pool;
        uint64_t all = UINT64_MAX;
        if (cudaError_t error = cudaGetDevice(&device)) return error;
        if (cudaError_t error = cudaDeviceGetDefaultMemPool(&pool, device)) return error;
        return cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
    }();
    if (kept != cudaSuccess) return kept;
    return cudaMallocAsync((void**)memory, bytes, stream);
}

template <bool CAUSAL>
static int launch(void** buffers, int64_t heads, int64_t T, cudaStream_t stream) {
    Maps maps;  // buffers: q, k, v, o, do, lse, dq, dk, dv
    if (int error = describe(&maps.q, buffers[0], heads, T, ROWS)) return error;
    if (int error = describe(&maps.k, buffers[1], heads, T, KEYS)) return error;
    if (int error = describe(&maps.v, buffers[2], heads, T, KEYS)) return error;
    if (int error = describe(&maps.gradient, buffers[4], heads, T, ROWS)) return error;
    if (int error = describe(&maps.dk, buffers[7], heads, T, 16)) return error;  // a warp stores 16 rows
    if (int error = describe(&maps.dv, buffers[8], heads, T, 16)) return error;
    static const cudaError_t allowed =
        cudaFuncSetAttribute(attention_backward_kernel<CAUSAL>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
    if (allowed != cudaSuccess) return allowed;
    const int row_tiles = (int)((T + ROWS - 1) / ROWS), padded = row_tiles * ROWS;
    float* dq = nullptr;
    if (int error = allocate(&dq, (size_t)heads * padded * (WIDTH + 2) * 4, stream)) return error;
    float *logs = dq + heads * padded * WIDTH, *deltas = logs + heads * padded;
    const float scale = 1.0f / 11.313708498984761f;  // 1 / sqrt(WIDTH)
    prepare<<<dim3(padded / 8, heads), 256, 0, stream>>>((Element*)buffers[3], (Element*)buffers[4], (float*)buffers[5],
                                                          logs, deltas, (float4*)dq, (int)T, padded);
    attention_backward_kernel<CAUSAL><<<dim3((T + KEYS - 1) / KEYS, heads), THREADS, SHARED, stream>>>(
        maps, logs, deltas, dq, (int)T, row_tiles, scale * 1.4426950408889634f, scale);
    finish<<<dim3(row_tiles * 2, heads), 128, 0, stream>>>((float4*)dq, (Element*)buffers[6], (int)T, row_tiles, scale);
    const cudaError_t started = cudaGetLastError(), freed = cudaFreeAsync(dq, stream);
    return started != cudaSuccess ? started : freed;
}

extern "C" int attention_backward_specialised(void** buffers, const int64_t* dims, const double* params, void* stream) {
    const int64_t heads = dims[0] * dims[1], T = dims[2];
    return params[0] != 0 ? launch<true>(buffers, heads, T, (cudaStream_t)stream)
                          : launch<false>(buffers, heads, T, (cudaStream_t)stream);
}
// endregion
