"""Judge the stored records of a site by kernel.yaml, the code and their samples: a diagnostic for each doubt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.kernel import Kernel
from sitegen.model.record import Evaluation, Record
from sitegen.model.site import Site
from sitegen.results.dependencies import SourceTexts
from sitegen.results.judge import CurrentRulesTest, Doubt, damaged_sources, doubts, missing_logs
from sitegen.results.keys import implementation_key, rule_parts
from sitegen.results.records import Records
from sitegen.results.same_code import SameCode, is_same_key
from sitegen.results.shape import MOST_PROBLEMS, span_of
from sitegen.results.store import read_samples, read_source, record_path, record_text
from sitegen.results.vacuous_gates import diagnostics_of_gates, vacuous_gates

CORRECT = (
    "correct `reads` and `writes`, which are bytes, as in `N * itemsize`; or, if no implementation comes near the "
    "least yet, add one that does"
)
MEASURE = "a record is not edited by hand: restore the file, or remove it and measure again"


def verify_records(root: Path, site: Site, records: Records) -> tuple[Diagnostic, ...]:
    """Return a diagnostic for each claim that is contradicted: times without samples, figures that the samples do not
    give, times that the GPU cannot reach, checks that kernel.yaml does not let pass.  Gates that rejected nothing are
    warnings.
    """
    kernels = {kernel.name: kernel for kernel in site.kernels}
    diagnostics: list[Diagnostic] = []
    for (name, gpu), record in records.kernels.items():
        if name in kernels:
            path = record_path(name, gpu)
            diagnostics += _diagnostics_of_record(root, kernels[name], record, site.files, path, records)
    for kernel in site.kernels:
        diagnostics += _vacuous_gates(root, kernel, records, site.files)
    return tuple(one_for_the_formulas(diagnostics))


def one_for_the_formulas(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the diagnostics, but of those about the formulas of one kernel only the first, with the number of others.

    One wrong formula is contradicted at each workload, dtype and GPU.
    """
    contradictions: dict[str, list[Diagnostic]] = {}
    for one in diagnostics:
        if one.code == "SG404":
            contradictions.setdefault(one.span.path, []).append(one)
        else:
            yield one
    for first, *others in contradictions.values():
        more = f"; other contradictions: {len(others)}" if others else ""
        yield replace(first, message=first.message + more)


def _diagnostics_of_record(
    root: Path, kernel: Kernel, record: Record, files: SourceTexts, path: str, records: Records
) -> Iterator[Diagnostic]:
    is_current = current_rules_test(kernel, files, records.same_code)
    all_doubts = doubts(kernel, record, is_current, partial(read_samples, root, kernel.name))
    of_artefacts = chain(
        missing_logs(record, records.logs), damaged_sources(record, files, partial(read_source, root, kernel.name))
    )
    first_doubts = list(islice(chain(all_doubts, of_artefacts), MOST_PROBLEMS))
    text = record_text(root, path) if first_doubts else ""
    formulas = _place_of_formulas(root, kernel) if any(doubt.code == "SG404" for doubt in first_doubts) else Span(path)
    return (_diagnostic(doubt, formulas, text, path) for doubt in first_doubts)


def _place_of_formulas(root: Path, kernel: Kernel) -> Span:
    """Return the place of `reads` in kernel.yaml."""
    path = f"{kernel.folder}/kernel.yaml"
    lines = record_text(root, path).split("\n")
    line = next((number for number, line in enumerate(lines, 1) if line.startswith("reads:")), 1)
    return Span(path, line, 1, len("reads"))


def _vacuous_gates(root: Path, kernel: Kernel, records: Records, files: SourceTexts) -> Iterator[Diagnostic]:
    gates = vacuous_gates(kernel, records.of_kernel(kernel.name).values(), files, records.same_code)
    if not gates:
        return iter(())
    path = kernel.span.path if kernel.span else f"{kernel.folder}/kernel.yaml"
    return diagnostics_of_gates(kernel, gates, record_text(root, path))


def _diagnostic(doubt: Doubt, formulas: Span, text: str, path: str) -> Diagnostic:
    if doubt.code == "SG404":
        return Diagnostic("SG404", doubt.message, formulas, CORRECT)
    return Diagnostic(doubt.code, doubt.message, span_of(text, path, doubt.path), MEASURE)


def current_rules_test(kernel: Kernel, files: SourceTexts, same: SameCode) -> CurrentRulesTest:
    """Return a function that tells whether an evaluation was checked by the current rules of kernel.yaml.

    The parts of its key that hold these rules decide; when they differ, the key itself, which makes a record fresh.
    """
    ours = {one.name: one for one in kernel.implementations}
    workloads = {one.name: one for one in kernel.workloads}
    rules = {dtype: rule_parts(kernel, dtype) for dtype in kernel.dtypes}

    def is_current(one: Evaluation) -> bool:
        if one.name not in ours or one.workload not in workloads or one.dtype not in rules:
            return False
        if all(one.key_parts.get(name) == part for name, part in rules[one.dtype].items()):
            return True
        key = implementation_key(kernel, ours[one.name], workloads[one.workload], one.dtype, one.params, files)
        return is_same_key(key, one.key, one.key_parts, same)

    return is_current
