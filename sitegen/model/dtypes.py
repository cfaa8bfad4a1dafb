"""The dtypes that kernels are measured in: their sizes and their names in CUDA C++."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dtype:
    name: str
    """torch's name."""
    itemsize: int
    """Bytes per element."""
    cuda: str
    """C++ type that a kernel gets as -DDTYPE."""


DTYPES = {
    d.name: d
    for d in (
        Dtype("float64", 8, "double"),
        Dtype("float32", 4, "float"),
        Dtype("float16", 2, "__half"),
        Dtype("bfloat16", 2, "__nv_bfloat16"),
        Dtype("float8_e4m3fn", 1, "__nv_fp8_e4m3"),
        Dtype("float8_e5m2", 1, "__nv_fp8_e5m2"),
        Dtype("int64", 8, "long long"),
        Dtype("int32", 4, "int"),
        Dtype("int8", 1, "signed char"),
        Dtype("uint8", 1, "unsigned char"),
        Dtype("bool", 1, "bool"),
    )
}
