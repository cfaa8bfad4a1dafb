#include <cuda_bf16.h>

// The loss and the gradient of `cluster`, with no branch at the target.
//
// One change in the code: the last loop writes softmax · dloss everywhere, and the thread that wrote the target's
// element writes it again, less dloss.  The target's column is known only at run time, so `cluster` asks at every 16
// bytes whether the target is among them.  With these branches, 512 threads and three blocks on an SM, the 40 registers
// of a thread are too few: ptxas stores 36 bytes of each thread in local memory.  Without them it stores none there.
// One thread's two stores to the same address stay in order, so no barrier is needed between them.
// The launch changes too: a row of 128256 columns has 256 threads in each of eight blocks instead of 512, with 80
// registers.  Three blocks fit an SM, so it has half as many threads as with `cluster`.
// The file is compiled for the row's length, COLUMNS, and the size of the cluster.  With CLUSTER = 1 it has no
// instruction that needs a cluster.  BLOCKS of them have to fit an SM, which limits the registers.

// region: exponential
// e^x for x <= 0; results below 1.2e-38 become 0.
__device__ float exp_of(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.4426950408889634f));  // log2(e)
    return y;
}
// endregion

// region: pieces
constexpr int VEC = 16 / sizeof(DTYPE);
constexpr int WARPS = THREADS / 32;
constexpr int SLICE = (COLUMNS + VEC * CLUSTER - 1) / (VEC * CLUSTER) * VEC;
constexpr int CHUNKS = (SLICE + VEC * THREADS - 1) / (VEC * THREADS);  // of 16 bytes, for each thread
constexpr bool FULL = SLICE % (VEC * THREADS) == 0 && SLICE * CLUSTER == COLUMNS;
constexpr float LOWEST = -3.402823466e38f;  // not -inf: where a warp has only -inf, its exponentials must be 0

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
        if (FULL || column < end) chunk.bits = __ldcg(reinterpret_cast<const uint4*>(row + column));
    } else {
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            if (column + e < end) chunk.element[e] = row[column + e];
    }
    return chunk;
}

__device__ void store(DTYPE* row, int column, int end, Chunk chunk) {
    if constexpr (COLUMNS % VEC == 0) {
        if (FULL || column < end) __stcs(reinterpret_cast<uint4*>(row + column), chunk.bits);
    } else {
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            if (column + e < end) row[column + e] = chunk.element[e];
    }
}

__device__ __nv_bfloat162 pair_of(const Chunk& chunk, int e) {
    return __halves2bfloat162(chunk.element[2 * e], chunk.element[2 * e + 1]);
}

// Tells the compiler that the bits may have changed, so that it converts them again where they are used next.  It would
// keep every element as a float instead, which takes twice the registers.
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
        cluster_wait();  // every block of the cluster runs, and its barrier is ready
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
    for (int i = lane; i < CLUSTER * WARPS; i += 32) sum += pairs[i].y * exp_of(pairs[i].x - largest);
    return make_float2(largest, warp_sum(sum));
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    cross_entropy_fused_branchless(const DTYPE* logits, const long long* target, const float* dloss, float* loss,
                                DTYPE* dlogits) {
    __shared__ float2 pairs[CLUSTER * WARPS];
    __shared__ unsigned long long arrived;
    open_exchange(&arrived, sizeof(pairs));
    const int rank = CLUSTER > 1 ? cluster_rank() : 0;
    const int end = min(COLUMNS, (rank + 1) * SLICE);
    const auto column = [&](int k) { return rank * SLICE + (k * THREADS + (int)threadIdx.x) * VEC; };
    const long long at = blockIdx.x / CLUSTER;
    logits += at * COLUMNS;
    dlogits += at * COLUMNS;

    Chunk chunks[CHUNKS];
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) chunks[k] = load(logits, column(k), end);
    const int correct = (int)target[at];
    const float factor = dloss[at];

    __nv_bfloat162 largest = __float2bfloat162_rn(LOWEST);
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
#pragma unroll
        for (int e = 0; e < VEC / 2; ++e) largest = __hmax2(largest, pair_of(chunks[k], e));
        keep_packed(chunks[k]);
    }
    const float m = fmaxf(LOWEST, warp_max(fmaxf(__low2float(largest), __high2float(largest))));
    float d = 0.0f;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
#pragma unroll
        for (int e = 0; e < VEC; ++e) d += exp_of(float(chunks[k].element[e]) - m);
        keep_packed(chunks[k]);
    }
    exchange(pairs, rank, make_float2(m, warp_sum(d)), &arrived);

    const float2 row = merged(pairs);
    const float scale = factor / row.y;
    if (rank == 0 && threadIdx.x == 0) loss[at] = logf(row.y) + (row.x - float(logits[correct]));
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            chunks[k].element[e] = DTYPE(exp_of(float(chunks[k].element[e]) - row.x) * scale);
        store(dlogits, column(k), end, chunks[k]);
    }
    const int inside = correct - rank * SLICE;  // its place in this block's slice, if it is there
    if (inside >= 0 && inside < SLICE && inside / VEC % THREADS == threadIdx.x)
        dlogits[correct] = DTYPE(exp_of(float(logits[correct]) - row.x) * scale - factor);
}
// endregion
