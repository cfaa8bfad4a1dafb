"""A sweep becomes points: values, implementations and workloads."""

from sitegen.model.kernel import Implementation, Language, Launch, Status, Sweep, Workload
from sitegen.model.record import MeasuredSweep, SweepPoint
from sitegen.model.sweep_points import (
    count_points,
    dims_in,
    evaluation_at,
    implementation_at,
    names_in_formulas,
    values_of_points,
    workload_at,
)

SWEEP = Sweep("s", "A title", "plain", "w", "float32", constants={"THREADS": (128, 256)}, dims={"N": (8, 16, 32)})
LAUNCH = Launch("plain", ("M",), ("THREADS",), constants={"THREADS": "64", "WARPS": "THREADS // 32"})
PLAIN = Implementation("plain", "kernels/k/plain.cu", Language.CUDA, launch=LAUNCH)


def test_the_points_are_all_combinations_and_the_last_name_changes_fastest() -> None:
    points = values_of_points(SWEEP)
    assert len(points) == count_points(SWEEP)
    assert points[:2] == ({"THREADS": 128, "N": 8}, {"THREADS": 128, "N": 16})
    assert points[-1] == {"THREADS": 256, "N": 32}


def test_a_point_replaces_the_swept_constants_and_keeps_their_order() -> None:
    launch = implementation_at(PLAIN, SWEEP, values_of_points(SWEEP)[0]).launch
    assert launch is not None
    assert list(launch.constants.items()) == [("THREADS", "128"), ("WARPS", "THREADS // 32")]


def test_a_point_replaces_the_swept_dims_and_keeps_the_others() -> None:
    values = values_of_points(SWEEP)[0]
    made = workload_at(Workload("w", {"M": 4, "N": 4}), ("M", "N"), values)
    assert made == Workload("4x8", {"M": 4, "N": 8})


def test_dims_that_are_written_together_are_equal_at_every_point():
    square = Sweep("s", "A title", "plain", "w", "float32", dims={"M=N": (8, 16)})
    made = [workload_at(Workload("w", {"M": 4, "N": 4, "K": 2}), ("M", "N", "K"), v) for v in values_of_points(square)]
    assert [one.dims for one in made] == [{"M": 8, "N": 8, "K": 2}, {"M": 16, "N": 16, "K": 2}]
    assert dims_in("M=N") == dims_in("M = N") == ("M", "N")


def test_a_workload_of_which_no_dim_is_swept_keeps_its_name():
    assert workload_at(Workload("256Mi", {"N": 4}), ("N",), {"THREADS": 128}) == Workload("256Mi", {"N": 4})


def test_a_formula_may_have_the_swept_constants_and_every_dim():
    assert names_in_formulas(("THREADS", "M=N"), ("M", "N", "K")) == ("THREADS", "M", "N", "K", "itemsize")


def test_a_point_is_an_evaluation_of_its_implementation():
    point = SweepPoint({"THREADS": 128}, Status.INCORRECT, "wrong")
    sweep = MeasuredSweep("s", "plain", "w", "float32", "r", (point,), "key", {"launch": "1"}, {"eps": 1.0}, "gpu")
    made = evaluation_at(sweep, point)
    assert (made.name, made.workload, made.dtype, made.run, made.status) == ("plain", "w", "float32", "r", "incorrect")
    assert (made.key, made.key_parts, made.params, made.gpu_hash) == ("key", {"launch": "1"}, {"eps": 1.0}, "gpu")


def test_an_implementation_without_a_launch_stays_as_it_is() -> None:
    host = Implementation("host", "kernels/k/host.cu", Language.CUDA_HOST)
    only_dims = Sweep("s", "A title", "host", "w", "float32", dims={"N": (8, 16)})
    assert implementation_at(host, only_dims, {"N": 8}) == host
