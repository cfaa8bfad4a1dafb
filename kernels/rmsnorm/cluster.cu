#include <cuda_bf16.h>

// A row in the registers of a cluster: for rows that the registers of a single block cannot hold.
//
// CLUSTER blocks in one part of the GPU (a GPC) take a slice of the row each: at 65536 columns of float32 four slices
// of 64 KB instead of 256 KB in one place.  Memory still sees one read and one write of M·N elements, and several
// blocks still share an SM, so that some load while others reduce.
// Each warp adds the squares of its part and writes the sum into the shared memory of every block of the cluster.  When
// all sums have arrived every warp adds them by itself, in the same order.
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
__device__ void send(int rank, float* place, float value, unsigned long long* arrived) {
    asm volatile(
        "{\n.reg .u32 there, barrier;\n"
        "mapa.shared::cluster.u32 there, %0, %2;\n"
        "mapa.shared::cluster.u32 barrier, %1, %2;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [there], %3, [barrier];\n}" ::"r"(address(place)),
        "r"(address(arrived)), "r"(rank), "f"(value)
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

// Every warp's sum in `sums` of every block of the cluster.
__device__ void exchange(float* sums, int rank, float ours, unsigned long long* arrived) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if constexpr (CLUSTER == 1) {
        if (lane == 0) sums[warp] = ours;
        __syncthreads();
    } else {
        cluster_wait();  // every block of the cluster runs and its barrier expects the sums
        if (lane < CLUSTER) send(lane, &sums[rank * WARPS + warp], ours, arrived);
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

__device__ float merged(const float* sums) {  // every warp by itself
    float sum = 0.0f;
    for (int i = threadIdx.x % 32; i < CLUSTER * WARPS; i += 32) sum += sums[i];
    return warp_sum(sum);
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) rmsnorm_cluster(const DTYPE* x, const DTYPE* w, DTYPE* y) {
    __shared__ float sums[CLUSTER * WARPS];
    __shared__ unsigned long long arrived;
    open_exchange(&arrived, sizeof(sums));
    const int rank = CLUSTER > 1 ? cluster_rank() : 0;
    const int end = min(COLUMNS, (rank + 1) * SLICE);
    const auto column = [&](int k) { return rank * SLICE + (k * THREADS + (int)threadIdx.x) * VEC; };
    x += blockIdx.x / CLUSTER * (long long)COLUMNS;
    y += blockIdx.x / CLUSTER * (long long)COLUMNS;

    Chunk chunks[CHUNKS];
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) chunks[k] = load<true>(x, column(k), end);

    float square = 0.0f;  // columns beyond the slice are 0 and add nothing
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e) square += float(chunks[k].element[e]) * float(chunks[k].element[e]);
    exchange(sums, rank, warp_sum(square), &arrived);

    const float scale = rsqrtf(merged(sums) / COLUMNS + EPSILON);
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) keep_packed(chunks[k]);
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
        const Chunk weights = load<false>(w, column(k), end);
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            chunks[k].element[e] = DTYPE(float(chunks[k].element[e]) * scale * float(weights.element[e]));
        store(y, column(k), end, chunks[k]);
    }
}
// endregion
