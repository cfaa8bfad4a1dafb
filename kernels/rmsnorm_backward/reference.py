"""The gradients of RMS normalisation in plain torch; the inputs that they are judged by; what a user would call."""

from collections.abc import Iterable, Mapping

import torch

Inputs = dict[str, torch.Tensor]
Gradients = tuple[torch.Tensor, torch.Tensor]
EPSILON = 1e-5


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Return normal random rows and gradients, weights around 1, and the 1/RMS that the forward pass saved."""
    options = {"generator": generator, "device": device, "dtype": dtype}
    x = torch.randn(dims["M"], dims["N"], **options)
    w = 1 + torch.randn(dims["N"], **options) / 4
    return {"x": x, "dy": torch.randn(dims["M"], dims["N"], **options), "w": w, **_saved(x)}


def _saved(x: torch.Tensor) -> Inputs:
    return {"rstd": torch.rsqrt(x.float().square().mean(dim=1) + EPSILON)}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`ones`: dy is 1 everywhere, so that dw adds the normalised rows."""
    made = make_inputs(dims, dtype, generator, device)
    if name == "ones":
        yield {**made, "dy": torch.ones_like(made["dy"])}


def reference(x: torch.Tensor, dy: torch.Tensor, w: torch.Tensor, rstd: torch.Tensor) -> Gradients:
    """Return dx and dw of normalised·w, where dy is the gradient of the result."""
    normals, weighted = x * rstd[:, None], dy * w
    slope = (weighted * normals).mean(dim=1, keepdim=True)
    return (weighted - normals * slope) * rstd[:, None], (dy * normals).sum(dim=0)


def _torch(x: torch.Tensor, dy: torch.Tensor, w: torch.Tensor, rstd: torch.Tensor) -> Gradients:
    if x.device.type == "cpu":  # torch has this operation for GPUs only
        dx, dw = reference(x.float(), dy.float(), w.float(), rstd)
        return dx.to(x.dtype), dw.to(x.dtype)
    gradients: Gradients = torch.ops.aten._fused_rms_norm_backward(dy, x, [x.shape[1]], rstd[:, None], w, [True, True])
    return gradients


BASELINES = {"torch": _torch}
