"""Choose the environment variables that code of a site receives: cells, implementations, references and compilers.

Such code can print what it sees, and a record or a page then shows it.  Tokens of a CI service, of a cloud or of an SSH
agent therefore stay behind: a variable is passed on only when it is listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

PASSED_ON = (
    # the system, the user and the language
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "NO_COLOR"),
    *("TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    # libraries and memory of a process
    *("LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_LIBRARY_PATH", "MALLOC_*", "GLIBC_TUNABLES"),
    # Python and its environments
    *("PYTHON*", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "JUPYTER_PATH", "JUPYTER_DATA_DIR"),
    # GPUs, their libraries and tools
    *("CUDA*", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_TF32_OVERRIDE", "NV_*", "NVCC_*"),
    *("CUBLAS*", "CUDNN*", "CUTE_*", "CUTLASS_*", "NCCL_*"),
    # torch, Triton and what they compile with
    *("TORCH*", "PYTORCH_*", "TRITON_*", "MLIR_*", "LLVM_*", "HF_HOME"),
    *("CC", "CXX", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "MAX_JOBS"),
    # threads
    *("OMP_*", "KMP_*", "MKL_*", "OPENBLAS_*", "GOMP_*", "NUMEXPR_*"),
    # what an author wants the code of a site to see
    "SITEGEN_*",
)
"""Names of variables; an entry that ends with `*` stands for every name that begins so."""
DRIVER_LOCK = "SITEGEN_DRIVER_LOCK"
"""Name of the variable with the file by which the jobs of a host take turns at creating CUDA contexts."""
SECRET = ("*TOKEN*", "*SECRET*", "*PASSW*", "*CREDENTIAL*", "*_KEY", "*_KEY_*", "*_AUTH*")
"""Patterns of names that are never passed on, although they are listed above, such as `TORCH_HUB_TOKEN`."""
REDACTION_LIST = "SITEGEN_PRIVATE"
"""Name of the variable with the text of the redaction list.  It is never passed on: it holds private names."""


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that code of a site may see."""
    return {name: value for name, value in environment.items() if _matches(name, PASSED_ON) and not _is_secret(name)}


def _is_secret(name: str) -> bool:
    return name == REDACTION_LIST or _matches(name.upper(), SECRET)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
