#include <cute/tensor.hpp>

using namespace cute;

// Wrong: the tile of a block has the coordinate (blockIdx.x, blockIdx.y), but a coordinate begins with the row.

// region: kernel
extern "C" __global__ void cute_tiled_swapped(const float* x, float* y, long long M, long long N) {
    auto matrix = make_layout(make_shape(M, N), make_stride(N, _1{}));
    auto block = make_coord(blockIdx.x, blockIdx.y);
    Tensor place = local_tile(make_identity_tensor(shape(matrix)), Shape<_32, _128>{}, block);
    auto atom = Copy_Atom<UniversalCopy<float>, float>{};
    auto all_threads = make_tiled_copy(atom, Layout<Shape<_32, _8>, Stride<_8, _1>>{}, Layout<Shape<_1, _4>>{});
    Tensor my_place = all_threads.get_slice(threadIdx.x).partition_S(place);
    for (int i = 0; i < size(my_place); ++i)
        if (elem_less(my_place(i), shape(matrix))) y[matrix(my_place(i))] = x[matrix(my_place(i))];
}
// endregion
