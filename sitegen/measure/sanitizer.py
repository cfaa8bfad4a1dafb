"""Implementations under compute-sanitizer → `SanitizerResult`: what each of its four tools found in our kernels.

One process for each tool, side by side, through all implementations at small shapes.  Memory is allocated piece by
piece, so that the tool sees the end of every tensor; findings in torch's and the library's kernels are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from sitegen.measure.inspection import Sanitizing, calls_to_sanitize
from sitegen.measure.sources import write_sources
from sitegen.measure.stage import Stage
from sitegen.measure.tool import Passage, Tool, find_tool, go_through
from sitegen.model.job import InspectJob, SanitizerResult
from sitegen.model.kernel import Status

MEANING = {
    "memcheck": Status.OUT_OF_BOUNDS,
    "racecheck": Status.RACE,
    "synccheck": Status.RACE,
    "initcheck": Status.INCORRECT,
}
"""By tool, what a finding of it says; the first of several counts."""
_EXACT_ALLOCATIONS = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
_OPTIONS = ("--target-processes", "application-only", "--launch-timeout", "60", "--print-limit", "10000")
_QUIET = ("--report-api-errors", "no", "--show-backtrace", "device")
"""Errors of the CUDA API that torch provokes and handles are not asked for, nor where on the host a launch was."""
_OF_TOOL = {"initcheck": ("--check-api-memory-access", "no"), "racecheck": ("--racecheck-detect-level", "error")}
"""Copies are not ours; what racecheck itself calls a warning may be meant, so that it takes nobody's time away."""

_ATTRIBUTE = re.compile(r"__\w+__\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
_GLOBAL = re.compile(r"__global__\b[^;{(]*?\b(\w+)\s*(?:<[^;{(]*>)?\s*\(")
_JIT = re.compile(r"^@(?:\w+\.)*jit\b.*?^def\s+(\w+)", re.M | re.S)
_BULK_STORE = re.compile(r"async\.bulk[^;\"]*\.global\.shared|tensor_descriptor|TensorDescriptor")
_LINE = re.compile(r"^=========( +)(\S.*)$", re.M)
_PLACE = re.compile(r"(?:\bat|Device Frame:) (.+?)\+0x[0-9a-f]+(?: in (\S+:\d+))?")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Finding:
    """One report of a tool."""

    text: str
    """`Invalid __global__ write of size 4 bytes at rows (rows.cu:16), 1 bytes after the nearest allocation …`."""
    functions: frozenset[str]
    """That it names."""


def sanitize(job: InspectJob, stage: Stage) -> tuple[tuple[SanitizerResult, ...], tuple[str, ...]]:
    """What was found, and which tool could not say anything of whom."""
    sanitizer, calls = find_tool("compute-sanitizer"), calls_to_sanitize(job)
    if sanitizer is None:
        return (), ("no findings: compute-sanitizer is not installed here",)
    with ThreadPoolExecutor(len(MEANING)) as pool:
        look = partial(_look, sanitizer, job, stage)
        looked = dict(zip(MEANING, pool.map(look, MEANING), strict=True))
    found = {tool: by_call for tool, (by_call, _) in looked.items()}
    problems = [f"{tool} {problem}" for tool, (_, several) in looked.items() for problem in several]
    return tuple(_sanitized(n, call, found) for n, call in enumerate(calls)), tuple(dict.fromkeys(problems))


def own_kernels(job: InspectJob) -> frozenset[str]:
    """The names of all kernels that the job's sources define."""
    cells = [one.source for one in job.kernel.implementations]
    texts = [_ATTRIBUTE.sub("", text) for text in (*job.sources.values(), *cells)]
    return frozenset(name for text in texts for pattern in (_GLOBAL, _JIT) for name in pattern.findall(text))


def findings(text: str) -> Iterator[Finding]:
    """What a tool printed: a title, and more of it in deeper lines.  A title of its own that reports nothing names no
    function.
    """
    title, details = "", list[str]()
    for spaces, line in [*((m[1], m[2]) for m in _LINE.finditer(text)), (" ", "")]:
        if len(spaces) > 1:
            details.append(line)
            continue
        if title:
            yield _finding(title, details)
        title, details = line, []


def _finding(title: str, details: Sequence[str]) -> Finding:
    """Without threads and addresses: they differ from run to run."""
    places = [line for line in details if line.startswith("at ")][:1]
    more = [line.removeprefix("and is ") for line in details if line.startswith("and ")]
    functions = frozenset(_bare(m[1]) for line in (title, *details) for m in _PLACE.finditer(line))
    text = ", ".join([" ".join([title, *places]), *more])
    return Finding(_ADDRESS.sub("", _PLACE.sub(_shown, text)), functions)


def _shown(place: re.Match[str]) -> str:
    return f"at {_bare(place[1])}" + (f" ({place[2]})" if place[2] else "")


def _bare(function: str) -> str:
    """`void rows<float>(const float *, …)` → `rows`."""
    before = re.split(r"[(<]", function.replace("<unnamed>", ""))[0].split()
    return before[-1].split("::")[-1] if before else function


def sanitizer_command(sanitizer: str, tool: str) -> list[str]:
    return [sanitizer, "--tool", tool, *_OPTIONS, *_QUIET, *_OF_TOOL.get(tool, ())]


def _look(sanitizer: str, job: InspectJob, stage: Stage, name: str) -> tuple[dict[int, str], list[str]]:
    """By call, the first finding of one tool inside our kernels, or an empty text; and what went wrong."""
    folder, ours, calls = stage.folder / name, own_kernels(job), calls_to_sanitize(job)
    write_sources(folder, job.sources)
    program = ["-m", "sitegen.measure.under_tools", "sanitize", str(stage.job_file), str(folder)]
    command = sanitizer_command(sanitizer, name)
    tool = Tool(name, lambda _: command, program, _EXACT_ALLOCATIONS)
    names = {number: call.implementation.name for number, call in enumerate(calls)}
    found, problems = dict[int, str](), list[str]()
    for passage in go_through(tool, names, stage.folder, partial(_suspect, ours)):
        found |= _found(passage, ours)
        problems += _problems(passage, found, names, _suspect(ours, passage))
    for number in [n for n, text in found.items() if text and name == "initcheck" and _stores_in_bulk(job, calls[n])]:
        del found[number]
        problems.append(f"cannot judge {names[number]}: it does not see what the bulk copy engine writes")
    return found, problems


def _stores_in_bulk(job: InspectJob, call: Sanitizing) -> bool:
    """Whether a kernel of it, or a header, writes memory through the copy engine."""
    own = [call.implementation.source, job.sources.get(call.implementation.file, "")]
    headers = [text for path, text in job.sources.items() if path.endswith((".h", ".cuh"))]
    return any(_BULK_STORE.search(text) for text in (*own, *headers))


def _suspect(ours: frozenset[str], passage: Passage) -> int | None:
    """After a finding nothing of the same process is believed: a tool stops printing after so many, and a context may
    be lost.
    """
    inside = (number for number, text in _found(passage, ours).items() if text)
    return next(inside, passage.culprit)


def _found(passage: Passage, ours: frozenset[str]) -> dict[int, str]:
    """Up to the first finding."""
    found: dict[int, str] = {}
    for number, section in passage.sections().items():
        inside = next((f.text for f in findings(section) if f.functions & ours), "")
        if inside or number in passage.ended:
            found[number] = inside
        if inside:
            break
    return found


def _problems(passage: Passage, found: Mapping[int, str], names: Mapping[int, str], last: int | None) -> Iterator[str]:
    """Who could not be looked at, up to the `last` call of the process that is believed."""
    if not passage.begun:
        yield f"could not run: {passage.why}"
    for number, why in passage.failed.items():
        if number not in found and (last is None or number <= last):
            yield f"could not look at {names[number]}: {why}"


def _sanitized(number: int, call: Sanitizing, found: Mapping[str, Mapping[int, str]]) -> SanitizerResult:
    said = {tool: by_call[number] for tool, by_call in found.items() if number in by_call}
    status = next((MEANING[tool] for tool in MEANING if said.get(tool)), Status.PASSED)
    return SanitizerResult(call.implementation.name, said, status, call.wrong)
