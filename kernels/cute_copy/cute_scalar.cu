#include <cute/tensor.hpp>

using namespace cute;

// One number a thread, in CuTe.  A block copies a tile of 256 numbers, and `local_partition` gives each thread its own.
// CuTe computes the first place of a tile in 32 bits: up to 2^32 numbers.

// region: kernel
extern "C" __global__ void cute_copy_scalar(const float* x, float* y, long long N) {
    Tensor from = make_tensor(make_gmem_ptr(x), N);  // N:1
    Tensor to = make_tensor(make_gmem_ptr(y), N);
    Tensor place = make_tensor(counting_iterator<long long>{}, N);  // the number at place i is i

    auto tile = Int<256>{};
    auto threads = Layout<Int<256>>{};
    auto mine = [&](auto all) { return local_partition(local_tile(all, tile, blockIdx.x), threads, threadIdx.x); };

    Tensor my_from = mine(from);  // 1:0
    Tensor my_to = mine(to);
    copy_if([&](int i) { return mine(place)(i) < N; }, my_from, my_to);
}
// endregion
