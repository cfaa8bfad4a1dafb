// The histogram by CUB's DeviceHistogram, the library of NVIDIA that C++ programs call.
#include <cstdint>
#include <cub/device/device_histogram.cuh>
#include <cuda_runtime.h>

static cudaError_t count(void* space, size_t& bytes, const DTYPE* x, int* counts, int64_t n, cudaStream_t stream) {
    return cub::DeviceHistogram::HistogramEven(space, bytes, x, counts, 257, 0, 256, n, stream);
}

// The space is allocated by the first call, and again by a call that needs more.  All other calls only launch.  If an
// allocation fails, `space` keeps the freed address, and the next call frees it again, though it may hold other data by
// then.
extern "C" int histogram_cub(void** buffers, const int64_t* dims, const double*, void* stream) {
    static void* space = nullptr;
    static size_t held = 0;
    const auto* x = static_cast<const DTYPE*>(buffers[0]);
    auto* counts = static_cast<int*>(buffers[1]);
    size_t bytes = 0;
    cudaError_t error = count(nullptr, bytes, x, counts, dims[0], cudaStream_t(stream));
    if (error == cudaSuccess && bytes > held) {
        cudaFree(space);
        error = cudaMalloc(&space, bytes);
        held = error == cudaSuccess ? bytes : 0;
    }
    return int(error ? error : count(space, held, x, counts, dims[0], cudaStream_t(stream)));
}
