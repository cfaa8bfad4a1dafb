"""The registry of diagnostic codes: complete, without a second meaning, and with examples that behave as they say."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image

from sitegen.cli import main
from sitegen.codes import GROUPS, REGISTRY
from sitegen.codes.entry import Code, as_text

ROOT = Path(__file__).parent.parent
PROGRAM = ROOT / "sitegen"
SHARED = frozenset(
    {
        "SG010",
        "SG013",
        "SG014",
        "SG016",
        "SG022",
        "SG023",
        "SG024",
        "SG033",
        "SG034",
        "SG038",
        "SG101",
        "SG105",
        "SG108",
        "SG110",
        "SG111",
        "SG123",
        "SG130",
        "SG135",
        "SG136",
        "SG138",
        "SG139",
        "SG203",
        "SG204",
        "SG205",
        "SG214",
        "SG217",
        "SG301",
        "SG403",
        "SG404",
        "SG504",
        "SG506",
        "SG602",
        "SG603",
        "SG604",
        "SG605",
        "SG606",
        "SG607",
        "SG608",
        "SG609",
    }
)
"""Codes that several modules raise for the same mistake.  Add one here when you have made sure that it is the same."""


RAISE_NONE = (Path("importing/mending/rules.py"), Path("pipeline/misnamed_kernels.py"))
"""The modules that name codes and raise none: of mistakes that an import mends, and of those that are left out."""


@cache
def modules_by_code() -> Mapping[str, frozenset[str]]:
    """Map each code to the modules of the program in which it is written as a literal."""
    places: dict[str, set[str]] = {}
    for path in PROGRAM.rglob("*.py"):
        module = path.relative_to(PROGRAM)
        text = path.read_text(encoding="utf-8") if module.parts[0] != "codes" and module not in RAISE_NONE else ""
        for code in re.findall(r'"(SG\d{3})"', text):  # parsing all modules would take a second of each worker
            places.setdefault(code, set()).add(module.as_posix())
    return {code: frozenset(modules) for code, modules in places.items()}


def test_every_code_that_the_program_raises_is_in_the_registry() -> None:
    assert set(modules_by_code()) - set(REGISTRY) == set()


def test_every_code_of_the_registry_is_raised() -> None:
    assert set(REGISTRY) - set(modules_by_code()) == set()


def test_no_code_means_two_things() -> None:
    listed = [code.id for group in GROUPS for code in group.codes]
    assert listed == sorted(set(listed)), "a code stands twice, or out of order"
    titles = [code.title for code in REGISTRY.values()]
    assert len(set(titles)) == len(titles)
    several = {code: sorted(modules) for code, modules in modules_by_code().items() if len(modules) > 1}
    unlooked = {code: modules for code, modules in several.items() if code not in SHARED}
    assert unlooked == {}, "the same mistake in each module? then add the code to SHARED, else take a new one"


@pytest.mark.parametrize("code", REGISTRY.values(), ids=lambda code: code.id)
def test_entry_says_in_a_few_sentences_what_is_wrong_and_what_to_do(code: Code) -> None:
    assert re.fullmatch(r"SG\d{3}", code.id)
    assert code.title == code.title.strip() and not code.title.endswith(".")
    sentences = re.findall(r"[.;](?=\s|$)", code.explanation)
    assert 2 <= len(sentences) <= 5, code.explanation
    assert code.wrong.strip() != code.right.strip()


# ------------------------------------------------------------------------------------------- the examples are built

KERNEL = """\
kernel: softmax
summary: Row-wise softmax.
dims: [M, N]
inputs: {x: {shape: [M, N]}}
outputs: {y: {shape: [M, N]}}
dtypes: [float32]
flops: 5 * M * N
reads: M * N * itemsize
writes: M * N * itemsize
tolerance: {float32: 1e-6}
checks: [{M: 1, N: 1}]
workloads: [{M: 8192, N: 8192}]
baselines: [torch]
implementations: [{name: fused, file: fused.py}]
"""
FUSED = "# region: kernel\ndef softmax(x, *, out=None):\n    return x\n# endregion\n"
POST = "---\ntitle: {}\ndate: 2026-11-22\n---\n"
CELL = "```{code-cell} python\n#| label: look\nprint(1)\n```\n"
SITE = {
    "content/site.yaml": "title: Kernels\nbase_url: https://example.org/\n",
    "content/posts/softmax/index.md": POST.format("Softmax") + CELL,
    "content/posts/softmax/refs.bib": "",
    "content/posts/memory-bound.md": POST.format("Memory-bound") + "Text.\n",
    "content/posts/reductions.md": POST.format("Reductions") + "Text.\n",
    "content/terms/warp.md": "---\ntitle: Warp\n---\n32 lanes.\n",
    "content/exercises/vector-add/index.md": "---\ntitle: Vector add\nkernel: vector_add\nsolution: tile\n"
    "counted_at: {M: 8, N: 128}\n---\nText.\n",
    "content/exercises/vector-add/starter.py": "def vector_add(x, *, out=None): ...\n",
    "kernels/vector_add/kernel.yaml": KERNEL.replace("softmax", "vector_add").replace("fused", "tile"),
    "kernels/vector_add/reference.py": "def make_inputs(): ...\n",
    "kernels/vector_add/tile.py": "def vector_add(x, *, out=None):\n    return x\n",
    "content/references.bib": "@article{dao2022,\n  author = {Tri Dao}, title = {FlashAttention}, year = 2022\n}\n",
    "kernels/softmax/kernel.yaml": KERNEL,
    "kernels/softmax/reference.py": "def make_inputs(): ...\n",
    "kernels/softmax/fused.py": FUSED,
    "kernels/softmax/naive.cu": 'extern "C" __global__ void naive(const float* x, float* y, int N) {}\n',
}
JEKYLL = {
    "_config.yml": "title: Kernels\nurl: https://example.org\n",
    "_posts/2024-01-05-softmax.md": POST.format("Softmax") + "Text.\n",
    "assets/plot.svg": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>\n',
}
TYPED = {
    "SG403": "only a measurement contradicts the formula",
    "SG404": "only a measurement contradicts the formula",
    "SG409": "only a measurement shows what the gates accept (tests/results/test_vacuous_gates.py)",
    "SG137": "only `sitegen check` looks for typed figures (tests/pipeline/test_figures_and_claims.py)",
}
"""Codes with a file whose examples are not built, and why."""
UNRAISED = set(REGISTRY) - set(modules_by_code())


def _examples_below(*folders: str) -> list[Code]:
    built = (code for code in REGISTRY.values() if code.id not in {*TYPED, *UNRAISED})
    return [code for code in built if code.file.startswith(folders) and "/results/" not in code.file]


def written(root: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def completed(path: str, example: str) -> str:
    """Return the whole file that an example is a part of."""
    is_text = path.startswith(("content/posts/", "_posts/")) and path.endswith(".md")
    if is_text and not example.startswith("---"):
        return POST.format("Softmax") + example
    if path.endswith("kernel.yaml"):
        given = set(re.findall(r"^\w+(?=:)", example, re.MULTILINE))
        return (
            "".join(line for line in KERNEL.splitlines(keepends=True) if line.partition(":")[0] not in given) + example
        )
    return example


def headlines(text: str) -> set[str]:
    """Return the start of each diagnostic in the output, `error[SG205]`."""
    return set(re.findall(r"^((?:error|warning)\[SG\d{3}\])", text, re.MULTILINE))


def headline(code: Code) -> str:
    return f"{'warning' if code.warning else 'error'}[{code.id}]"


@pytest.mark.parametrize("code", _examples_below("content/", "series/", "kernels/"), ids=lambda code: code.id)
def test_wrong_example_has_this_mistake_alone_and_right_example_none(
    code: Code, tmp_path: Path, diagnose: Callable[[Path], str]
) -> None:
    for example, expected in ((code.wrong, {headline(code)}), (code.right, set())):
        site = written(tmp_path / str(len(expected)), {**SITE, code.file: completed(code.file, example)})
        Image.new("RGB", (8, 8)).save(site / "content/posts/softmax/plot.png")
        assert headlines(diagnose(site)) == expected


@pytest.mark.parametrize("code", _examples_below("templates/"), ids=lambda code: code.id)
def test_example_of_a_template_is_what_check_says_of_it(
    code: Code, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = written(tmp_path, {**SITE, code.file: code.wrong})
    monkeypatch.chdir(site)
    assert headlines(CliRunner().invoke(main, ["check"]).output) == {headline(code)}


@pytest.mark.parametrize("code", _examples_below("_"), ids=lambda code: code.id)
def test_example_of_the_importer_is_what_it_says(code: Code, tmp_path: Path) -> None:
    for example, expected in ((code.wrong, {headline(code)}), (code.right, set())):
        old = written(tmp_path / f"old{len(expected)}", {**JEKYLL, code.file: completed(code.file, example)})
        new = tmp_path / f"new{len(expected)}"
        assert (
            headlines(CliRunner().invoke(main, ["import", "jekyll", str(old), "--into", str(new)]).output) == expected
        )


# ------------------------------------------------------------------------------------------- sitegen explain


def test_explain_prints_the_entry_of_a_code() -> None:
    result = CliRunner().invoke(main, ["explain", "SG205"])
    assert result.exit_code == 0
    assert result.stdout == as_text(REGISTRY["SG205"]) + "\n"
    assert "SG205 (error): A kernel does not have what the text names" in result.stdout
    assert "    ```{kernel} softmax/fussed" in result.stdout


@pytest.mark.parametrize("written_as", ["sg205", "205", "error[SG205]"])
def test_explain_takes_a_code_as_it_is_typed_or_copied(written_as: str) -> None:
    result = CliRunner().invoke(main, ["explain", written_as])
    assert result.stdout == as_text(REGISTRY["SG205"]) + "\n"


def test_explain_of_an_unknown_code_names_the_nearest_one() -> None:
    result = CliRunner().invoke(main, ["explain", "SG2055"])
    assert result.exit_code == 2
    assert re.search(r"no code `SG2055`: did you mean `SG205`\?", result.stderr)


def test_explain_without_a_code_lists_every_code() -> None:
    result = CliRunner().invoke(main, ["explain"])
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines() if line.startswith("SG")] == list(REGISTRY)
