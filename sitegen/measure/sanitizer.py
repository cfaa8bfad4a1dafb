"""The implementations of a kernel under compute-sanitizer → `Sanitized`: findings of its four tools in our kernels.

Each tool has a process of its own, side by side with the others, which calls all implementations at small shapes.  Each
tensor is allocated by itself, so that the tool sees its end.  Findings in kernels of torch and of libraries are
dropped, and those about code that only the compiler wrote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

from sitegen.measure.sources import write_sources
from sitegen.measure.tool_calls import CallToSanitize, calls_to_sanitize
from sitegen.measure.tool_runs import ToolCommand, ToolRun, find_tool, run_calls
from sitegen.measure.workspace import Workspace
from sitegen.model.job import InspectJob, SanitizerResult
from sitegen.model.kernel import Status

MEANING = {
    "memcheck": Status.OUT_OF_BOUNDS,
    "racecheck": Status.RACE,
    "synccheck": Status.RACE,
    "initcheck": Status.INCORRECT,
}
"""Status that a finding of each tool means; when several tools have findings, the first in this order counts."""
_EXACT_ALLOCATIONS = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
_OPTIONS = ("--target-processes", "application-only", "--launch-timeout", "60", "--print-limit", "10000")
_QUIET = ("--report-api-errors", "no", "--show-backtrace", "device")
"""No report of CUDA API errors, which torch provokes and handles, and no backtrace of the host."""
_OF_TOOL = {"initcheck": ("--check-api-memory-access", "no"), "racecheck": ("--racecheck-detect-level", "error")}
"""Options of single tools.  Copies are not code of the implementation.  A warning of racecheck may be intended, so only
its errors fail an evaluation."""

_ATTRIBUTE = re.compile(r"__\w+__\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
_GLOBAL = re.compile(r"__global__\b[^;{(]*?\b(\w+)\s*(?:<[^;{(]*>)?\s*\(")
_JIT = re.compile(r"^@(?:\w+\.)*jit\b.*?^def\s+(\w+)", re.M | re.S)
_BULK_STORE = re.compile(r"async\.bulk[^;\"]*\.global\.shared|tensor_descriptor|TensorDescriptor")
_SPECIALIZE = "warp_specialize("
_SPECIALIZED_LOOP = "warp_specialize=True"
_DEF = re.compile(r"\s*def (\w+)\(")
_LINE = re.compile(r"^=========( +)(\S.*)$", re.M)
_PLACE = re.compile(r"(?:\bat|Device Frame:) (.+?)\+0x[0-9a-f]+(?: in (\S+:\d+))?")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Finding:
    """One report of a tool."""

    text: str
    """`Invalid __global__ write of size 4 bytes at rows (rows.cu:16), 1 bytes after the nearest allocation …`."""
    functions: frozenset[str]
    """Functions that it names."""
    places: tuple[tuple[str, int], ...] = ()
    """File name and line of each access that it names; line 0 where the code has no lines.  In a race the first one is
    the access with which each of the others collides."""


def sanitize(job: InspectJob, workspace: Workspace) -> tuple[tuple[SanitizerResult, ...], tuple[str, ...]]:
    """Return the findings of each call, and warnings about tools that could not judge a call."""
    sanitizer, calls = find_tool("compute-sanitizer"), calls_to_sanitize(job)
    if sanitizer is None:
        return (), ("no findings: compute-sanitizer is not installed here",)
    with ThreadPoolExecutor(len(MEANING)) as pool:
        run = partial(_run_tool, sanitizer, job, workspace)
        results = dict(zip(MEANING, pool.map(run, MEANING), strict=True))
    by_tool = {tool: texts for tool, (texts, _) in results.items()}
    problems = [f"{tool} {problem}" for tool, (_, several) in results.items() for problem in several]
    return tuple(_sanitized(n, call, by_tool) for n, call in enumerate(calls)), tuple(dict.fromkeys(problems))


def own_kernels(job: InspectJob) -> frozenset[str]:
    """Return the names of all kernels that the job's sources define."""
    cells = [one.source for one in job.kernel.implementations]
    texts = [_ATTRIBUTE.sub("", text) for text in (*job.sources.values(), *cells)]
    return frozenset(name for text in texts for pattern in (_GLOBAL, _JIT) for name in pattern.findall(text))


def findings(text: str) -> Iterator[Finding]:
    """Yield the findings in a tool's output: a title, and details in deeper lines.

    A title without a report, such as the tool's own, becomes a finding that names no function.
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
    """Return the finding without threads and addresses, which differ from run to run."""
    places = [line for line in details if line.startswith("at ")][:1]
    more = [line.removeprefix("and is ") for line in details if line.startswith("and ")]
    named = [m for line in (title, *details) for m in _PLACE.finditer(line)]
    functions = frozenset(_function_name(m[1]) for m in named)
    lines = tuple((file, int(line)) for m in named for file, _, line in [(m[2] or ":0").rpartition(":")])
    text = ", ".join([" ".join([title, *places]), *more])
    return Finding(_ADDRESS.sub("", _PLACE.sub(_place_text, text)), functions, lines)


def is_hand_over(finding: Finding, sources: Mapping[str, str]) -> bool:
    """Return whether racecheck reports how Triton's compiler hands the warps of a specialised block their parts.

    The compiler writes a byte for each warp, which the warps read at the line of the kernel's `def`, and at the end
    another byte.  A `barrier.sync 1` of all threads stands between each write and each read (PTX of Triton 3.6), but
    racecheck reports them as a race.  In Gluon both writes have the line of the call of warp_specialize, and accesses
    of the author have other lines.  Where a loop of Triton is specialised, they have the lines of the statement before
    the loop and of that after it; there the author cannot address shared memory, so that the read tells enough.
    """
    texts = {PurePosixPath(path).name: text for path, text in sources.items()}
    in_loop = all(_specializes_only_loops(texts.get(file, "")) for file, _ in finding.places)
    judged = finding.places[:1] if in_loop else finding.places
    return bool(judged) and all(_hands_over(texts.get(file, ""), line, finding.functions) for file, line in judged)


def _specializes_only_loops(source: str) -> bool:
    return _SPECIALIZED_LOOP in source and _SPECIALIZE not in source


def _hands_over(source: str, number: int, kernels: frozenset[str]) -> bool:
    """Return whether a line of a specialised source is the `def` of one of these kernels, or calls warp_specialize."""
    line = "".join(source.splitlines()[number - 1 : number]) if number else ""
    begun = _DEF.match(line)
    return ("warp_specialize" in source and bool(begun and begun[1] in kernels)) or _SPECIALIZE in line


def _place_text(place: re.Match[str]) -> str:
    return f"at {_function_name(place[1])}" + (f" ({place[2]})" if place[2] else "")


def _function_name(function: str) -> str:
    """Return the bare name of a function: `rows` for `void rows<float>(const float *, …)`."""
    before = re.split(r"[(<]", function.replace("<unnamed>", ""))[0].split()
    return before[-1].split("::")[-1] if before else function


def sanitizer_command(sanitizer: str, tool: str) -> list[str]:
    """Return the command line of one of the four tools."""
    return [sanitizer, "--tool", tool, *_OPTIONS, *_QUIET, *_OF_TOOL.get(tool, ())]


def _run_tool(sanitizer: str, job: InspectJob, workspace: Workspace, name: str) -> tuple[dict[int, str], list[str]]:
    """Return the first finding of one tool inside our kernels by call, empty where it has none, and what went wrong."""
    folder, calls = workspace.folder / name, calls_to_sanitize(job)
    is_ours = partial(_is_ours, name, own_kernels(job), job.sources)
    write_sources(folder, job.sources)
    program = ["-m", "sitegen.measure.tool_target", "sanitize", str(workspace.job_file), str(folder)]
    command = sanitizer_command(sanitizer, name)
    tool = ToolCommand(name, lambda _: command, program, _EXACT_ALLOCATIONS)
    names = {number: call.implementation.name for number, call in enumerate(calls)}
    texts, problems = dict[int, str](), list[str]()
    for run in run_calls(tool, names, workspace.folder, partial(_first_unreliable, is_ours)):
        texts |= _first_findings(run, is_ours)
        problems += _problems(run, texts, names, _first_unreliable(is_ours, run))
    for number in [n for n, text in texts.items() if text and name == "initcheck" and _stores_in_bulk(job, calls[n])]:
        del texts[number]
        problems.append(f"cannot judge {names[number]}: it does not see what the bulk copy engine writes")
    return texts, problems


def _stores_in_bulk(job: InspectJob, call: CallToSanitize) -> bool:
    """Return whether the implementation, or a header, writes memory through the bulk copy engine."""
    own = [call.implementation.source, job.sources.get(call.implementation.file, "")]
    headers = [text for path, text in job.sources.items() if path.endswith((".h", ".cuh"))]
    return any(_BULK_STORE.search(text) for text in (*own, *headers))


def _is_ours(tool: str, kernels: frozenset[str], sources: Mapping[str, str], finding: Finding) -> bool:
    """Return whether a finding of a tool is about code that the author wrote."""
    return bool(finding.functions & kernels) and not (tool == "racecheck" and is_hand_over(finding, sources))


def _first_unreliable(is_ours: Callable[[Finding], bool], run: ToolRun) -> int | None:
    """Return the call with the first finding, or the one that ended the process.

    The rest of that process is not used: a tool stops printing after a number of reports, and the context may be lost.
    """
    with_finding = (number for number, text in _first_findings(run, is_ours).items() if text)
    return next(with_finding, run.fatal_call)


def _first_findings(run: ToolRun, is_ours: Callable[[Finding], bool]) -> dict[int, str]:
    """Return the first finding of ours by call, empty where there is none, up to the first call with one."""
    texts: dict[int, str] = {}
    for number, section in run.sections().items():
        text = next((f.text for f in findings(section) if is_ours(f)), "")
        if text or number in run.ended:
            texts[number] = text
        if text:
            break
    return texts


def _problems(run: ToolRun, texts: Mapping[int, str], names: Mapping[int, str], last: int | None) -> Iterator[str]:
    """Yield a sentence for each call that was not judged, up to the `last` call of the process that is used."""
    if not run.begun:
        yield f"could not run: {run.why}"
    for number, why in run.failed.items():
        if number not in texts and (last is None or number <= last):
            yield f"could not check {names[number]}: {why}"


def _sanitized(number: int, call: CallToSanitize, by_tool: Mapping[str, Mapping[int, str]]) -> SanitizerResult:
    texts = {tool: by_call[number] for tool, by_call in by_tool.items() if number in by_call}
    status = next((MEANING[tool] for tool in MEANING if texts.get(tool)), Status.PASSED)
    return SanitizerResult(call.implementation.name, texts, status, call.wrong, call.dtype)
