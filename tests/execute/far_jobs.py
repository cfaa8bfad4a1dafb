"""Jobs that workers on other hosts import by their names."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any


def note_and_wait(spec: dict[str, Any]) -> dict[str, Any]:
    """Note the process and the GPU of each start, and run long enough to be killed."""
    with Path(spec["log"]).open("a") as log:
        log.write(f"{os.getpid()}:{os.environ.get('CUDA_VISIBLE_DEVICES', '')}\n")
    time.sleep(spec["seconds"])
    return {"id": spec["id"], "kind": "test", "schema": 1}
