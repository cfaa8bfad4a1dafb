"""Wrong: looks the result up by the input's address.  Right once, and wrong when the input changes."""

import torch

seen: dict[tuple[int, int], torch.Tensor] = {}


def copy(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    result = seen.setdefault((x.data_ptr(), x.numel()), x.clone())
    return result if out is None else out.copy_(result)
