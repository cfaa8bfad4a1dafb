"""Requests of the parent to a child process, and their replies, as dataclasses ↔ the JSON that protocol.py sends.

A request names the type of its reply, so that both ends are checked by types.  Standard library only: the parent reads
this module too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from sitegen.measure.protocol import Message
from sitegen.measure.rounds import EmptyKernel, TurnKind, TurnResult
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.record import Ceiling, Compilation, Correctness, Environment, LaunchRecord

R = TypeVar("R")
Shapes = tuple[Mapping[str, int], ...]
"""Dims by name, one mapping for each shape."""


@dataclass(frozen=True, slots=True)
class ChildTask:
    """The part of a job that one child process does."""

    job_file: Path
    role: str
    """`implementation`, `baseline` or `probe`; another word for a child that only answers about the GPU."""
    name: str
    folder: Path
    """Folder of the job's sources."""


class Request(Generic[R]):
    """One request; R is the type of its reply."""

    __slots__ = ()
    name: ClassVar[str]
    """The value of `do` in the message."""
    work: ClassVar[str]
    """The work in a few words, for the message of a timeout."""
    reply: ClassVar[type[Any]] = type(None)


@dataclass(frozen=True, slots=True)
class Ceilings:
    """Measured limits of the GPU."""

    ceilings: tuple[Ceiling, ...]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Reply to `Prepare`."""

    allocates: bool
    """True when the call takes no `out` and so allocates its result each time."""


@dataclass(frozen=True, slots=True)
class Planned:
    """Reply to `Plan`."""

    estimate_us: float
    """Device time of one call."""
    chosen: str
    """Name of the fastest way of a memory probe; empty for others."""


@dataclass(frozen=True, slots=True)
class EmptyKernelTimes:
    """Reply to `TimeEmptyKernel`."""

    times: EmptyKernel | None
    """None where it could not be timed."""


@dataclass(frozen=True, slots=True)
class GraphUse:
    """Reply to `UseGraph`: how calls are timed from now on."""

    graph: bool
    """True when a sample is the replay of a CUDA graph; False where the calls cannot be captured."""
    graph_calls: int
    """Calls in the graph; 0 without one."""
    launch_bound: bool
    """True when a call alone and a call in the graph differ by more than 10 %."""
    estimate_us: float
    """Device time of one call."""


@dataclass(frozen=True, slots=True)
class CollectedArtefacts:
    """Reply to `CollectArtefacts`: what a reader sees beside the time of a call."""

    launch: LaunchRecord | None = None
    compilation: Compilation | None = None
    artefacts: Mapping[str, str] = field(default_factory=dict)
    """Base64 of gzip, by `<sha256>.<ptx|sass>`."""
    missing: str = ""
    """Why something could not be collected; empty when nothing went wrong."""


@dataclass(frozen=True, slots=True)
class ReadEnvironment(Request[Environment]):
    """Read the facts of the GPU and the versions of the software."""

    name, work, reply = "environment", "reading the facts of the GPU", Environment


@dataclass(frozen=True, slots=True)
class CheckHealth(Request[bool]):
    """Run a known kernel; the reply is whether it gave the known sum."""

    name, work, reply = "healthy", "a known kernel", bool


@dataclass(frozen=True, slots=True)
class MeasureCeilings(Request[Ceilings]):
    """Measure the limits of the GPU."""

    name, work, reply = "ceilings", "measuring the ceilings", Ceilings


@dataclass(frozen=True, slots=True)
class Start(Request[None]):
    """Import torch and create the CUDA context."""

    name, work = "start", "importing torch and starting the GPU"


@dataclass(frozen=True, slots=True)
class Prepare(Request[Prepared]):
    """Import or compile the implementation, baseline or probe."""

    name, work, reply = "prepare", "importing and compiling", Prepared


@dataclass(frozen=True, slots=True)
class MakeFirstCalls(Request[None]):
    """Call it once at each shape, so that later deadlines contain no compilation."""

    name, work = "first", "the first calls"
    shapes: Shapes


@dataclass(frozen=True, slots=True)
class Check(Request[Correctness]):
    """Check its results at each shape."""

    name, work, reply = "check", "checking the results", Correctness
    shapes: Shapes


@dataclass(frozen=True, slots=True)
class Plan(Request[Planned]):
    """Make ready for turns, and estimate the time of a call."""

    name, work, reply = "plan", "the first timing", Planned
    dims: Mapping[str, int]
    sets: int
    """Sets of inputs and outputs over which calls rotate."""
    resident: bool
    """True when the sets stay in memory between turns."""


@dataclass(frozen=True, slots=True)
class TimeEmptyKernel(Request[EmptyKernelTimes]):
    """Time a kernel that does nothing."""

    name, work, reply = "empty_kernel", "timing an empty kernel", EmptyKernelTimes


@dataclass(frozen=True, slots=True)
class UseGraph(Request[GraphUse]):
    """Time calls inside a CUDA graph from now on."""

    name, work, reply = "use_graph", "capturing calls into a CUDA graph", GraphUse


@dataclass(frozen=True, slots=True)
class Resume(Request[None]):
    """Make ready for turns as an earlier process of the same code did, without timing anything."""

    name, work = "resume", "making ready to continue the rounds"
    dims: Mapping[str, int]
    sets: int
    resident: bool
    estimate_us: float
    graph_calls: int
    chosen: str


@dataclass(frozen=True, slots=True)
class Warm(Request[None]):
    """Call for a while, so that the clock of the GPU is up."""

    name, work = "warm", "the warm-up"
    for_s: float


@dataclass(frozen=True, slots=True)
class TakeTurn(Request[TurnResult]):
    """Take the samples of one turn."""

    name, work, reply = "turn", "the samples of a round", TurnResult
    kind: TurnKind
    samples: int
    keep: bool
    """True when the buffers stay, because a `Recheck` follows."""


@dataclass(frozen=True, slots=True)
class Recheck(Request[None]):
    """Check the output of the last timed call."""

    name, work = "recheck", "checking the last output"


@dataclass(frozen=True, slots=True)
class CollectArtefacts(Request[CollectedArtefacts]):
    """Collect launch record, compilation, PTX and SASS of one call."""

    name, work, reply = "artefacts", "reading the compiled code", CollectedArtefacts
    dims: Mapping[str, int]


_BY_NAME: Mapping[str, type[Request[Any]]] = {
    one.name: one
    for one in (
        *(ReadEnvironment, CheckHealth, MeasureCeilings, Start, Prepare, MakeFirstCalls, Check),
        *(Plan, TimeEmptyKernel, UseGraph, Resume, Warm, TakeTurn, Recheck, CollectArtefacts),
    )
}


def message_of(request: Request[Any]) -> Message:
    """Return the request as the message that is sent."""
    return {"do": request.name, **to_plain(request)}


def request_of(message: Message) -> Request[Any]:
    """Return the request in a message.  Raises KeyError, TypeError or ValueError for one that is not known."""
    fields = {name: value for name, value in message.items() if name != "do"}
    return from_plain(_BY_NAME[message["do"]], fields)
