#include <cuda_bf16.h>

// The row of `cluster`, whose first weights and biases are loaded before the exchange.
//
// The source loads the weights and biases of a thread's first AHEAD pieces right behind its slice of the row.  They
// pass through L1, as the others do.  In `cluster` all of these loads stand behind the exchange, and a block waits for
// them once more before it writes.
// The compiler decides where a load begins.  In `cluster` it moves six of eight before the barrier in float32 at 8192
// columns, and none at 65536.  Here, in float32, the early loads follow those of the row, and can arrive while it is
// reduced.  In bfloat16 at 65536 columns they follow the sum of the row, so they are under way only while the
// squares are added and the pairs exchanged.  In bfloat16 at 8192 columns they follow the barrier, as in `cluster`.
// The early weights take registers.  In bfloat16 five of these blocks share an SM, with 96 registers a thread.  Six
// blocks of `cluster` do, with 80 registers, some of which spill.  So the early loads alone do not explain why this
// program is faster than `cluster` in bfloat16: at 8192 columns they are not early.  There `cluster` writes 18 MB more,
// its spills, to the memory of an H100.
// In float32 a cluster has eight blocks of 256 threads, and three blocks share an SM.
// The file is compiled for the row's length, COLUMNS, and the size of the cluster.  With CLUSTER = 1 it has no
// instruction that needs a cluster.  BLOCKS of them have to fit an SM, which limits the registers.

// region: pieces
constexpr float EPSILON = 1e-5f;
constexpr int VEC = 16 / sizeof(DTYPE);
constexpr int WARPS = THREADS / 32;
constexpr int SLICE = (COLUMNS + VEC * CLUSTER - 1) / (VEC * CLUSTER) * VEC;
constexpr int CHUNKS = (SLICE + VEC * THREADS - 1) / (VEC * THREADS);  // of 16 bytes, for each thread
constexpr int EARLY = AHEAD < CHUNKS ? AHEAD : CHUNKS;
constexpr bool FULL = SLICE % (VEC * THREADS) == 0 && SLICE * CLUSTER == COLUMNS;

union Chunk {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Chunk() {}
};

template <bool ONCE>  // whether nobody reads it again
__device__ Chunk load(const DTYPE* row, int column, int end) {
    Chunk chunk;
    chunk.bits = make_uint4(0, 0, 0, 0);
    if constexpr (COLUMNS % VEC == 0) {
        const uint4* from = reinterpret_cast<const uint4*>(row + column);
        if (FULL || column < end) chunk.bits = ONCE ? __ldcg(from) : __ldg(from);
    } else {
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            if (column + e < end) chunk.element[e] = row[column + e];
    }
    return chunk;
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
__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

__device__ int cluster_rank() {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ void expect(unsigned long long* arrived, unsigned bytes) {  // one thread's work, once
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(arrived)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(arrived)), "r"(bytes) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
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

__device__ void wait(unsigned long long* arrived) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0;\n"
        "@!done bra again;\n}" ::"r"(address(arrived))
        : "memory");
}

__device__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
__device__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
// endregion

// region: exchange
__device__ void open_exchange(unsigned long long* arrived, unsigned bytes) {
    if constexpr (CLUSTER > 1) {
        if (threadIdx.x == 0) expect(arrived, bytes);
        __syncthreads();
        cluster_arrive();  // waited for only before the first store to another block: the loads hide it
    }
}

// Every warp's pair in `pairs` of every block of the cluster.
__device__ void exchange(float2* pairs, int rank, float2 ours, unsigned long long* arrived) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if constexpr (CLUSTER == 1) {
        if (lane == 0) pairs[warp] = ours;
        __syncthreads();
    } else {
        cluster_wait();  // every block of the cluster runs and its barrier expects the pairs
        if (lane < CLUSTER) send(lane, &pairs[rank * WARPS + warp], ours, arrived);
        wait(arrived);  // nobody writes here after that, so a block may end before its neighbours
    }
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
    layernorm_ahead(const DTYPE* x, const DTYPE* w, const DTYPE* b, DTYPE* y) {
    __shared__ float2 pairs[CLUSTER * WARPS];
    __shared__ unsigned long long arrived;
    open_exchange(&arrived, sizeof(pairs));
    const int rank = CLUSTER > 1 ? cluster_rank() : 0;
    const int end = min(COLUMNS, (rank + 1) * SLICE);
    const auto column = [&](int k) { return rank * SLICE + (k * THREADS + (int)threadIdx.x) * VEC; };
    x += blockIdx.x / CLUSTER * (long long)COLUMNS;
    y += blockIdx.x / CLUSTER * (long long)COLUMNS;

    Chunk chunks[CHUNKS];
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) chunks[k] = load<true>(x, column(k), end);
    Chunk weights[CHUNKS], biases[CHUNKS];
#pragma unroll
    for (int k = 0; k < EARLY; ++k) {
        weights[k] = load<false>(w, column(k), end), biases[k] = load<false>(b, column(k), end);
        keep_packed(weights[k]), keep_packed(biases[k]);
    }

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) sum += float(chunks[k].element[e]);
    sum = warp_sum(sum);

    const float center = sum / fmaxf(count_of(rank * WARPS + threadIdx.x / 32), 1.0f);
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) keep_packed(chunks[k]);
    float square = 0.0f;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) {
            const float distance = float(chunks[k].element[e]) - center;
            square += FULL || column(k) + e < end ? distance * distance : 0.0f;
        }
    exchange(pairs, rank, make_float2(sum, warp_sum(square)), &arrived);

    const float2 row = merged(pairs);
    const float scale = rsqrtf(row.y + EPSILON);
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) keep_packed(chunks[k]);
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
        if (k < EARLY)
            keep_packed(weights[k]), keep_packed(biases[k]);
        else
            weights[k] = load<false>(w, column(k), end), biases[k] = load<false>(b, column(k), end);
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            chunks[k].element[e] = DTYPE((float(chunks[k].element[e]) - row.x) * scale * float(weights[k].element[e]) +
                                         float(biases[k].element[e]));
        store(y, column(k), end, chunks[k]);
    }
}
// endregion
