#include <cuda_bf16.h>

// The row of `tensor_mean`, whose elements the tensor cores convert to float32, too.
//
// The product of a matrix and the identity is the matrix itself, here in float32.  The instruction mma.m16n8k8 leaves
// each number in the lane that had it, so one instruction converts four elements of a lane.  `tensor_mean` takes four.
// Each element is multiplied by 1 once and by 0 seven times, and these products are exact.  So the distances, squares
// and the results are those of `tensor_mean`.  0 times infinity is not a number, so an infinite element spoils the
// seven others of its line in the matrix.  In a row with such an element the variance is not a number, and neither is
// any result, here as in torch.
// The weights and biases are converted by shifts and masks, one instruction each, since an infinite weight must not
// spoil other columns.
// The registers decide how many blocks share an SM.  Here eight do, with 64 registers a thread and no spill, at 65536
// columns.  They hold 128 KB of rows in an SM.  In `ahead` five blocks hold 80 KB.  The program has 736 instructions
// there, with NOPs, by nvcc 13.0, and that of `tensor_mean` 784.

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

// region: unpack
// The identity of 8 x 8.  A lane holds rows 2 * (lane % 4) and the next of column lane / 4.  The lane is read by a
// volatile statement, so that the compiler makes the identity again after the exchange and keeps no register for it.
__device__ unsigned identity() {
    int lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    const int column = lane / 4;
    if (column / 2 != lane % 4) return 0;
    return column % 2 ? 0x3f800000 : 0x00003f80;
}

// Converts the eight elements of each lane: 16 x 8 elements times the identity, twice.  The product has an element
// where the left matrix has it, so each lane gets its own elements back, as float32.
__device__ Floats unpacked(const Chunk& chunk, unsigned one) {
    Floats x;
    const unsigned pair[4] = {chunk.bits.x, chunk.bits.y, chunk.bits.z, chunk.bits.w};
#pragma unroll
    for (int i = 0; i < 4; i += 2)
        asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %7, %7, %7};"
            : "=f"(x.of[2 * i]), "=f"(x.of[2 * i + 1]), "=f"(x.of[2 * i + 2]), "=f"(x.of[2 * i + 3])
            : "r"(pair[i]), "r"(pair[i + 1]), "r"(one), "f"(0.0f));
    return x;
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
    layernorm_tensor_unpack(const DTYPE* x, const DTYPE* w, const DTYPE* b, DTYPE* y) {
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
    const unsigned one = identity();
    float squares[4] = {};  // four, so that an addition need not wait for the one just before
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
        const Floats values = unpacked(chunks[k], one);
#pragma unroll
        for (int e = 0; e < VEC; ++e) {
            const float distance = values.of[e] - center;
            squares[e % 4] += FULL || e < left - k * STEP ? distance * distance : 0.0f;
        }
    }
    const float square = warp_sum((squares[0] + squares[1]) + (squares[2] + squares[3]));
    exchange(pairs, rank, make_float2(sum, square), &arrived);

    const unsigned again = identity();
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
        Floats values = unpacked(chunks[k], again);
        const Floats weight = floats_of(weights[k]), bias = floats_of(biases[k]);
#pragma unroll
        for (int e = 0; e < VEC; ++e) values.of[e] = fmaf((values.of[e] - mean) * scale, weight.of[e], bias.of[e]);
        store(y + k * STEP, left - k * STEP, chunk_of(values));
    }
}
// endregion
