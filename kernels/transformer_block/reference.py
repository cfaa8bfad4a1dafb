"""A transformer block in plain torch; the inputs that it is judged by; and what a user would call instead."""

import functools
from collections.abc import Callable, Iterable, Mapping

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

Inputs = dict[str, torch.Tensor]
EPSILON = 1e-5
WIDTH = 128
"""Numbers of a query, a key and a value."""


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Return normal random tokens and weights with which the gated product is about 0.6 as large as the tokens.

    The scores get a standard deviation of 1.6.  Among 4096 tokens the last one then attends to about 400 as if equally,
    so that their values average to 0.05.
    """
    B, T, D, H = (dims[name] for name in ("B", "T", "D", "F"))

    def normal(*shape: int, scale: float = 1.0) -> torch.Tensor:
        return (torch.randn(shape, generator=generator, device=device) * scale).to(dtype)

    w_qkv = normal(D, 3 * D, scale=D**-0.5)
    w_qkv[:, :D] *= 1.5
    return {
        "x": normal(B, T, D),
        "w_norm1": 1 + normal(D, scale=0.25),
        "w_qkv": w_qkv,
        "w_out": normal(D, D, scale=D**-0.5),
        "w_norm2": 1 + normal(D, scale=0.25),
        "w_up": normal(D, 2 * H, scale=D**-0.5),
        "w_down": normal(H, D, scale=H**-0.5),
    }


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`extreme`: tokens so small that the result is the attention alone, with a first token of zeros, or the gated
    product alone."""
    made = make_inputs(dims, dtype, generator, device)
    if name == "extreme":
        small = made["x"] / 64
        yield {**made, "x": small, "w_out": torch.zeros_like(made["w_out"])}
        first = torch.tensor([0], device=device)
        yield {**made, "x": small.index_fill(1, first, 0.0), "w_down": torch.zeros_like(made["w_down"])}


def reference(
    x: torch.Tensor,
    w_norm1: torch.Tensor,
    w_qkv: torch.Tensor,
    w_out: torch.Tensor,
    w_norm2: torch.Tensor,
    w_up: torch.Tensor,
    w_down: torch.Tensor,
) -> torch.Tensor:
    """h = x + attention(norm(x) w_qkv) w_out; then h + (silu(gate) · up) w_down, where gate and up are norm(h) w_up."""
    h = x + _attention(_norm(x, w_norm1) @ w_qkv) @ w_out
    gate, up = (_norm(h, w_norm2) @ w_up).chunk(2, dim=-1)
    return h + (gate * torch.sigmoid(gate) * up) @ w_down


def _norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x / torch.sqrt(x.square().mean(dim=-1, keepdim=True) + EPSILON) * w


def _attention(qkv: torch.Tensor) -> torch.Tensor:
    """Softmax of the scaled products of queries and keys, times the values; a token sees no later token."""
    B, T, D = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    out = qkv.new_empty(B, T, D)
    hidden = torch.ones(T, T, dtype=torch.bool, device=qkv.device).triu_(1)
    for b in range(B):
        for head in range(D // WIDTH):
            q, k, v = (qkv[b, :, start : start + WIDTH] for start in range(head * WIDTH, 3 * D, D))
            scores = (q @ k.T / WIDTH**0.5).masked_fill_(hidden, -torch.inf)
            out[b, :, head * WIDTH : (head + 1) * WIDTH] = torch.softmax(scores, dim=1) @ v
    return out


def _block(
    x: torch.Tensor,
    w_norm1: torch.Tensor,
    w_qkv: torch.Tensor,
    w_out: torch.Tensor,
    w_norm2: torch.Tensor,
    w_up: torch.Tensor,
    w_down: torch.Tensor,
) -> torch.Tensor:
    B, T, D = x.shape
    qkv = F.rms_norm(x, (D,), w_norm1, EPSILON) @ w_qkv
    q, k, v = qkv.view(B, T, 3, D // WIDTH, WIDTH).permute(2, 0, 3, 1, 4).unbind()
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    h = x + mixed.transpose(1, 2).reshape(B, T, D) @ w_out
    gate, up = (F.rms_norm(h, (D,), w_norm2, EPSILON) @ w_up).chunk(2, dim=-1)
    return h + (F.silu(gate) * up) @ w_down


def _baseline(block: Callable[[], Callable[..., torch.Tensor]]) -> Callable[..., torch.Tensor]:
    """Return a block whose attention is cuDNN's.  Shapes that no workload has may go through another library."""

    def run(
        x: torch.Tensor,
        w_norm1: torch.Tensor,
        w_qkv: torch.Tensor,
        w_out: torch.Tensor,
        w_norm2: torch.Tensor,
        w_up: torch.Tensor,
        w_down: torch.Tensor,
    ) -> torch.Tensor:
        small = not x.is_cuda or x.shape[1] < 1024
        backends = [SDPBackend.CUDNN_ATTENTION, SDPBackend.MATH] if small else [SDPBackend.CUDNN_ATTENTION]
        with sdpa_kernel(backends, set_priority=True):
            return block()(x, w_norm1, w_qkv, w_out, w_norm2, w_up, w_down)

    return run


@functools.cache
def _compiled(mode: str) -> Callable[..., torch.Tensor]:
    torch._dynamo.config.recompile_limit = 64  # one for each shape; past the limit it would fall back to eager
    return torch.compile(_block, dynamic=False, mode=mode)


BASELINES = {
    "torch": _baseline(lambda: _block),
    "torch.compile": _baseline(lambda: _compiled("default")),
    # Several variants are timed; without CUDA graphs, since they would copy inputs and hide launches.
    "torch.compile-max-autotune": _baseline(lambda: _compiled("max-autotune-no-cudagraphs")),
}
