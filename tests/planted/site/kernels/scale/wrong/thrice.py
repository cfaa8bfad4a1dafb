import torch


def scale(x, *, out=None, factor):
    return torch.mul(x, factor + 1, out=out)
