"""Twice the input."""


def make_inputs(dims, dtype, generator, device):
    import torch

    return {"x": torch.randn(dims["N"], dtype=torch.float64, generator=generator, device=device).to(dtype)}


def reference(x, factor):
    return x * factor


def extra_inputs(name, dims, dtype, generator, device):
    import torch

    yield {"x": torch.ones(dims["N"], dtype=dtype, device=device)}


BASELINES = {"torch": lambda x, factor: x * factor}
