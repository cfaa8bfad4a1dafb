"""A transpose: the contract and the baseline are those of kernels/transpose."""

from kernels.transpose.reference import BASELINES, extra_inputs, make_inputs, reference

__all__ = ["BASELINES", "extra_inputs", "make_inputs", "reference"]
