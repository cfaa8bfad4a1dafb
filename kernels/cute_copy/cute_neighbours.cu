#include <cute/tensor.hpp>

using namespace cute;

// As cute_vector.cu, but the stride is a number that the launch passes, so `copy` cannot know that it is 1.

// region: kernel
extern "C" __global__ void cute_copy_neighbours(const float* x, float* y, long long N, long long step) {
    Tensor from = make_tensor(make_gmem_ptr(x), N, step);  // N:step
    Tensor to = make_tensor(make_gmem_ptr(y), N, step);
    Tensor place = make_tensor(counting_iterator<long long>{}, N);  // i at place i

    auto mine = [&](auto all) {
        auto tile = local_tile(all, Int<1024>{}, blockIdx.x);
        return local_tile(tile, Int<4>{}, threadIdx.x);
    };

    Tensor my_from = mine(from);  // 4:step
    Tensor my_to = mine(to);
    if ((blockIdx.x + 1) * 1024ll <= N) {
        Tensor held = make_fragment_like(my_from);  // in registers
        copy(my_from, held);
        copy(held, my_to);
    } else {  // the last tile, which is not whole
        auto inside = [&](int i) { return mine(place)(i) < N; };
        copy_if(inside, my_from, my_to);
    }
}
// endregion
