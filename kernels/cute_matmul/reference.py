"""A matrix product whose sizes are multiples of a tile: the contract and the baselines are those of kernels/matmul."""

from kernels.matmul.reference import BASELINES, extra_inputs, make_inputs, reference

__all__ = ["BASELINES", "extra_inputs", "make_inputs", "reference"]
