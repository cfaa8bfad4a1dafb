#include <cuda_runtime.h>
#include <cutlass/arch/barrier.h>

#include <cute/tensor.hpp>

using namespace cute;

// The rows of a matrix become its columns, with loads by the TMA, in CuTe.  One thread of a block asks for a tile; all
// threads store it.  The tile lies in shared memory row by row.

// region: layout
using Box = Shape<_64, _32>;  // of a tile: a row has 128 bytes
using TileLayout = Layout<Box, Stride<_32, _1>>;
// endregion

// region: load
static auto make_load(const float* x, int M, int N) {
    Tensor matrix = make_tensor(make_gmem_ptr(x), make_shape(M, N),
                                make_stride(int64_t(N), _1{}));
    return make_tma_copy(SM90_TMA_LOAD{}, matrix, TileLayout{});
}

using Load = decltype(make_load(nullptr, 0, 0));
// endregion

// region: kernel
extern "C" __global__ void __launch_bounds__(256)
    cute_tma_rows_kernel(const __grid_constant__ Load load,
                         float* y, int M, int N) {
    alignas(1024) __shared__ float memory[cosize_v<TileLayout>];
    __shared__ uint64_t full;  // the mbarrier

    auto shape = make_shape(M, N);
    auto block = make_coord(blockIdx.y, blockIdx.x);
    Tensor tile = make_tensor(make_smem_ptr(memory), TileLayout{});
    Tensor from = load.get_tma_tensor(shape);  // coordinates of x
    Tensor to = make_tensor(make_gmem_ptr(y), shape,
                            make_stride(_1{}, int64_t(M)));
    Tensor position = make_identity_tensor(shape);
    auto cut = [&](auto all) { return local_tile(all, Box{}, block); };

    if (threadIdx.x == 0) {
        initialize_barrier(full, 1);
        cutlass::arch::fence_barrier_init();
        set_barrier_transaction_bytes(full, sizeof(memory));
        auto part = load.get_slice(0);
        copy(load.with(full), part.partition_S(cut(from)),
             part.partition_D(tile));
    }
    __syncthreads();  // the mbarrier is ready
    wait_barrier(full, 0);

    auto threads = Layout<Shape<_32, _8>>{};
    auto mine = [&](auto all) {
        return local_partition(all, threads, threadIdx.x);
    };
    Tensor my_tile = mine(as_position_independent_swizzle_tensor(tile));
    Tensor my_position = mine(cut(position));
    auto inside = [&](int i) { return elem_less(my_position(i), shape); };
    Tensor held = make_fragment_like(my_tile);  // in registers
    copy(my_tile, held);
    copy_if(inside, held, mine(cut(to)));
}
// endregion

// region: host
extern "C" int cute_tma_rows(void** buffers, const int64_t* dims, const double*, void* stream) {
    const float* x = (const float*)buffers[0];
    float* y = (float*)buffers[1];
    const int M = dims[0], N = dims[1];
    if (N % 4 != 0 || (uintptr_t)x % 16 != 0) return cudaErrorInvalidValue;  // the TMA needs rows of whole 16 bytes
    const dim3 grid(ceil_div(N, 32), ceil_div(M, 64));
    cute_tma_rows_kernel<<<grid, 256, 0, (cudaStream_t)stream>>>(make_load(x, M, N), y, M, N);
    return cudaGetLastError();
}
// endregion
