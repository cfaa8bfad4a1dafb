// The kernel of register_banks.cu, compiled for one shape.
//
// Two changes:
// - HEIGHT, WIDTH and LENGTH (M, N and K) are constants of the compilation, and the fast path knows whole tiles only.
//   The loop of register_banks.cu has 1175 instructions, 1024 of them multiply-adds.  Of the others, 48 read
//   shared memory, and about 65 compute addresses from K and N, which the compiler does not know, and compare steps
//   with K.  Here a thread adds constants to two addresses: 2048 of 2233 instructions are multiply-adds.
// - A slice has 16 steps instead of 8.  The loop has half as many barriers and turns.
// A shape with tiles that are not whole takes a plain path, one element after the other.  In the fast path, b and c
// must begin at a multiple of 16 bytes.

// region: tile
constexpr int ROWS = 128, COLUMNS = 128, THREADS = 128;
// DEPTH: steps of a slice of K.  STAGES: slices in shared memory, of which all but one are under way.
constexpr int PITCH = ROWS + 4;  // of a step of A; two of the 16 steps that a warp writes share a bank
constexpr int GROUP = 8;         // rows of tiles that neighbouring blocks share
constexpr bool WHOLE = HEIGHT % ROWS == 0 && WIDTH % COLUMNS == 0 && LENGTH % DEPTH == 0;

struct Slice {
    float a[DEPTH][PITCH], b[DEPTH][COLUMNS];
};
// endregion

// region: load
// cp.async: N bytes from global to shared memory, past the registers.
template <int N>
__device__ void copy(float* to, const float* from) {
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (N == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address), "l"(from) : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int PENDING>
__device__ void wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

// A slice, from where this thread's first number of A and of B lies.
__device__ void load(Slice& to, const float* a, const float* b) {
#pragma unroll
    for (int i = 0; i < ROWS; i += THREADS / DEPTH)
        copy<4>(&to.a[threadIdx.x % DEPTH][threadIdx.x / DEPTH + i], a + (long long)i * LENGTH);
#pragma unroll
    for (int i = 0; i < DEPTH; i += THREADS / 32)
        copy<16>(&to.b[threadIdx.x / 32 + i][threadIdx.x % 32 * 4], b + (long long)i * WIDTH);
}
// endregion

// region: multiply
__device__ void read(float* to, const float* shared) {
    const float4 four = *reinterpret_cast<const float4*>(shared);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

// What a thread needs for one step: its 8 rows of A and 16 columns of B.
__device__ void fragment(float (&a)[8], float (&b)[16], const Slice& slice, int step, int top, int left) {
#pragma unroll
    for (int i = 0; i < 2; ++i) read(a + 4 * i, &slice.a[step][top + 32 * i]);
#pragma unroll
    for (int j = 0; j < 4; ++j) read(b + 4 * j, &slice.b[step][left + 16 * j]);
}

__device__ void multiply(float (&sums)[8][16], const float (&a)[8], const float (&b)[16]) {
#pragma unroll
    for (int j = 0; j < 16; ++j)
#pragma unroll
        for (int n = 0; n < 8; ++n) {
            const int i = j % 2 ? 7 - n : n;  // down one column and up the next
            sums[i][j] = fmaf(a[i], b[j], sums[i][j]);
        }
}
// endregion

// region: kernel
// The place in C of the element (i, j) of a thread, from that of its element (0, 0).
__device__ long long place(int i, int j) { return (long long)(i / 4 * 32 + i % 4) * WIDTH + j / 4 * 16 + j % 4; }

__device__ void product(Slice* ring, const float* a, const float* b, float* c, int top, int left, float one) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;  // a warp: 64 x 64, as 8 x 4 threads
    const int our_top = warp % 2 * 64 + lane / 4 * 4, our_left = warp / 2 * 64 + lane % 4 * 4;
    const float* from_a = a + (long long)(top + threadIdx.x / DEPTH) * LENGTH + threadIdx.x % DEPTH;
    const float* from_b = b + (long long)(threadIdx.x / 32) * WIDTH + left + threadIdx.x % 32 * 4;
    constexpr int SLICES = LENGTH / DEPTH;
    const auto start = [&](int slice) {  // an empty group when there is no such slice, so that groups and slices agree
        if (slice < SLICES) {
            load(ring[slice % STAGES], from_a, from_b);
            from_a += DEPTH;
            from_b += DEPTH * WIDTH;
        }
        commit();
    };
    const auto arrive = [&] {  // all but the newest STAGES - 2 slices are there, for every thread
        wait<STAGES - 2>();
        __syncthreads();
    };

    float sums[8][16] = {}, ours_a[2][8], ours_b[2][16];
    for (int slice = 0; slice < STAGES - 1; ++slice) start(slice);
    arrive();
    fragment(ours_a[0], ours_b[0], ring[0], 0, our_top, our_left);
#pragma unroll 1
    for (int slice = 0; slice < SLICES; ++slice) {
#pragma unroll
        for (int step = 0; step < DEPTH; ++step) {
            const bool last = step == DEPTH - 1;
            if (last) arrive();
            fragment(ours_a[(step + 1) % 2], ours_b[(step + 1) % 2], ring[(slice + last) % STAGES], (step + 1) % DEPTH,
                     our_top, our_left);
            if (step == 0) start(slice + STAGES - 1);
            multiply(sums, ours_a[step % 2], ours_b[step % 2]);
        }
    }
    float* to = c + (long long)(top + our_top) * WIDTH + left + our_left;
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 16; j += 4)
            *reinterpret_cast<float4*>(to + place(i, j)) =
                make_float4(one * sums[i][j], one * sums[i][j + 1], one * sums[i][j + 2], one * sums[i][j + 3]);
}

// For tiles that are not whole: each element of the tile by itself.
__device__ void plain_product(const float* a, const float* b, float* c, int top, int left) {
    for (int i = threadIdx.x; i < ROWS * COLUMNS; i += THREADS) {
        const long long row = top + i / COLUMNS, column = left + i % COLUMNS;
        if (row >= HEIGHT || column >= WIDTH) continue;
        float sum = 0.0f;
        for (long long k = 0; k < LENGTH; ++k) sum = fmaf(a[row * LENGTH + k], b[k * WIDTH + column], sum);
        c[row * WIDTH + column] = sum;
    }
}

// `one` is 1.  The compiler does not know that, and so may keep a sum in another register than its store needs.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    matmul_fixed_shape(const float* a, const float* b, float* c, long long one) {
    extern __shared__ __align__(16) Slice ring[];  // STAGES of them
    // Blocks go down GROUP rows of tiles before the next column of tiles.
    constexpr int across = (WIDTH + COLUMNS - 1) / COLUMNS, down = (HEIGHT + ROWS - 1) / ROWS;
    const int first = blockIdx.x / (GROUP * across) * GROUP, height = min(down - first, GROUP);
    const int top = (first + blockIdx.x % (GROUP * across) % height) * ROWS;
    const int left = blockIdx.x % (GROUP * across) / height * COLUMNS;
    if constexpr (WHOLE)
        product(ring, a, b, c, top, left, (float)one);
    else
        plain_product(a, b, c, top, left);
}
// endregion
