#include <cute/tensor.hpp>

using namespace cute;

// The copy of `cute_rows`, in which each thread copies one piece of 16 bytes.
//
// Two changes.  The tile has 8 rows instead of 32, so a thread copies one piece, where a thread of `cute_rows` loads
// four before its first store.  And a warp copies 512 bytes of one row at a time, not 128 bytes of each of four rows.

// region: kernel
extern "C" __global__ void cute_tiled_single(const float* x, float* y, long long M, long long N) {
    auto matrix = make_layout(make_shape(M, N), make_stride(N, _1{}));
    auto tile = [&](auto all) { return local_tile(all, Shape<_8, _128>{}, make_coord(blockIdx.y, blockIdx.x)); };
    Tensor from = tile(make_tensor(make_gmem_ptr(x), matrix));
    Tensor to = tile(make_tensor(make_gmem_ptr(y), matrix));
    Tensor place = tile(make_identity_tensor(shape(matrix)));  // the element at (row, column) is (row, column)

    auto atom = Copy_Atom<UniversalCopy<uint128_t>, float>{};
    auto threads = Layout<Shape<_8, _32>, Stride<_32, _1>>{};
    auto values = Layout<Shape<_1, _4>>{};
    auto all_threads = make_tiled_copy(atom, threads, values);
    auto thread = all_threads.get_slice(threadIdx.x);

    Tensor my_from = thread.partition_S(from);  // ((4,1),1,1), the slice of the source
    Tensor my_to = thread.partition_D(to);      // that of the destination
    Tensor my_place = thread.partition_S(place);
    const bool aligned = N % 4 == 0 && ((size_t)x | (size_t)y) % 16 == 0;
    if (aligned && (blockIdx.y + 1) * 8 <= M && (blockIdx.x + 1) * 128 <= N) {
        Tensor held = make_fragment_like(my_from);  // in registers
        copy(all_threads, my_from, held);
        copy(all_threads, held, my_to);
    } else {  // a tile that is not whole, or rows that do not begin at multiples of 16 bytes
        for (int i = 0; i < size(my_place); ++i)
            if (elem_less(my_place(i), shape(matrix))) y[matrix(my_place(i))] = x[matrix(my_place(i))];
    }
}
// endregion
