#include <cute/tensor.hpp>

using namespace cute;

// Four numbers a thread, 256 places apart, in CuTe.  `copy` goes from global to global memory, one number at a time.
// CuTe computes the first place of a tile in 32 bits: up to 2^32 numbers.

// region: kernel
extern "C" __global__ void cute_copy_direct(const float* x, float* y, long long N) {
    Tensor from = make_tensor(make_gmem_ptr(x), N);  // N:1
    Tensor to = make_tensor(make_gmem_ptr(y), N);
    Tensor place = make_tensor(counting_iterator<long long>{}, N);  // the number at place i is i

    auto tile = Int<1024>{};
    auto threads = Layout<Int<256>>{};
    auto mine = [&](auto all) { return local_partition(local_tile(all, tile, blockIdx.x), threads, threadIdx.x); };

    Tensor my_from = mine(from);  // 4:256
    Tensor my_to = mine(to);
    if ((blockIdx.x + 1) * 1024ll <= N) {
        copy(my_from, my_to);
    } else {  // the last tile, which is not whole
        copy_if([&](int i) { return mine(place)(i) < N; }, my_from, my_to);
    }
}
// endregion
