// As plain_tile.cu, with the columns of each row in another order: the elements of a column lie in 32 banks.

// region: kernel
__device__ int at(int row, int column) { return row * 32 + (column ^ row); }

extern "C" __global__ void plain_transpose_swizzled(const float* x, float* y, long long M, long long N) {
    __shared__ float memory[32 * 32];
    const int down = threadIdx.x / 32, across = threadIdx.x % 32;  // a block has 8 x 32 threads
    const long long top = blockIdx.y * 32ll, left = blockIdx.x * 32ll;
    const float* from = x + (top + down) * N + left + across;
    float* to = y + (left + down) * M + top + across;
    if (top + 32 <= M && left + 32 <= N) {
        float held[4];
        for (int k = 0; k < 4; ++k) held[k] = from[k * 8 * N];
        for (int k = 0; k < 4; ++k) memory[at(down + k * 8, across)] = held[k];
        __syncthreads();  // the tile is complete
        for (int k = 0; k < 4; ++k) held[k] = memory[at(across, down + k * 8)];
        for (int k = 0; k < 4; ++k) to[k * 8 * M] = held[k];
    } else {  // a tile that is not whole
        for (int k = 0; k < 4; ++k)
            if (top + down + k * 8 < M && left + across < N) memory[at(down + k * 8, across)] = from[k * 8 * N];
        __syncthreads();
        for (int k = 0; k < 4; ++k)
            if (left + down + k * 8 < N && top + across < M) to[k * 8 * M] = memory[at(across, down + k * 8)];
    }
}
// endregion
