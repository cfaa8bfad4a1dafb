"""A small site with hand-made records: round figures that no GPU measured."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace

import pytest

from sitegen.diagnostics import Span
from sitegen.linking.link import link_site
from sitegen.markup.parse import parse_document
from sitegen.model.document import Document
from sitegen.model.kernel import Goal, Implementation, Kernel, Language, Launch, Status, Tensor, Workload, Wrong
from sitegen.model.linked import document_key
from sitegen.model.record import (
    Ceiling,
    CellRecord,
    Compilation,
    Correctness,
    Counters,
    Environment,
    Evaluation,
    LaunchRecord,
    Output,
    Performance,
    Ratio,
    Record,
    Rejection,
    Role,
    Run,
    Sustained,
)
from sitegen.model.site import (
    Countdown,
    EntryPoint,
    Markdown,
    Page,
    Phase,
    PlannedPost,
    Post,
    Ref,
    Series,
    Site,
    SiteConfig,
    Task,
    TaskState,
    Term,
    Topic,
    WorklogEntry,
)
from sitegen.pipeline.probe_sources import load_program_parts
from sitegen.render.inputs.evidence import Evidence
from sitegen.render.inputs.sources import Drawn, draw_again
from sitegen.render.render_site import render_site
from sitegen.render.shared.theme import load_theme
from sitegen.results.records import Records

GPU = "nvidia-h200"
AS_OF = dt.date(2026, 11, 21)
FILES = tuple(f"content/posts/{slug}/index.md" for slug in ("softmax", "sum", "later"))
SPAN = Span("content/site.yaml")

FUSED = '''"""Row-wise softmax: one read, one write."""
import torch, triton
import triton.language as tl


# region: kernel
@triton.jit
def _softmax(y_ptr, x_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols, mask=cols < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=cols < n)
# endregion
'''
NAIVE = """// region: kernel
extern "C" __global__ void softmax_naive(const DTYPE* x, DTYPE* y, long long n) {
    float m = -INFINITY;
    for (long long j = threadIdx.x; j < n; j += THREADS) m = fmaxf(m, x[blockIdx.x * n + j]);
}
// endregion
"""
SOFTMAX_POST = """A softmax does five operations for every element. See [the sum](../sum/index.md) and [Triton](https://triton-lang.org/).

## What must move

Each output needs every input of its row: a maximum, a sum, a quotient.[^floor]

```{kernel} softmax/fused
:region: kernel
```

> [!NOTE] Pitfall
> A row of −∞ gives NaN.

## Try it

```{code-cell} python
#| label: first-look
print(1)
```

```{code-cell} python
#| label: never-run
print(2)
```

## What it measures

```{benchmark} softmax
:label: results
```

```{roofline} softmax
```

| step | bytes |
|---|---|
| naive | 4 |

[^floor]: The least traffic is one read and one write.
"""


REFERENCE = '"""What softmax is."""\nBASELINES = {}\n'
SOURCES = {"fused.py": FUSED, "naive.cu": NAIVE, "reference.py": REFERENCE}


def kernel(name: str = "softmax", flops: str = "5 * M * N") -> Kernel:
    launch = Launch("softmax_naive", ("M",), ("256",))
    return Kernel(
        name=name,
        summary="Row-wise softmax.",
        dims=("M", "N"),
        inputs=(Tensor("x", ("M", "N")),),
        outputs=(Tensor("y", ("M", "N")),),
        dtypes=("float32", "bfloat16"),
        flops=flops,
        reads="M * N * itemsize",
        writes="M * N * itemsize",
        tolerance={"float32": 1e-6, "bfloat16": 8e-3},
        checks=({"M": 1, "N": 1}, {"M": 3, "N": 127}),
        workloads=(Workload("8192x8192", {"M": 8192, "N": 8192}), Workload("2048x65536", {"M": 2048, "N": 65536})),
        baselines=("torch", "torch.compile"),
        implementations=(
            Implementation(
                "naive",
                f"kernels/{name}/naive.cu",
                Language.CUDA,
                launch,
                predicts="three reads and a write: 50 % of the copy ceiling",
                predicted_of_ceiling=0.5,
            ),
            Implementation(
                "online",
                f"kernels/{name}/online.cu",
                Language.CUDA,
                launch,
                predicts="two reads and a write: 66.7 %",
                predicted_of_ceiling=0.667,
            ),
            Implementation(
                "fused",
                f"kernels/{name}/fused.py",
                Language.TRITON,
                predicts="one read and a write: 95 %",
                predicted_of_ceiling=0.95,
            ),
        ),
        wrong=(Wrong(Implementation("no_max", f"kernels/{name}/wrong/no_max.py", Language.TRITON), Status.INCORRECT),),
        goals=(
            Goal("best >= 0.9 of-copy @ 8192x8192:float32", "best", 0.9, "of-copy", "8192x8192", "float32"),
            Goal("fused >= 9 x torch @ 8192x8192:float32", "fused", 9.0, "x torch", "8192x8192", "float32"),
        ),
    )


RUN = Run(
    id="2026-11-21T06:10:05Z",
    date="2026-11-21",
    commit="1a2b3c4",
    environment=Environment(
        gpu="NVIDIA H200",
        arch="sm_90",
        sm_count=132,
        l2_bytes=60_000_000,
        memory_bytes=150_000_000_000,
        driver="580.159",
        cuda="13.0",
        torch="2.11.0",
        triton="3.6.0",
        python="3.12.3",
        sm_clock_max_mhz=1980.0,
        power_limit_w=700.0,
        ecc=True,
    ),
    ceilings=(
        Ceiling("memory 1:0", 4.4e12, {"torch": 4.4e12}),
        Ceiling("memory 1:1", 4.3e12, {"torch": 4.3e12}),
        Ceiling("fp32", 50e12, {"ffma": 50e12}),
        Ceiling("bf16", 700e12, {"cublas": 700e12}),
    ),
)
TIMES = {"copy": 126.0, "torch": 280.0, "torch.compile": 150.0, "naive": 330.0, "online": 210.0, "fused": 132.0}
ROLES = {"copy": Role.PROBE, "torch": Role.BASELINE, "torch.compile": Role.BASELINE}
CORRECT = Correctness(1.2e-7, 2e-7, 1e-6, 1e-6, 1e-6, 5, 3, ("normal",), True)


def performance(median_us: float, torch_us: float, compile_us: float, copy_us: float) -> Performance:
    ratios = tuple(
        Ratio(name, us / median_us, us / median_us * 0.99, us / median_us * 1.01)
        for name, us in (("torch", torch_us), ("torch.compile", compile_us), ("copy", copy_us))
    )
    return Performance(
        median_us=median_us,
        p20_us=median_us - 0.2,
        p80_us=median_us + 0.3,
        min_us=median_us - 0.5,
        low_us=median_us - 0.1,
        high_us=median_us + 0.1,
        samples=264,
        rounds_us=(median_us,) * 11,
        ratios=ratios,
        sm_clock_mhz=1975.0,
    )


def evaluation(name: str, workload: str = "8192x8192", dtype: str = "float32", scale: float = 1.0) -> Evaluation:
    """Return a passed evaluation with a made-up time, `scale` times that of the first workload."""
    timing = performance(*(TIMES[one] * scale for one in (name, "torch", "torch.compile", "copy")))
    role = ROLES.get(name, Role.IMPLEMENTATION)
    digest = "c1d4e5f6a7b8c9d0" if role is Role.IMPLEMENTATION else ""
    correctness = None if role is Role.PROBE else CORRECT
    return Evaluation(
        role, name, workload, dtype, RUN.id, Status.PASSED, key=digest, correctness=correctness, performance=timing
    )


def record(name: str = "softmax", gpu: str = GPU) -> Record:
    """Return a record of all implementations, workloads and dtypes; `online` failed at the wide one in bfloat16."""
    scales = (("8192x8192", "float32", 1.0), ("8192x8192", "bfloat16", 0.52))
    scales += (("2048x65536", "float32", 2.02), ("2048x65536", "bfloat16", 1.04))
    evaluations = [evaluation(one, workload, dtype, scale) for workload, dtype, scale in scales for one in TIMES]
    failed = replace(
        evaluation("online", "2048x65536", "bfloat16"),
        status=Status.INCORRECT,
        performance=None,
        message="relative error 3e-1 exceeds 8e-3",
    )
    kept = [e for e in evaluations if (e.name, e.workload, e.dtype) != ("online", "2048x65536", "bfloat16")]
    caught = Rejection("no_max", Status.INCORRECT, Status.INCORRECT, RUN.id, message="NaN where the reference is 1.0")
    return Record(1, name, gpu, (RUN,), (*kept, failed), (caught,))


TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
COUNTED = Counters(300e6, 280e6, 140.0, 260_000.0, 0.0, 335e6, {"copy bytes": 1.006, "matrix flops": 1.0})
COMPILED = Compilation("sm_90a", 40, 48, 65 * 1024, "ab" * 32)
LAUNCHED = LaunchRecord((8192, 1, 1), (256, 1, 1), (1, 1, 1), 65536, 1, 0.75)


def told_in_full(one: Evaluation) -> Evaluation:
    """Return the evaluation with everything that a run with the tools adds to it."""
    if one.performance is None or one.role is Role.PROBE:
        return one
    ours = one.role is Role.IMPLEMENTATION
    timed = replace(one.performance, power_w=460.0, by_process_us=(one.performance.median_us,) * 2)
    return replace(
        one,
        performance=timed,
        counters=COUNTED,
        compilation=COMPILED if ours else None,
        launch=LAUNCHED if ours else None,
        sanitizer=dict.fromkeys(TOOLS, "") if ours else {},
    )


def full_record(name: str = "softmax", gpu: str = GPU) -> Record:
    """Return the record with counters, compiled code, launches, and tools that found nothing."""
    plain = record(name, gpu)
    return replace(plain, evaluations=tuple(told_in_full(one) for one in plain.evaluations))


def in_bursts(one: Evaluation) -> Evaluation:
    """Return the evaluation as that of a matrix product: burst and sustained, in time and in cycles."""
    timed = one.performance
    if timed is None:
        return one
    us = timed.median_us * 1.2
    held = Sustained(us, us, us, 240, (us,) * 12, timed.ratios, 1410.0, 698.0)
    timed = replace(timed, cycles=timed.median_us * 1600, cycle_ratios=timed.ratios, throttle=("power cap",))
    return replace(one, performance=replace(timed, sustained=held, sm_clock_mhz=1600.0))


def post(slug: str, title: str, text: str, *, date: dt.date = AS_OF, tags: tuple[str, ...] = ("triton",)) -> Post:
    path = f"content/posts/{slug}/index.md"
    return Post(
        slug,
        title,
        date,
        Markdown(text, path, 6),
        Span(path),
        description=f"{title}, in one sentence.",
        tags=tuple(Ref(tag, SPAN) for tag in tags),
    )


def site() -> Site:
    posts = (
        post("softmax", "A softmax that reads memory once", SOFTMAX_POST),
        post("sum", "Adding many numbers", "Adding is reading.\n\n## Why\n\nBecause.", date=dt.date(2026, 11, 14)),
        post("later", "Not yet", "Tomorrow.", date=dt.date(2026, 11, 22)),
    )
    series = Series(
        id="gpu-systems",
        title="GPU Systems",
        span=SPAN,
        tagline="From the execution model to kernels at the limit",
        audience="Engineers who use GPUs.",
        prerequisites="You can program.",
        outcomes=("Say what bounds a kernel.", "Measure it."),
        phases=(
            Phase(
                "Memory",
                "See what moves.",
                topics=(Topic("coalescing"), Topic("bytes in flight", posts=(Ref("sum", SPAN),))),
                posts=(Ref("sum", SPAN),),
            ),
            Phase(
                "Triton kernels",
                "Write blocks.",
                posts=(Ref("softmax", SPAN),),
                planned=(PlannedPost("LayerNorm"), PlannedPost("Attention")),
            ),
        ),
    )
    days = tuple(
        WorklogEntry(
            day,
            Markdown(f"- [x] Measured [softmax](../posts/softmax/index.md) {n}\n- [~] Write it down\n", path, 3),
            Span(path),
            tasks=(Task("Measured *softmax*", TaskState.DONE, 3), Task("Write it down", TaskState.PARTIAL, 4)),
        )
        for n in range(3)
        for day, path in [(AS_OF - dt.timedelta(days=n), f"content/worklog/{n}.md")]
    )
    return Site(
        config=SiteConfig(
            title="Warp & Weft",
            base_url="https://example.org/blog/",
            description="Kernels explained. Every figure was measured.",
            entry_points=(EntryPoint(Ref("softmax", SPAN), "You know what a reduction is."),),
            countdown=Countdown("the last kernel at its ceiling", dt.date(2026, 12, 31)),
            gpus=(GPU,),
        ),
        posts=posts,
        pages=(Page("about", "About", Markdown("What this is.\n", "content/pages/about.md", 4), SPAN),),
        series=(series,),
        worklog=days,
        kernels=(kernel(), kernel("copy", "0")),
        terms=(Term("warp", "Warp", Markdown("$2^5$ threads.\n", "content/terms/warp.md", 3), SPAN),),
        files={f"kernels/softmax/{name}": text for name, text in SOURCES.items()},
    )


def documents_of(found: Site) -> dict[str, Document]:
    texts = [*(p.body for p in found.posts), *(p.body for p in found.pages)]
    texts += [*(e.body for e in found.worklog), *(t.body for t in found.terms)]
    return {document_key(text): parse_document(text, numbered=True)[0] for text in texts}


PROBES = {"l2.cu": "// How fast the L2 is read.\n// Again and again.\n__global__ void l2() {}\n"}
CELL = CellRecord(1, "first-look", GPU, "k", RUN, Status.PASSED, (Output("stream", "1 < 2\n"),))


def records(*found: Record) -> Records:
    kernels = {(r.kernel, r.gpu): r for r in found}
    return Records(kernels=kernels, cells={("softmax", "first-look", GPU): CELL} if found else {})


def rendered(
    found: Site | None = None,
    evidence: Evidence | None = None,
    probes: Mapping[str, str] = PROBES,
    drawn: Drawn = draw_again,
) -> dict[str, str | bytes]:
    """Return every page of a site by output path; without arguments, of the site above with fresh records."""
    whole = found or site()
    documents = documents_of(whole)
    linked, mistakes = link_site(whole, documents, as_of=AS_OF, files=FILES)
    assert not mistakes, mistakes
    evidence = evidence or Evidence(records(record(), record("copy")))
    theme = load_theme()
    assets = {name: f"assets/{name}" for name in theme.assets}
    return render_site(
        linked,
        documents,
        evidence,
        as_of=AS_OF,
        theme=theme,
        assets=assets,
        probes=probes,
        program_parts=load_program_parts(),
        drawn=drawn,
    )


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """Functions from which tests build their own sites."""
    return SimpleNamespace(
        cell=CELL,
        documents_of=documents_of,
        evaluation=evaluation,
        files=FILES,
        full_record=full_record,
        in_bursts=in_bursts,
        gpu=GPU,
        kernel=kernel,
        record=record,
        records=records,
        rendered=rendered,
        site=site,
    )


@pytest.fixture(scope="session")
def pages() -> dict[str, str | bytes]:
    return rendered()
