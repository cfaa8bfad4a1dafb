#include <cuda_bf16.h>

// 16 bytes an access on both sides.  A thread turns a block of VEC x VEC elements in its registers.
//
// A thread loads VEC pieces of 16 bytes, one below the other: 4 x 4 elements of float32, 8 x 8 of bfloat16.  A column of
// this block fills 16 bytes too.  Turning the block needs no memory: in float32 it only renames registers, in bfloat16
// one instruction joins two elements.  Shared memory serves one purpose only: neighbouring threads shall write one row
// of the output, 256 bytes or more side by side.
// The 16-byte pieces in shared memory are swizzled as the elements in swizzled.cu are.  The eight threads that access
// shared memory together touch eight different columns of pieces, both when they store and when they load.
// A thread has VEC loads of 16 bytes under way where swizzled.cu has four of one element.
// A tile that is not complete, or whose rows do not begin at multiples of 16 bytes, is moved an element at a time.

// region: tile
constexpr int VEC = 16 / sizeof(DTYPE);              // elements of 16 bytes
constexpr int ACROSS = 16;                           // pieces in a row of a tile; DOWN, in a column, comes from kernel.yaml
constexpr int ROWS = DOWN * VEC, COLUMNS = ACROSS * VEC, THREADS = ACROSS * DOWN;

union Piece {
    uint4 all;
    DTYPE element[VEC];
    __device__ Piece() {}
};
// endregion

// region: ragged
__device__ void move_elements(const DTYPE* x, DTYPE* y, long long top, long long left, long long M, long long N) {
    for (int i = threadIdx.x; i < ROWS * COLUMNS; i += THREADS) {
        const long long row = top + i / COLUMNS, column = left + i % COLUMNS;
        if (row < M && column < N) y[column * M + row] = x[row * N + column];
    }
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(THREADS)
    transpose_vectorised(const DTYPE* x, DTYPE* y, long long M, long long N) {
    __shared__ uint4 turned[COLUMNS][DOWN];  // a row of it is a column of the tile
    const long long top = (long long)blockIdx.y * ROWS, left = (long long)blockIdx.x * COLUMNS;
    const bool aligned = M % VEC == 0 && N % VEC == 0 && ((size_t)x | (size_t)y) % 16 == 0;
    if (!aligned || top + ROWS > M || left + COLUMNS > N) {
        move_elements(x, y, top, left, M, N);
        return;
    }

    const int across = threadIdx.x % ACROSS, down = threadIdx.x / ACROSS;
    const DTYPE* from = x + (top + down * VEC) * N + left + across * VEC;
    Piece rows[VEC];
#pragma unroll
    for (int i = 0; i < VEC; ++i) rows[i].all = *reinterpret_cast<const uint4*>(from + i * N);
#pragma unroll
    for (int j = 0; j < VEC; ++j) {
        Piece column;
#pragma unroll
        for (int i = 0; i < VEC; ++i) column.element[i] = rows[i].element[j];
        turned[across * VEC + j][down ^ across] = column.all;  // row across * VEC + j of the turned tile, swizzled
    }
    __syncthreads();  // the tile is complete

    const int piece = threadIdx.x % DOWN, first = threadIdx.x / DOWN;
#pragma unroll
    for (int i = 0; i < VEC; ++i) {
        const int row = i * ACROSS + first;
        *reinterpret_cast<uint4*>(y + (left + row) * M + top + piece * VEC) = turned[row][piece ^ row / VEC];
    }
}
// endregion
