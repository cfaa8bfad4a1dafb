"""Check that the parts of a kernel.yaml agree: names, dims, expressions, tolerances, goals, files.

An expression is evaluated with the dims of each workload and check, so that its mistakes show before a GPU is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import PurePosixPath

from sitegen.diagnostics import Diagnostic, Severity, Span, did_you_mean, near_words
from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import FUNCTIONS, FormulaError, Number, evaluate, evaluate_int, names_in
from sitegen.model.kernel import Implementation, Kernel, Language
from sitegen.read.python import defines, functions_of, keys_of, syntax_mistake
from sitegen.read.shape import unknown_word
from sitegen.read.yaml_nodes import Node

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_ARCH = re.compile(r">=sm_\d+[a-z]?")
_RESERVED = ("itemsize", "name", *FUNCTIONS)
_SYNTAX = {"unexpected `": "write a sign between two values, as in `2 * N`", "expected `)": "close each bracket"}
"""What to do about a formula that cannot be read, by the beginning of the message."""
_SAMPLE = 4096
"""Size of each dim when no workload gives one."""

NameValues = Mapping[str, Number]


def check_kernel(kernel: Kernel, node: Node, files: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each mistake.

    `node` is the tree that `kernel` was read from, which has the places; `files` are the site's texts by path.
    """
    with_dims = can_read_dims(node)
    yield from _check_name(kernel, node, files)
    yield from _check_names(kernel, node)
    if with_dims:
        yield from _check_dims(kernel, node)
        yield from _check_costs(kernel, node)
        yield from _check_goals(kernel, node)
    yield from _check_tolerance(kernel, node)
    yield from _check_gates(kernel, node)
    for child, implementation in _implementations(kernel, node):
        yield from _check_file(child, implementation, kernel, files, _names_of_functions(kernel, node))
        if with_dims:
            yield from _check_launch(child, implementation, kernel)
    yield from _check_predictions(kernel, node)
    yield from _check_reference(kernel, node, files)


def _check_reference(kernel: Kernel, node: Node, files: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Yield the mistakes of `reference.py`: it is missing, is no Python, or lacks a baseline or `extra_inputs`."""
    path = f"{kernel.folder}/reference.py"
    if path not in files:
        yield Diagnostic("SG022", f"no {path}", node.span, "it holds make_inputs, reference and the baselines")
    elif mistake := syntax_mistake(files[path], path):
        yield mistake
    else:
        yield from _check_baselines(node, path, files[path])
        yield from _check_extra_inputs(kernel, node, path, files[path])


def _check_baselines(node: Node, path: str, source: str) -> Iterator[Diagnostic]:
    known = keys_of("BASELINES", source)
    for child in _items(node.get("baselines")) if known else ():
        if isinstance(child.value, str) and child.text not in known:
            hint = did_you_mean(child.text, known) or f"`BASELINES` in {path} has: {', '.join(known)}"
            yield Diagnostic("SG035", f"no baseline `{child.text}` in {path}", child.span, hint)


def _check_extra_inputs(kernel: Kernel, node: Node, path: str, source: str) -> Iterator[Diagnostic]:
    """Yield a diagnostic for input sets that no function makes."""
    sets = node.get("extra_inputs")
    if sets and kernel.extra_inputs and not defines("extra_inputs", source):
        near = near_words("extra_inputs", {name for name, _ in functions_of(source)} - {"make_inputs"})
        write = "write `def extra_inputs(name, dims, dtype, generator, device)` there, which yields the inputs of a set"
        hint = f"rename `{near[0]}` there to `extra_inputs`" if near else f"{write}, or remove this line"
        yield Diagnostic("SG035", f"no function `extra_inputs` in {path}", sets.at, hint)


def _check_predictions(kernel: Kernel, node: Node) -> Iterator[Diagnostic]:
    """Yield a warning for each implementation whose prediction has no share of the ceiling.  Only implementations are
    compared with their predictions.
    """
    for child, made in zip(_items(node.get("implementations")), kernel.implementations, strict=False):
        if (predicts := child.get("predicts")) and made.predicts and made.predicted_of_ceiling is None:
            yield prediction_without_share(predicts.span)


def prediction_without_share(span: Span) -> Diagnostic:
    """Return the warning for a prediction in which no percentage stands."""
    hint = "write the share at its end, such as `one read: 95 %`: it is compared with the measured one"
    return Diagnostic("SG039", "this prediction has no share of the ceiling", span, hint, Severity.WARNING)


def can_read_dims(node: Node) -> bool:
    """Tell whether `dims` is a list or missing: else each use of a dim would be a further mistake."""
    dims = node.get("dims")
    return dims is None or isinstance(dims.value, tuple)


def _has_all_dtypes(kernel: Kernel, node: Node) -> bool:
    """Tell whether each of `dtypes` is known: else each use of a misspelt one would be a further mistake."""
    return len(kernel.dtypes) == len(_items(node.get("dtypes"))) > 0


def _check_name(kernel: Kernel, node: Node, files: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for a kernel whose name is not that of its folder."""
    name = node.get("kernel")
    if name and name.text != kernel.name:
        message = f"the kernel `{name.text}` is not named like its folder, `{kernel.name}`"
        is_slip = any(_has_function((kernel.name,), files.get(made.file, "")) for made in kernel.implementations)
        elsewhere = f"rename the folder to `kernels/{name.text}`, or write `{kernel.name}` here, for its functions"
        hint = f"write `{kernel.name}`" if is_slip else f"{elsewhere} and in the texts that name it"
        yield Diagnostic("SG024", message, name.span, hint)


def _has_function(names: Iterable[str], source: str) -> bool:
    return re.search(rf"^def (?:{'|'.join(map(re.escape, names))})\b", source, re.MULTILINE) is not None


def _check_names(kernel: Kernel, node: Node) -> Iterator[Diagnostic]:
    tensors = chain(_entries(node, "inputs").items(), _entries(node, "outputs").items())
    places = [(dim.text, dim.span) for dim in _items(node.get("dims"))]
    places += [(key, child.at) for key, child in chain(tensors, _entries(node, "params").items())]
    yield from _unfit_names(places, _IDENTIFIER, _RESERVED)
    yield from _named_twice(places)
    for group in ("implementations", "wrong", "baselines", "sweeps"):
        named = [(n.text, n.span) for child in _items(node.get(group)) if (n := child.get("name"))]
        yield from _unfit_names(named, _NAME, ("best",))
        yield from _entries_named_twice(_items(node.get(group)))
    if can_read_dims(node):
        workloads = zip(kernel.workloads, _items(node.get("workloads")), strict=False)
        yield from _named_twice([(workload.name, child.span) for workload, child in workloads])
    for key in ("dims", "dtypes", "outputs", "workloads"):
        if (child := node.get(key)) and child.value in ((), {}):
            yield Diagnostic("SG010", f"`{key}` is empty", child.at)


def _unfit_names(
    places: Iterable[tuple[str, Span]], form: re.Pattern[str], reserved: Iterable[str]
) -> Iterator[Diagnostic]:
    for word, span in places:
        if not form.fullmatch(word):
            yield Diagnostic(
                "SG024", f"`{word}` cannot be a name", span, "a name is letters, digits and `_`, a letter first"
            )
        elif word in reserved:
            yield Diagnostic("SG024", f"the name `{word}` is reserved", span, "choose another")


def _named_twice(places: Iterable[tuple[str, Span]]) -> Iterator[Diagnostic]:
    first: dict[str, Span] = {}
    for word, span in places:
        if first.setdefault(word, span) is not span:
            yield Diagnostic("SG023", f"`{word}` is named twice", span, f"first on line {first[word].line}")


def _entries_named_twice(entries: Iterable[Node]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each name that stands twice, with a free name that a file of the two entries suggests."""
    named = [(name, entry.get("file")) for entry in entries if (name := entry.get("name"))]
    taken = {name.text for name, _ in named} | {"best"}
    first: dict[str, tuple[Node, Node | None]] = {}
    for name, file in named:
        before, its_file = first.setdefault(name.text, (name, file))
        if before is not name:
            files = (one.text for one in (file, its_file) if one and one.text)
            free = (f", such as `{stem}` for {one}" for one in files if (stem := _stem(one)) not in taken)
            hint = f"first on line {before.span.line}; give one of the two another name{next(free, '')}"
            yield Diagnostic("SG023", f"`{name.text}` is named twice", name.span, hint)


def _stem(file: str) -> str:
    return PurePosixPath(file).stem


def _check_dims(kernel: Kernel, node: Node) -> Iterator[Diagnostic]:
    for group in ("workloads", "checks", "sanitizer"):
        for child in _items(node.get(group)):
            if not isinstance(child.value, Mapping):
                continue
            for dim in sorted(set(kernel.dims) - set(child.value)):
                yield Diagnostic("SG031", f"the dim `{dim}` is missing", child.span, f"add `{dim}: …` to it")
            for dim, size in child.value.items():
                if dim not in kernel.dims and (dim != "name" or group != "workloads"):
                    yield unknown_word("dim", dim, size.at, kernel.dims, "SG031")
                elif isinstance(size.value, int) and size.value < 1:
                    yield Diagnostic("SG031", f"the dim `{dim}` is less than 1", size.span)


def _check_costs(kernel: Kernel, node: Node) -> Iterator[Diagnostic]:
    samples = _samples(kernel)
    for key in ("flops", "reads", "writes"):
        if child := node.get(key):
            yield from check_expression(child, samples)
    for group in ("inputs", "outputs"):
        for tensor in _entries(node, group).values():
            for size in _items(tensor.get("shape")):
                yield from check_expression(size, samples, least=1, whole=True)
            dtype = tensor.get("dtype")
            if dtype and dtype.text not in ("same", *DTYPES):
                yield unknown_word("dtype", dtype.text, dtype.span, ("same", *DTYPES))


def _samples(kernel: Kernel) -> tuple[NameValues, ...]:
    """Return the values of the names of an expression, for each workload and check."""
    numbers = {name: v[0] for name, v in kernel.params.items() if v and not isinstance(v[0], str)}
    itemsize = min((DTYPES[dtype].itemsize for dtype in kernel.dtypes), default=4)
    sizes = (*(workload.dims for workload in kernel.workloads), *kernel.checks)
    complete = [dims for dims in sizes if set(dims) == set(kernel.dims) and min(dims.values(), default=1) > 0]
    default = dict.fromkeys(kernel.dims, _SAMPLE)
    return tuple({**numbers, "itemsize": itemsize, **dims} for dims in complete or [default])


def check_expression(
    node: Node, samples: Iterable[NameValues], least: int = 0, whole: bool = False
) -> Iterator[Diagnostic]:
    """Yield a diagnostic for the first mistake in an expression, at its column."""
    if isinstance(node.value, tuple | Mapping | None):
        return
    for names in samples:
        try:
            value = evaluate_int(node.text, names) if whole else evaluate(node.text, names)
            if value < least:
                raise FormulaError(f"the value is {value}, less than {least}", 1)
        except FormulaError as error:
            yield _formula_mistake(node, error, names)
            return


def _formula_mistake(node: Node, error: FormulaError, names: NameValues) -> Diagnostic:
    of_values = any(part in error.message for part in ("zero", "larger", "whole", "value is"))
    word = re.match(r"\w+|//|.?", node.text[error.col - 1 :])
    length = len(node.text) if of_values and error.col == 1 else len(word[0]) if word else 1
    span = Span(node.span.path, node.span.line, node.span.col + error.col - 1, max(1, length))
    if error.message.startswith("unknown name") and word:
        return unknown_word("name", word[0], span, sorted({*names, *FUNCTIONS}), "SG030")
    at = ", ".join(f"{name} = {names[name]}" for name in sorted(names_in(node.text) & set(names)))
    syntax = next((do for begin, do in _SYNTAX.items() if error.message.startswith(begin)), "")
    hint = f"with {at}" if of_values and at else syntax
    return Diagnostic("SG030", error.message, span, hint)


def _check_tolerance(kernel: Kernel, node: Node) -> Iterator[Diagnostic]:
    for dtype, child in _entries(node, "tolerance").items():
        if _has_all_dtypes(kernel, node) and dtype not in kernel.dtypes:
            yield unknown_word("dtype", dtype, child.at, kernel.dtypes, "SG032")
        elif isinstance(child.value, int | float) and not 0 <= child.value < 1:
            yield Diagnostic("SG032", "a tolerance is at least 0 and below 1", child.span)
    for dtype in kernel.dtypes:
        if (tolerance := node.get("tolerance")) and dtype not in _entries(node, "tolerance"):
            hint = f"add `{dtype}: …`, the largest relative error of its results"
            yield Diagnostic("SG032", f"no tolerance for `{dtype}`", tolerance.at, hint)


def _check_goals(kernel: Kernel, node: Node) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each unknown name in a goal.

    The subject is not looked up, because the implementation may be a cell of a post.
    """
    workloads = tuple(workload.name for workload in kernel.workloads)
    for goal in kernel.goals:
        span = next(child.span for child in _items(node.get("goals")) if child.text == goal.text)
        if goal.workload not in workloads:
            yield unknown_word("workload", goal.workload, span, workloads, "SG033")
        if _has_all_dtypes(kernel, node) and goal.dtype not in kernel.dtypes:
            yield unknown_word("dtype", goal.dtype, span, kernel.dtypes, "SG033")
        if goal.unit.startswith("x ") and goal.unit[2:] not in kernel.baselines:
            yield unknown_word("baseline", goal.unit[2:], span, kernel.baselines, "SG033")


def _check_gates(kernel: Kernel, node: Node) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each `wrong/` variant whose gate gives another status, or whose shape is not checked."""
    for child, wrong in zip(_items(node.get("wrong")), kernel.wrong, strict=False):
        gate, at = child.get("gate"), child.get("at")
        if gate and wrong.gate and wrong.gate.status is not wrong.fails:
            message = f"the gate `{wrong.gate}` gives `{wrong.gate.status}`, and `fails` says `{wrong.fails}`"
            yield Diagnostic("SG037", message, gate.span, "name the gate that must reject it")
        if at and wrong.at not in kernel.checks:
            yield Diagnostic("SG037", "no such shape in `checks`", at.span, "name a shape at which it is checked")


def _implementations(kernel: Kernel, node: Node) -> Iterator[tuple[Node, Implementation]]:
    yield from zip(_items(node.get("implementations")), kernel.implementations, strict=False)
    rejected = (variant.implementation for variant in kernel.wrong)
    yield from zip(_items(node.get("wrong")), rejected, strict=False)
    baselines = (child for child in _items(node.get("baselines")) if isinstance(child.value, Mapping))
    yield from zip(baselines, kernel.baseline_files, strict=False)


def _check_file(
    node: Node, implementation: Implementation, kernel: Kernel, files: Mapping[str, str], names: tuple[str, ...]
) -> Iterator[Diagnostic]:
    file = node.get("file")
    if not file or not file.text:
        return
    if not implementation.file.endswith((".py", ".cu")):
        yield Diagnostic("SG035", "an implementation is a .py or a .cu file", file.span)
    elif implementation.file not in files:
        near = did_you_mean(implementation.file, (path for path in files if path.startswith(kernel.folder)))
        yield Diagnostic("SG022", f"no {implementation.file}", file.span, near)
    else:
        yield from _check_entry(node, file, implementation, names, files[implementation.file])


def _names_of_functions(kernel: Kernel, node: Node) -> tuple[str, ...]:
    """Return the names that the function of an implementation may have: that of the kernel, first, and, where the
    folder has another name, that in kernel.yaml, because `_check_name` reports the difference.
    """
    written = node.get("kernel")
    return (kernel.name, written.text) if written and written.text else (kernel.name,)


def _without_c_name(entry: str, source: str, file: str) -> Diagnostic | None:
    """Return the diagnostic for a function whose name C++ changes, at its line of the `.cu` file."""
    at = re.search(rf"(?m)^[ \t]*(?:__global__[^;{{(]*|int ){re.escape(entry)}\s*\(", source)
    if not at or 'extern "C"' in source:
        return None
    hint = 'write `extern "C"` before it: without it, C++ changes the name of the function'
    span = Span(file, source.count("\n", 0, at.start()) + 1, 1, len(at[0]))
    return Diagnostic("SG035", f'the function `{entry}` has no `extern "C"`', span, hint)


def _check_entry(
    node: Node, file: Node, made: Implementation, names: tuple[str, ...], source: str
) -> Iterator[Diagnostic]:
    launch = node.get("launch")
    entry = node.get("host") if made.language is Language.CUDA_HOST else launch and launch.get("entry")
    if made.language is Language.TRITON:
        if mistake := syntax_mistake(source, made.file):
            yield mistake
        elif not _has_function(names, source):
            hint = f"write `def {names[0]}(…)` in it: the function of an implementation is named like its kernel"
            yield Diagnostic("SG035", f"no function `{names[0]}` in {made.file}", file.span, hint)
    elif entry and not re.search(rf"\b{re.escape(entry.text)}\b", source):
        known = re.findall(r"\b(\w+)\s*\(", " ".join(re.findall(r'extern "C"[^{;]*', source)))
        near = did_you_mean(entry.text, known) or 'name a function that has `extern "C"` there'
        yield Diagnostic("SG035", f"no function `{entry.text}` in {made.file}", entry.span, near)
    elif entry and (mangled := _without_c_name(entry.text, source, made.file)):
        yield mangled


def _check_launch(node: Node, implementation: Implementation, kernel: Kernel) -> Iterator[Diagnostic]:
    launch, host, arch = node.get("launch"), node.get("host"), node.get("arch")
    if implementation.language is Language.CUDA and launch is None:
        yield Diagnostic("SG034", "a .cu file needs `launch` or `host`", node.span)
    if implementation.language is Language.TRITON and (extra := launch or host):
        yield Diagnostic("SG034", "only a .cu file has `launch` or `host`", extra.at)
    if launch and host:
        yield Diagnostic("SG034", "`launch` and `host` do not go together", host.at, "host code launches itself")
    if arch and not _ARCH.fullmatch(arch.text):
        yield Diagnostic("SG034", f"`{arch.text}` is not an architecture", arch.span, "write `>=sm_90`")
    for dtype in _items(node.get("dtypes")):
        if dtype.text not in kernel.dtypes:
            yield unknown_word("dtype", dtype.text, dtype.span, kernel.dtypes)
    if launch and isinstance(launch.value, Mapping):
        yield from _check_launch_numbers(launch, kernel)


def _check_launch_numbers(launch: Node, kernel: Kernel) -> Iterator[Diagnostic]:
    samples: tuple[NameValues, ...] = _samples(kernel)
    for name, constant in _entries(launch, "constants").items():
        mistakes = tuple(check_expression(constant, samples))
        yield from mistakes
        computable = constant.text and not mistakes
        values = [evaluate(constant.text, names) if computable else _SAMPLE for names in samples]
        samples = tuple({**names, name: value} for names, value in zip(samples, values, strict=True))
    for key in ("grid", "block", "cluster"):
        for size in _items(launch.get(key)):
            yield from check_expression(size, samples, least=1, whole=True)
    if shared := launch.get("shared"):
        yield from check_expression(shared, samples, whole=True)
    tensors = (tensor.name for tensor in (*kernel.inputs, *kernel.outputs))
    known = (*tensors, *kernel.dims, *kernel.params, *_entries(launch, "constants"))
    is_known = kernel.inputs and kernel.outputs  # else they are missing or unread, which is the mistake
    for arg in _items(launch.get("args")) if is_known else ():
        if arg.text not in known:
            yield unknown_word("argument", arg.text, arg.span, known, "SG034")


def _entries(node: Node, key: str) -> Mapping[str, Node]:
    child = node.get(key)
    return child.value if child and isinstance(child.value, Mapping) else {}


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.value if node and isinstance(node.value, tuple) else ()
