#include <cute/tensor.hpp>

using namespace cute;

// As cute_plain_tile.cu, with a swizzle of what the layout gives: the elements of a column lie in 32 banks.

// region: copy_tile
// All threads of a block copy a tile through registers.  Of a tile that is not whole, they copy what the matrix has.
template <class Source, class Destination, class Place, class Matrix>
__device__ void copy_tile(Source source, Destination destination, Place place, Matrix matrix, bool whole) {
    auto threads = Layout<Shape<_8, _32>, Stride<_32, _1>>{};
    auto all_threads = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, threads);
    auto thread = all_threads.get_slice(threadIdx.x);
    Tensor my_source = thread.partition_S(source);
    Tensor my_destination = thread.partition_D(destination);
    Tensor my_place = thread.partition_S(place);
    if (whole) {
        Tensor held = make_fragment_like(my_source);
        copy(all_threads, my_source, held);
        copy(all_threads, held, my_destination);
    } else {
        copy_if([&](int i) { return elem_less(my_place(i), matrix); }, my_source, my_destination);
    }
}
// endregion

// region: kernel
extern "C" __global__ void cute_transpose_swizzled(const float* x, float* y, long long M, long long N) {
    Tensor from = make_tensor(make_gmem_ptr(x), make_shape(M, N), make_stride(N, _1{}));
    Tensor to = make_tensor(make_gmem_ptr(y), make_shape(N, M), make_stride(M, _1{}));

    auto layout = composition(Swizzle<5, 0, 5>{}, Layout<Shape<_32, _32>, Stride<_32, _1>>{});
    auto turn = Layout<Shape<_32, _32>, Stride<_32, _1>>{};  // from (column, row) to the number of (row, column)
    __shared__ float memory[cosize_v<decltype(layout)>];
    Tensor tile = make_tensor(make_smem_ptr(memory), layout);
    Tensor turned = make_tensor(make_smem_ptr(memory), composition(layout, turn));

    auto cut = [](auto all, auto block) { return local_tile(all, Shape<_32, _32>{}, block); };
    auto read = make_coord(blockIdx.y, blockIdx.x);
    auto write = make_coord(blockIdx.x, blockIdx.y);
    const bool whole = (blockIdx.y + 1) * 32 <= M && (blockIdx.x + 1) * 32 <= N;
    copy_tile(cut(from, read), tile, cut(make_identity_tensor(shape(from)), read), shape(from), whole);
    __syncthreads();  // the tile is complete
    copy_tile(turned, cut(to, write), cut(make_identity_tensor(shape(to)), write), shape(to), whole);
}
// endregion
