"""The gradients of layer normalisation in plain torch; the inputs that they are judged by; what a user would call."""

from collections.abc import Iterable, Mapping

import torch

Inputs = dict[str, torch.Tensor]
Gradients = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
EPSILON = 1e-5


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Return normal random rows and gradients, weights around 1, and the mean and 1/σ that the forward pass saved."""
    options = {"generator": generator, "device": device, "dtype": dtype}
    x = torch.randn(dims["M"], dims["N"], **options)
    w = 1 + torch.randn(dims["N"], **options) / 4
    return {"x": x, "dy": torch.randn(dims["M"], dims["N"], **options), "w": w, **_saved(x)}


def _saved(x: torch.Tensor) -> Inputs:
    variance, mean = torch.var_mean(x.float(), dim=1, correction=0)
    return {"mean": mean, "rstd": torch.rsqrt(variance + EPSILON)}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`ones`: dy is 1 everywhere, so that db counts the rows."""
    made = make_inputs(dims, dtype, generator, device)
    if name == "ones":
        yield {**made, "dy": torch.ones_like(made["dy"])}


def reference(x: torch.Tensor, dy: torch.Tensor, w: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor) -> Gradients:
    """Return dx, dw and db of normalised·w + b, where dy is the gradient of the result."""
    normals, weighted = (x - mean[:, None]) * rstd[:, None], dy * w
    shift, slope = weighted.mean(dim=1, keepdim=True), (weighted * normals).mean(dim=1, keepdim=True)
    return (weighted - shift - normals * slope) * rstd[:, None], (dy * normals).sum(dim=0), dy.sum(dim=0)


def _torch(x: torch.Tensor, dy: torch.Tensor, w: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor) -> Gradients:
    if x.device.type == "cpu":  # where torch keeps the saved numbers in the rows' dtype
        mean, rstd = mean.to(x.dtype), rstd.to(x.dtype)
    gradients: Gradients = torch.ops.aten.native_layer_norm_backward(
        dy, x, [x.shape[1]], mean[:, None], rstd[:, None], w, w, [True, True, True]
    )
    return gradients


BASELINES = {"torch": _torch}
