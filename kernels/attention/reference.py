"""What attention is, slowly; the inputs that it is judged by; and what a user would call instead."""

from collections.abc import Callable, Iterable, Mapping

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

Inputs = dict[str, torch.Tensor]
WIDTH = 128
"""Numbers of a query, a key and a value."""


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Normal random queries, keys and values: the scores are normal too."""
    shape = dims["B"], dims["H"], dims["T"], WIDTH
    q, k, v = (torch.randn(shape, generator=generator, device=device, dtype=dtype) for _ in range(3))
    return {"q": q, "k": k, "v": v}


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`one_hot`: each query picks one key so clearly that the answer is exactly one row of the values.
    `extreme`: scores that overflow without the maximum, scores that grow along the keys, and equal scores."""
    noise = make_inputs(dims, dtype, generator, device)
    if name == "one_hot":
        keys = torch.where(noise["k"] < 0, -1.0, 1.0).to(dtype)
        row = torch.arange(dims["T"], device=device)
        for picked in (torch.zeros_like(row), row // 2, row):  # never a later key, which a causal mask would hide
            yield {"q": 64 * keys[:, :, picked].contiguous(), "k": keys, "v": noise["v"]}
    if name == "extreme":
        growth = torch.linspace(0, 16, dims["T"], device=device, dtype=dtype)[:, None]
        yield {**noise, "q": noise["q"] * 32}
        yield {**noise, "k": noise["k"] * growth}
        yield {**noise, "q": torch.zeros_like(noise["q"])}


def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool) -> torch.Tensor:
    """softmax(q kᵀ / √128) v for each head; with `causal` a query sees no key behind its own place."""
    out = torch.empty_like(q)
    for head in torch.cartesian_prod(torch.arange(q.shape[0]), torch.arange(q.shape[1])).tolist():
        at = tuple(head)
        scores = q[at] @ k[at].T / WIDTH**0.5
        if causal:
            scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu_(1), -torch.inf)
        out[at] = torch.softmax(scores, dim=1) @ v[at]
    return out


def _torch(backend: SDPBackend) -> Callable[..., torch.Tensor]:
    """torch's attention through one library.  Shapes that no workload has may go through another one."""

    def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool) -> torch.Tensor:
        small = not q.is_cuda or q.shape[2] < 1024
        with sdpa_kernel([backend, SDPBackend.MATH] if small else [backend], set_priority=True):
            return scaled_dot_product_attention(q, k, v, is_causal=causal)

    return attention


BASELINES = {"cudnn": _torch(SDPBackend.CUDNN_ATTENTION), "fa2": _torch(SDPBackend.FLASH_ATTENTION)}
