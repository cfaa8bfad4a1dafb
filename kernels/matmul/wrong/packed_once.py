"""Wrong: packs B when it sees its address for the first time, and uses that copy whatever lies there later."""

import torch

packed: dict[tuple[int, torch.Size], torch.Tensor] = {}


def matmul(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    columns = packed.setdefault((b.data_ptr(), b.shape), b.t().contiguous())
    return torch.matmul(a, columns.t(), out=out)
