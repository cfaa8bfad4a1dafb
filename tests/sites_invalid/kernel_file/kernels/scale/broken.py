import torch


de scale(x, *, out=None):
    return x * 2
