#include <cuda_bf16.h>

// A cluster that stays: its weights and biases stay in registers, and rows pass through shared memory.
//
// In `cluster` every row loads all weights and biases again, from L1 or L2: three times the bytes of a row, where
// memory reads one.  No counter says how many of these loads L1 serves.
// Here a cluster takes every n-th row, where n is the number of clusters.  A thread always has the same columns, so it
// loads its weights and biases once.
// A thread copies its pieces of a row into its own places of shared memory with `cp.async`, STAGES - 2 rows ahead, and
// waits only for its own copies.  The exchange of a row's pairs between the blocks runs beside the sums of the next row:
// a row is written one turn after its pairs were sent.
// A cluster needs its SMs in one part of the GPU (a GPC), and an H200 has room for 30 clusters of four blocks: 12 of
// its 132 SMs have nothing to do.  At 8192 columns CLUSTER is 1, which needs no such place.  The launch has 119 blocks
// of 68 or 69 rows all the same, so 13 SMs have nothing to do.
// The file is compiled for the row's length, COLUMNS, and the size of the cluster.  With CLUSTER = 1 it has no
// instruction that needs a cluster.  BLOCKS of them have to fit an SM, which limits the registers.

// region: pieces
constexpr float EPSILON = 1e-5f;
constexpr int VEC = 16 / sizeof(DTYPE);
constexpr int WARPS = THREADS / 32;
constexpr int SLICE = (COLUMNS + VEC * CLUSTER - 1) / (VEC * CLUSTER) * VEC;
constexpr int CHUNKS = (SLICE + VEC * THREADS - 1) / (VEC * THREADS);  // of 16 bytes, for each thread
constexpr bool FULL = SLICE % (VEC * THREADS) == 0 && SLICE * CLUSTER == COLUMNS;

union Chunk {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Chunk() {}
};

__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

__device__ Chunk load(const DTYPE* row, int column, int end) {
    Chunk chunk;
    chunk.bits = make_uint4(0, 0, 0, 0);
    if constexpr (COLUMNS % VEC == 0) {
        if (FULL || column < end) chunk.bits = __ldg(reinterpret_cast<const uint4*>(row + column));
    } else {
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            if (column + e < end) chunk.element[e] = row[column + e];
    }
    return chunk;
}

// Copies a piece to shared memory.  The thread goes on at once where the row begins at a multiple of 16 bytes.
__device__ void start_copy(uint4* to, const DTYPE* row, int column, int end) {
    if (COLUMNS % VEC == 0 && (FULL || column < end))
        asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(address(to)), "l"(row + column)
                     : "memory");
    else
        *to = load(row, column, end).bits;
}

__device__ void store(DTYPE* row, int column, int end, Chunk chunk) {
    if constexpr (COLUMNS % VEC == 0) {
        if (FULL || column < end) *reinterpret_cast<uint4*>(row + column) = chunk.bits;
    } else {
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            if (column + e < end) row[column + e] = chunk.element[e];
    }
}

// Tells the compiler that the bits may have changed, so that it converts them again where they are used next.  It would
// keep every element as a float instead, which takes twice the registers in bfloat16.
__device__ void keep_packed(Chunk& chunk) {
    asm volatile("" : "+r"(chunk.bits.x), "+r"(chunk.bits.y), "+r"(chunk.bits.z), "+r"(chunk.bits.w));
}
// endregion

// region: primitives
__device__ int cluster_rank() {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ void init_barrier(unsigned long long* arrived) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(arrived)) : "memory");
}

__device__ void expect(unsigned long long* arrived, unsigned bytes) {  // one thread's work, once a phase
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(arrived)), "r"(bytes) : "memory");
}

// Stores into the same place in the block of that rank, and counts the bytes at that block's barrier.
__device__ void send(int rank, float2* place, float2 value, unsigned long long* arrived) {
    asm volatile(
        "{\n.reg .u32 there, barrier;\n"
        "mapa.shared::cluster.u32 there, %0, %2;\n"
        "mapa.shared::cluster.u32 barrier, %1, %2;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [there], {%3, %4}, [barrier];\n}" ::"r"(
            address(place)),
        "r"(address(arrived)), "r"(rank), "f"(value.x), "f"(value.y)
        : "memory");
}

__device__ void wait(unsigned long long* arrived, unsigned parity) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(address(arrived)),
        "r"(parity)
        : "memory");
}

__device__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
// endregion

// region: exchange
// The pairs of SLOTS rows.  A warp sends those of row r + 4 after it waited for row r + 2.  Then every warp of the
// cluster has sent those of row r + 2, and before that it has read those of row r, which lay in the same place.
constexpr int SLOTS = 4;

struct Exchange {
    float2 pairs[SLOTS][CLUSTER * WARPS];
    unsigned long long arrived[SLOTS];
};

__device__ void open_exchange(Exchange& exchange) {
    if constexpr (CLUSTER > 1) {
        if (threadIdx.x == 0) {
            for (int i = 0; i < SLOTS; ++i) init_barrier(&exchange.arrived[i]);
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
            for (int i = 0; i < SLOTS; ++i) expect(&exchange.arrived[i], sizeof(exchange.pairs[i]));
        }
        __syncthreads();
        cluster_arrive();  // waited for only before the first store to another block: the loads hide it
    }
}

// Every warp's pair in every block of the cluster.
__device__ void send_pair(Exchange& exchange, int row, int rank, float2 ours) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, slot = row % SLOTS;
    if constexpr (CLUSTER == 1) {
        if (lane == 0) exchange.pairs[slot][warp] = ours;
        __syncthreads();
    } else {
        if (lane < CLUSTER) send(lane, &exchange.pairs[slot][rank * WARPS + warp], ours, &exchange.arrived[slot]);
    }
}

__device__ const float2* received_pairs(Exchange& exchange, int row) {
    const int slot = row % SLOTS;
    if constexpr (CLUSTER > 1) {
        wait(&exchange.arrived[slot], row / SLOTS % 2);
        if (threadIdx.x == 0) expect(&exchange.arrived[slot], sizeof(exchange.pairs[slot]));  // for row + SLOTS
    }
    return exchange.pairs[slot];
}
// endregion

// region: merge
__device__ float warp_sum(float value) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffff, value, lane);
    return value;
}

// How many elements the part of a warp has; warps are counted through the cluster.
__device__ float count_of(int part) {
    if constexpr (FULL) return CHUNKS * 32 * VEC;
    const int rank = part / WARPS, end = min(COLUMNS, (rank + 1) * SLICE);
    int count = 0;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k)
        count += max(0, min(32 * VEC, end - rank * SLICE - (k * THREADS + part % WARPS * 32) * VEC));
    return count;
}

__device__ float2 merged(const float2* pairs) {  // the row's mean and variance; every warp by itself
    const int lane = threadIdx.x % 32;
    float sum = 0.0f, squares = 0.0f;
    for (int i = lane; i < CLUSTER * WARPS; i += 32) sum += pairs[i].x;
    const float mean = warp_sum(sum) / COLUMNS;
    for (int i = lane; i < CLUSTER * WARPS; i += 32) {
        const float count = count_of(i), distance = pairs[i].x / fmaxf(count, 1.0f) - mean;
        squares += pairs[i].y + count * distance * distance;
    }
    return make_float2(mean, warp_sum(squares) / COLUMNS);
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    layernorm_stream(const DTYPE* x, const DTYPE* w, const DTYPE* b, DTYPE* y, long long M) {
    extern __shared__ uint4 ring[];  // [STAGES][CHUNKS][THREADS]
    __shared__ Exchange exchange;
    open_exchange(exchange);
    const int rank = CLUSTER > 1 ? cluster_rank() : 0;
    const int end = min(COLUMNS, (rank + 1) * SLICE);
    const auto column = [&](int k) { return rank * SLICE + (k * THREADS + (int)threadIdx.x) * VEC; };
    const int first = blockIdx.x / CLUSTER, clusters = gridDim.x / CLUSTER;
    const int rows = (int)((M - first + clusters - 1) / clusters);
    const auto start = [&](int row) { return (first + (long long)row * clusters) * COLUMNS; };
    const auto place = [&](int row, int k) { return ring + (row % STAGES * CHUNKS + k) * THREADS + threadIdx.x; };
    const auto start_row = [&](int row) {
        if (row < rows)
#pragma unroll
            for (int k = 0; k < CHUNKS; ++k) start_copy(place(row, k), x + start(row), column(k), end);
        asm volatile("cp.async.commit_group;" ::: "memory");  // an empty one after the last row, so that counts agree
    };

    for (int row = 0; row < STAGES; ++row) start_row(row);
    Chunk weights[CHUNKS], biases[CHUNKS];
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) weights[k] = load(w, column(k), end), biases[k] = load(b, column(k), end);
    const float count = fmaxf(count_of(rank * WARPS + threadIdx.x / 32), 1.0f);
    if constexpr (CLUSTER > 1) cluster_wait();  // every block of the cluster runs and its barriers expect the pairs

    for (int row = 0; row <= rows; ++row) {  // the sums of `row`, the result of the row before
        if (row < rows) {
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
            Chunk chunks[CHUNKS];
            float sum = 0.0f, square = 0.0f;
#pragma unroll
            for (int k = 0; k < CHUNKS; ++k) {
                chunks[k].bits = *place(row, k);
#pragma unroll
                for (int e = 0; e < VEC; ++e) sum += float(chunks[k].element[e]);
                keep_packed(chunks[k]);
            }
            sum = warp_sum(sum);
            const float center = sum / count;
#pragma unroll
            for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
                for (int e = 0; e < VEC; ++e) {
                    const float distance = float(chunks[k].element[e]) - center;
                    square += FULL || column(k) + e < end ? distance * distance : 0.0f;
                }
            send_pair(exchange, row, rank, make_float2(sum, warp_sum(square)));
        }
        if (row > 0) {
            const int before = row - 1;
            const float2 moments = merged(received_pairs(exchange, before));
            const float scale = rsqrtf(moments.y + EPSILON);
#pragma unroll
            for (int k = 0; k < CHUNKS; ++k) {
                Chunk chunk;
                chunk.bits = *place(before, k);
                keep_packed(weights[k]);
                keep_packed(biases[k]);
#pragma unroll
                for (int e = 0; e < VEC; ++e)
                    chunk.element[e] = DTYPE((float(chunk.element[e]) - moments.x) * scale * float(weights[k].element[e]) +
                                             float(biases[k].element[e]));
                store(y + start(before), column(k), end, chunk);
            }
            start_row(before + STAGES);
        }
    }
}
// endregion
