"""Each worker of a machine with several GPUs has cores of its own."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from sitegen.execute import cores
from sitegen.execute.cores import core_shares, cores_near, usable_cores
from sitegen.execute.local import execute
from sitegen.execute.targets import Device, Target


def tell_cores(spec):
    if spec["id"] == "lost" and not Path(spec["log"]).exists():
        Path(spec["log"]).write_text("once")
        os._exit(9)
    time.sleep(1.0 if spec["id"] == "other" else 0.0)
    return {"id": spec["id"], "kind": "test", "cores": sorted(os.sched_getaffinity(0))}


def test_fewer_cores_than_workers_are_not_divided():
    assert core_shares((0, 1), [(), (), ()]) == ((), (), ())
    assert core_shares((), [(), ()]) == ((), ())


def test_one_worker_may_use_every_core():
    assert core_shares((0, 1, 2, 3), [{0, 1}]) == ((),)


def test_gpus_on_one_node_divide_its_cores_and_the_other_node_is_left():
    shares = core_shares(range(8), [{0, 1, 2, 3}, {0, 1, 2, 3}, {4, 5, 6, 7}])
    assert shares == ((0, 1), (2, 3), (4, 5, 6, 7))


@pytest.mark.parametrize(
    "near",
    [
        [(), ()],  # unknown
        [{0, 1, 2, 3}, ()],  # known of one GPU only
        [{0, 1, 2}, {2, 3}],  # nodes that overlap
        [{0}, {0}],  # a node with fewer cores than GPUs
        [{90, 91}, {92}],  # nodes without a core that may be used
    ],
)
def test_where_the_nodes_do_not_say_whose_cores_they_are_all_are_divided(near):
    assert core_shares((0, 1, 2, 3), near) == ((0, 1), (2, 3))


def test_an_odd_core_goes_to_one_worker():
    shares = core_shares(range(5), [(), ()])
    assert sorted(core for share in shares for core in share) == [0, 1, 2, 3, 4]


def test_siblings_of_a_physical_core_stay_together_and_the_near_cores_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(cores, "SYS", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    for core, siblings in ((0, "0,2"), (1, "1,3"), (2, "0,2"), (3, "1,3")):
        folder = tmp_path / f"devices/system/cpu/cpu{core}/topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(siblings + "\n")
    assert usable_cores() == (0, 2, 1, 3)
    device = tmp_path / "bus/pci/devices/0000:1b:00.0"
    device.mkdir(parents=True)
    (device / "local_cpulist").write_text("0-1,3\n")
    assert cores_near("00000000:1B:00.0") == {0, 1, 3}
    assert cores_near("00000000:99:00.0") == cores_near("") == set()


@pytest.mark.skipif(len(usable_cores()) < 2, reason="needs two cores")
def test_workers_of_a_run_have_cores_of_their_own_also_after_one_was_lost(tmp_path):
    two = Target((Device("a-gpu", "GPU-0"), Device("a-gpu", "GPU-1")))
    specs = [{"id": name, "kind": "test", "log": str(tmp_path / "log")} for name in ("lost", "other")]
    found = {result["id"]: set(result["cores"]) for result in execute(specs, two, lambda _: None, tell_cores)}
    assert not found["lost"] & found["other"]
    assert found["lost"] | found["other"] == set(usable_cores())
