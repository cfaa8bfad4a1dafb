"""The table of driver_costs.py, on made-up notes."""

from __future__ import annotations

import driver_costs
import psutil
import pytest
from machine import Limit

from sitegen.execute.targets import Device


def found(**changes):
    note = dict.fromkeys(driver_costs.STAGES, 0.1)
    return {"case": "as it is", "gpus": 2, "each": 4, "notes": [note] * 8, "ready": 1.5, "ended": 0.5} | changes


def test_the_last_figure_is_the_time_of_the_host_for_each_process():
    assert driver_costs.row(found())[-1] == pytest.approx(0.25)


def test_a_process_that_failed_is_named_and_left_out():
    notes = [{}, dict.fromkeys(driver_costs.STAGES, 0.3)]
    line = driver_costs.row(found(notes=notes))
    assert line[0] == "as it is (1 failed)"
    assert line[3] == pytest.approx(0.3)
    assert "(2 failed)" in driver_costs.report([found(notes=[{}, {}])])


def test_a_device_file_is_found_by_the_address_of_its_gpu(tmp_path, monkeypatch):
    text = "Model: \t\t NVIDIA H100\nDevice Minor: \t 3\n"
    asked = []
    monkeypatch.setattr(driver_costs.Path, "read_text", lambda self: asked.append(str(self)) or text)
    assert driver_costs.minor_of("00000000:1B:00.0") == 3
    assert asked == ["/proc/driver/nvidia/gpus/0000:1b:00.0/information"]


def test_all_processes_begin_together_note_their_stages_and_are_ended(monkeypatch):
    monkeypatch.setattr(driver_costs, "stages", lambda case, device: iter([None] * len(driver_costs.STAGES)))
    before = psutil.Process().children()
    seen = driver_costs.run(driver_costs.Case("x", 0, 3), [Device(), Device()], Limit(20))
    assert [set(note) for note in seen["notes"]] == [set(driver_costs.STAGES)] * 6
    assert seen["gpus"] == 2
    assert psutil.Process().children() == before


def test_a_stage_that_fails_leaves_no_note_and_no_process(monkeypatch):
    def fails(case, device):
        yield
        raise OSError

    monkeypatch.setattr(driver_costs, "stages", fails)
    assert driver_costs.run(driver_costs.Case("x", 1, 2), [Device()], Limit(20))["notes"] == [{}, {}]


def test_a_case_is_cheaper_only_when_every_process_of_it_worked():
    today, other = found(), found(case="own GPU only", ready=1.0)
    assert driver_costs.is_cheaper([today, other], "own GPU only")
    assert not driver_costs.is_cheaper([today, {**other, "notes": [{}, *other["notes"]]}], "own GPU only")
    assert not driver_costs.is_cheaper([today, {**other, "ready": 1.5}], "own GPU only")
    assert not driver_costs.is_cheaper([today], "own GPU only")
