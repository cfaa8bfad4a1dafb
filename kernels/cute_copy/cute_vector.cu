#include <cute/tensor.hpp>

using namespace cute;

// Four neighbouring numbers a thread, in CuTe.  `copy` sees at compile time that they are neighbours.
// CuTe computes the first place of a tile in 32 bits: up to 2^32 numbers.

// region: kernel
extern "C" __global__ void cute_copy_vector(const float* x, float* y, long long N) {
    Tensor from = make_tensor(make_gmem_ptr(x), N);  // N:1
    Tensor to = make_tensor(make_gmem_ptr(y), N);
    Tensor place = make_tensor(counting_iterator<long long>{}, N);  // the number at place i is i

    auto tile = Int<1024>{};
    auto piece = Int<4>{};
    auto mine = [&](auto all) { return local_tile(local_tile(all, tile, blockIdx.x), piece, threadIdx.x); };

    Tensor my_from = mine(from);  // 4:1
    Tensor my_to = mine(to);
    const bool aligned = ((size_t)x | (size_t)y) % 16 == 0;
    if (aligned && (blockIdx.x + 1) * 1024ll <= N) {
        Tensor held = make_fragment_like(my_from);  // 4:1, in registers
        copy(my_from, held);
        copy(held, my_to);
    } else {  // the last tile, which is not whole, or pointers that are not multiples of 16
        copy_if([&](int i) { return mine(place)(i) < N; }, my_from, my_to);
    }
}
// endregion
