import triton


@triton.jit
def sum_block(x):
    pass


def vector_sum(x, *, out=None):
    return x
