"""A sweep becomes points: values, implementations and workloads."""

from sitegen.model.kernel import Implementation, Language, Launch, Sweep, Workload
from sitegen.model.sweep_points import count_points, implementation_at, values_of_points, workload_at

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
    assert workload_at(Workload("w", {"M": 4, "N": 4}), SWEEP, values).dims == {"M": 4, "N": 8}


def test_an_implementation_without_a_launch_stays_as_it_is() -> None:
    host = Implementation("host", "kernels/k/host.cu", Language.CUDA_HOST)
    only_dims = Sweep("s", "A title", "host", "w", "float32", dims={"N": (8, 16)})
    assert implementation_at(host, only_dims, {"N": 8}) == host
