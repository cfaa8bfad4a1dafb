#include <cuda_bf16.h>

// One pass for all three gradients: a block stays, and keeps its share of dw and db in registers.
//
// Block b takes the rows b, b + BLOCKS, b + 2·BLOCKS, and so on.  Thread t always has the same columns, so it adds dy·x̂
// and dy of its columns over all the block's rows without asking anybody.  At the end the block writes one row of sums,
// and a second kernel adds the BLOCKS rows in a fixed order: 8.7 MB at 8192 columns.  They do not all stay in L2: an
// H100 writes 8 to 9 MB more than dx to memory, and in float32 also reads 5 MB more than x and dy.
// The copy engine of the SM (TMA) loads x and dy into a ring of rows in shared memory, so that memory keeps working
// while a block reduces.  Two reads and a write of M·N elements.
// Rows that are no multiple of 16 bytes long, too long for the registers, or not on 16 bytes take two passes: a block a
// row for dx, and a thread a column for the sums.

// region: pieces
constexpr int THREADS = 512, WARPS = THREADS / 32;
constexpr int BLOCKS = 132;  // one for each SM of an H200
constexpr int VEC = 16 / sizeof(DTYPE);
constexpr int MOST_COLUMNS = 8192, RING_BYTES = 131072;
constexpr int STAGES_MOST = 8;

__device__ float partials[2][BLOCKS][MOST_COLUMNS];  // of one launch at a time: two streams would mix their sums

union Chunk {
    uint4 bits;
    DTYPE element[VEC];
    __device__ Chunk() {}
};
// endregion

// region: ring
__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

__device__ void expect(unsigned bytes, unsigned long long* full) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(full)), "r"(bytes) : "memory");
}

__device__ void start_load(void* to, const void* from, unsigned bytes, unsigned long long* full) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     address(to)),
                 "l"(from), "r"(bytes), "r"(address(full))
                 : "memory");
}

__device__ void wait_for_load(unsigned long long* full, unsigned parity) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(address(full)),
        "r"(parity)
        : "memory");
}

__device__ void open_ring(unsigned long long* full) {  // one thread's work
    for (int stage = 0; stage < STAGES_MOST; ++stage)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&full[stage])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// endregion

// region: reduce
__device__ float2 warp_sum(float2 value) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) {
        value.x += __shfl_xor_sync(0xffffffff, value.x, lane);
        value.y += __shfl_xor_sync(0xffffffff, value.y, lane);
    }
    return value;
}

__device__ float2 block_sum(float2 value, float2* warps) {  // every thread gets the result
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    return warp_sum(threadIdx.x % 32 < WARPS ? warps[threadIdx.x % 32] : make_float2(0.0f, 0.0f));
}
// endregion

// region: kernel
template <int CHUNKS>  // 16-byte pieces of a row for each thread
__global__ void __launch_bounds__(THREADS, 1)
    gradients(const DTYPE* x, const DTYPE* dy, const DTYPE* w, const float* means, const float* rstds, DTYPE* dx,
              int M, int N, int stages) {
    extern __shared__ __align__(128) unsigned char ring[];
    __shared__ unsigned long long full[STAGES_MOST];
    __shared__ float2 warps[2][WARPS];  // of two rows in turn, so that one barrier a row is enough
    const unsigned row_bytes = N * sizeof(DTYPE);
    const auto place = [](int k) { return k * THREADS + (int)threadIdx.x; };  // of a 16-byte piece
    const auto load = [&](long long row, int stage) {
        if (row >= M) return;
        unsigned char* to = ring + stage * 2 * row_bytes;
        expect(2 * row_bytes, &full[stage]);
        start_load(to, x + row * N, row_bytes, &full[stage]);
        start_load(to + row_bytes, dy + row * N, row_bytes, &full[stage]);
    };
    if (threadIdx.x == 0) {
        open_ring(full);
        for (int stage = 0; stage < stages; ++stage) load(blockIdx.x + stage * BLOCKS, stage);
    }

    Chunk weights[CHUNKS];
    float of_w[CHUNKS][VEC] = {}, of_b[CHUNKS][VEC] = {};
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
        weights[k].bits = make_uint4(0, 0, 0, 0);
        if (place(k) * VEC < N) weights[k].bits = reinterpret_cast<const uint4*>(w)[place(k)];
    }
    float mean = blockIdx.x < M ? means[blockIdx.x] : 0.0f, rstd = blockIdx.x < M ? rstds[blockIdx.x] : 0.0f;
    __syncthreads();

    int stage = 0, turn = 0;
    unsigned parity = 0;
    for (long long row = blockIdx.x; row < M; row += BLOCKS, turn ^= 1) {
        const long long after = min(row + BLOCKS, (long long)M - 1);
        const float next_mean = means[after], next_rstd = rstds[after];  // on their way while this row is worked on
        wait_for_load(&full[stage], parity);
        const uint4* x_row = reinterpret_cast<const uint4*>(ring + stage * 2 * row_bytes);
        const uint4* dy_row = reinterpret_cast<const uint4*>(ring + stage * 2 * row_bytes + row_bytes);

        Chunk normals[CHUNKS], gs[CHUNKS];
        float2 sums = {0.0f, 0.0f};  // of g and of g·x̂, where g = w·dy and x̂ = (x - mean)·rstd
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k) {
            normals[k].bits = gs[k].bits = make_uint4(0, 0, 0, 0);
            if (place(k) * VEC < N) normals[k].bits = x_row[place(k)], gs[k].bits = dy_row[place(k)];
#pragma unroll
            for (int e = 0; e < VEC; ++e) {
                const float grad = float(gs[k].element[e]);
                const float normal = (float(normals[k].element[e]) - mean) * rstd, g = float(weights[k].element[e]) * grad;
                of_w[k][e] += grad * normal;
                of_b[k][e] += grad;
                sums.x += g;
                sums.y += g * normal;
            }
        }
        sums = block_sum(sums, warps[turn]);
        if (threadIdx.x == 0) load(row + stages * BLOCKS, stage);  // every thread has its part in registers

        const float shift = sums.x / N, slope = sums.y / N;
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k) {
            Chunk out;
#pragma unroll
            for (int e = 0; e < VEC; ++e) {
                const float normal = (float(normals[k].element[e]) - mean) * rstd;
                const float g = float(weights[k].element[e]) * float(gs[k].element[e]);
                out.element[e] = DTYPE((g - shift - normal * slope) * rstd);
            }
            if (place(k) * VEC < N) reinterpret_cast<uint4*>(dx + row * N)[place(k)] = out.bits;
        }
        mean = next_mean, rstd = next_rstd;
        if (++stage == stages) stage = 0, parity ^= 1;
    }

#pragma unroll
    for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
        for (int e = 0; e < VEC; ++e)
            if (place(k) * VEC < N) {
                partials[0][blockIdx.x][place(k) * VEC + e] = of_w[k][e];
                partials[1][blockIdx.x][place(k) * VEC + e] = of_b[k][e];
            }
}
// endregion

// region: partials
constexpr int ACROSS = 32, DOWN = 12;  // threads of a block; each adds 11 of the 132 rows

__global__ void __launch_bounds__(ACROSS * DOWN) add_partials(DTYPE* dw, DTYPE* db, int N) {
    __shared__ float tile[DOWN][ACROSS];
    const int lane = threadIdx.x % ACROSS, down = threadIdx.x / ACROSS;
    const int column = blockIdx.x * ACROSS + lane;
    float sum = 0.0f;
    if (column < N)
#pragma unroll
        for (int i = 0; i < BLOCKS / DOWN; ++i) sum += partials[blockIdx.y][down + i * DOWN][column];
    tile[down][lane] = sum;
    __syncthreads();
    if (down > 0 || column >= N) return;
    for (int i = 1; i < DOWN; ++i) sum += tile[i][lane];
    (blockIdx.y == 0 ? dw : db)[column] = DTYPE(sum);
}
// endregion

// region: any-length
// A thread a column, and a block a row: for rows that the ring does not take.
__global__ void any_row(const DTYPE* x, const DTYPE* dy, const DTYPE* w, const float* means, const float* rstds,
                        DTYPE* dx, long long N) {
    __shared__ float2 warps[WARPS];
    const float mean = means[blockIdx.x], rstd = rstds[blockIdx.x];
    const long long first = blockIdx.x * N;
    float2 sums = {0.0f, 0.0f};
    for (long long i = threadIdx.x; i < N; i += THREADS) {
        const float g = float(w[i]) * float(dy[first + i]);
        sums.x += g;
        sums.y += g * (float(x[first + i]) - mean) * rstd;
    }
    sums = block_sum(sums, warps);
    for (long long i = threadIdx.x; i < N; i += THREADS) {
        const float g = float(w[i]) * float(dy[first + i]), normal = (float(x[first + i]) - mean) * rstd;
        dx[first + i] = DTYPE((g - sums.x / N - normal * (sums.y / N)) * rstd);
    }
}

__global__ void any_column(const DTYPE* x, const DTYPE* dy, const float* means, const float* rstds, DTYPE* dw,
                           DTYPE* db, long long M, long long N) {
    const long long column = blockIdx.x * (long long)THREADS + threadIdx.x;
    if (column >= N) return;
    float of_w = 0.0f, of_b = 0.0f;
    for (long long row = 0; row < M; ++row) {
        of_w += float(dy[row * N + column]) * (float(x[row * N + column]) - means[row]) * rstds[row];
        of_b += float(dy[row * N + column]);
    }
    dw[column] = DTYPE(of_w);
    db[column] = DTYPE(of_b);
}
// endregion

// region: host
template <int CHUNKS>
static int launch(void** buffers, long long M, long long N, cudaStream_t stream) {
    static const cudaError_t allowed =
        cudaFuncSetAttribute(gradients<CHUNKS>, cudaFuncAttributeMaxDynamicSharedMemorySize, RING_BYTES);
    if (allowed != cudaSuccess) return allowed;
    const int fit = RING_BYTES / (2 * N * (int)sizeof(DTYPE)), stages = fit < STAGES_MOST ? fit : STAGES_MOST;
    gradients<CHUNKS><<<BLOCKS, THREADS, stages * 2 * N * sizeof(DTYPE), stream>>>(
        (DTYPE*)buffers[0], (DTYPE*)buffers[1], (DTYPE*)buffers[2], (float*)buffers[3], (float*)buffers[4],
        (DTYPE*)buffers[5], M, N, stages);
    add_partials<<<dim3((N + ACROSS - 1) / ACROSS, 2), ACROSS * DOWN, 0, stream>>>((DTYPE*)buffers[6],
                                                                                  (DTYPE*)buffers[7], N);
    return cudaGetLastError();
}

extern "C" int layernorm_backward_persistent(void** buffers, const long* dims, const double*, void* stream) {
    const long long M = dims[0], N = dims[1];
    const bool aligned = ((size_t)buffers[0] | (size_t)buffers[1] | (size_t)buffers[2] | (size_t)buffers[5]) % 16 == 0;
    if (N % VEC == 0 && N <= MOST_COLUMNS && aligned) {
        if (N <= THREADS * VEC) return launch<1>(buffers, M, N, (cudaStream_t)stream);
        if (N <= 2 * THREADS * VEC) return launch<2>(buffers, M, N, (cudaStream_t)stream);
        return launch<MOST_COLUMNS / (THREADS * VEC)>(buffers, M, N, (cudaStream_t)stream);
    }
    const DTYPE *x = (DTYPE*)buffers[0], *dy = (DTYPE*)buffers[1];
    const float *means = (float*)buffers[3], *rstds = (float*)buffers[4];
    any_row<<<M, THREADS, 0, (cudaStream_t)stream>>>(x, dy, (DTYPE*)buffers[2], means, rstds, (DTYPE*)buffers[5], N);
    any_column<<<(N + THREADS - 1) / THREADS, THREADS, 0, (cudaStream_t)stream>>>(
        x, dy, means, rstds, (DTYPE*)buffers[6], (DTYPE*)buffers[7], M, N);
    return cudaGetLastError();
}
// endregion
