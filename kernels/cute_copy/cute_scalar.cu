#include <cute/tensor.hpp>

using namespace cute;

// One number a thread, in CuTe.  A block copies a tile of 256 numbers, and `local_partition` gives each thread its own.

// region: kernel
extern "C" __global__ void cute_copy_scalar(const float* x, float* y, long long N) {
    Tensor from = make_tensor(make_gmem_ptr(x), N);  // N:1
    Tensor to = make_tensor(make_gmem_ptr(y), N);
    Tensor place = make_tensor(counting_iterator<long long>{}, N);  // i at place i

    auto threads = Layout<Int<256>>{};
    auto mine = [&](auto all) {
        auto tile = local_tile(all, Int<256>{}, blockIdx.x);
        return local_partition(tile, threads, threadIdx.x);
    };

    Tensor my_from = mine(from);  // 1:256
    Tensor my_to = mine(to);
    auto inside = [&](int i) { return mine(place)(i) < N; };
    copy_if(inside, my_from, my_to);
}
// endregion
