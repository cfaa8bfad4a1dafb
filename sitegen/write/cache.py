"""Store values of one build for the next one; a value is read back whole and from the same version, or not at all.

A file begins with the version that wrote it and a digest of the rest; a file that does not match is ignored.
The digest finds damage and proves nothing about the origin of the file.  `marshal` may crash on bytes that an attacker
chose, so `load` must only be given files of the user's own cache folder (`pipeline/user_cache.py`), and never a file
that a site brings.  Objects are pickled, and a pickle may only hold classes of the model.
"""

from __future__ import annotations

import datetime as dt
import importlib
import io
import marshal
import pickle
import zoneinfo
from enum import Enum
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

_MAGIC = b"sitegen cache\n"
_DIGEST = 32
_ROOMS = ("sitegen.model.", "sitegen.diagnostics", "sitegen.read.load")
_TIMES = (dt.date, dt.datetime, dt.timedelta, dt.timezone, zoneinfo.ZoneInfo)


def load(path: Path, version: bytes) -> Any:
    """Return the value that `save` wrote with this version; None when there is none or the file is damaged."""
    try:
        data = path.read_bytes()
        head, payload = data[: len(_MAGIC) + 2 * _DIGEST], memoryview(data)[len(_MAGIC) + 2 * _DIGEST :]
        return marshal.loads(payload) if head == _head(version, payload) else None
    except (OSError, ValueError, EOFError, TypeError):
        return None


def save(path: Path, version: bytes, value: Any) -> None:
    """Write a value made of numbers, strings, bytes, tuples, lists and dicts, which `marshal` takes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    payload = marshal.dumps(value)
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("wb") as file:
        file.write(_head(version, payload))
        file.write(payload)
    partial.replace(path)


def _head(version: bytes, payload: bytes | memoryview) -> bytes:
    return _MAGIC + blake2b(version, digest_size=_DIGEST).digest() + blake2b(payload, digest_size=_DIGEST).digest()


def pack(value: object) -> bytes:
    """Return an object of the model as bytes."""
    into = io.BytesIO()
    _Pickler(into, protocol=5).dump(value)
    return into.getvalue()


def unpack(data: bytes) -> Any:
    """Return the object that `pack` was given.  Raises pickle.UnpicklingError for a class outside the model."""
    return _Unpickler(io.BytesIO(data)).load()


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        """Return a dataclass as a call of its class, which is twice as fast to unpickle as setting its state.

        An Enum is a call of its class too: up to Python 3.11.3 it would be a call of `getattr`, which is refused.
        """
        if isinstance(value, zoneinfo.ZoneInfo):
            return zoneinfo.ZoneInfo, (value.key,)
        if isinstance(value, Enum):
            return type(value), (value.value,)
        names = getattr(type(value), "__match_args__", None)
        if names is None or not hasattr(type(value), "__dataclass_fields__"):
            return NotImplemented
        return type(value), tuple([getattr(value, name) for name in names])


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        return _class(module, name)


@lru_cache(maxsize=256)
def _class(module: str, name: str) -> Any:
    for time in _TIMES:
        if (module, name) == (time.__module__, time.__name__):
            return time
    cls = getattr(importlib.import_module(module), name, None) if module.startswith(_ROOMS) else None
    if isinstance(cls, type) and cls.__module__ == module:
        return cls
    raise pickle.UnpicklingError(f"{module}.{name} is no class of the model")
