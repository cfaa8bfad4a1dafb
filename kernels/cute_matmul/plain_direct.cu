#include <cuda_bf16.h>

// bfloat16 on the tensor cores by inline PTX, with every operand loaded from global memory into registers.
//
// A block of four warps computes 128 x 128 of C, each warp 64 x 64.  A warp needs 64 rows of A and 64 columns of B for 16
// steps along K.  Sizes: M and N are multiples of 128, K is a multiple of 16.

// region: kernel
using Element = __nv_bfloat16;

__device__ unsigned pair(Element first, Element second) {
    return __bfloat16_as_ushort(first) | (unsigned)__bfloat16_as_ushort(second) << 16;
}

__device__ void mma(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(128, 3)
    plain_matmul_direct(const Element* a, const Element* b, Element* c, long long M, long long N, long long K) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, inside = lane % 4 * 2;
    const long long top = blockIdx.y * 128ll + warp % 2 * 64, left = blockIdx.x * 128ll + warp / 2 * 64;
    const Element* my_a = a + (top + group) * K + inside;  // row `group` of the first small matrix
    const Element* my_b = b + inside * N + left + group;   // column `group`
    Element* my_c = c + (top + group) * N + left + inside;

    float sums[4][8][4] = {};
    for (long long k = 0; k < K; k += 16, my_a += 16, my_b += 16 * N) {
        unsigned held_a[4][4], held_b[8][2];
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int v = 0; v < 4; ++v)
                held_a[i][v] = *reinterpret_cast<const unsigned*>(my_a + (i * 16 + v % 2 * 8) * K + v / 2 * 8);
#pragma unroll
        for (int j = 0; j < 8; ++j)
#pragma unroll
            for (int v = 0; v < 2; ++v) {
                const Element* first = my_b + v * 8 * N + j * 8;
                held_b[j][v] = pair(first[0], first[N]);
            }
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 8; ++j) mma(sums[i][j], held_a[i], held_b[j]);
    }

#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j)
#pragma unroll
            for (int v = 0; v < 2; ++v)
                *reinterpret_cast<__nv_bfloat162*>(my_c + (i * 16 + v * 8) * N + j * 8) =
                    __floats2bfloat162_rn(sums[i][j][v * 2], sums[i][j][v * 2 + 1]);
}
// endregion
