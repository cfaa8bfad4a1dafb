#include <cute/tensor.hpp>

using namespace cute;

// Wrong: the slice of B is written with a swizzle and read without it.
// Sizes: M and N are multiples of 128, K is a multiple of 64.

// region: kernel
using Element = bfloat16_t;

extern "C" __global__ void __launch_bounds__(128, 3)
    cute_matmul_one_swizzle(const Element* a, const Element* b, Element* c, long long M, long long N, long long K) {
    Tensor A = make_tensor(make_gmem_ptr(a), make_shape(M, K), make_stride(K, _1{}));
    Tensor B = make_tensor(make_gmem_ptr(b), make_shape(N, K), make_stride(_1{}, N));
    Tensor C = make_tensor(make_gmem_ptr(c), make_shape(M, N), make_stride(N, _1{}));

    Tensor block_a = local_tile(A, Shape<_128, _64>{}, make_coord(blockIdx.y, _));  // (128,64,K/64)
    Tensor block_b = local_tile(B, Shape<_128, _64>{}, make_coord(blockIdx.x, _));
    Tensor block_c = local_tile(C, Shape<_128, _128>{}, make_coord(blockIdx.y, blockIdx.x));

    auto layout_a = composition(Swizzle<3, 3, 3>{}, Layout<Shape<_128, _64>, Stride<_64, _1>>{});
    auto layout_b = composition(Swizzle<3, 3, 4>{}, Layout<Shape<_128, _64>, Stride<_1, _128>>{});
    __shared__ alignas(128) Element memory_a[cosize_v<decltype(layout_a)>], memory_b[cosize_v<decltype(layout_b)>];
    Tensor shared_a = make_tensor(make_smem_ptr(memory_a), layout_a);
    Tensor shared_b = make_tensor(make_smem_ptr(memory_b), layout_b);

    using Piece = Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, Element>;  // 16 bytes, 8 numbers
    auto fill_a = make_tiled_copy(Piece{}, Layout<Shape<_16, _8>, Stride<_8, _1>>{}, Layout<Shape<_1, _8>>{});
    auto fill_b = make_tiled_copy(Piece{}, Layout<Shape<_16, _8>>{}, Layout<Shape<_8, _1>>{});
    auto my_fill_a = fill_a.get_slice(threadIdx.x);
    auto my_fill_b = fill_b.get_slice(threadIdx.x);
    Tensor from_a = my_fill_a.partition_S(block_a);  // (8,8,1,K/64): 8 pieces of 8 numbers
    Tensor from_b = my_fill_b.partition_S(block_b);
    Tensor to_a = my_fill_a.partition_D(shared_a);  // (8,8,1)
    Tensor to_b = my_fill_b.partition_D(shared_b);

    auto warps = Layout<Shape<_2, _2>>{};
    auto mma = make_tiled_mma(SM80_16x8x16_F32BF16BF16F32_TN{}, warps, Tile<_32, _32, _16>{});
    auto mine = mma.get_slice(threadIdx.x);
    Tensor my_c = mine.partition_C(block_c);
    Tensor held_a = mine.partition_fragment_A(shared_a);  // (8,4,4): 8 numbers of each of 4 x 4 small matrices
    Tensor held_b = mine.partition_fragment_B(shared_b);  // (4,8,4)
    Tensor sums = mine.make_fragment_C(my_c);
    clear(sums);

    Tensor unswizzled_b = make_tensor(make_smem_ptr(memory_b), Layout<Shape<_128, _64>, Stride<_1, _128>>{});

    auto read_a = make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, Element>{}, mma);
    auto read_b = make_tiled_copy_B(Copy_Atom<SM75_U16x8_LDSM_T, Element>{}, mma);
    auto my_read_a = read_a.get_slice(threadIdx.x);
    auto my_read_b = read_b.get_slice(threadIdx.x);
    Tensor my_a = my_read_a.partition_S(shared_a);  // what the lane's address points to
    Tensor my_b = my_read_b.partition_S(unswizzled_b);
    Tensor into_a = my_read_a.retile_D(held_a);  // the same registers, in the order of ldmatrix
    Tensor into_b = my_read_b.retile_D(held_b);

    for (int slice = 0; slice < size<2>(block_a); ++slice) {
        copy(fill_a, from_a(_, _, _, slice), to_a);
        copy(fill_b, from_b(_, _, _, slice), to_b);
        cp_async_fence();
        cp_async_wait<0>();
        __syncthreads();  // the slices are complete
        for (int k = 0; k < size<2>(held_a); ++k) {
            copy(read_a, my_a(_, _, k), into_a(_, _, k));
            copy(read_b, my_b(_, _, k), into_b(_, _, k));
            gemm(mma, held_a(_, _, k), held_b(_, _, k), sums);
        }
        __syncthreads();  // all warps have read them
    }

    Tensor rounded = make_fragment_like<Element>(sums);
    transform(sums, rounded, [](float sum) { return Element(sum); });
    copy_aligned(rounded, my_c);
}
// endregion
