"""The gradients of attention, slowly; the inputs that they are judged by; and what a user would call instead."""

from collections.abc import Callable, Iterable, Mapping

import torch

Inputs = dict[str, torch.Tensor]
Gradients = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
WIDTH = 128
"""Numbers of a query, a key and a value."""


def make_inputs(
    dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Inputs:
    """Return normal random queries, keys, values and gradients, and what a forward pass without a mask saved.

    `o` and `lse` are inputs like the others: the gradients are defined by them, also where a mask hides some keys.
    """
    shape = dims["B"], dims["H"], dims["T"], WIDTH
    q, k, v, do = (torch.randn(shape, generator=generator, device=device, dtype=dtype) for _ in range(4))
    return {"q": q, "k": k, "v": v, "do": do, **_saved(q, k, v)}


def _saved(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Inputs:
    o, lse = torch.empty_like(q), torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    for at in _heads(q):
        scores = q[at].float() @ k[at].float().T / WIDTH**0.5
        lse[at] = torch.logsumexp(scores, dim=1)
        o[at] = (torch.exp(scores - lse[at][:, None]) @ v[at].float()).to(o.dtype)
    return {"o": o, "lse": lse}


def _heads(q: torch.Tensor) -> Iterable[tuple[int, int]]:
    return ((b, h) for b in range(q.shape[0]) for h in range(q.shape[1]))


def extra_inputs(
    name: str, dims: Mapping[str, int], dtype: torch.dtype, generator: torch.Generator, device: torch.device | str
) -> Iterable[Inputs]:
    """`equal`: the same score for all keys, so that every weight is the same and dk is exactly 0."""
    made = make_inputs(dims, dtype, generator, device)
    if name == "equal":
        q = torch.zeros_like(made["q"])
        yield {**made, "q": q, **_saved(q, made["k"], made["v"])}


def reference(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    do: torch.Tensor,
    lse: torch.Tensor,
    *,
    causal: bool,
) -> Gradients:
    """dq, dk and dv of softmax(q kᵀ / √128) v for each head; with `causal` a query sees no key behind its own place."""
    dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    for at in _heads(q):
        scores = q[at] @ k[at].T / WIDTH**0.5
        if causal:
            scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu_(1), -torch.inf)
        weights = torch.exp(scores - lse[at][:, None])
        delta = (o[at] * do[at]).sum(dim=1, keepdim=True)
        slopes = weights * (do[at] @ v[at].T - delta) / WIDTH**0.5
        dq[at], dk[at], dv[at] = slopes @ k[at], slopes.T @ q[at], weights.T @ do[at]
    return dq, dk, dv


def _library(backward: Callable[..., Gradients]) -> Callable[..., Gradients]:
    """Return torch's gradients through one library; a CPU goes through the formula."""

    def attention_backward(
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        o: torch.Tensor,
        do: torch.Tensor,
        lse: torch.Tensor,
        *,
        causal: bool,
    ) -> Gradients:
        if q.is_cuda:
            return backward(q, k, v, o, do, lse, causal)
        dq, dk, dv = reference(*(x.float() for x in (q, k, v, o, do, lse)), causal=causal)
        return dq.to(q.dtype), dk.to(q.dtype), dv.to(q.dtype)

    return attention_backward


def _cudnn(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    do: torch.Tensor,
    lse: torch.Tensor,
    causal: bool,
) -> Gradients:
    seed, T = torch.zeros((), dtype=torch.int64, device=q.device), q.shape[2]
    dq, dk, dv = torch.ops.aten._scaled_dot_product_cudnn_attention_backward(
        do, q, k, v, o, lse[..., None], seed, seed, None, None, None, T, T, 0.0, causal
    )
    return dq, dk, dv


def _fa2(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    do: torch.Tensor,
    lse: torch.Tensor,
    causal: bool,
) -> Gradients:
    seed, T = torch.zeros(2, dtype=torch.uint64, device=q.device), q.shape[2]
    dq, dk, dv = torch.ops.aten._scaled_dot_product_flash_attention_backward(
        do, q, k, v, o, lse, None, None, T, T, 0.0, causal, seed, seed[:1]
    )
    return dq, dk, dv


BASELINES = {"cudnn": _library(_cudnn), "fa2": _library(_fa2)}
