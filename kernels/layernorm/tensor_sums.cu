#include <cuda_bf16.h>

// The row of `ahead` in bfloat16, whose two sums the tensor cores add.
//
// `ahead` converts each element to float32 three times: for the sum, for the squares and for the result.  A thread has
// 64 elements at 65536 columns, and the listing of its program there has 1123 instructions.  This one has 711.  Here a
// matrix product of 16 x 16 and 16 x 8 adds both sums of 128 elements at once.  The upper eight rows of the left matrix
// are the elements, and its lower eight are ones.  The right matrix is the same elements, transposed.  So the diagonal
// of the upper half of the product has the sums of squares, and each row of the lower half the sums.  The product of
// two numbers of bfloat16 is exact in float32, unless it is too small or too large.  PTX promises that the tensor cores
// add with at least single precision, and does not say how they round.
// The variance is a difference of these sums, which would cancel where the mean is far from 0.  So each warp first
// subtracts the mean of its first pieces, 256 elements.  The difference is rounded to bfloat16, by at most 2^-8 of
// itself.  If the first element took the place of that mean and were an outlier, all differences would be large, and
// their rounding would move the mean of the row.
// The mean of 256 elements moves it, too, where these differ from the rest of the row and the rest has few values.
// Equal differences have equal errors, which do not cancel.  An example is a row of 8192 elements, of which the first
// 1024 are 256 and the others -1.  The differences of -257 become -256, and the mean becomes 32 instead of 31.125.
// `ahead` waits for the pairs of other blocks with an acquire of scope `cluster`, which the compiler turns into an
// instruction that empties L1.  The weights and biases that the blocks of an SM share are lost with it.  This program
// waits with scope `cta`, as CUTLASS does for its barriers in a cluster, and has no such instruction there.  The pairs
// lie in the block's own shared memory, which is not cached.  The memory model of PTX does not promise that this scope
// is enough, since other blocks store the pairs.  The wait for the start of the cluster still empties L1.
// A thread takes 72 registers, so seven blocks share an SM.  In `ahead` it takes 96, and five blocks do.

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

template <bool ONCE>  // whether this is its only read
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

// An empty statement that may change the bits, as far as the compiler to PTX knows.  So it does not unpack them before
// the statement, which would take twice the registers.  The assembler does not see the statement and places the loads
// itself: the early ones come between the products at 65536 columns, and behind them at 8192.
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
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
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

// region: pairs
// A number of bfloat16 is the upper half of the same number in float32.
__device__ float low_of(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ float high_of(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }

__device__ unsigned packed(float low, float high) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

__device__ unsigned less(unsigned pair, unsigned shift) {  // two differences, rounded to bfloat16
    unsigned result;
    asm("sub.rn.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(pair), "r"(shift));
    return result;
}
// endregion

// region: moments
// Adds the product of the matrices above for four elements of each lane.  A lane holds two numbers of bfloat16 in each
// register: row lane / 4 of the elements, in columns 2 * (lane % 4) and the next, and eight columns further.
__device__ void add_moments(float (&sums)[4], unsigned low, unsigned high) {
    constexpr unsigned ONES = 0x3f803f80;
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %6, %5, %6}, {%4, %5}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(low), "r"(high), "r"(ONES));
}

// The sum of a warp's elements.  Each row of the lower half has the eight sums, two in each of its four lanes.
__device__ float sum_of(const float (&sums)[4]) {
    float sum = sums[2] + sums[3];
#pragma unroll
    for (int lanes = 1; lanes < 4; lanes *= 2) sum += __shfl_xor_sync(0xffffffff, sum, lanes);
    return sum;
}

// The mean of a warp's first pieces, rounded to bfloat16, in both halves of the result, as `less` takes it.  Of these
// 256 elements `count` are in the row, and the others are 0.
__device__ unsigned mean_of(uint4 bits, int count) {
    float sums[4] = {};
    add_moments(sums, bits.x, bits.y);
    add_moments(sums, bits.z, bits.w);
    const float mean = sum_of(sums) / count;
    return packed(mean, mean);
}

// The sum of the squares of a warp's elements.  Of the four lanes of a row in the upper half, one has the element on
// the diagonal.
__device__ float squares_of(const float (&sums)[4]) {
    const int lane = threadIdx.x % 32, row = lane / 4;
    const float diagonal = row % 2 ? sums[1] : sums[0];
    float squares = lane % 4 == row / 2 ? diagonal : 0.0f;
#pragma unroll
    for (int lanes = 1; lanes < 32; lanes *= 2) squares += __shfl_xor_sync(0xffffffff, squares, lanes);
    return squares;
}
// endregion

// region: merge
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
    const float origin = pairs[0].x / count_of(0);  // the mean of the first warp, mostly near that of the row
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x % 32; i < CLUSTER * WARPS; i += 32) {
        const float count = count_of(i), distance = pairs[i].x / fmaxf(count, 1.0f) - origin;
        sum += count * distance;
        squares += pairs[i].y + count * distance * distance;
    }
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, lane);
        squares += __shfl_xor_sync(0xffffffff, squares, lane);
    }
    const float shift = sum / COLUMNS;
    return make_float2(origin + shift, fmaxf(squares / COLUMNS - shift * shift, 0.0f));
}
// endregion

// region: normalise
__device__ unsigned normalised(unsigned x, float mean, float scale, unsigned weight, unsigned bias) {
    const float low = (low_of(x) - mean) * scale, high = (high_of(x) - mean) * scale;
    return packed(fmaf(low, low_of(weight), low_of(bias)), fmaf(high, high_of(weight), high_of(bias)));
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    layernorm_tensor_sums(const DTYPE* x, const DTYPE* w, const DTYPE* b, DTYPE* y) {
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

    const int warp = threadIdx.x / 32, left = end - rank * SLICE - warp * 32 * VEC;
    const unsigned shift = mean_of(chunks[0].bits, FULL ? 32 * VEC : max(1, min(32 * VEC, left)));
    if constexpr (!FULL) {  // what lies outside counts as the shift, so its difference is 0
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
            for (int e = 0; e < VEC; ++e)
                if (column(k) + e >= end) chunks[k].element[e] = __ushort_as_bfloat16(shift & 0xffff);
    }
    float sums[2][4] = {};  // two, so that a product need not wait for the one just before
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
        const uint4 bits = chunks[k].bits;
        add_moments(sums[0], less(bits.x, shift), less(bits.y, shift));
        add_moments(sums[1], less(bits.z, shift), less(bits.w, shift));
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[0][i] += sums[1][i];
    const float sum = sum_of(sums[0]), count = count_of(rank * WARPS + warp);
    const float squares = fmaxf(squares_of(sums[0]) - sum * (sum / fmaxf(count, 1.0f)), 0.0f);
    exchange(pairs, rank, make_float2(sum + count * low_of(shift), squares), &arrived);

    const float2 row = merged(pairs);
    const float mean = row.x, scale = rsqrtf(row.y + EPSILON);
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
        if (k < EARLY)
            keep_packed(weights[k]), keep_packed(biases[k]);
        else
            weights[k] = load<false>(w, column(k), end), biases[k] = load<false>(b, column(k), end);
        uint4& bits = chunks[k].bits;
        const uint4 weight = weights[k].bits, bias = biases[k].bits;
        bits.x = normalised(bits.x, mean, scale, weight.x, bias.x);
        bits.y = normalised(bits.y, mean, scale, weight.y, bias.y);
        bits.z = normalised(bits.z, mean, scale, weight.z, bias.z);
        bits.w = normalised(bits.w, mean, scale, weight.w, bias.w);
        store(y, column(k), end, chunks[k]);
    }
}
// endregion
