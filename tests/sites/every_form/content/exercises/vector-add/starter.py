def scale(x, *, out=None, factor):
    raise NotImplementedError("write the kernel")
