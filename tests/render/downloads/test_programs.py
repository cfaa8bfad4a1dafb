"""An implementation of a kernel → one file that holds the same code, numbers and launch, and runs anywhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from sitegen.measure.geometry import constants_of, geometry_of, names_of
from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import evaluate
from sitegen.model.kernel import Implementation, Kernel, Language
from sitegen.model.site import Site
from sitegen.pipeline.probe_sources import load_program_parts
from sitegen.read.load import load_site
from sitegen.render.downloads.parts import quoted
from sitegen.render.downloads.programs import program

PARTS = load_program_parts()
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def site() -> Site:
    return load_site(ROOT)[0]


def kernel_of(site: Site, name: str) -> Kernel:
    return next(kernel for kernel in site.kernels if kernel.name == name)


def text_of(site: Site, name: str, implementation: str) -> str:
    kernel = kernel_of(site, name)
    one = next(one for one in kernel.implementations if one.name == implementation)
    return program(kernel, one, site.files, PARTS, "https://example.org/")


def functions_of(text: str) -> dict[str, ast.expr | ast.FunctionDef]:
    """Return the arguments of `Contract(…)` and the functions at the top level, by name."""
    tree = ast.parse(text)
    calls = [node.value for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    contract = next(call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Contract")
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    return {str(keyword.arg): keyword.value for keyword in contract.keywords} | functions


def names(node: ast.AST) -> dict[str, object]:
    """Run a part of a program without torch, and return what it defines."""
    defined: dict[str, object] = {"Launch": dict, "cdiv": lambda a, b: -(-a // b)}
    statement = ast.Assign([ast.Name("value", ast.Store())], node) if isinstance(node, ast.expr) else node
    module = ast.fix_missing_locations(ast.Module([statement], []))  # type: ignore[list-item]
    exec(compile(module, "program", "exec"), defined)
    return defined


@pytest.mark.parametrize("quotes", ["", '"""', "'''", "'''\"\"\"", '"', "'", "\\", '"""\\', "a\r\nb\n"])
def test_a_text_keeps_every_quote_and_backslash(quotes: str) -> None:
    for text in (quotes, f"a{quotes}", f"{quotes}\\n", f"{quotes}a{quotes}"):
        assert ast.literal_eval(quoted(text).removesuffix("[1:]"))[quoted(text).endswith("[1:]") :] == text


@pytest.mark.parametrize(
    ("kernel", "implementation"), [("softmax", "cluster"), ("scan", "lookback"), ("gather", "vectorised")]
)
def test_its_formulas_and_launch_are_those_of_kernel_yaml(site: Site, kernel: str, implementation: str) -> None:
    of = kernel_of(site, kernel)
    one = next(one for one in of.implementations if one.name == implementation)
    found = functions_of(text_of(site, kernel, implementation))
    launch_at, least = names(found["launch_at"])["launch_at"], names(found["least_bytes"])["value"]
    assert callable(launch_at) and callable(least) and one.launch is not None
    for dims in (*of.checks, *(workload.dims for workload in of.workloads)):
        given = names_of(dims, {}, DTYPES["float32"].itemsize)
        constants = constants_of(one.launch.constants, given)
        shape = geometry_of(one.launch, given | constants)
        at = launch_at(**given)
        assert at["constants"] == constants
        for part in ("grid", "block", "cluster"):
            assert (*at.get(part, ()), 1, 1, 1)[:3] == getattr(shape, part)
        assert at["shared"] == shape.shared_bytes
        assert least(**given) == evaluate(of.reads, given) + evaluate(of.writes, given)


def test_it_holds_the_source_as_it_stands_in_the_file(site: Site) -> None:
    for name, implementation, file in [("softmax", "fused", "fused.py"), ("softmax", "naive", "naive.cu")]:
        assert site.files[f"kernels/softmax/{file}"].strip() in text_of(site, name, implementation)


def test_modules_stand_before_those_that_import_them(site: Site) -> None:
    text = text_of(site, "transformer_block", "row_scales")
    embedded = re.findall(r"^embed\('(.+?)'", text, re.MULTILINE)
    assert len(embedded) == len(set(embedded)) > 8
    for at, path in enumerate(embedded):
        imported = re.findall(r"^from (kernels\.\S+) import (\w+)", site.files[path], re.MULTILINE)
        needed = {f"{package.replace('.', '/')}{rest}" for package, word in imported for rest in (".py", f"/{word}.py")}
        assert needed & site.files.keys() <= set(embedded[:at])


def test_an_implementation_that_defines_a_name_of_the_program_becomes_a_module(site: Site) -> None:
    softmax = kernel_of(site, "softmax")
    own = Implementation("own", "kernels/softmax/own.py", Language.TRITON)
    files = dict(site.files) | {own.file: "def cdiv(a, b):\n    return 0\n\n\ndef softmax(x):\n    return x\n"}
    text = program(softmax, own, files, PARTS, "https://example.org/")
    tree = ast.parse(text)
    assert [node.name for node in tree.body if isinstance(node, ast.FunctionDef)].count("cdiv") == 1
    assert "softmax = embed('kernels/softmax/own.py'" in text


def test_a_program_imports_nothing_of_sitegen(site: Site) -> None:
    for kernel in site.kernels:
        for one in kernel.implementations:
            text = program(kernel, one, site.files, PARTS, "https://example.org/")
            assert not re.search(r"^\s*(from|import) sitegen", text, re.MULTILINE), one.file


@pytest.mark.parametrize(("kernel", "implementation"), [("cute_copy", "cute_vector"), ("cute_tma", "cute_swizzled")])
def test_a_program_in_cute_compiles_with_the_headers_of_cute(site: Site, kernel: str, implementation: str) -> None:
    text = text_of(site, kernel, implementation)
    tree = ast.parse(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    call = next(call for call in calls if call.func.id in {"device_call", "host_call"})  # type: ignore[attr-defined]
    function = call.args[-1]
    assert isinstance(function, ast.Name) and function.id == "cutlass_headers"
    assert "def cutlass_headers(" in text
