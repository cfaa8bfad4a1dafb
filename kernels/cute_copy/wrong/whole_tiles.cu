#include <cute/tensor.hpp>

using namespace cute;

// Wrong: a block whose tile is not whole copies nothing, so the numbers behind the last whole tile are not written.

// region: kernel
extern "C" __global__ void cute_copy_whole_tiles(const float* x, float* y, long long N) {
    Tensor from = make_tensor(make_gmem_ptr(x), N);
    Tensor to = make_tensor(make_gmem_ptr(y), N);
    if ((blockIdx.x + 1) * 1024ll > N) return;
    auto threads = Layout<Int<256>>{};
    Tensor my_from = local_partition(local_tile(from, Int<1024>{}, blockIdx.x), threads, threadIdx.x);
    Tensor my_to = local_partition(local_tile(to, Int<1024>{}, blockIdx.x), threads, threadIdx.x);
    copy(my_from, my_to);
}
// endregion
