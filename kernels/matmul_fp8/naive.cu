#include <cuda_bf16.h>
#include <cuda_fp8.h>

// One thread computes one number of C, from a row of A and a row of B.
//
// Both rows run along K, so a thread loads 16 numbers of each with one instruction.  The 32 threads of a warp have 2
// rows of A and 16 rows of B: the L1 cache looks up 18 lines, one a clock, for 512 multiply-adds.  Only the
// tensor cores have a multiply-add for floating-point numbers of 8 bits, so each number is converted to float32 first.
// In the SASS that takes two instructions: one to float16 and one to float32.
// Rows whose length is no multiple of 16 bytes may begin anywhere, and are loaded a number at a time.  For other
// rows, A and B themselves must begin at multiples of 16 bytes.

// region: kernel
constexpr int TILE = 16;  // a block computes TILE x TILE numbers of C

union Chunk {
    uint4 bits;
    DTYPE element[16];
    __device__ Chunk() {}
};

extern "C" __global__ void __launch_bounds__(TILE* TILE)
    matmul_fp8_naive(const DTYPE* a, const DTYPE* b, __nv_bfloat16* c, long long M, long long N, long long K) {
    const long long row = (long long)blockIdx.y * TILE + threadIdx.x / TILE;
    const long long column = (long long)blockIdx.x * TILE + threadIdx.x % TILE;
    if (row >= M || column >= N) return;
    a += row * K;
    b += column * K;
    float sum = 0.0f;
    const long long whole = K % 16 == 0 ? K : 0;
    for (long long k = 0; k < whole; k += 16) {
        Chunk left, right;
        left.bits = __ldg(reinterpret_cast<const uint4*>(a + k));
        right.bits = __ldg(reinterpret_cast<const uint4*>(b + k));
#pragma unroll
        for (int i = 0; i < 16; ++i) sum += float(left.element[i]) * float(right.element[i]);
    }
    for (long long k = whole; k < K; ++k) sum += float(a[k]) * float(b[k]);
    c[row * N + column] = __nv_bfloat16(sum);
}
// endregion
