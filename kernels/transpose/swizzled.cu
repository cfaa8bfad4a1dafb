#include <cuda_bf16.h>

// The tile of shared.cu, with the elements of each row in another order instead of unused elements between the rows.
//
// Element (row, column) lies at place (row, column ^ row), where ^ is the exclusive or of the bits.  Within a row this
// only changes the order, so a load or store of a row still touches 32 different places of it.  Down a column the row
// differs, so column ^ row differs too: the 32 elements of a column fall into 32 different banks, in float32 as in
// padded.cu, and in bfloat16 too, where two rows share the 32 banks.  Nothing is unused, and the rows begin where they
// did.  That matters where a row is read 16 bytes at a time or by the copy engine: both need rows that begin at
// multiples of 16 bytes.  There whole pieces of 16 bytes change places, as in vectorised.cu; here single elements do.
// The conflicts are gone as in padded.cu, but the kernel is not as fast: on an H200 at 8192 x 8192 it takes 1.10 times
// as long in float32 and 1.22 times in bfloat16.  The addresses of the swizzle need 36 registers in float32 and 34 in
// bfloat16 instead of 32, so an SM holds 1536 threads instead of 2048.  A thread also computes four addresses for its
// loads from the tile, and in padded.cu one.  Which of the two costs more is not measured.
// In cute_transpose/plain_swizzled.cu the swizzle needs 32 registers, and is as fast as the padding.

// region: kernel
constexpr int TILE = 32, DOWN = 8;  // a block of TILE x DOWN threads moves TILE x TILE elements

extern "C" __global__ void __launch_bounds__(TILE* DOWN)
    transpose_swizzled(const DTYPE* x, DTYPE* y, long long M, long long N) {
    __shared__ DTYPE tile[TILE][TILE];
    const long long top = (long long)blockIdx.y * TILE, left = (long long)blockIdx.x * TILE;
    const int lane = threadIdx.x % TILE, warp = threadIdx.x / TILE;
#pragma unroll
    for (int i = warp; i < TILE + warp; i += DOWN)
        if (top + i < M && left + lane < N) tile[i][lane ^ i] = x[(top + i) * N + left + lane];
    __syncthreads();  // the tile is complete
#pragma unroll
    for (int i = warp; i < TILE + warp; i += DOWN)
        if (left + i < N && top + lane < M) y[(left + i) * M + top + lane] = tile[lane][i ^ lane];
}
// endregion
