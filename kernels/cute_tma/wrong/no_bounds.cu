#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

// Wrong: the stores have no condition.  The TMA fills the places beyond the matrix with zeros, and they are stored.

// region: layout
constexpr int ROWS = 64, COLUMNS = 32;  // of a tile: a row has 128 bytes

// Returns the place of an element in shared memory.  Piece p of a row, 16 bytes, lies at place `p ^ row % 8`.
__device__ int place(int row, int column) { return row * COLUMNS + (column / 4 ^ row % 8) * 4 + column % 4; }
// endregion

// region: barrier
__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

__device__ void init_barrier(unsigned barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");  // the TMA sees the new mbarrier
}

// Arrives, and makes the phase wait for so many bytes, too.
__device__ void expect_bytes(unsigned barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Waits until the phase with this parity is complete.
__device__ void wait(unsigned barrier, unsigned parity) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(barrier),
        "r"(parity)
        : "memory");
}
// endregion

// region: copy
// Starts the copy of the tile at this row and column; the TMA counts its bytes at `barrier`.
__device__ void load_tile(unsigned to, const CUtensorMap* map, int row, int column, unsigned barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(map), "r"(column), "r"(row), "r"(barrier)
        : "memory");
}
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(256)
    plain_tma_no_bounds_kernel(const __grid_constant__ CUtensorMap load, float* y, int M, int N) {
    alignas(1024) __shared__ float tile[ROWS * COLUMNS];
    __shared__ uint64_t full;  // the mbarrier
    const int top = blockIdx.y * ROWS, left = blockIdx.x * COLUMNS;

    if (threadIdx.x == 0) {
        init_barrier(address(&full), 1);
        expect_bytes(address(&full), sizeof(tile));
        load_tile(address(tile), &load, top, left, address(&full));
    }
    __syncthreads();  // the mbarrier is ready
    wait(address(&full), 0);

    const int down = threadIdx.x % 32, across = threadIdx.x / 32;  // a warp takes 32 rows of one column
    float held[2][4];
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i) held[i][j] = tile[place(down + 32 * i, across + 8 * j)];
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int row = top + down + 32 * i, column = left + across + 8 * j;
            y[(int64_t)column * M + row] = held[i][j];
        }
}
// endregion

// region: host
// Describes a matrix and its tiles to the TMA.  The function comes from the driver at run time.
static int describe(CUtensorMap* map, const float* x, int64_t M, int64_t N) {
    void* encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
    if (encode == nullptr) return cudaErrorNotSupported;
    const cuuint64_t sizes[] = {(cuuint64_t)N, (cuuint64_t)M}, row_bytes[] = {(cuuint64_t)N * 4};
    const cuuint32_t box[] = {COLUMNS, ROWS}, steps[] = {1, 1};
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
        map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void*)x, sizes, row_bytes, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

extern "C" int plain_tma_no_bounds(void** buffers, const int64_t* dims, const double*, void* stream) {
    const float* x = (const float*)buffers[0];
    float* y = (float*)buffers[1];
    const int M = dims[0], N = dims[1];
    if (N % 4 != 0 || (uintptr_t)x % 16 != 0) return cudaErrorInvalidValue;  // the TMA needs rows of whole 16 bytes
    CUtensorMap load;
    if (int error = describe(&load, x, M, N)) return error;
    const dim3 grid((N + COLUMNS - 1) / COLUMNS, (M + ROWS - 1) / ROWS);
    plain_tma_no_bounds_kernel<<<grid, 256, 0, (cudaStream_t)stream>>>(load, y, M, N);
    return cudaGetLastError();
}
// endregion
