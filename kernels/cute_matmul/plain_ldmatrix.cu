#include <cuda_bf16.h>

// As plain_shared.cu, with swizzled slices that ldmatrix reads.
//
// Eight rows of one column of 16 bytes lie in different banks, and one ldmatrix loads four small matrices of 8 x 8.
// Sizes: M and N are multiples of 128, K is a multiple of 64.

// region: kernel
using Element = __nv_bfloat16;

// Where the 8 numbers at (row, piece) lie in a slice with WIDTH pieces a row.
template <int WIDTH>
__device__ int place(int row, int piece) {
    return (row * WIDTH + (piece ^ row % 8)) * 8;
}

__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

__device__ void copy_16_bytes(Element* to, const Element* from) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(address(to)), "l"(from) : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int PENDING>
__device__ void wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

__device__ void load_a(unsigned (&a)[4], const Element* place) {  // 16 x 16, rows along M
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(address(place)));
}

__device__ void load_b(unsigned (&left)[2], unsigned (&right)[2], const Element* place) {  // 16 x 8 twice, rows along K
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(left[0]), "=r"(left[1]), "=r"(right[0]), "=r"(right[1])
                 : "r"(address(place)));
}

__device__ void mma(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// HEIGHT x WIDTH numbers: a thread copies eight pieces of 8 numbers, HEIGHT / 8 rows apart.  That is a multiple of 8
// rows, so all pieces of a thread have the same swizzle.
template <int HEIGHT, int WIDTH>
__device__ void fill(Element* to, const Element* from, long long width) {
#pragma unroll
    for (int i = 0; i < HEIGHT; i += HEIGHT / 8) copy_16_bytes(to + i * WIDTH, from + i * width);
}

extern "C" __global__ void __launch_bounds__(128, 3)
    plain_matmul_ldmatrix(const Element* a, const Element* b, Element* c, long long M, long long N, long long K) {
    __shared__ __align__(128) Element slice_a[128 * 64], slice_b[64 * 128];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, inside = lane % 4 * 2;
    const long long top = blockIdx.y * 128ll, left = blockIdx.x * 128ll;
    const int warp_top = warp % 2 * 64, warp_left = warp / 2 * 64;
    const int row_a = threadIdx.x / 8, piece_a = threadIdx.x % 8;
    const int row_b = threadIdx.x / 16, piece_b = threadIdx.x % 16;
    const Element* from_a = a + (top + row_a) * K + piece_a * 8;
    const Element* from_b = b + row_b * N + left + piece_b * 8;
    Element* to_a = slice_a + place<8>(row_a, piece_a);
    Element* to_b = slice_b + place<16>(row_b, piece_b);
    const int row = lane % 16, half = lane / 16;  // where this lane's address of an ldmatrix points
    Element* my_c = c + (top + warp_top + group) * N + left + warp_left + inside;

    float sums[4][8][4] = {};
    for (long long slice = 0; slice < K; slice += 64, from_a += 64, from_b += 64 * N) {
        fill<128, 64>(to_a, from_a, K);
        fill<64, 128>(to_b, from_b, N);
        commit();
        wait<0>();
        __syncthreads();  // the slices are complete
#pragma unroll 1  // unrolled, it spills more: three blocks on an SM leave a thread 168 registers
        for (int k = 0; k < 64; k += 16) {
            unsigned held_a[4][4], held_b[8][2];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                load_a(held_a[i], slice_a + place<8>(warp_top + i * 16 + row, k / 8 + half));
#pragma unroll
            for (int j = 0; j < 8; j += 2)
                load_b(held_b[j], held_b[j + 1], slice_b + place<16>(k + row, warp_left / 8 + j + half));
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
