#include <cuda_bf16.h>

// As plain_direct.cu, with slices of A and B in shared memory.
//
// For 64 steps along K a block copies 128 x 64 of A and of B by cp.async, 16 bytes a thread, waits, and multiplies.
// Sizes: M and N are multiples of 128, K is a multiple of 64.

// region: kernel
using Element = __nv_bfloat16;

__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

__device__ void copy_16_bytes(Element* to, const Element* from) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(address(to)), "l"(from) : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int PENDING>
__device__ void wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

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

// HEIGHT x WIDTH numbers: a thread copies eight pieces of 8 numbers, HEIGHT / 8 rows apart.
template <int HEIGHT, int WIDTH>
__device__ void fill(Element* to, const Element* from, long long width) {
#pragma unroll
    for (int i = 0; i < HEIGHT; i += HEIGHT / 8) copy_16_bytes(to + i * WIDTH, from + i * width);
}

extern "C" __global__ void __launch_bounds__(128, 3)
    plain_matmul_shared(const Element* a, const Element* b, Element* c, long long M, long long N, long long K) {
    __shared__ __align__(128) Element slice_a[128 * 64], slice_b[64 * 128];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, inside = lane % 4 * 2;
    const long long top = blockIdx.y * 128ll, left = blockIdx.x * 128ll;
    const int warp_top = warp % 2 * 64, warp_left = warp / 2 * 64;
    const int row_a = threadIdx.x / 8, column_a = threadIdx.x % 8 * 8;
    const int row_b = threadIdx.x / 16, column_b = threadIdx.x % 16 * 8;
    const Element* from_a = a + (top + row_a) * K + column_a;
    const Element* from_b = b + row_b * N + left + column_b;
    Element* to_a = slice_a + row_a * 64 + column_a;
    Element* to_b = slice_b + row_b * 128 + column_b;
    const Element* my_a = slice_a + (warp_top + group) * 64 + inside;
    const Element* my_b = slice_b + inside * 128 + warp_left + group;
    Element* my_c = c + (top + warp_top + group) * N + left + warp_left + inside;

    float sums[4][8][4] = {};
    for (long long slice = 0; slice < K; slice += 64, from_a += 64, from_b += 64 * N) {
        fill<128, 64>(to_a, from_a, K);
        fill<64, 128>(to_b, from_b, N);
        commit();
        wait<0>();
        __syncthreads();  // the slices are complete
#pragma unroll
        for (int k = 0; k < 64; k += 16) {
            unsigned held_a[4][4], held_b[8][2];
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int v = 0; v < 4; ++v)
                    held_a[i][v] =
                        *reinterpret_cast<const unsigned*>(my_a + (i * 16 + v % 2 * 8) * 64 + k + v / 2 * 8);
#pragma unroll
            for (int j = 0; j < 8; ++j)
#pragma unroll
                for (int v = 0; v < 2; ++v) {
                    const Element* first = my_b + (k + v * 8) * 128 + j * 8;
                    held_b[j][v] = pair(first[0], first[128]);
                }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) mma(sums[i][j], held_a[i], held_b[j]);
        }
        __syncthreads();  // all warps have read them
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
