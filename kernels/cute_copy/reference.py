"""A copy: the contract and the baseline are those of kernels/copy."""

from kernels.copy.reference import BASELINES, extra_inputs, make_inputs, reference

__all__ = ["BASELINES", "extra_inputs", "make_inputs", "reference"]
