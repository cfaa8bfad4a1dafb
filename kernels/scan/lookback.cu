#include <cuda_bf16.h>

// The scan of `chained`, whose blocks look back over many tiles at once.
//
// One change: a block publishes the sum of its own tile as soon as it has it, and later the sum up to its end.  A block
// no longer waits until the tile before it knows the sum up to its end: that tile's own sum is enough.  One warp looks at the 32 tiles before it together: it adds the sums of
// single tiles, back to the nearest tile that has published the sum up to its end.  If none of the 32 has, it adds all
// of them and looks at the 32 before those.  This is the decoupled look-back of Merrill and Garland (2016), which CUB
// uses too.
// Where a look-back ends depends on the time, so the order of additions and the last digits differ from call to call.

// region: tile
constexpr int WARPS = THREADS / 32, VECTORS = ITEMS / 4;  // of 16 bytes, for each thread
constexpr int TILE = THREADS * ITEMS, STRIP = 32 * ITEMS;  // numbers of a block and of a warp

// Vector k of a thread: the 32 vectors of a warp lie side by side, 128 numbers, and vector k + 1 follows.
__device__ long long place(int tile, int k) {
    return (long long)tile * TILE + threadIdx.x / 32 * STRIP + k * 128 + threadIdx.x % 32 * 4;
}

__device__ float4 load(const float* x, long long i, long long N, bool whole) {
    if (whole) return *reinterpret_cast<const float4*>(x + i);
    const auto number = [&](long long j) { return j < N ? x[j] : 0.0f; };
    return {number(i), number(i + 1), number(i + 2), number(i + 3)};
}

__device__ void store(float* y, long long i, long long N, bool whole, float4 v) {
    if (whole) {
        *reinterpret_cast<float4*>(y + i) = v;
    } else {
        if (i < N) y[i] = v.x;
        if (i + 1 < N) y[i + 1] = v.y;
        if (i + 2 < N) y[i + 2] = v.z;
        if (i + 3 < N) y[i + 3] = v.w;
    }
}

__device__ void add(float4& v, float before) {
    v.x += before;
    v.y += before;
    v.z += before;
    v.w += before;
}

__device__ float lanes_before(float value) {  // the sum of `value` over the lower lanes of the warp
    const int lane = threadIdx.x % 32;
    float sum = __shfl_up_sync(0xffffffff, value, 1);
    if (lane == 0) sum = 0.0f;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const float lower = __shfl_up_sync(0xffffffff, sum, step);
        if (lane >= step) sum += lower;
    }
    return sum;
}

// Turns the numbers of each warp's strip into their prefix sums; returns the sum of the strip to every lane.
__device__ float scan_strip(float4 (&v)[VECTORS]) {
    float total = 0.0f;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        v[k].y += v[k].x;
        v[k].z += v[k].y;
        v[k].w += v[k].z;
        const float before = lanes_before(v[k].w), all = __shfl_sync(0xffffffff, before + v[k].w, 31);
        add(v[k], total + before);
        total += all;
    }
    return total;
}
// endregion

// region: order
// Of each tile a number in the low half, and in the high half which number it is; written and read as one word, so that
// no reader sees one half without the other.
__device__ unsigned long long states[TILES];
// Counts on from call to call.  Only one launch may run at a time, and each must end: after one that was cut off, the
// tickets of a call would have two call numbers, and blocks would wait for ever or add sums of an earlier call.
__device__ unsigned long long tickets;

struct Turn {
    int tile;
    unsigned call;  // the number of this call, with which the states of earlier calls are told apart
};

// Tiles are taken in the order of their numbers.  A block that waits for the tiles before waits only for blocks that
// have begun; the hardware may start blocks in another order than that of their numbers.
__device__ Turn next_turn() {
    __shared__ unsigned long long ticket;
    if (threadIdx.x == 0) ticket = atomicAdd(&tickets, 1ull);
    __syncthreads();
    return {(int)(ticket % TILES), (unsigned)(ticket / TILES)};
}

// What a state holds: TOTAL, the sum of its tile, or PREFIX, the sum of all tiles up to its end.  A mark below TOTAL is
// of an earlier call.
enum Kind : unsigned { TOTAL = 1, PREFIX = 2 };

// `relaxed.gpu` goes to L2, where all blocks see the same word.
__device__ void publish(int tile, float sum, unsigned mark) {
    const unsigned long long word = (unsigned long long)mark << 32 | __float_as_uint(sum);
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(&states[tile]), "l"(word) : "memory");
}

__device__ unsigned long long state_of(int tile) {
    unsigned long long word;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(&states[tile]) : "memory");
    return word;
}

__device__ float warp_sum(float value) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffff, value, lane);
    return value;
}

// The sum of all tiles before this one; the work of a whole warp.
__device__ float look_back(Turn turn) {
    const unsigned first_mark = turn.call * 2;
    float before = 0.0f;
    for (int nearest = turn.tile - 1;; nearest -= 32) {
        const int tile = nearest - (int)threadIdx.x % 32;
        unsigned long long word = (unsigned long long)(first_mark + PREFIX) << 32;  // 0, for a tile before the first
        do {
            if (tile >= 0) word = state_of(tile);
        } while (__any_sync(0xffffffff, (int)((unsigned)(word >> 32) - first_mark) < (int)TOTAL));
        const unsigned prefixes = __ballot_sync(0xffffffff, (unsigned)(word >> 32) - first_mark == PREFIX);
        const int last = prefixes ? __ffs(prefixes) - 1 : 31;  // the lane whose tile is the nearest with a prefix
        before += warp_sum((int)threadIdx.x % 32 <= last ? __uint_as_float((unsigned)word) : 0.0f);
        if (prefixes) return before;
    }
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS) scan_lookback(const float* x, float* y, long long N) {
    __shared__ float strips[WARPS], shared_before;
    const Turn turn = next_turn();
    const bool whole = ((size_t)x | (size_t)y) % 16 == 0 && (turn.tile + 1LL) * TILE <= N;
    float4 v[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) v[k] = load(x, place(turn.tile, k), N, whole);
    const float strip = scan_strip(v);
    if (threadIdx.x % 32 == 0) strips[threadIdx.x / 32] = strip;
    __syncthreads();

    float lower = 0.0f, total = 0.0f;  // the strips of the warps before, and those of the block
#pragma unroll
    for (int warp = 0; warp < WARPS; ++warp) {
        if (warp < threadIdx.x / 32) lower += strips[warp];
        total += strips[warp];
    }
    if (threadIdx.x < 32) {
        const unsigned first_mark = turn.call * 2;
        if (threadIdx.x == 0) publish(turn.tile, total, first_mark + (turn.tile == 0 ? PREFIX : TOTAL));
        const float before = look_back(turn);
        if (threadIdx.x == 0 && turn.tile > 0) publish(turn.tile, before + total, first_mark + PREFIX);
        if (threadIdx.x == 0) shared_before = before;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        add(v[k], shared_before + lower);
        store(y, place(turn.tile, k), N, whole, v[k]);
    }
}
// endregion
