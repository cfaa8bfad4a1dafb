// How fast the tensor cores multiply: every SM issues wgmma m64n256 back to back, nothing else in the loop.
// A (64 rows per warpgroup) and B (256 rows) lie in shared memory as in a real matrix product, K along the row, and
// hold normal numbers: zeros would draw less power and run faster.  The last product is stored and compared.
// TYPE: bf16, tf32 or e4m3.  WARPGROUPS: 1 or 2 per SM.  SLABS: how many 128 bytes of K.  ROUNDS: the sum runs so often
// over K before it starts again from zero, as the sums of a real product do.
#define CHOSEN_bf16 "m64n256k16.f32.bf16.bf16"
#define CHOSEN_tf32 "m64n256k8.f32.tf32.tf32"
#define CHOSEN_e4m3 "m64n256k32.f32.e4m3.e4m3"
#define TRANSPOSED_bf16 ", 0, 0"  // neither operand is; only 16-bit types can say so
#define TRANSPOSED_tf32 ""
#define TRANSPOSED_e4m3 ""
#define PASTE(a, b) a##b
#define OF(name, type) PASTE(name, type)

constexpr int ROW = 128, STEP = 32;  // bytes of K in a slab, and in one wgmma of any type
constexpr int THREADS = 128 * WARPGROUPS, A_ROWS = 64 * WARPGROUPS, B_ROWS = 256;

__device__ unsigned shared_address(const void* pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

// Where wgmma finds a tile: address, 1024 bytes from one group of eight rows to the next, 128-byte swizzle.
__device__ unsigned long long tile_at(unsigned address) {
    return (address >> 4 & 0x3fff) | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

// The 128 sums that a thread holds of a 64 x 256 tile: %0 to %127 in the text of the instruction, and their operands.
#define TEN(t) "%" t "0,%" t "1,%" t "2,%" t "3,%" t "4,%" t "5,%" t "6,%" t "7,%" t "8,%" t "9,"
#define ALL_SUMS                                                                                                 \
    TEN("") TEN("1") TEN("2") TEN("3") TEN("4") TEN("5") TEN("6") TEN("7") TEN("8") TEN("9") TEN("10") TEN("11") \
    "%120,%121,%122,%123,%124,%125,%126,%127"
#define SUMS4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SUMS16(i) SUMS4(i), SUMS4(i + 4), SUMS4(i + 8), SUMS4(i + 12)
#define SUMS64(i) SUMS16(i), SUMS16(i + 16), SUMS16(i + 32), SUMS16(i + 48)

// d = a bᵀ, plus d where `add`.
__device__ void multiply(float (&d)[128], unsigned long long a, unsigned long long b, int add) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %130, 0;\nwgmma.mma_async.sync.aligned." OF(CHOSEN_, TYPE)  //
                 " {" ALL_SUMS "}, %128, %129, p, 1, 1" OF(TRANSPOSED_, TYPE) ";\n}\n"
                 : SUMS64(0), SUMS64(64)
                 : "l"(a), "l"(b), "r"(add));
}

// Copies rows of SLABS * 128 bytes into one tile per slab.  In a row, the 16 bytes c go to c ^ (row % 8).
__device__ void fill(uint4* tiles, const uint4* from, int rows) {
    for (int i = threadIdx.x; i < rows * SLABS * 8; i += THREADS) {
        const int row = i / (SLABS * 8), slab = i / 8 % SLABS, c = i % 8;
        tiles[slab * rows * 8 + row * 8 + (c ^ row % 8)] = from[i];
    }
}

// a: A_ROWS and b: B_ROWS rows of SLABS * 128 bytes.  out: per block A_ROWS x B_ROWS, ROUNDS times the product.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
products(const uint4* a, const uint4* b, float* out, int tiles) {
    extern __shared__ uint4 raw[];
    uint4* const a_tiles = raw + (-shared_address(raw) & 1023) / 16;  // the swizzle repeats every 1024 bytes
    uint4* const b_tiles = a_tiles + A_ROWS * SLABS * 8;
    fill(a_tiles, a, A_ROWS);
    fill(b_tiles, b, B_ROWS);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma reads what ordinary stores wrote
    __syncthreads();

    const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);  // says that it is the same for the whole warp
    const unsigned a_at = shared_address(a_tiles) + warpgroup * 64 * ROW, b_at = shared_address(b_tiles);
    float d[128] = {};
    for (int round = 0; round < tiles * ROUNDS; round++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int slab = 0; slab < SLABS; slab++)
#pragma unroll
            for (int k = 0; k < ROW; k += STEP)
                multiply(d, tile_at(a_at + slab * A_ROWS * ROW + k), tile_at(b_at + slab * B_ROWS * ROW + k),
                         slab || k || round % ROUNDS);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");  // the next round is queued behind this one
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");

    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
    float* const mine = out + (long long)blockIdx.x * A_ROWS * B_ROWS + row * B_ROWS + column;
#pragma unroll
    for (int i = 0; i < 128; i++) mine[i / 2 % 2 * 8 * B_ROWS + i / 4 * 8 + i % 2] = d[i];
}
