"""The version of the measuring method, which is part of every key of a record.

Raised by hand, and only when a change of measure/'s timing, correctness or ceilings may move figures or statuses:
every record is stale after it.  tests/results/test_measure_version.py asks for the decision when those modules change.
"""

from __future__ import annotations

MEASURE_VERSION = 4
