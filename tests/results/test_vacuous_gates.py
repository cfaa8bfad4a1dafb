"""Warnings about gates of kernel.yaml that a run showed to reject nothing."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import replace

import pytest

from sitegen.diagnostics import Diagnostic, Severity
from sitegen.model.kernel import Kernel
from sitegen.model.record import Record
from sitegen.results.vacuous_gates import diagnostics_of_gates, vacuous_gates

YAML = """kernel: softmax
dims: [M, N]
tolerance: {float32: 1.0e-6, bfloat16: 8.0e-3}
checks:
  - {M: 1, N: 1}
workloads:
  - {M: 1000, N: 1000}
  - {M: 8, N: 8}
"""
LARGE = "y: zeros pass at M=1000, N=1000 (normal inputs)"
OTHER = "y: the output for another seed passes at M=1000, N=1000 (normal inputs)"
SMALL = "y: zeros pass at M=1, N=1 (normal, timed inputs)"


def record_with(made, *sentences: str) -> Record:
    """A record whose first implementation was checked by the present gates, which let these outputs pass."""
    naive, *others = made.evaluations
    checked = replace(naive.correctness, vacuous=sentences)
    return Record(1, "softmax", "nvidia-h200", (made.run,), (replace(naive, correctness=checked), *others))


def warnings_of(
    kernel: Kernel, record: Record, files: Mapping[str, str], text: str = YAML
) -> list[tuple[str, str, int]]:
    """Return message, hint and line of each warning."""
    found: list[Diagnostic] = list(diagnostics_of_gates(kernel, vacuous_gates(kernel, [record], files, {}), text))
    assert {(d.code, d.severity) for d in found} <= {("SG409", Severity.WARNING)}
    return [(d.message, d.hint, d.span.line) for d in found]


def test_gates_that_let_nothing_pass_are_not_mentioned(made):
    assert warnings_of(made.kernel, record_with(made), made.files) == []


def test_the_warning_stands_at_the_workload_and_names_every_output_that_passes_once(made):
    several = record_with(made, LARGE, OTHER, LARGE)
    ((message, hint, line),) = warnings_of(made.kernel, several, made.files)
    assert message == "no gate of softmax rejects zeros or the output for another seed at 1000x1000:float32"
    assert hint.startswith("add an exact set (`extra_inputs: [exact]`) or lower `tolerance` of float32")
    assert YAML.splitlines()[line - 1] == "  - {M: 1000, N: 1000}"


def test_a_shape_of_checks_is_named_by_its_dims_and_marked_there(made):
    ((message, _, line),) = warnings_of(made.kernel, record_with(made, SMALL), made.files)
    assert message.endswith("at M=1, N=1:float32") and line == 5


def test_a_shape_that_kernel_yaml_does_not_have_is_marked_at_the_tolerance(made):
    ((_, _, line),) = warnings_of(made.kernel, record_with(made, "y: zeros pass at M=2, N=2 (x inputs)"), made.files)
    assert line == 3


def test_a_kernel_that_has_an_exact_set_is_not_told_to_add_one(made):
    kernel = replace(made.kernel, extra_inputs=("exact",))
    naive = replace(record_with(made, LARGE).evaluations[0], key_parts=made.key("naive", kernel).parts)
    ((_, hint, _),) = warnings_of(kernel, replace(record_with(made), evaluations=(naive,)), made.files)
    assert "add an exact set" not in hint and "reference.py" in hint


@pytest.mark.parametrize("change", ["tolerance", "extra_inputs", "reference.py"])
def test_an_old_record_says_nothing_about_gates_that_have_changed_since(made, change):
    kernel, files = made.kernel, dict(made.files)
    if change == "tolerance":
        kernel = replace(kernel, tolerance={**kernel.tolerance, "float32": 1e-7})
    elif change == "extra_inputs":
        kernel = replace(kernel, extra_inputs=("exact",))
    else:
        files["kernels/softmax/inputs.py"] = "normal = 2\n"
    assert warnings_of(kernel, record_with(made, LARGE), files) == []


def test_code_that_changed_since_leaves_the_gates_as_they_were(made):
    files = {**made.files, "kernels/softmax/naive.cu": "// another\n"}
    assert len(warnings_of(made.kernel, record_with(made, LARGE), files)) == 1


@pytest.mark.parametrize("text", ["", "kernel: [", "workloads: 3\n"])
def test_a_kernel_yaml_that_cannot_be_read_any_more_is_marked_as_a_whole(made, text):
    assert len(warnings_of(made.kernel, record_with(made, LARGE), made.files, text)) == 1


@pytest.mark.torch
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
def test_the_sentences_of_a_run_are_understood(made):
    from sitegen.measure.imposters import OTHER_SEED, ZEROS, Imposters

    passed = {(ZEROS, 0): ["normal"], (OTHER_SEED, 0): ["normal", "far"]}
    sentences = Imposters(["y"], [], lambda *_: False, passed=passed).vacuous("at M=1000, N=1000")
    ((message, _, _),) = warnings_of(made.kernel, record_with(made, *sentences), made.files)
    assert "zeros or the output for another seed" in message
