#include <cuda_bf16.h>

// The row of `ahead` in bfloat16, whose sum the tensor cores add, and whose squares stay in float32.
//
// `ahead` adds the 64 elements of a thread one after the other, at 65536 columns.  To do so, it first converts each to
// float32.  Here one product of 16 x 16 elements and 16 x 8 ones adds the eight elements of all 32 lanes, since eight
// elements of a lane are just the registers that the instruction takes.  Eight products replace 64 conversions and 64
// additions, and three shuffles replace five.
// The product of a number of bfloat16 and 1 is exact in float32.  PTX promises that the tensor cores add with at least
// single precision, and does not say how they round.  Suppose that they cut off what lies more than 23 bits below the
// leading bit of the largest number.  Elements with the same exponent are integers below 256 times a power of two, so
// a sum of 65536 of them has at most 24 bits and stays exact.  This is the case where digits matter most, a mean far
// from 0 beside a small deviation.
// The squares need the mean of the warp's elements first.  Then the distances are taken and squared in float32, as in
// `ahead`, and no estimate of the mean is rounded to bfloat16.
// A number that is infinite or not a number makes the sum so, and with it the whole row, as in torch.  Each product
// adds elements of one row only.
// The conversions that remain are written out, one instruction each.  For `ahead` the compiler often takes two.  So its
// program of 1136 instructions, with NOPs, becomes one of 784 at 65536 columns, by nvcc 13.0.  Six blocks share an SM,
// with 80 registers a thread.  With seven blocks, 72 registers, a thread spills 4 bytes.

// region: pieces
constexpr float EPSILON = 1e-5f;
constexpr int VEC = 16 / sizeof(DTYPE);
constexpr int WARPS = THREADS / 32;
constexpr int SLICE = (COLUMNS + VEC * CLUSTER - 1) / (VEC * CLUSTER) * VEC;
constexpr int CHUNKS = (SLICE + VEC * THREADS - 1) / (VEC * THREADS);  // of 16 bytes, for each thread
constexpr int STEP = VEC * THREADS;  // columns from a piece of a thread to its next one
constexpr int EARLY = AHEAD < CHUNKS ? AHEAD : CHUNKS;
constexpr bool FULL = SLICE % (VEC * THREADS) == 0 && SLICE * CLUSTER == COLUMNS;

union Chunk {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Chunk() {}
};

template <bool ONCE>  // whether this is its only read
__device__ Chunk load(const DTYPE* from, int left) {  // `left` is the number of elements from here to the slice's end
    Chunk chunk;
    chunk.bits = make_uint4(0, 0, 0, 0);
    if constexpr (COLUMNS % VEC == 0) {
        const uint4* place = reinterpret_cast<const uint4*>(from);
        if (FULL || left > 0) chunk.bits = ONCE ? __ldcg(place) : __ldg(place);
    } else {
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            if (e < left) chunk.element[e] = from[e];
    }
    return chunk;
}

__device__ void store(DTYPE* to, int left, Chunk chunk) {
    if constexpr (COLUMNS % VEC == 0) {
        if (FULL || left > 0) *reinterpret_cast<uint4*>(to) = chunk.bits;
    } else {
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            if (e < left) to[e] = chunk.element[e];
    }
}

// An empty statement that may change the bits, as far as the compiler to PTX knows.  So it converts them again where
// they are used next.  It would keep every element as a float instead, which takes twice the registers.
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

// Puts every warp's pair into `pairs` of every block of the cluster.
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

// region: sum
// Adds the eight elements of each lane: 16 x 16 elements times 16 x 8 ones.  A lane holds elements of rows lane / 4 and
// lane / 4 + 8 of the left matrix.  All columns of the product are equal, and each element counts once in each.
__device__ void add_rows(float (&sums)[4], uint4 bits) {
    constexpr unsigned ONES = 0x3f803f80;
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %8}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(bits.x), "r"(bits.y), "r"(bits.z), "r"(bits.w), "r"(ONES));
}

// The sum of a warp's elements: a lane holds the sums of two rows of the product, and four lanes hold the same two.
__device__ float sum_of(const float (&sums)[4]) {
    float sum = sums[0] + sums[2];
#pragma unroll
    for (int lanes = 4; lanes < 32; lanes *= 2) sum += __shfl_xor_sync(0xffffffff, sum, lanes);
    return sum;
}
// endregion

// region: floats
struct Floats {
    float of[VEC];
};

// A number of bfloat16 is the upper half of the same number in float32, so each conversion is one instruction.
__device__ Floats floats_of(const Chunk& chunk) {
    const unsigned pair[VEC / 2] = {chunk.bits.x, chunk.bits.y, chunk.bits.z, chunk.bits.w};
    Floats floats;
#pragma unroll
    for (int i = 0; i < VEC / 2; ++i) {
        floats.of[2 * i] = __uint_as_float(pair[i] << 16);
        floats.of[2 * i + 1] = __uint_as_float(pair[i] & 0xffff0000u);
    }
    return floats;
}

__device__ unsigned packed(float low, float high) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

__device__ Chunk chunk_of(const Floats& floats) {
    Chunk chunk;
    chunk.bits = make_uint4(packed(floats.of[0], floats.of[1]), packed(floats.of[2], floats.of[3]),
                            packed(floats.of[4], floats.of[5]), packed(floats.of[6], floats.of[7]));
    return chunk;
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
    layernorm_tensor_mean(const DTYPE* x, const DTYPE* w, const DTYPE* b, DTYPE* y) {
    __shared__ float2 pairs[CLUSTER * WARPS];
    __shared__ unsigned long long arrived;
    open_exchange(&arrived, sizeof(pairs));
    const int rank = CLUSTER > 1 ? cluster_rank() : 0;
    const int first = rank * SLICE + (int)threadIdx.x * VEC;
    const int left = min(COLUMNS, (rank + 1) * SLICE) - first;
    const long long row = blockIdx.x / CLUSTER * (long long)COLUMNS;
    x += row + first, y += row + first, w += first, b += first;

    Chunk chunks[CHUNKS];
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) chunks[k] = load<true>(x + k * STEP, left - k * STEP);
    Chunk weights[CHUNKS], biases[CHUNKS];
#pragma unroll
    for (int k = 0; k < EARLY; ++k) {
        weights[k] = load<false>(w + k * STEP, left - k * STEP), biases[k] = load<false>(b + k * STEP, left - k * STEP);
        keep_packed(weights[k]), keep_packed(biases[k]);
    }

    float sums[2][4] = {};  // two, so that a product need not wait for the one just before
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) add_rows(sums[k % 2], chunks[k].bits);
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[0][i] += sums[1][i];
    const float sum = sum_of(sums[0]);

    const float center = sum / fmaxf(count_of(rank * WARPS + threadIdx.x / 32), 1.0f);
    float squares[4] = {};  // four, so that an addition need not wait for the one just before
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
        const Floats values = floats_of(chunks[k]);
#pragma unroll
        for (int e = 0; e < VEC; ++e) {
            const float distance = values.of[e] - center;
            squares[e % 4] += FULL || e < left - k * STEP ? distance * distance : 0.0f;
        }
    }
    const float square = warp_sum((squares[0] + squares[1]) + (squares[2] + squares[3]));
    exchange(pairs, rank, make_float2(sum, square), &arrived);

    const float2 moments = merged(pairs);
    const float mean = moments.x, scale = rsqrtf(moments.y + EPSILON);
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) keep_packed(chunks[k]);
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
        if (k < EARLY)
            keep_packed(weights[k]), keep_packed(biases[k]);
        else
            weights[k] = load<false>(w + k * STEP, left - k * STEP),
            biases[k] = load<false>(b + k * STEP, left - k * STEP);
        Floats values = floats_of(chunks[k]);
        const Floats weight = floats_of(weights[k]), bias = floats_of(biases[k]);
#pragma unroll
        for (int e = 0; e < VEC; ++e) values.of[e] = fmaf((values.of[e] - mean) * scale, weight.of[e], bias.of[e]);
        store(y + k * STEP, left - k * STEP, chunk_of(values));
    }
}
// endregion
