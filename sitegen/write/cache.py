"""Values that a build leaves for the next one: whole, of this version, or not there at all.

A file begins with the version that wrote it and a digest of what follows; whatever does not match is thrown away.
The digest finds damage and proves nothing about who wrote the file.  `marshal` may crash on bytes that somebody chose,
so `load` must only be given files of the user's own cache folder (`pipeline/user_cache.py`), and never a file that a
site brings.  Objects are pickled, and only classes of the model are made of a pickle again.
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
    """What `save` wrote with that version; None when there is nothing, or it is not whole."""
    try:
        data = path.read_bytes()
        head, payload = data[: len(_MAGIC) + 2 * _DIGEST], memoryview(data)[len(_MAGIC) + 2 * _DIGEST :]
        return marshal.loads(payload) if head == _head(version, payload) else None
    except (OSError, ValueError, EOFError, TypeError):
        return None


def save(path: Path, version: bytes, value: Any) -> None:
    """`value` is made of what `marshal` takes: numbers, strings, bytes, tuples, lists, dicts."""
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
    """An object of the model as bytes."""
    into = io.BytesIO()
    _Pickler(into, protocol=5).dump(value)
    return into.getvalue()


def unpack(data: bytes) -> Any:
    """Raises pickle.UnpicklingError when something else than the model is in it."""
    return _Unpickler(io.BytesIO(data)).load()


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        """A dataclass as a call of its class: it is made again in half the time that setting its state takes.

        An Enum, too: up to Python 3.11.3 it would be a call of `getattr`.
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
    found = getattr(importlib.import_module(module), name, None) if module.startswith(_ROOMS) else None
    if isinstance(found, type) and found.__module__ == module:
        return found
    raise pickle.UnpicklingError(f"{module}.{name} is nothing of the model")
