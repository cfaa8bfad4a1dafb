#include <cuda_bf16.h>

// A row in the registers of a cluster: for rows that the registers of a single block cannot hold.
//
// CLUSTER blocks in one part of the GPU (a GPC) take a slice of the row each: at 65536 columns of float32 eight slices
// of 32 KB instead of 256 KB in one place.  Memory still sees one read and one write of M·N elements, and several
// blocks still share an SM, so that some load while others reduce: four of 32 KB, or two of the 64 KB that a slice of
// 131072 has.
// Each warp reduces its part to a pair (m, d), the largest value and the sum of exp(value - m), and writes it into the
// shared memory of every block of the cluster; when all have arrived every warp merges them by itself.
// Compiled for the row's length, COLUMNS, and the size of the cluster.  CLUSTER = 1 is an ordinary block, which may be
// launched as one: it has no instruction that needs a cluster.

// region: pieces
constexpr int VEC = 16 / sizeof(DTYPE);
constexpr int WARPS = THREADS / 32;
constexpr int SLICE = (COLUMNS + VEC * CLUSTER - 1) / (VEC * CLUSTER) * VEC;
constexpr int CHUNKS = (SLICE + VEC * THREADS - 1) / (VEC * THREADS);  // of 16 bytes, for each thread
constexpr bool FULL = SLICE % (VEC * THREADS) == 0 && SLICE * CLUSTER == COLUMNS;
constexpr float LOWEST = -3.402823466e38f;  // not -inf: the exponentials of a warp of -inf must be 0, not NaN

union Chunk {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Chunk() {}
};

__device__ Chunk load(const DTYPE* row, int column, int end) {
    Chunk chunk;
#pragma unroll
    for (int e = 0; e < VEC; ++e) chunk.element[e] = DTYPE(__int_as_float(0xff800000));  // -inf
    if constexpr (COLUMNS % VEC == 0) {
        if (FULL || column < end) chunk.bits = *reinterpret_cast<const uint4*>(row + column);
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
__device__ float warp_max(float value) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, lane));
    return value;
}

__device__ float warp_sum(float value) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffff, value, lane);
    return value;
}

__device__ float2 merged(const float2* pairs) {  // the row's largest value and its sum; every warp by itself
    const int lane = threadIdx.x % 32;
    float largest = LOWEST, sum = 0.0f;
    for (int i = lane; i < CLUSTER * WARPS; i += 32) largest = fmaxf(largest, pairs[i].x);
    largest = warp_max(largest);
    for (int i = lane; i < CLUSTER * WARPS; i += 32) sum += pairs[i].y * __expf(pairs[i].x - largest);
    return make_float2(largest, warp_sum(sum));
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS) softmax_cluster(const DTYPE* x, DTYPE* y) {
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
    for (int k = 0; k < CHUNKS; ++k) chunks[k] = load(x, column(k), end);

    float values[CHUNKS][VEC], m = LOWEST, d = 0.0f;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) m = fmaxf(m, values[k][e] = float(chunks[k].element[e]));
    m = warp_max(m);
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) d += values[k][e] = __expf(values[k][e] - m);
    exchange(pairs, rank, make_float2(m, warp_sum(d)), &arrived);

    const float2 row = merged(pairs);
    const float scale = __expf(m - row.x) / row.y;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
#pragma unroll
        for (int e = 0; e < VEC; ++e) chunks[k].element[e] = DTYPE(values[k][e] * scale);
        store(y, column(k), end, chunks[k]);
    }
}
// endregion
