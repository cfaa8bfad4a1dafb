def scale(x, *, out=None):
    return x * 2
