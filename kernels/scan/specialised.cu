#include <cuda_bf16.h>

// A scan whose blocks stay, with warps that load, warps that add, warps that look back and warps that scan.
//
// In `lookback` the warps of a block do all this one after the other, and its registers hold a tile from the first load
// until the sum of all tiles before is known.  Here a block has a ring of STAGES tiles in shared memory, and each kind
// of warp works on another tile of the ring:
//
//   the loader takes a ticket and starts the copy of its tile, as soon as a stage of the ring is empty;
//   the adder adds the numbers of a tile that has arrived, and publishes the sum;
//   the looker adds the published sums of all tiles from the block's last tile to the one before this one;
//   a scanner turns its strip of the tile into prefix sums, adds all that comes before, and stores them.
//
// The looker remembers the sum of all tiles before the block's last one, so it needs the sums of single tiles only.  An
// adder publishes a sum soon after memory has given the tile.  So no looker needs the result of another one.  A
// look-back of `lookback` adds single tiles, too, but goes on until it meets the result of another one.
// A looker cannot wait for ever.  A loader takes tickets in rising order, only when a stage is empty, and then starts
// the copy at once.  So the copy of each tile before has begun or is about to, and neither this copy nor the adder of
// the tile waits for a looker.  That holds however many blocks the GPU runs at a time.
// Which tiles a block gets depends on the time, so the order of additions and the last digits differ from call to call.

// region: tile
constexpr int VECTORS = ITEMS / 4;                          // of 16 bytes, for each thread of a scanner
constexpr int STRIP = 32 * ITEMS, TILE = SCANNERS * STRIP;  // numbers of a scanner and of a tile
constexpr unsigned ALL = 0xffffffff;                        // lanes of a warp

__device__ int lane() { return threadIdx.x % 32; }

__device__ float warp_sum(float value) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(ALL, value, step);
    return value;
}

__device__ float lanes_before(float value) {  // the sum of `value` over the lower lanes of the warp
    float sum = __shfl_up_sync(ALL, value, 1);
    if (lane() == 0) sum = 0.0f;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const float lower = __shfl_up_sync(ALL, sum, step);
        if (lane() >= step) sum += lower;
    }
    return sum;
}

__device__ void add(float4& v, float before) {
    v.x += before;
    v.y += before;
    v.z += before;
    v.w += before;
}

// Turns the numbers of a warp's strip into their prefix sums.
__device__ void scan_strip(float4 (&v)[VECTORS]) {
    float total = 0.0f;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        v[k].y += v[k].x;
        v[k].z += v[k].y;
        v[k].w += v[k].z;
        const float before = lanes_before(v[k].w), all = __shfl_sync(ALL, before + v[k].w, 31);
        add(v[k], total + before);
        total += all;
    }
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
// endregion

// region: order
// Of each tile the sum in the low half, and in the high half the call that it belongs to.  Both are written and read as
// one word, so no reader sees one half without the other, and the order of other memory accesses does not matter.
__device__ unsigned long long totals[TILES];
// Counts on from call to call.  Only one launch may run at a time, and each must end: after one that was cut off, the
// tickets of a call would have two call numbers, and blocks would wait for ever or add sums of an earlier call.
__device__ unsigned long long tickets;

struct Turn {
    int tile;       // TILES or more: no tile is left
    unsigned mark;  // of this call, never 0
};

// Each block takes one ticket after the last tile, by which it knows the end.  So a call takes TILES + BLOCKS tickets.
__device__ Turn next_turn() {
    const unsigned long long ticket = atomicAdd(&tickets, 1ull);
    return {(int)(ticket % (TILES + BLOCKS)), (unsigned)(ticket / (TILES + BLOCKS)) + 1};
}

// `relaxed.gpu` goes to L2, where all blocks see the same word.
__device__ void publish(Turn turn, float sum) {
    const unsigned long long word = (unsigned long long)turn.mark << 32 | __float_as_uint(sum);
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(&totals[turn.tile]), "l"(word) : "memory");
}

__device__ unsigned long long word_of(int tile) {
    unsigned long long word;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(&totals[tile]) : "memory");
    return word;
}

// The sum of the tiles from `first` to the one before this one; the work of a whole warp, which waits for each of them.
__device__ float sum_since(int first, Turn turn) {
    float sum = 0.0f;
    for (; first < turn.tile; first += 32 * LOOK) {
        unsigned long long words[LOOK];
        bool waits;
#pragma unroll
        for (int k = 0; k < LOOK; ++k)  // behind the last tile that is meant, a word that is published and adds 0
            words[k] = first + k * 32 + lane() < turn.tile ? 0ull : (unsigned long long)turn.mark << 32;
        do {
            waits = false;
#pragma unroll
            for (int k = 0; k < LOOK; ++k)
                if ((unsigned)(words[k] >> 32) != turn.mark) words[k] = word_of(first + k * 32 + lane());
#pragma unroll
            for (int k = 0; k < LOOK; ++k) waits |= (unsigned)(words[k] >> 32) != turn.mark;
        } while (__any_sync(ALL, waits));
#pragma unroll
        for (int k = 0; k < LOOK; ++k) sum += __uint_as_float((unsigned)words[k]);
    }
    return warp_sum(sum);
}
// endregion

// region: barriers
using Barrier = unsigned long long;

__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

__device__ void init_barrier(Barrier* barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(barrier)), "r"(arrivals) : "memory");
}

__device__ void arrive(Barrier* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(barrier)) : "memory");
}

// Waits until the phase with this parity is complete.  For a new barrier, the phase with parity 1 counts as complete.
__device__ void wait(Barrier* barrier, int parity) {
    unsigned done;
    do {
        asm volatile(
            "{\n.reg .pred done;\n"
            "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
            "selp.u32 %0, 1, 0, done;\n}"
            : "=r"(done)
            : "r"(address(barrier)), "r"(parity)
            : "memory");
    } while (!done);
}

// Arrives at `full`, and starts the copy of so many bytes, a multiple of 16.  The phase of `full` is complete when they
// are there, too.
__device__ void start_copy(float* to, const float* from, unsigned bytes, Barrier* full) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(full)), "r"(bytes) : "memory");
    if (bytes == 0) return;
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     address(to)),
                 "l"(from), "r"(bytes), "r"(address(full))
                 : "memory");
}

// Starts the copy of a tile, which may end before its TILE numbers do.  The last numbers, at most 3, have no 16 bytes.
// Behind them the ring keeps what was there: a prefix sum never takes a number behind its own place.  The adder takes
// them, but a sum that holds one of them goes into no number that is stored.
__device__ void start_tile(float* tile, const float* x, long long count, Barrier* full) {
    const int numbers = count < TILE ? count : TILE, copied = numbers / 4 * 4;
    for (int i = copied; i < numbers; ++i) tile[i] = x[i];
    start_copy(tile, x, copied * 4, full);
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(32 * (SCANNERS + 3)) scan_specialised(const float* x, float* y,
                                                                                  long long N) {
    extern __shared__ __align__(128) float ring[];  // [STAGES][TILE]
    __shared__ Barrier full[STAGES], known[STAGES], empty[STAGES];
    __shared__ Turn turns[STAGES];                    // what a stage holds
    __shared__ float before_tile[STAGES];             // the sum of all tiles before it
    __shared__ float before_strip[STAGES][SCANNERS];  // the sum of the strips before, of the same tile
    const bool aligned = ((size_t)x | (size_t)y) % 16 == 0;
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            init_barrier(&full[stage], 1);          // the loader
            init_barrier(&known[stage], 2);         // the adder and the looker
            init_barrier(&empty[stage], SCANNERS);  // the scanners
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    float sum = 0.0f;  // of all tiles before `first`, for the looker
    int first = 0;
    for (int turn = 0;; ++turn) {
        const int stage = turn % STAGES, parity = turn / STAGES % 2;
        float* tile = ring + stage * TILE;
        if (warp == 0) {  // the loader
            wait(&empty[stage], parity ^ 1);
            if (lane() == 0) turns[stage] = next_turn();
            __syncwarp();
            const long long begin = (long long)turns[stage].tile * TILE;
            if (aligned && begin < N) {
                if (lane() == 0) start_tile(tile, x + begin, N - begin, &full[stage]);
            } else {  // pointers that are not on 16 bytes, or no tile
                for (long long i = begin + lane(); i < begin + TILE && begin < N; i += 32)
                    tile[i - begin] = i < N ? x[i] : 0.0f;
                __syncwarp();
                if (lane() == 0) arrive(&full[stage]);
                if (begin >= N) return;
            }
            continue;
        }
        wait(&full[stage], parity);
        const Turn now = turns[stage];
        if (now.tile >= TILES) return;
        if (warp == 1) {  // the adder
            float sums[SCANNERS], total = 0.0f;
#pragma unroll
            for (int strip = 0; strip < SCANNERS; ++strip) {
                float4 lanes = {};
#pragma unroll
                for (int k = 0; k < VECTORS; ++k) {
                    const float4 v = *reinterpret_cast<float4*>(tile + strip * STRIP + k * 128 + lane() * 4);
                    lanes.x += v.x;
                    lanes.y += v.y;
                    lanes.z += v.z;
                    lanes.w += v.w;
                }
                sums[strip] = warp_sum((lanes.x + lanes.y) + (lanes.z + lanes.w));
            }
#pragma unroll
            for (int strip = 0; strip < SCANNERS; ++strip) {
                if (lane() == 0) before_strip[stage][strip] = total;
                total += sums[strip];
            }
            if (lane() == 0) publish(now, total);
            if (lane() == 0) arrive(&known[stage]);
        } else if (warp == 2) {  // the looker
            sum += sum_since(first, now);
            first = now.tile;
            if (lane() == 0) before_tile[stage] = sum;
            if (lane() == 0) arrive(&known[stage]);
        } else {  // a scanner
            const int begin = (warp - 3) * STRIP + lane() * 4;
            float4 v[VECTORS];
#pragma unroll
            for (int k = 0; k < VECTORS; ++k) v[k] = *reinterpret_cast<float4*>(tile + begin + k * 128);
            scan_strip(v);
            wait(&known[stage], parity);
            const float before = before_tile[stage] + before_strip[stage][warp - 3];
            __syncwarp();
            if (lane() == 0) arrive(&empty[stage]);  // all that this warp needs of the stage is in its registers
            const bool whole = aligned && (now.tile + 1LL) * TILE <= N;
#pragma unroll
            for (int k = 0; k < VECTORS; ++k) {
                add(v[k], before);
                store(y, (long long)now.tile * TILE + begin + k * 128, N, whole, v[k]);
            }
        }
    }
}
// endregion
