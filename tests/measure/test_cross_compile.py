"""Every implementation is compiled for a GPU that is not here, with the messages of its own compiler."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sitegen.measure import compile as compiling
from sitegen.measure.cross_compile import Specialization, cross_compile
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.sources import write_sources
from sitegen.model.job import KernelJob
from sitegen.model.kernel import Implementation, Language, Launch, Status
from sitegen.model.plain import to_plain
from sitegen.read.kernel import parse_kernel

ROOT = Path(__file__).parents[2]
HOPPER = "sm_90a"
SCALE = """
#include <cuda_bf16.h>
namespace {
__device__ float twice(float x) { return 2.0f * x; }
}
extern "C" __global__ void scale(const DTYPE* x, DTYPE* z, long long N) {
    __shared__ float tile[TILE];
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    tile[threadIdx.x % TILE] = i < N ? float(x[i]) : 0.0f;
    __syncthreads();
    if (i < N) z[i] = DTYPE(twice(tile[(threadIdx.x + 1) % TILE]));
}
"""
LAUNCH = Launch("scale", ("cdiv(N, 256)",), ("256",), shared="1024", args=("x", "z", "N"), constants={"TILE": "256"})
HOST = """
#include <cuda_runtime.h>
namespace {
__global__ void add(const float* x, float* z) { z[threadIdx.x] = x[threadIdx.x]; }
}
extern "C" int run(void** t, const long long*, const double*, void* stream) {
    add<<<1, 32, 0, (cudaStream_t)stream>>>((const float*)t[0], (float*)t[2]);
    return cudaGetLastError();
}
"""


@pytest.fixture
def scaled(add_kernel, tmp_path):
    """Return a function `scaled(source, folder, **changes of the implementation)` that specialises a CUDA file."""

    def made(source: str = SCALE, folder: str = "one", dtype: str = "float32", **changes: object) -> Specialization:
        implementation = Implementation("scale", "kernels/add/scale.cu", Language.CUDA, LAUNCH)
        write_sources(tmp_path / folder, {implementation.file: source})
        kernel = add_kernel.kernel((replace(implementation, **changes),))
        return Specialization(tmp_path / folder, kernel, kernel.implementations[0], dtype, {}, {"N": 4096})

    return made


def of_the_site(kernel: str, name: str, dtype: str = "float32") -> Specialization:
    """Return an implementation of this repository at its kernel's first workload."""
    folder = ROOT / "kernels" / kernel
    files = {str(f.relative_to(ROOT)): f.read_text() for f in folder.rglob("*") if f.suffix in (".py", ".cu")}
    found, _ = parse_kernel((folder / "kernel.yaml").read_text(), f"kernels/{kernel}/kernel.yaml", files)
    implementation = next(i for i in found.implementations if i.name == name)
    return Specialization(ROOT, found, implementation, dtype, {}, found.workloads[0].dims)


def test_an_older_architecture_than_the_file_asks_for_is_unsupported(scaled):
    with pytest.raises(EvaluationEnded) as ended:
        cross_compile(scaled(arch=">=sm_90"), "sm_80")
    assert ended.value.status is Status.UNSUPPORTED
    assert compiling.supports("sm_100a", ">=sm_90")
    assert compiling.supports("sm_80", "")


def test_without_nvcc_a_file_with_host_code_says_what_it_needs(scaled, monkeypatch):
    monkeypatch.setattr(compiling, "nvcc", lambda: "")
    monkeypatch.setattr("sitegen.measure.cross_compile.cuobjdump", lambda: "cuobjdump")
    with pytest.raises(EvaluationEnded, match="nvcc") as ended:
        cross_compile(scaled(language=Language.CUDA_HOST, host="run"), HOPPER)
    assert ended.value.status is Status.NOT_RUN


def test_without_tools_to_look_into_a_cubin_nothing_is_compiled(scaled, monkeypatch):
    monkeypatch.setattr("sitegen.measure.cross_compile.cuobjdump", lambda: "")
    with pytest.raises(EvaluationEnded, match="cuobjdump"):
        cross_compile(scaled(), HOPPER)


@pytest.mark.nvrtc
def test_a_mistake_is_shown_by_file_and_line(scaled):
    with pytest.raises(compiling.CompileError, match=r"scale\.cu\(3\): error: .*oops"):
        cross_compile(scaled('extern "C" __global__ void scale(\n    float* x) {\n    oops(x);\n}\n'), HOPPER)


@pytest.mark.nvrtc
def test_an_entry_that_the_file_does_not_have_is_named(scaled):
    with pytest.raises(compiling.CompileError, match=r"no entry `scal` in kernels/add/scale\.cu"):
        cross_compile(scaled(launch=replace(LAUNCH, entry="scal")), HOPPER)


@pytest.mark.nvrtc
def test_a_block_that_no_sm_can_hold_is_refused(scaled):
    launch = replace(LAUNCH, shared="228 * 1024")
    with pytest.raises(compiling.CompileError, match="a block does not fit on an SM of sm_90a: 256 threads of"):
        cross_compile(scaled(launch=launch), HOPPER)


@pytest.mark.nvrtc
def test_static_and_dynamic_shared_memory_are_told_without_the_driver_s_own(scaled):
    for arch in ("sm_80", HOPPER, "sm_100a"):
        made = cross_compile(scaled(), arch)
        assert made.compilation.shared_bytes == 4 * 256 + 1024
        assert (made.launch.grid, made.launch.block, made.launch.shared_bytes) == ((16, 1, 1), (256, 1, 1), 1024)
        assert made.launch.occupancy == 1.0


@pytest.mark.nvrtc
def test_the_same_source_is_the_same_code_wherever_it_lies_and_whenever_it_is_compiled(scaled):
    one, two, again = (cross_compile(scaled(folder=folder), HOPPER) for folder in ("one", "two", "two"))
    assert one == two == again


@pytest.mark.nvrtc
def test_another_constant_dtype_or_line_of_code_is_another_hash(scaled):
    fewer = replace(LAUNCH, constants={"TILE": "128"})
    tripled = scaled(SCALE.replace("2.0f", "3.0f"), folder="two")
    changed = [scaled(), scaled(launch=fewer), scaled(dtype="bfloat16"), tripled]
    hashes = {cross_compile(this, HOPPER).compilation.sass_hash for this in changed}
    assert len(hashes) == len(changed)


@pytest.mark.nvrtc
def test_a_comment_changes_no_hash(scaled):
    commented = scaled("// nothing of this reaches the machine\n\n" + SCALE, folder="two")
    one, two = (cross_compile(this, HOPPER).compilation for this in (scaled(), commented))
    assert one == two


@pytest.mark.nvrtc
def test_the_kept_listings_name_no_folder_of_this_machine(scaled, tmp_path):
    made = cross_compile(scaled(), HOPPER)
    assert {name.rpartition(".")[2] for name in made.artefacts} == {"ptx", "sass"}
    assert not [name for name, content in made.artefacts.items() if str(tmp_path.parent).encode() in content]


@pytest.mark.nvrtc
def test_host_code_is_compiled_for_what_it_launches_and_its_names_do_not_move(scaled):
    if not compiling.nvcc():
        pytest.skip("needs nvcc")
    one, two = (
        cross_compile(scaled(HOST, folder, language=Language.CUDA_HOST, host="run"), HOPPER) for folder in ("a", "b")
    )
    assert one == two
    assert one.launch is None
    assert one.compilation.instructions["STG.32"] == 1


@pytest.mark.nvrtc
def test_16_bytes_a_thread_are_read_and_written_by_one_instruction():
    scalar, vec4 = (cross_compile(of_the_site("copy", name), HOPPER).compilation for name in ("scalar", "vec4"))
    assert (scalar.instructions["LDG.32"], scalar.instructions["STG.32"]) == (1, 1)
    assert (vec4.instructions["LDG.128"], vec4.instructions["STG.128"]) == (1, 1)
    assert "LDG.128" not in scalar.instructions


@pytest.mark.nvrtc
def test_the_copy_engine_needs_hopper():
    made = cross_compile(of_the_site("copy", "bulk"), HOPPER)
    assert made.compilation.instructions["UBLKCP"] > 0
    assert made.compilation.shared_bytes > made.launch.shared_bytes == 4 * 16384
    with pytest.raises(EvaluationEnded, match=">=sm_90"):
        cross_compile(of_the_site("copy", "bulk"), "sm_80")


TUNED = """
import torch
import triton
import triton.language as tl

SMS = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count

@triton.autotune([triton.Config({"BLOCK": 256}, num_warps=2), triton.Config({"BLOCK": 4096})], key=["n"])
@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        tl.store(z + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

def add(x, y, *, out=None):
    out = torch.empty_like(x) if out is None else out
    add_kernel[(SMS,)](x, y, out, x.numel())
    return out
"""
LARGE = """
import torch
import triton
import triton.language as tl

@triton.jit
def products(x, y, z, K, SIZE: tl.constexpr):
    row, column = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    total = tl.zeros([SIZE, SIZE], tl.float32)
    for k in range(0, K, SIZE):
        a, b = tl.load(x + row * K + k + column), tl.load(y + (k + row) * SIZE + column)
        total += tl.dot(a, b, input_precision="tf32")
    tl.store(z + row * SIZE + column, total)

def add(x, y, *, out=None):
    products[(1,)](x, y, out, 4096, SIZE=64, num_stages=16)
    return out
"""
FILL = """
@triton.jit
def fill(z, BLOCK: tl.constexpr):
    tl.store(z + tl.arange(0, BLOCK), tl.zeros([BLOCK], tl.float32))
"""
RUN = """
import json, sys
from pathlib import Path
from sitegen.measure.cross_compile import answer, specialization_of
from sitegen.model.job import KernelJob
from sitegen.model.plain import from_plain
folder, arch = Path(sys.argv[1]), sys.argv[2]
job = from_plain(KernelJob, json.load(sys.stdin))
print(json.dumps({i.name: answer(specialization_of(job, folder, i.name), arch) for i in job.kernel.implementations}))
"""


def in_a_process(job: KernelJob, folder: Path, arch: str) -> dict[str, Any]:
    """Return the result of each implementation of a job by name, from a process of its own."""
    command, sent = [sys.executable, "-c", RUN, str(folder), arch], json.dumps(to_plain(job))
    done = subprocess.run(command, cwd=ROOT, input=sent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def triton(add_kernel, tmp_path_factory):
    """The results of one process for each Triton file, by architecture and name."""
    sources = {
        "plain": add_kernel.triton_source(),
        "tuned": TUNED,
        "large": LARGE,
        "twice": add_kernel.triton_source(epilogue="add_kernel[(1,)](x, y, out, 512, BLOCK=512)"),
        "filled": add_kernel.triton_source(prologue="fill[(1,)](out, BLOCK=64, num_warps=1)"),
        "reads": add_kernel.triton_source(prologue="float(x[0])"),
        "torch_only": "import torch\ndef add(x, y, *, out=None):\n    return torch.add(x, y, out=out)\n",
        "mistaken": add_kernel.triton_source(value="tl.nonsense(x)"),
    }
    sources["filled"] = f"import triton\nimport triton.language as tl\n{FILL}{sources['filled']}"
    for_all = ("plain", "tuned", "twice")

    def made(arch, names):
        job = add_kernel.kernel_job({name: sources[name] for name in names})
        folder = tmp_path_factory.mktemp(arch)
        write_sources(folder, job.sources)
        return in_a_process(job, folder, arch)

    return {"sm_80": made("sm_80", for_all), HOPPER: made(HOPPER, sources), "sm_100a": made("sm_100a", for_all)}


@pytest.mark.torch
@pytest.mark.parametrize("name", ["plain", "tuned", "twice"])
def test_a_triton_function_is_compiled_for_every_architecture(triton, name):
    for arch, answers in triton.items():
        found = answers[name]["compilation"]
        assert (found["arch"], found["spill_bytes"]) == (arch, 0)
        assert 8 <= found["registers"] <= 64
    assert len({answers[name]["compilation"]["sass_hash"] for answers in triton.values()}) == len(triton)


@pytest.mark.torch
def test_its_launch_is_noted_and_nothing_is_launched(triton):
    assert triton[HOPPER]["plain"]["launch"] == {
        "grid": [8, 1, 1],
        "block": [128, 1, 1],
        "cluster": [1, 1, 1],
        "shared_bytes": 0,
        "launches": 1,
        "occupancy": 1.0,
        "kernel": "add_kernel",
        "kernel_share": None,
    }


@pytest.mark.torch
def test_of_two_launches_of_one_kernel_the_larger_is_recorded_and_both_are_counted(triton):
    launch = triton[HOPPER]["twice"]["launch"]
    assert (launch["grid"], launch["launches"]) == ([8, 1, 1], 2)


@pytest.mark.torch
def test_of_two_triton_functions_the_one_with_more_work_is_recorded(triton):
    found, plain = triton[HOPPER]["filled"], triton[HOPPER]["plain"]
    assert (found["launch"]["kernel"], found["launch"]["grid"]) == ("add_kernel", [8, 1, 1])
    assert (found["launch"]["block"], found["launch"]["launches"]) == ([128, 1, 1], 2)
    assert found["compilation"]["registers"] == plain["compilation"]["registers"]
    assert found["compilation"]["sass_hash"] != plain["compilation"]["sass_hash"], "the listing has both"


@pytest.mark.torch
def test_a_function_that_asks_for_the_gpu_hears_of_the_largest_of_its_kind(triton):
    grids = {arch: answers["tuned"]["launch"]["grid"][0] for arch, answers in triton.items()}
    assert grids == {"sm_80": 108, HOPPER: 132, "sm_100a": 148}


@pytest.mark.torch
def test_autotuning_takes_the_first_configuration_where_nothing_can_be_timed(triton):
    assert triton[HOPPER]["tuned"]["launch"]["block"] == [64, 1, 1]


@pytest.mark.torch
def test_what_does_not_fit_or_does_not_compile_is_a_compile_error(triton):
    for name, words in {
        "large": "does not fit on an SM of sm_90a: out of resource: shared",
        "mistaken": "nonsense",
    }.items():
        answer = triton[HOPPER][name]
        assert answer["status"] == "compile_error"
        assert words in answer["message"]


@pytest.mark.torch
def test_what_needs_real_numbers_says_so_and_is_no_compile_error(triton):
    assert triton[HOPPER]["reads"]["status"] == "runtime_error"
    assert triton[HOPPER]["torch_only"] == {
        "status": "not_run",
        "message": "it launches no Triton kernel",
        "log": "",
    }


@pytest.mark.torch
def test_a_row_of_8192_stays_in_the_registers_of_the_fused_softmax():
    this = of_the_site("softmax", "fused")
    kernel = replace(this.kernel, implementations=(this.implementation,))
    row = next(workload for workload in kernel.workloads if workload.dims["N"] == 8192)
    made = in_a_process(KernelJob("", kernel, row, "float32", {}, {}), ROOT, HOPPER)["fused"]["compilation"]
    assert made["spill_bytes"] == 0
    assert {name for name in made["instructions"] if name[:3] in ("LDG", "STG", "LDL", "STL")} == {"LDG.128", "STG.128"}


@pytest.mark.torch
def test_the_listings_of_triton_name_no_folder_of_this_machine(triton, tmp_path):
    artefacts = triton[HOPPER]["plain"]["artefacts"]
    listings = [gzip.decompress(base64.b64decode(packed)).decode() for packed in artefacts.values()]
    assert len(listings) == 2
    assert not [text for text in listings if str(tmp_path.parents[1]) in text]
