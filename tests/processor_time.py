"""Limits of processor time that a slower machine keeps too.

The limits in the tests were chosen while all tests took 12 minutes.  When they took 27, on a virtual machine whose host
was busy, the additions took 21 to 28 ms.  THEIR_S is about 27/12 times less; it was not measured on a quiet machine.
"""

from time import thread_time

ADDITIONS = 300_000
THEIR_S = 0.010


def within(seconds: float, limit_s: float) -> bool:
    """Return whether work that took so long keeps to a limit.  The machine is timed only where that decides."""
    return seconds < limit_s or seconds < limit_s * slowness()


def slowness() -> float:
    """Return how many times as long the additions take here and now; at least 1, so no limit becomes harder."""
    began, total = thread_time(), 0
    for number in range(ADDITIONS):
        total += number
    return max(1.0, (thread_time() - began) / THEIR_S)
