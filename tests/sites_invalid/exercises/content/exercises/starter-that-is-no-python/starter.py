def sum(x, *, out=None)
    return x
