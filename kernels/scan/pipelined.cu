#include <cuda_bf16.h>

// The scan of `lookback`, whose blocks stay: the copy engine loads the next tiles while a block looks back.
//
// In `lookback` a block loads nothing while it waits for the tiles before.  Here a block has a ring of STAGES tiles in
// shared memory.  While warp 0 looks back, a thread of warp 1 draws the number of another tile and starts its load,
// STAGES - 1 tiles ahead.  The same thread starts the copy of the sums from shared memory to y.
// A tile in shared memory can be read in any order, so each thread takes ITEMS numbers that lie side by side and adds
// them one after the other: one scan over the lanes of a warp is enough, where `lookback` needs one for every vector.
// ITEMS / 4 is odd.  Eight lanes that read 16 bytes each then use all 32 banks once.

// region: thread
constexpr int WARPS = THREADS / 32, VECTORS = ITEMS / 4;  // of 16 bytes, for each thread
constexpr int TILE = THREADS * ITEMS;                     // numbers of a block
static_assert(VECTORS % 2 == 1, "an even number of vectors lets lanes meet in the same bank");

__device__ void add(float4& v, float before) {
    v.x += before;
    v.y += before;
    v.z += before;
    v.w += before;
}

// Turns the numbers of the thread into their prefix sums; returns the sum of all of them.
__device__ float scan_thread(float4 (&v)[VECTORS]) {
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        v[k].x += sum;
        v[k].y += v[k].x;
        v[k].z += v[k].y;
        v[k].w += v[k].z;
        sum = v[k].w;
    }
    return sum;
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
// endregion

// region: order
// Of each tile a number in the low half, and in the high half which number it is; written and read as one word, so that
// no reader sees one half without the other.
__device__ unsigned long long states[TILES];
__device__ unsigned long long tickets;  // counts on from call to call; one launch at a time

struct Turn {
    int tile;       // TILES or more when none is left
    unsigned call;  // the number of this call, with which the states of earlier calls are told apart
};

// Tiles are taken in the order of their numbers, and a block scans its tiles in that order.  The first tile that is not
// finished is therefore the next one of a block that runs, and waits for nobody.
// Each block stops at the first ticket that has no tile, so a call takes TILES + BLOCKS tickets.
__device__ Turn turn_of(unsigned long long ticket) {
    return {(int)(ticket % (TILES + BLOCKS)), (unsigned)(ticket / (TILES + BLOCKS))};
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

// The sum of all tiles before this one; the work of a whole warp, each lane of which reads STATES words at a time.
__device__ float look_back(Turn turn) {
    const unsigned first_mark = turn.call * 2;
    float mine = 0.0f;
    for (int nearest = turn.tile - 1 - (int)threadIdx.x % 32;; nearest -= 32 * STATES) {
        unsigned long long words[STATES];
        bool missing;
        do {
            missing = false;
#pragma unroll
            for (int i = 0; i < STATES; ++i) {  // a tile before the first counts as a prefix of 0
                const int tile = nearest - 32 * i;
                words[i] = tile >= 0 ? state_of(tile) : (unsigned long long)(first_mark + PREFIX) << 32;
            }
#pragma unroll
            for (int i = 0; i < STATES; ++i) missing |= (int)((unsigned)(words[i] >> 32) - first_mark) < (int)TOTAL;
        } while (__any_sync(0xffffffff, missing));
#pragma unroll
        for (int i = 0; i < STATES; ++i) {
            const unsigned prefixes = __ballot_sync(0xffffffff, (unsigned)(words[i] >> 32) - first_mark == PREFIX);
            const int last = prefixes ? __ffs(prefixes) - 1 : 31;  // the lane whose tile is the nearest with a prefix
            if ((int)threadIdx.x % 32 <= last) mine += __uint_as_float((unsigned)words[i]);
            if (prefixes) return warp_sum(mine);
        }
    }
}
// endregion

// region: ring
constexpr int LOADER = 32;  // the thread of warp 1 that starts all loads and stores
__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

__device__ void open_barriers(unsigned long long* full) {  // one thread's work, once
    for (int stage = 0; stage < STAGES; ++stage)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(full + stage)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ void start_load(float* to, const float* from, unsigned long long* full) {
    constexpr unsigned bytes = TILE * sizeof(float);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(full)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     address(to)),
                 "l"(from), "r"(bytes), "r"(address(full))
                 : "memory");
}

__device__ void arrive(unsigned long long* full) {  // for a stage without a load
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(full)) : "memory");
}

__device__ void wait_for_stage(unsigned long long* full, unsigned parity) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(address(full)),
        "r"(parity)
        : "memory");
}

__device__ void start_store(float* to, const float* from) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(address(from)),
                 "r"((unsigned)(TILE * sizeof(float)))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__device__ void wait_for_stores() {  // returns when all of them have read their tile
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS) scan_pipelined(const float* x, float* y, long long N) {
    extern __shared__ __align__(128) float ring[];  // [STAGES][TILE]
    __shared__ unsigned long long full[STAGES];
    __shared__ Turn turns[STAGES];
    __shared__ float strips[WARPS], shared_before;
    const bool aligned = ((size_t)x | (size_t)y) % 16 == 0;
    const auto whole = [&](int tile) { return aligned && (tile + 1LL) * TILE <= N; };

    unsigned long long ticket;  // of the next load; drawn a turn ahead, so that the loader does not wait for it
    bool more = true;
    const auto draw = [&] { ticket = atomicAdd(&tickets, 1ull); };
    const auto start_tile = [&](int stage) {  // the loader's work
        if (!more) return;
        const Turn turn = turn_of(ticket);
        turns[stage] = turn;
        more = turn.tile < TILES;
        if (more) draw();
        if (more && whole(turn.tile))
            start_load(ring + stage * TILE, x + (long long)turn.tile * TILE, &full[stage]);
        else
            arrive(&full[stage]);
    };
    if (threadIdx.x == LOADER) {
        open_barriers(full);
        draw();
        for (int stage = 0; stage < STAGES - 1; ++stage) start_tile(stage);
    }
    __syncthreads();

    for (int i = 0;; ++i) {
        const int stage = i % STAGES;
        wait_for_stage(&full[stage], i / STAGES % 2);
        const Turn turn = turns[stage];
        if (turn.tile >= TILES) break;
        float* const tile = ring + stage * TILE;
        const long long first = (long long)turn.tile * TILE;
        if (!whole(turn.tile)) {
            for (int j = threadIdx.x; j < TILE; j += THREADS) tile[j] = first + j < N ? x[first + j] : 0.0f;
            __syncthreads();
        }

        float4* const ours = reinterpret_cast<float4*>(tile) + threadIdx.x * VECTORS;
        float4 v[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; ++k) v[k] = ours[k];
        const float sum = scan_thread(v), lanes = lanes_before(sum);
        if (threadIdx.x % 32 == 31) strips[threadIdx.x / 32] = lanes + sum;
        __syncthreads();

        float lower = lanes, total = 0.0f;  // what lies before in the tile, and the whole tile
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
        } else if (threadIdx.x == LOADER) {
            wait_for_stores();  // the tile before this one has left: its place is free
            start_tile((i + STAGES - 1) % STAGES);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < VECTORS; ++k) {
            add(v[k], shared_before + lower);
            ours[k] = v[k];
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // the copy engine sees what the threads wrote
        __syncthreads();

        if (whole(turn.tile)) {
            if (threadIdx.x == LOADER) start_store(y + first, tile);
        } else {
            for (int j = threadIdx.x; j < TILE && first + j < N; j += THREADS) y[first + j] = tile[j];
        }
    }
    if (threadIdx.x == LOADER) wait_for_stores();
}
// endregion
