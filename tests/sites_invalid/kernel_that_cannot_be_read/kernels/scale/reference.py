import torch


def make_inputs(dims, dtype, generator, device):
    return {"x": torch.randn(dims["N"], generator=generator, device=device, dtype=dtype)}


def reference(x):
    return 2 * x


BASELINES = {"torch": reference, "torch.compile": torch.compile(reference)}
