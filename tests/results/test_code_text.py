"""The code of a text is the text without its comments and docstrings, and with everything else."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sitegen.results.code_text import code_of

CUDA_SAME = {
    "a line comment": ("int x = 1;  // old\n", "int x = 1;\n"),
    "a comment on lines of its own": ("// a\n// b\n\nint x;\n", "int x;\n"),
    "a block over several lines": ("int x;\n/* a\n * b\n */\nint y;\n", "int x;\n\n\nint y;\n"),
    "a comment between tokens": ("int/* a */x;", "int x;"),
    "a comment that hides a string": ('f(); // "//"\n', "f();\n"),
    "a comment that hides a quote": ("f(); /* don't \" */\n", "f();\n"),
    "a comment behind a quote": ("char c = '\"'; // old \"\n", "char c = '\"';\n"),
    "a comment behind a separator of digits": ("int x = 1'000; // it's\n", "int x = 1'000;\n"),
    "a comment that a backslash continues": ("f(); // a \\\n b\ng();\n", "f();\ng();\n"),
    "a comment within a directive": ("#define A 1 /* a\n b */ + 2\n", "#define A 1   + 2\n"),
    "the mark of a listing": ("// region: core\nf();\n", "f();\n"),
    "a comment that opens no comment": ("// /* a\nf();\n", "// b\nf();\n"),
}
CUDA_OTHER = {
    "a token before a comment": ("int x = 1;  // the same", "int x = 2;  // the same"),
    "a string with the mark of a comment": ('f("// a");', 'f("// b");'),
    "a string behind an escaped quote": (r'f("\" // a");', r'f("\" // b");'),
    "a raw string": ('f(R"(" // a)");', 'f(R"(" // b)");'),
    "a raw string with a tag": ('f(R"x()" /* a */ )x");', 'f(R"x()" /* b */ )x");'),
    "a blank line within a raw string": ('f(R"(a\n\nb)");', 'f(R"(a\nb)");'),
    "blanks within a string that goes on": ('f("a  \\\nb");', 'f("a \\\nb");'),
    "no comment behind a name that ends in R": ('fooR"(" + a + ")";', 'fooR"(" + b + ")";'),
    "a header": ("#include <a/b> // a\n", "#include <a/c> // a\n"),
    "a pragma": ("#pragma unroll\n", "#pragma unroll 4\n"),
    "a line that a macro no longer has": ("#define A x \\\n\nint y;\n", "#define A x \\\nint y;\n"),
    "code that a comment swallows": ("f(); // a \\\ng();\n", "f(); // a\ng();\n"),
    "two tokens and one": ("a/**/b", "ab"),
    "a division": ("x = a / *b;", "x = a / *c;"),
}
PYTHON_SAME = {
    "a comment": ("x = 1  # old\n", "x = 1\n"),
    "docstrings": (
        '"""Old."""\nclass A:\n    """Old."""\n    def f(self):\n        """Old.\n\n        More"""\n        return 1',
        '"""New."""\nclass A:\n    def f(self):\n        """é"""\n        return 1',
    ),
    "a text below a constant": ('x = 1\n"""a"""\n', 'x = 1\n"""b\n\nc"""\n'),
    "a docstring behind letters of two bytes": ('def é(): "old"; x = "é"\n', 'def é(): "new"; x = "é"\n'),
    "a comment behind an f-string with a #": ('f"#{x:#x}"  # old\n', 'f"#{x:#x}"\n'),
    "a comment with the end of a string": ("x = 1  # '''\n", "x = 1\n"),
    "notes for other tools": ("x = f()  # type: ignore  # noqa\n", "x = f()\n"),
    "a nested field": ("f'{x:{w}} {{#}}'  # a\n", "f'{x:{w}} {{#}}'  # b\n"),
}
PYTHON_OTHER = {
    "a token before a comment": ("x = 1  # the same\n", "x = 2  # the same\n"),
    "a text that is used": ('x = """a"""\n', 'x = """b"""\n'),
    "a text alone in a block, and the line behind it": ('if x:\n    "a"\ny()\n', 'if x:\n    "a"\n    y()\n'),
    "a text that is returned": ('def f():\n    return ("a")\n', 'def f():\n    return ("b")\n'),
    "a blank line within a text": ('x = """a\n\nb"""\n', 'x = """a\nb"""\n'),
    "blanks at an end of line within a text": ('x = """a \nb"""\n', 'x = """a\nb"""\n'),
    "a # within a string": ("x = 'a # b'\n", "x = 'a # c'\n"),
    "a # within an f-string": ("x = f'{y} # b'\n", "x = f'{y} # c'\n"),
    "a # within the format of an f-string": ("x = f'{y:#b}'\n", "x = f'{y:#x}'\n"),
    "an f-string where a docstring would be": ("def f():\n    f'a'\n", "def f():\n    f'b'\n"),
    "a deeper line": ("if x:\n    f()\n    g()\n", "if x:\n    f()\ng()\n"),
    "a line that ends a joined line": ("x = 1 \\\n\n-y\n", "x = 1 \\\n-y\n"),
    "the encoding": ("# coding: utf-8\nx = 1\n", "# coding: latin-1\nx = 1\n"),
}


def pairs(several):
    return pytest.mark.parametrize(("one", "other"), several.values(), ids=several.keys())


@pairs(CUDA_SAME)
def test_comments_of_cuda_are_no_code(one, other):
    assert code_of("a.cu", one) == code_of("a.cu", other)


@pairs(CUDA_OTHER)
def test_everything_else_of_cuda_is_code(one, other):
    assert code_of("a.cu", one) != code_of("a.cu", other)


@pairs(PYTHON_SAME)
def test_comments_and_docstrings_of_python_are_no_code(one, other):
    assert code_of("a.py", one) == code_of("a.py", other)


@pairs(PYTHON_OTHER)
def test_everything_else_of_python_is_code(one, other):
    assert code_of("a.py", one) != code_of("a.py", other)


UNREADABLE = {
    "an open string": ("a.cu", 'f("a); // b\n'),
    "an open raw string": ("a.cu", 'R"x(a)y" // b\n'),
    "an open comment": ("a.cu", "f(); /* a\n"),
    "the mark of a comment in the name of a header": ("a.cu", "#include <a//b>\nf(); // c\n"),
    "the same behind a comment": ("a.cu", "#if /* a */ __has_include(<a/*b>)\n"),
    "an R that may belong to the string before": ("a.cu", 'f("s"R"(a)"); // b\n'),
    "an apostrophe in a message": ("a.cu", "#error don't // b\n"),
    "a mark of a comment on two lines": ("a.cu", "f(); /\\\n/ a\n"),
    "the end of a comment on two lines": ("a.cu", "/* a *\\\n/ f(); /* b */\n"),
    "blanks behind a backslash": ("a.cu", "// a \\ \nf();\n"),
    "a trigraph": ("a.cu", "// a ??/\nf();\n"),
    "the number of its line": ("a.cu", "f(__LINE__); // a\n"),
    "no Python": ("a.py", "def f(:  # a\n"),
    "an open text": ("a.py", "x = '''  # a\n"),
    "its docstring": ("a.py", '"""a"""\nprint(__doc__)\n'),
    "its text": ("a.py", "# a\nprint(inspect.getsource(f))\n"),
    "an f-string in an f-string with the same quotes": ("a.py", "x = f'{d['a']}'  # b\n"),
    "a comment within an f-string": ("a.py", "x = f'''{(1,  # b\n)}'''  # c\n"),
    "a # in a string in an f-string": ("a.py", "x = f'{d[\"a:#\"]}'  # b\n"),
    "a backslash within an f-string": ("a.py", "x = f'{\"\\n\"}'  # b\n"),
    "three levels in an f-string": ("a.py", "x = f'{a:{b:{c}}}'  # b\n"),
    "a parameter of types": ("a.py", "def f[T](x: T): ...  # b\n"),
    "a byte that ends a text": ("a.py", "x = 1\0  # b\n"),
}


@pytest.mark.parametrize(("path", "text"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_text_that_cannot_be_read_with_certainty_is_its_own_code(path, text):
    assert code_of(path, text) == text


def test_the_sources_of_this_repository_can_be_read():
    kernels = Path(__file__).parents[2] / "kernels"
    sources = [path for end in ("py", "cu", "cuh") for path in kernels.glob(f"*/**/*.{end}")]
    texts = {path.name: path.read_text() for path in sources}
    assert texts and [name for name, text in texts.items() if code_of(name, text) == text and "\n\n" in text] == []


@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
def test_another_version_of_python_finds_the_same_code(version, tmp_path):
    """The module runs there on its own, with what it imports from sitegen written out."""
    other = shutil.which(f"python{version}")
    if other is None or subprocess.run([other, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"there is no Python {version}")
    texts = [*(t for two in (*PYTHON_SAME.values(), *PYTHON_OTHER.values()) for t in two)]
    texts += [text for path, text in UNREADABLE.values() if path == "a.py"]
    module = Path(sys.modules[code_of.__module__].__file__ or "").read_text()
    errors = "NOT_PARSED = (SyntaxError, ValueError, MemoryError, RecursionError)"
    (tmp_path / "alone.py").write_text(module.replace("from sitegen.read.python import NOT_PARSED", errors))
    program = f"from alone import code_of\nprint(ascii([code_of('a.py', text) for text in {texts!a}]))"
    said = subprocess.run([other, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said.strip() == ascii([code_of("a.py", text) for text in texts])
