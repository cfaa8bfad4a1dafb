#include <cuda_bf16.h>

// A transpose for rows that begin anywhere in memory: a warp stores whole sectors of 32 bytes.
//
// The main change to padded.cu: where the tiles begin.  Where M is odd, the rows of y begin at different places within a
// sector.  A tile of 32 rows of x then fills no whole number of sectors of y.  In each row of y it shares its first
// sector with the tile before it and its last one with the tile behind it.  Two blocks store a part of such a sector
// each, at different times.  Here a tile begins at another row of x for each row of y: at the last one that is the
// beginning of a sector.  A block therefore loads PHASES - 1 rows of x more than it stores, 7 beside 128 in float32 and
// 15 beside 128 in bfloat16.  The block above loads these rows too, so most of them come from L2.
// Loads still begin anywhere: 256 bytes of a row of x lie in nine sectors instead of eight.
// A warp loads and stores words of 4 bytes.  In bfloat16 a word has two elements, and a row of x may begin in the second
// half of a word.  The words go to shared memory as they are.  A thread then takes its two elements from two rows of the
// tile, each at the place that its row begins at, and joins them into a word of y.
// cp.async copies a word to shared memory without a register, so all loads of a block are under way together.
// Five blocks run on an SM of an H100, though six would fit: at 8191 x 8193 six took 7 % longer in float32 and 10 % longer
// in bfloat16.

// region: tile
constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int BLOCKS = 5;                           // on an SM
constexpr int WORD = 4 / sizeof(DTYPE);             // elements of a word
constexpr int PHASES = ALIGN / sizeof(DTYPE);       // so many places within ALIGN bytes where a row of y may begin
constexpr int HEIGHT = ROWS + PHASES - 1;           // rows of x in a tile
constexpr int SPACE = HEIGHT > 149 ? HEIGHT : 149;  // rows in shared memory: so many that a sixth block does not fit
constexpr int COLUMNS = 256 / sizeof(DTYPE);        // columns of x in a tile
constexpr int HELD = 64 + WORD - 1;                 // words of a row of x: in bfloat16 it may begin within a word
constexpr int PITCH = 65;                           // words from row to row of a tile; odd, as in padded.cu.  In
                                                    // bfloat16 a load takes every second row: two lanes share a bank

union Word {
    unsigned all;
    DTYPE element[WORD];
    __device__ Word() {}
};
// endregion

// region: load
// Copies a word of x; of a word that is only partly inside x, the elements that are inside.
__device__ void copy_word(unsigned* to, const DTYPE* from, const DTYPE* x, const DTYPE* end) {
    if (from >= x && from + WORD <= end)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from)
                     : "memory");
    else
        for (int e = 0; e < WORD; ++e)
            if (from + e >= x && from + e < end) reinterpret_cast<DTYPE*>(to)[e] = from[e];
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    transpose_shifted(const DTYPE* x, DTYPE* y, long long M, long long N) {
    __shared__ unsigned tile[SPACE][PITCH];
    const long long top = (long long)blockIdx.y * ROWS, left = (long long)blockIdx.x * COLUMNS;
    const long long first = top - (PHASES - 1);  // the row of x that is row 0 of the tile
    const int columns = min((long long)COLUMNS, N - left);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

#pragma unroll 4  // the addresses of four rows are computed together
    for (int i = warp; i < HEIGHT; i += WARPS) {
        if (first + i < 0 || first + i >= M) continue;
        const DTYPE* from = x + (first + i) * N + left;
        const DTYPE* word = reinterpret_cast<const DTYPE*>((size_t)from / 4 * 4) + lane * WORD;
#pragma unroll
        for (int k = lane; k < HELD; k += 32, word += 32 * WORD)
            if (word < from + columns) copy_word(&tile[i][k], word, x, x + M * N);
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();  // the tile is complete

    // Row i of the tile begins with element skip(i) of its first word.
    const unsigned origin = (unsigned)((size_t)x / sizeof(DTYPE) + first * N + left);
    const auto skip = [&](int i) { return (int)((origin + i * (unsigned)N) % WORD); };
    for (int column = warp; column < columns; column += WARPS) {
        DTYPE* row = y + (left + column) * M;
        const int phase = ((size_t)row / sizeof(DTYPE) + top) % PHASES;  // elements from a multiple of ALIGN to `top`
#pragma unroll
        for (int k = lane * WORD; k < ROWS; k += 32 * WORD) {
            const int i = PHASES - 1 - phase + k;
            const long long at = first + i;  // the row of x, and the place in the row of y
            Word word;
#pragma unroll
            for (int e = 0; e < WORD; ++e)
                word.element[e] = reinterpret_cast<const DTYPE*>(tile[i + e])[skip(i + e) + column];
            if (at >= 0 && at + WORD <= M)
                *reinterpret_cast<unsigned*>(row + at) = word.all;
            else
                for (int e = 0; e < WORD; ++e)
                    if (at + e >= 0 && at + e < M) row[at + e] = word.element[e];
        }
    }
}
// endregion
