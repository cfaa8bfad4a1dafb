// The sum by CUB's DeviceReduce, the library of NVIDIA that C++ programs call.  It adds in float whatever the dtype.
#include <cstdint>
#include <cub/device/device_reduce.cuh>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

struct ToFloat {
    __device__ float operator()(DTYPE x) const { return float(x); }
};

struct Add {
    __device__ float operator()(float a, float b) const { return a + b; }
};

static cudaError_t reduce(void* space, size_t& bytes, const DTYPE* x, DTYPE* total, uint32_t n, cudaStream_t stream) {
    return cub::DeviceReduce::TransformReduce(space, bytes, x, total, n, Add{}, ToFloat{}, 0.0f, stream);
}

// A call allocates space only if it needs more than is held, so that later calls only launch.  If the allocation fails,
// `space` keeps the freed address, and the next call frees it again, though it may hold other data by then.
extern "C" int sum_cub(void** buffers, const int64_t* dims, const double*, void* stream) {
    static void* space = nullptr;
    static size_t held = 0;
    const auto* x = static_cast<const DTYPE*>(buffers[0]);
    auto* total = static_cast<DTYPE*>(buffers[1]);
    if (dims[0] > UINT32_MAX) return int(cudaErrorInvalidValue);
    size_t bytes = 0;
    cudaError_t error = reduce(nullptr, bytes, x, total, uint32_t(dims[0]), cudaStream_t(stream));
    if (error == cudaSuccess && bytes > held) {
        cudaFree(space);
        error = cudaMalloc(&space, bytes);
        held = error == cudaSuccess ? bytes : 0;
    }
    return int(error ? error : reduce(space, held, x, total, uint32_t(dims[0]), cudaStream_t(stream)));
}
