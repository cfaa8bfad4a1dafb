"""The constants that `--set` finds in an implementation, and the candidates that it makes of them."""

from __future__ import annotations

import pytest

from sitegen.execute.try_constants import (
    UnknownConstant,
    combinations,
    constants_in,
    literal_blocks,
    parse_settings,
    unused_constants,
    with_constants,
)
from sitegen.model.kernel import Implementation, Language, Launch

CUDA = "// two constants\n#define UNROLL 2\nconstexpr int STAGES = 3;\nconstexpr int BYTES = 4 * STAGES;\n"
PYTHON = '''"""é"""
ROWS = 4
WIDTH = tl.constexpr(64)
NAME = "x"
def f(x):
    ü = 1; k[(ü,)](x, BLOCK=next_power(x), num_warps=8)
'''
OF_CUDA = Implementation(
    "vec", "kernels/add/vec.cu", Language.CUDA, Launch("e", ("N",), ("T",), constants={"T": "256"})
)
OF_TRITON = Implementation("tile", "kernels/add/tile.py", Language.TRITON)


def test_constants_are_those_of_the_launch_and_the_numbers_of_the_source():
    assert constants_in(OF_CUDA, CUDA) == ("T", "UNROLL", "STAGES")
    assert constants_in(OF_TRITON, PYTHON) == ("ROWS", "WIDTH", "BLOCK", "num_warps")


def test_a_constant_of_the_launch_changes_the_launch_and_not_the_source():
    made = with_constants(OF_CUDA, CUDA, {"T": "512"})
    assert made.launch is not None
    assert (dict(made.launch.constants), made.source) == ({"T": "512"}, "")


def test_constants_of_a_cuda_file_are_replaced_in_it():
    made = with_constants(OF_CUDA, CUDA, {"STAGES": "8", "UNROLL": "4"})
    assert made.source == CUDA.replace("UNROLL 2", "UNROLL 4").replace("STAGES = 3", "STAGES = 8")
    assert made.line == 1


def test_constants_of_a_triton_file_are_replaced_in_it_also_behind_letters_of_several_bytes():
    made = with_constants(OF_TRITON, PYTHON, {"WIDTH": "128", "BLOCK": "32", "num_warps": "4", "ROWS": "16"})
    expected = (
        PYTHON.replace("(64)", "(128)").replace("next_power(x)", "32").replace("=8", "=4").replace("= 4\n", "= 16\n")
    )
    assert made.source == expected


@pytest.mark.parametrize(
    ("launch", "names", "warned"),
    [
        (Launch("e", ("N",), ("256",), constants={"T": "256"}), ["T"], 1),
        (Launch("e", ("N",), ("256",), constants={"T": "128"}), ["T"], 0),
        (Launch("e", ("cdiv(N, T)",), ("256",), constants={"T": "256"}), ["T"], 0),
        (Launch("e", ("N",), ("T",), constants={"T": "256"}), ["T"], 0),
        (Launch("e", ("N",), ("2",)), ["UNROLL"], 1),
        (None, ["ROWS"], 0),
    ],
)
def test_a_number_in_block_that_equals_a_constant_is_said_not_to_follow_it(launch, names, warned):
    implementation = Implementation("vec", "kernels/add/vec.cu", Language.CUDA, launch)
    assert len(list(literal_blocks(implementation, CUDA, names))) == warned


@pytest.mark.parametrize(
    ("launch", "text", "unused"),
    [
        (Launch("e", ("N",), ("256",), constants={"T": "256"}), "int a;", 1),
        (Launch("e", ("N",), ("256",), constants={"T": "256"}), "int a = T;", 0),
        (Launch("e", ("N",), ("256",), constants={"T": "256"}), "int THREADS_T;", 1),
        (Launch("e", ("N",), ("T",), constants={"T": "256"}), "", 0),
        (Launch("e", ("N",), ("256",), args=("T",), constants={"T": "256"}), "", 0),
        (Launch("e", ("N",), ("U",), constants={"T": "256", "U": "2 * T"}), "", 0),
    ],
)
def test_a_constant_that_neither_the_code_nor_the_launch_uses_changes_nothing(launch, text, unused):
    implementation = Implementation("vec", "kernels/add/vec.cu", Language.CUDA, launch)
    assert len(list(unused_constants(implementation, [text], ["T", "other"]))) == unused


def test_an_unknown_constant_names_the_near_one_and_all_others():
    with pytest.raises(UnknownConstant, match=r"no constant `num_warp`; did you mean `num_warps`\?.*`ROWS`, `WIDTH`"):
        with_constants(OF_TRITON, PYTHON, {"num_warp": "4"})


@pytest.mark.parametrize("word", ["THREADS", "THREADS=", "THREADS=a", "THREADS=1,,2"])
def test_a_setting_without_numbers_is_refused(word):
    with pytest.raises(UnknownConstant, match="is not of the form"):
        parse_settings([word])


def test_every_combination_is_made_once():
    made = combinations(parse_settings(["A=1,2", "B=3,4"]))
    assert made == [{"A": a, "B": b} for a in "12" for b in "34"]
    assert combinations({}) == [{}]
