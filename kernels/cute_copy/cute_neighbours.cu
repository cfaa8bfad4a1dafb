#include <cute/tensor.hpp>

using namespace cute;

// As cute_vector.cu, but the stride is a number that the launch passes, so `copy` cannot know that it is 1.

// region: kernel
extern "C" __global__ void cute_copy_neighbours(const float* x, float* y, long long N, long long step) {
    Tensor from = make_tensor(make_gmem_ptr(x), N, step);  // N:step
    Tensor to = make_tensor(make_gmem_ptr(y), N, step);
    Tensor place = make_tensor(counting_iterator<long long>{}, N);  // the number at place i is i

    auto tile = Int<1024>{};
    auto piece = Int<4>{};
    auto mine = [&](auto all) { return local_tile(local_tile(all, tile, blockIdx.x), piece, threadIdx.x); };

    Tensor my_from = mine(from);  // 4:step
    Tensor my_to = mine(to);
    if ((blockIdx.x + 1) * 1024ll <= N) {
        Tensor held = make_fragment_like(my_from);  // in registers
        copy(my_from, held);
        copy(held, my_to);
    } else {  // the last tile, which is not whole
        copy_if([&](int i) { return mine(place)(i) < N; }, my_from, my_to);
    }
}
// endregion
