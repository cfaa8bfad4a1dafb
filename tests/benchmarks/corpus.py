"""Write a site of a given number of posts, the same each time, on which sitegen is timed.

Each post has about 10 KB of Markdown: twelve paragraphs, five headings, four fences of code (Triton, CUDA C++, Bash,
Python: some 80 lines), a table, a list, two footnotes, three links to other posts, a formula in a line and one of its
own.  Twenty posts make a series.  The words mean nothing.
"""

from __future__ import annotations

import datetime as dt
import random
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SERIES_POSTS = 20
THEME = Path(__file__).parents[2] / "templates"
BASE = "base.html"
"""The template that every page extends."""

_THINGS = re.findall(
    r"\w+",
    "block warp lane tile row column bank sector line page queue ring slot stage wave grid cluster barrier fence copy "
    "product sum maximum exponent mask stride offset pointer register spill counter clock probe sample ceiling",
)
_KINDS = re.findall(
    r"\w+",
    "late early idle busy narrow long short plain folded split shared resident empty full exact rounded signed cold "
    "warm first second last spare odd even slow quick steady measured guessed",
)
_TOPICS = re.findall(
    r"\w+", "triton cuda memory latency softmax matmul attention profiling reduction tiling numerics bash"
)
_ACTS = (
    "waits for",
    "hides behind",
    "moves past",
    "overlaps with",
    "starves",
    "feeds",
    "reads",
    "writes",
    "repeats",
    "outlives",
    "follows",
    "replaces",
    "halves",
    "crosses",
)
_TAILS = (
    "and the difference is {number} cycles",
    "which nobody had planned for",
    "so `{name}` stays at {number}",
    "until `{name}` is set",
    "although *{kind}* ones cost **less**",
    "in {number} of {more} runs",
    "because the {thing} is {kind}",
    "and then the {thing} is free again",
)

_TRITON = '''
@triton.jit
def scale_NAME(out_ptr, in_ptr, columns, factor, BLOCK: tl.constexpr):
    """Multiply each row by a factor, SIZE columns at a time."""
    row = tl.program_id(0)
    at = row * columns
    for first in range(0, columns, BLOCK):
        where = first + tl.arange(0, BLOCK)
        inside = where < columns  # the last block is cut
        values = tl.load(in_ptr + at + where, mask=inside, other=0.0)
        tl.store(out_ptr + at + where, values * factor, mask=inside)


def NAME(x: torch.Tensor, factor: float = 1.0e-3) -> torch.Tensor:
    out = torch.empty_like(x)
    rows, columns = x.shape
    scale_NAME[(rows,)](out, x, columns, factor, BLOCK=SIZE)
    return out
'''
_CUDA = """
#include <cuda_fp16.h>

constexpr int kNAME = SIZE;  // a power of two

/* One block sums one row; the first lane of each warp
   keeps what its warp has found. */
template <typename T>
__global__ void NAME_rows(const T* __restrict__ in, float* out, int columns) {
    __shared__ float partial[32];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += static_cast<float>(in[blockIdx.x * columns + i]);
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; ++w) sum += partial[w];
        out[blockIdx.x] = sum;
        if (sum != sum) printf("row %d: not a number\\n", blockIdx.x);
    }
}
"""
_BASH = """
# every size once, the best of three
out="results/NAME"
mkdir -p "$out"
for size in 256 1024 SIZE; do
    if ! ./measure --kernel 'NAME' --size "$size" > "$out/$size.txt" 2>&1; then
        echo "size $size failed" >&2
        exit 1
    fi
done
grep -h median "$out"/*.txt | sort -n | head -n 3
"""
_PYTHON = '''
@dataclass(frozen=True)
class NAME_case:
    """A shape, and how far from the reference it may be."""

    rows: int = SIZE
    columns: int = 0x400
    tolerance: float = 1e-6

    @property
    def bytes(self) -> int:
        return 2 * self.rows * self.columns * 4


def check(case: NAME_case, run: Callable[..., Tensor]) -> str:
    x = torch.linspace(-1, 1, case.rows * case.columns).view(case.rows, -1)
    error = (run(x) - reference(x)).abs().max().item()
    if not error <= case.tolerance:
        raise ValueError(f"NAME is off by {error:.2e} at {case.rows} x {case.columns}")
    return "passed" if error else "exact"
'''


@dataclass(frozen=True, slots=True)
class Corpus:
    """A site of `posts` posts, numbered from 0, in the folder `root`."""

    root: Path
    posts: int

    @property
    def texts(self) -> int:
        return self.posts

    def source(self, number: int) -> Path:
        return self.root / "content" / "posts" / f"{_slug(number)}.md"

    def url(self, number: int) -> str:
        """Return the URL of a post from the root of the site."""
        return f"posts/{_slug(number)}/"

    def write(self) -> None:
        for path, text in self._files():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def edit(self, number: int, marker: str) -> None:
        """Change the body of a post, not its front matter: the marker is in its text."""
        self.source(number).write_text(f"{_post(number, self.posts)}\nSaved: {marker}.\n", encoding="utf-8")

    def edit_template(self, marker: str) -> None:
        """Change what every page has: the marker is a comment in its HTML."""
        text = (THEME / BASE).read_text(encoding="utf-8")
        (self.root / "templates" / BASE).write_text(text.replace("</body>", f"<!-- {marker} -->\n</body>"))

    def _files(self) -> Iterator[tuple[Path, str]]:
        yield self.root / "content" / "site.yaml", "title: A site to time\nbase_url: https://example.org/\n"
        yield self.root / "templates" / BASE, (THEME / BASE).read_text(encoding="utf-8")
        for first in range(0, self.posts, SERIES_POSTS):
            yield self.root / "series" / f"part-{first // SERIES_POSTS}.yaml", _series(first, self.posts)
        for number in range(self.posts):
            yield self.source(number), _post(number, self.posts)


def _slug(number: int) -> str:
    return f"note-{number}"


def _series(first: int, posts: int) -> str:
    slugs = [f"  - {_slug(number)}\n" for number in range(first, min(first + SERIES_POSTS, posts))]
    return f"title: Part {first // SERIES_POSTS}\nposts:\n{''.join(slugs)}"


def _post(number: int, posts: int) -> str:
    rng = random.Random(f"post {number}")
    when = dt.datetime(2016, 1, 1) + dt.timedelta(hours=6 * number)
    front = {
        "title": f"A {rng.choice(_KINDS)} {rng.choice(_THINGS)}, note {number}",
        "date": when.isoformat(),
        "tags": f"[{', '.join(rng.sample(_TOPICS, 3))}]",
        "description": f"How the {rng.choice(_THINGS)} became {rng.choice(_KINDS)}.",
    }
    lines = "".join(f"{key}: {value}\n" for key, value in front.items())
    return f"---\n{lines}---\n" + "\n\n".join(_blocks(rng, posts)) + "\n"


def _blocks(rng: random.Random, posts: int) -> Iterator[str]:
    """Yield the body of a post, block by block."""
    yield paragraph(rng, "It was measured twice[^twice].")
    yield paragraph(rng, _link(rng, posts))
    yield _heading(rng, 2)
    yield paragraph(rng)
    yield _fence(rng, "python", _TRITON)
    yield paragraph(rng, f"Per row that is $t = \\frac{{n}}{{b}} + {rng.randrange(100)}$.")
    yield _heading(rng, 3)
    yield "\n".join(f"- {sentence(rng)}" for _ in range(4))
    yield paragraph(rng, _link(rng, posts))
    yield _fence(rng, "cpp", _CUDA)
    yield paragraph(rng)
    yield _heading(rng, 2)
    yield f"$$\ns_i = \\sum_{{j=1}}^{{{rng.randrange(100)}}} \\sqrt{{x_{{ij}}^2}}\n$$"
    yield paragraph(rng, "The other machine[^other] agrees.")
    yield _table(rng)
    yield paragraph(rng)
    yield _heading(rng, 3)
    yield _fence(rng, "bash", _BASH)
    yield paragraph(rng, _link(rng, posts))
    yield paragraph(rng)
    yield _heading(rng, 2)
    yield _fence(rng, "python", _PYTHON)
    yield paragraph(rng)
    yield paragraph(rng)
    yield f"[^twice]: {sentence(rng)}"
    yield f"[^other]: {sentence(rng)}"


def phrase(rng: random.Random) -> str:
    """Return two words for a thing: `cold warp`."""
    return f"{rng.choice(_KINDS)} {rng.choice(_THINGS)}"


def sentence(rng: random.Random) -> str:
    first, second, third = rng.sample(_THINGS, 3)
    number = rng.randrange(2, 1000)
    tail = rng.choice(_TAILS).format(
        number=number, more=2 * number, name=_name(rng), kind=rng.choice(_KINDS), thing=third
    )
    return f"The {rng.choice(_KINDS)} {first} {rng.choice(_ACTS)} a {rng.choice(_KINDS)} {second}, {tail}."


def paragraph(rng: random.Random, extra: str = "") -> str:
    sentences = [sentence(rng) for _ in range(7)]
    return textwrap.fill(" ".join((*sentences[:3], extra, *sentences[3:])), 100, break_on_hyphens=False)


def _heading(rng: random.Random, level: int) -> str:
    return f"{'#' * level} What the {rng.choice(_KINDS)} {rng.choice(_THINGS)} {rng.choice(_ACTS)}"


def _link(rng: random.Random, posts: int) -> str:
    return f"See [the {rng.choice(_KINDS)} {rng.choice(_THINGS)}]({_slug(rng.randrange(posts))}.md) for that."


def _name(rng: random.Random) -> str:
    return f"{rng.choice(_THINGS)}_{rng.choice(_THINGS)}"


def _fence(rng: random.Random, language: str, code: str) -> str:
    text = code.strip("\n").replace("NAME", _name(rng)).replace("SIZE", str(2 ** rng.randrange(5, 12)))
    return f"```{language}\n{text}\n```"


def _table(rng: random.Random) -> str:
    rows = [
        f"| {rng.choice(_KINDS)} {rng.choice(_THINGS)} | {rng.randrange(1000)} | {rng.random() * 100:.2f} us |"
        for _ in range(6)
    ]
    return "\n".join(["| which | bytes | time |", "| --- | ---: | ---: |", *rows])
