#include <cute/tensor.hpp>

using namespace cute;

// bfloat16 on the tensor cores in CuTe, with every operand loaded from global memory into registers.
//
// A block of four warps computes 128 x 128 of C.  For 16 steps along K a warp needs 64 rows of A and 64 columns of B.
// Sizes: M and N are multiples of 128, K is a multiple of 16.

// region: kernel
using Element = bfloat16_t;

extern "C" __global__ void __launch_bounds__(128, 3)
    cute_matmul_direct(const Element* a, const Element* b, Element* c, long long M, long long N, long long K) {
    Tensor A = make_tensor(make_gmem_ptr(a), make_shape(M, K), make_stride(K, _1{}));
    Tensor B = make_tensor(make_gmem_ptr(b), make_shape(N, K), make_stride(_1{}, N));
    Tensor C = make_tensor(make_gmem_ptr(c), make_shape(M, N), make_stride(N, _1{}));

    Tensor block_a = local_tile(A, Shape<_128, _16>{}, make_coord(blockIdx.y, _));  // (128,16,K/16)
    Tensor block_b = local_tile(B, Shape<_128, _16>{}, make_coord(blockIdx.x, _));
    Tensor block_c = local_tile(C, Shape<_128, _128>{}, make_coord(blockIdx.y, blockIdx.x));

    auto warps = Layout<Shape<_2, _2>>{};
    auto mma = make_tiled_mma(SM80_16x8x16_F32BF16BF16F32_TN{}, warps, Tile<_32, _32, _16>{});
    auto mine = mma.get_slice(threadIdx.x);
    Tensor my_a = mine.partition_A(block_a);  // (8,4,1,K/16): 8 numbers of each of 4 small matrices
    Tensor my_b = mine.partition_B(block_b);  // (4,8,1,K/16)
    Tensor my_c = mine.partition_C(block_c);  // (4,4,8)

    Tensor held_a = mine.make_fragment_A(my_a(_, _, _, 0));  // in registers
    Tensor held_b = mine.make_fragment_B(my_b(_, _, _, 0));
    Tensor sums = mine.make_fragment_C(my_c);  // float
    clear(sums);
    for (int k = 0; k < size<2>(block_a); ++k) {
        copy_aligned(my_a(_, _, _, k), held_a);  // 4 bytes a load
        copy_aligned(my_b(_, _, _, k), held_b);  // 2 bytes a load: neighbours along K are N places apart
        gemm(mma, held_a, held_b, sums);
    }

    Tensor rounded = make_fragment_like<Element>(sums);
    transform(sums, rounded, [](float sum) { return Element(sum); });
    copy_aligned(rounded, my_c);
}
// endregion
