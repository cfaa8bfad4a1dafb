"""A room imports only rooms before it, and heavy packages are imported only by their own rooms."""

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = (
    "diagnostics",
    "codes",
    "inside",
    "model",
    "read",
    "highlight",
    "markup",
    "results",
    "linking",
    "render",
    "write",
    "importing",
    "measure",
    "execute",
    "serve",
    "pipeline",
    "editor",
    "cli",
)
HEAVY = {"torch", "triton", "cuda", "cupy", "numpy"}
MEASURE_MAY = {"diagnostics", "inside", "model", "measure"}
"""Packages that `measure` may import: a GPU machine needs neither pydantic nor YAML."""


def imported(node: ast.AST, package: list[str]) -> Iterator[str]:
    """Return the dotted names that a statement may load; relative names are resolved against the file's package."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else []
        yield from (".".join([*base, *filter(None, [node.module]), alias.name]) for alias in node.names)


def wrong_imports(root: Path) -> list[str]:
    """Yield each import that goes against the order of the rooms, as `file:line imports name`."""
    return [
        f"{file.relative_to(root)}:{node.lineno} imports {name}"
        for file in sorted((root / "sitegen").rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for name in imported(node, list(file.relative_to(root).parent.parts))
        if not allowed(file.relative_to(root / "sitegen").parts[0].removesuffix(".py"), name)
    ]


def allowed(room: str, name: str) -> bool:
    top, _, rest = name.partition(".")
    if top in HEAVY:
        return room == "measure"
    other = rest.partition(".")[0]
    if top != "sitegen" or other not in ROOMS or room == "__main__":
        return True
    if room == "measure":
        return other in MEASURE_MAY
    return other in ROOMS[: ROOMS.index(room) + 1] and (room, other) != ("execute", "measure")


def test_every_import_follows_the_order_of_the_rooms() -> None:
    assert wrong_imports(ROOT) == []


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("model/site.py", "from sitegen.read import front_matter", "sitegen.read.front_matter"),
        ("model/site.py", "from ..pipeline import build_site", "sitegen.pipeline.build_site"),
        ("read/site.py", "def f():\n    import sitegen.cli", "sitegen.cli"),
        ("execute/worker.py", "from sitegen import measure", "sitegen.measure"),
        ("measure/job.py", "from sitegen.results.store import load", "sitegen.results.store.load"),
        ("render/chart.py", "import numpy as np", "numpy"),
        ("execute/cuda.py", "from cuda.core import Device", "cuda.core.Device"),
    ],
)
def test_import_against_the_order_is_found(tmp_path: Path, file: str, text: str, name: str) -> None:
    module = tmp_path / "sitegen" / file
    module.parent.mkdir(parents=True)
    module.write_text(text)
    assert [found.split(" imports ")[1] for found in wrong_imports(tmp_path)] == [name]


def modules(root: Path) -> dict[str, Path]:
    """Return every module of the program by its dotted name."""
    files = (root / "sitegen").rglob("*.py")
    return {".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


def import_graph(root: Path) -> dict[str, set[str]]:
    """Return the modules that each module imports, at any place in it, also for types only."""
    known = modules(root)

    def names(file: Path) -> Iterator[str]:
        package = list(file.relative_to(root).parent.parts)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for name in imported(node, package):
                yield name if name in known else name.rpartition(".")[0]

    return {module: {name for name in names(file) if name in known} - {module} for module, file in known.items()}


def circles(root: Path) -> list[list[str]]:
    """Return each group of modules that import each other, directly or through others."""
    graph = import_graph(root)

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        ahead = list(graph[start])
        while ahead:
            if (module := ahead.pop()) not in seen:
                seen.add(module)
                ahead += graph[module]
        return seen

    reach = {module: reached(module) for module in graph}
    groups = {tuple(sorted(m for m in reach[module] if module in reach[m])) for module in graph}
    return [list(group) for group in sorted(groups) if group]


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(ROOT) == []


FOLDERS_OF_RENDER = (
    "inputs",
    "shared",
    "figures",
    "downloads",
    "measurements",
    "texts",
    "pages",
    "outputs",
    "rules",
    "render_site",
)
"""Folders of `render` in order: each imports only those before it.

`rules` name the functions that print a page by strings, because these are imported late.
"""


def test_the_folders_of_render_import_one_way() -> None:
    def folder(module: str) -> int:
        return FOLDERS_OF_RENDER.index(module.split(".")[2])

    graph = {a: {b for b in targets if in_folder_of_render(b)} for a, targets in import_graph(ROOT).items()}
    backwards = [
        f"{a} imports {b}" for a in filter(in_folder_of_render, graph) for b in graph[a] if folder(b) > folder(a)
    ]
    assert backwards == []


def in_folder_of_render(module: str) -> bool:
    return module.startswith("sitegen.render.")


def test_a_circle_is_found_also_when_a_function_imports(tmp_path: Path) -> None:
    for name, text in {
        "a": "from sitegen import b",
        "b": "def f():\n    from sitegen.c import x",
        "c": "import sitegen.a",
        "d": "import sitegen.a",
    }.items():
        (tmp_path / "sitegen").mkdir(exist_ok=True)
        (tmp_path / "sitegen" / f"{name}.py").write_text(text)
    assert circles(tmp_path) == [["sitegen.a", "sitegen.b", "sitegen.c"]]


def test_every_room_of_the_program_is_in_the_order() -> None:
    found = {
        path.stem for path in (ROOT / "sitegen").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert found - {"__init__", "__main__"} <= set(ROOMS)


def test_tests_stand_in_the_rooms_of_the_program() -> None:
    others = {"attacks", "kernels", "planted", "plugins", "sites", "sites_invalid", "web", "gpu", "benchmarks"}
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and not path.name.startswith("__")}
    assert folders - others <= set(ROOMS)
    assert not list((ROOT / "tests").rglob("__init__.py"))


@pytest.mark.parametrize(
    "kernel", sorted((ROOT / "kernels").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT))
)
def test_kernel_file_can_be_copied_and_run_without_sitegen(kernel: Path) -> None:
    names = {name.partition(".")[0] for node in ast.walk(ast.parse(kernel.read_text())) for name in imported(node, [])}
    assert "sitegen" not in names


def test_no_folder_of_tests_has_a_name_that_pytest_passes_over(request: pytest.FixtureRequest) -> None:
    passed_over = request.config.getini("norecursedirs")
    folders = {test.parent.name for test in (ROOT / "tests").rglob("test_*.py") if "node_modules" not in test.parts}
    assert "pipeline" in folders
    assert not [folder for folder in folders if any(fnmatch(folder, pattern) for pattern in passed_over)]
