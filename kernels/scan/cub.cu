// The scan by CUB's DeviceScan, the library of NVIDIA that C++ programs call.
#include <cstdint>
#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>

static cudaError_t scan(void* space, size_t& bytes, const DTYPE* x, DTYPE* y, uint32_t n, cudaStream_t stream) {
    return cub::DeviceScan::InclusiveSum(space, bytes, x, y, n, stream);
}

// A call allocates space only if it needs more than is held, so that later calls only launch.  If the allocation fails,
// `space` keeps the freed address, and the next call frees it again, though it may hold other data by then.
extern "C" int scan_cub(void** buffers, const int64_t* dims, const double*, void* stream) {
    static void* space = nullptr;
    static size_t held = 0;
    const auto* x = static_cast<const DTYPE*>(buffers[0]);
    auto* y = static_cast<DTYPE*>(buffers[1]);
    if (dims[0] > UINT32_MAX) return int(cudaErrorInvalidValue);
    size_t bytes = 0;
    cudaError_t error = scan(nullptr, bytes, x, y, uint32_t(dims[0]), cudaStream_t(stream));
    if (error == cudaSuccess && bytes > held) {
        cudaFree(space);
        error = cudaMalloc(&space, bytes);
        held = error == cudaSuccess ? bytes : 0;
    }
    return int(error ? error : scan(space, held, x, y, uint32_t(dims[0]), cudaStream_t(stream)));
}
