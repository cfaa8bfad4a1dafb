"""Import a text as a module, so that one file can hold several modules."""

import linecache
import sys
from types import ModuleType


def embed(path: str, text: str) -> ModuleType:
    """Return the text as the module that Python would import from `path`, such as `kernels/softmax/reference.py`.

    `linecache` gets its lines, because Triton asks `inspect` for the source of a kernel.
    """
    *packages, name = path.removesuffix(".py").split("/")
    for depth in range(1, len(packages) + 1):
        package = sys.modules.setdefault(".".join(packages[:depth]), ModuleType(packages[depth - 1]))
        package.__dict__.setdefault("__path__", [])
    module = ModuleType(".".join([*packages, name]))
    module.__file__ = path
    sys.modules[module.__name__] = module
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    exec(compile(text, path, "exec"), module.__dict__)
    if packages:
        setattr(sys.modules[".".join(packages)], name, module)
    return module
