#include <cuda_bf16.h>

// A cluster that takes ROWS rows, one after the other: the weights of its slices stay in L1.
//
// In `cluster` each block reads its slice of the weights from L2, because the block before it on the same SM had another
// slice.  At 65536 columns the weights are one more read of a row, all from L2.  Here a block has the same slice for
// ROWS rows.  Its part of the rows passes L1 by (`ld.global.cg`), so the slice of the weights can stay there.
// The exchange has two places and two barriers, for rows in turn: a block may already send for the next row while its
// neighbour still reads this one, but it cannot be two rows ahead.
// The file is compiled for the row's length, COLUMNS, and the size of the cluster.  With CLUSTER = 1 it has no
// instruction that needs a cluster.

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
// endregion

// region: primitives
__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

__device__ int cluster_rank() {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ void expect(unsigned long long* arrived, unsigned bytes) {  // one thread's work
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(arrived)), "r"(bytes) : "memory");
}

// Stores into the same place in the block of that rank, and counts the bytes at that block's barrier.
__device__ void send(int rank, float* place, float value, unsigned long long* arrived) {
    asm volatile(
        "{\n.reg .u32 there, barrier;\n"
        "mapa.shared::cluster.u32 there, %0, %2;\n"
        "mapa.shared::cluster.u32 barrier, %1, %2;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [there], %3, [barrier];\n}" ::"r"(address(place)),
        "r"(address(arrived)), "r"(rank), "f"(value)
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

__device__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
__device__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
// endregion

// region: exchange
constexpr unsigned EXCHANGED = CLUSTER * WARPS * sizeof(float);

__device__ void open_exchange(unsigned long long* arrived) {
    if constexpr (CLUSTER > 1) {
        if (threadIdx.x == 0) {
            for (int turn = 0; turn < 2; ++turn)
                asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(arrived + turn)) : "memory");
            expect(arrived, EXCHANGED);
            expect(arrived + 1, EXCHANGED);
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
        __syncthreads();
        cluster_arrive();  // waited for only before the first store to another block: the loads hide it
    }
}

// Every warp's sum in `sums` of every block of the cluster.
__device__ void exchange(float* sums, int rank, float ours, unsigned long long* arrived, int row) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if constexpr (CLUSTER == 1) {
        if (lane == 0) sums[warp] = ours;
        __syncthreads();
    } else {
        if (row == 0) cluster_wait();  // every block of the cluster runs, and its barriers expect the sums
        if (lane < CLUSTER) send(lane, &sums[rank * WARPS + warp], ours, arrived);
        wait(arrived, row / 2 % 2);
        if (threadIdx.x == 0) expect(arrived, EXCHANGED);  // of the row after the next
    }
}
// endregion

// region: merge
__device__ float warp_sum(float value) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffff, value, lane);
    return value;
}

__device__ float merged(const float* sums) {  // every warp by itself
    float sum = 0.0f;
    for (int i = threadIdx.x % 32; i < CLUSTER * WARPS; i += 32) sum += sums[i];
    return warp_sum(sum);
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) rmsnorm_resident(const DTYPE* x, const DTYPE* w, DTYPE* y, long long M) {
    __shared__ float sums[2][CLUSTER * WARPS];
    __shared__ unsigned long long arrived[2];
    open_exchange(arrived);
    const int rank = CLUSTER > 1 ? cluster_rank() : 0;
    const int end = min(COLUMNS, (rank + 1) * SLICE);
    const auto column = [&](int k) { return rank * SLICE + (k * THREADS + (int)threadIdx.x) * VEC; };
    const int rows = min((long long)ROWS, M - blockIdx.x / CLUSTER * (long long)ROWS);
    for (int i = 0; i < rows; ++i) {
        const long long first = (blockIdx.x / CLUSTER * (long long)ROWS + i) * COLUMNS;
        const int turn = i % 2;
        Chunk chunks[CHUNKS];
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k) chunks[k] = load<true>(x + first, column(k), end);

        float square = 0.0f;  // columns beyond the slice are 0 and add nothing
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
            for (int e = 0; e < VEC; ++e) square += float(chunks[k].element[e]) * float(chunks[k].element[e]);
        exchange(sums[turn], rank, warp_sum(square), &arrived[turn], i);

        const float scale = rsqrtf(merged(sums[turn]) / COLUMNS + EPSILON);
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k) {
            const Chunk weights = load<false>(w, column(k), end);
#pragma unroll
            for (int e = 0; e < VEC; ++e)
                chunks[k].element[e] = DTYPE(float(chunks[k].element[e]) * scale * float(weights.element[e]));
            store(y + first, column(k), end, chunks[k]);
        }
    }
}
// endregion
