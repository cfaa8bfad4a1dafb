"""The cause follows from which elements are wrong, in which experiments."""

import pytest

torch = pytest.importorskip("torch")

from sitegen.measure.diagnosis import Evidence, Trial, diagnose, diagnose_outputs  # noqa: E402
from sitegen.measure.known_mistakes import Alternative, Sum, alternatives_of, incomplete_sums  # noqa: E402
from sitegen.model.exercise import Diagnosis  # noqa: E402

pytestmark = pytest.mark.torch


def trial(dims, got, expected, *, unwritten=None, past_end=0, alternatives=()):
    nothing = torch.zeros_like(got, dtype=torch.bool)
    return Trial(dims, expected, got, nothing if unwritten is None else unwritten, past_end, alternatives)


def right(**dims):
    values = torch.randn(*dims.values(), dtype=torch.float64)
    return trial(dims, values, values)


def test_a_write_behind_the_end_is_an_unmasked_store() -> None:
    values = torch.ones(1500, dtype=torch.float64)
    found = diagnose(Evidence((right(N=1024), trial({"N": 1500}, values, values, past_end=548))))
    assert found.cause == "unmasked_store" and "ends with element 1499" in found.sentence
    assert found.sentence.endswith("up to element 2047: the tail of the last block is not masked in `tl.store`.")
    assert found.evidence == ("right at N=1024",)


def test_one_element_behind_the_end_may_be_a_mask_that_is_true_once_too_often() -> None:
    values = torch.ones(127, dtype=torch.float64)
    found = diagnose(Evidence((trial({"N": 127}, values, values, past_end=1),)))
    assert found.cause == "unmasked_store" and "(`<=` instead of `<`)" in found.sentence


def test_a_missing_row_is_named() -> None:
    expected, rows = torch.ones(13, 5, dtype=torch.float64), torch.zeros(13, 5, dtype=torch.bool)
    rows[12] = True
    found = diagnose(Evidence((trial({"M": 13, "N": 5}, torch.where(rows, 9.0, expected), expected, unwritten=rows),)))
    assert found.cause == "missing_rows" and "row 12 (the last) of 13 was never written" in found.sentence


def test_a_first_row_that_is_missing_is_told_also_where_another_shape_writes_behind_the_end() -> None:
    expected, rows = torch.ones(8, 5, dtype=torch.float64), torch.zeros(8, 5, dtype=torch.bool)
    rows[0] = True
    missing = trial({"M": 8, "N": 5}, torch.where(rows, 9.0, expected), expected, unwritten=rows)
    one = torch.ones(1, 1, dtype=torch.float64)
    behind = trial({"M": 1, "N": 1}, one * 9, one, unwritten=one > 0, past_end=1)
    found = diagnose(Evidence((behind, missing)))
    assert found.cause == "missing_rows" and "program 0 must write row 0" in found.sentence


def test_an_unwritten_rest_is_a_grid_that_was_rounded_down() -> None:
    expected = torch.ones(16411, dtype=torch.float64)
    rest = torch.arange(16411) >= 16384
    found = diagnose(Evidence((trial({"N": 16411}, torch.where(rest, 9.0, expected), expected, unwritten=rest),)))
    assert found.cause == "too_few_programs" and "27 elements from element 16384 on" in found.sentence


@pytest.mark.parametrize(
    ("cause", "words", "written"),
    [
        ("gaps", "767 of 1535 elements were never written", lambda i, size: i % 512 < 256),
        ("last_masked", "leaves it out. Compare with N", lambda i, size: i < size - 1),
        ("short_blocks", "from element 321 on were never written", lambda i, size: i < 320 + size % 2),
        ("short_blocks", "the blocks of all programs together end there", lambda i, size: i < 0.6 * size),
    ],
)
def test_what_was_not_written_of_a_vector_tells_the_mistake(cause, words, written) -> None:
    """Elements of several vectors that a kernel left out, and the cause and words to name."""

    def vector(size):
        index, expected = torch.arange(size), torch.ones(size, dtype=torch.float64)
        missing = ~written(index, size)
        return trial({"N": size}, torch.where(missing, 9.0, expected), expected, unwritten=missing)

    found = diagnose(Evidence((vector(1535), vector(1024))))
    assert found.cause == cause and words in found.sentence


def test_a_tile_that_is_missing_in_a_matrix_leaves_no_gaps_between_blocks() -> None:
    expected, missing = torch.ones(65, 129, dtype=torch.float64), torch.zeros(65, 129, dtype=torch.bool)
    missing[64:], missing[:, 128:] = True, True
    got = torch.where(missing, 9.0, expected)
    found = diagnose(Evidence((trial({"M": 129, "N": 65}, got, expected, unwritten=missing),)))
    assert found.cause == "too_few_programs"


def test_the_same_first_block_at_every_size_is_a_missing_program_id() -> None:
    def first_block(size):
        rest, expected = torch.arange(size) >= 1024, torch.ones(size, dtype=torch.float64)
        return trial({"N": size}, torch.where(rest, 9.0, expected), expected, unwritten=rest)

    found = diagnose(Evidence((right(N=127), first_block(16411), first_block(4096))))
    assert found.cause == "first_block_only" and "elements 0 to 1023" in found.sentence


def test_columns_beyond_the_first_block_are_named() -> None:
    expected = torch.ones(3, 4096, dtype=torch.float64)
    rest = (torch.arange(4096) >= 1024).expand(3, 4096)
    found = diagnose(
        Evidence((trial({"M": 3, "N": 4096}, torch.where(rest, 9.0, expected), expected, unwritten=rest),))
    )
    assert found.cause == "first_block_of_a_row" and "from column 1024" in found.sentence


def test_only_large_inputs_that_fail_are_an_overflow() -> None:
    large = trial({"M": 2, "N": 4}, torch.full((2, 4), torch.nan), torch.ones(2, 4, dtype=torch.float64))
    found = diagnose(Evidence((right(M=2, N=4),), (large,)))
    assert found.cause == "overflow" and "maximum" in found.sentence


def test_large_inputs_that_lose_digits_are_a_cancellation() -> None:
    expected = torch.rand(2, 4, dtype=torch.float64) + 1
    shifted = trial({"M": 2, "N": 4}, expected * 1.01, expected)
    found = diagnose(Evidence((right(M=2, N=4),), (shifted, right(M=3, N=7))))
    assert found.cause == "cancellation" and "before you square" in found.sentence


def test_a_small_error_that_large_inputs_enlarge_at_ragged_shapes_is_a_tail() -> None:
    expected = torch.rand(3, 127, dtype=torch.float64) + 1
    nearly, wrong = (trial({"M": 3, "N": 127}, expected * factor, expected) for factor in (1.001, 3.0))
    plain = (right(M=8, N=128), nearly)
    found = diagnose(Evidence(plain, (right(M=8, N=128), wrong)))
    assert found.cause == "tail_counts" and "right at M=8, N=128 and wrong at M=3, N=127" in found.sentence
    for shifted in ((), (right(M=8, N=128),), (right(M=8, N=128), right(M=3, N=127)), (wrong, wrong)):
        assert diagnose(Evidence(plain, shifted)).cause == "low_precision"


def test_sizes_of_powers_of_two_that_are_right_are_an_unmasked_tail() -> None:
    expected = torch.rand(3, 127, dtype=torch.float64) + 1
    ragged = trial({"M": 3, "N": 127}, torch.rand(3, 127), expected)
    assert diagnose(Evidence((right(M=8, N=128), ragged))).cause == "unmasked_load"
    factor = trial({"M": 3, "N": 127}, expected * 0.9, expected)
    assert diagnose(Evidence((right(M=8, N=128), factor))).cause == "tail_counts"


def test_a_long_block_that_reads_any_numbers_leaves_the_tail_of_a_shorter_one_to_tell_the_cause() -> None:
    expected = torch.rand(3, 127, dtype=torch.float64) + 1
    factor = trial({"M": 3, "N": 127}, expected * 0.9, expected)
    anything = trial({"M": 3, "N": 781}, torch.full((3, 127), torch.nan), expected)
    found = diagnose(Evidence((right(M=8, N=128), factor, anything)))
    assert found.cause == "tail_counts" and "at M=3, N=127 every element of a row is 0.9 ×" in found.sentence


def test_a_size_below_one_block_is_no_whole_block() -> None:
    expected = torch.rand(4, 4, dtype=torch.float64) + 1
    failing = [trial({"M": 4, "N": 4, "K": size}, torch.rand(4, 4), expected) for size in (1, 32, 65)]
    whole = trial({"M": 4, "N": 4, "K": 64}, expected, expected)
    found = diagnose(Evidence((whole, *failing)))
    assert found.cause == "unmasked_load" and "Right at K = 64, wrong at K = 1, 32, 65" in found.sentence


@pytest.mark.parametrize(
    ("cause", "read"),
    [
        ("wrong_stride", lambda a: torch.as_strided(a, (8, 16), (4, 1))),
        ("swapped_indices", lambda a: torch.as_strided(a, (8, 16), (1, 8))),
        ("low_precision", lambda a: a.bfloat16().float()),
    ],
)
def test_the_output_of_a_known_mistake_names_it(cause, read) -> None:
    generator = torch.Generator().manual_seed(0)
    tensors = {"a": torch.randn(8, 16, generator=generator), "b": torch.randn(16, 4, generator=generator)}

    def product(named):
        return named["a"].double() @ named["b"].double()

    expected, sizes = product(tensors), {"M": 8, "N": 4, "K": 16}
    others = tuple(alternatives_of(tensors, sizes, product, expected))
    got = product({**tensors, "a": read(tensors["a"])})
    found = diagnose(Evidence((trial(sizes, got, expected, alternatives=others),)))
    assert found.cause == cause and "`a`" in found.sentence


def test_an_alternative_that_equals_the_right_output_explains_nothing() -> None:
    expected = torch.rand(4, 4, dtype=torch.float64) + 1
    same = Alternative("swapped_indices", "nothing", expected)
    got = expected.clone()
    got[1, 1] = -7
    found = diagnose(Evidence((trial({"M": 4, "N": 4}, got, expected, alternatives=(same,)),)))
    assert found.cause == "missing_rows" and "row 1 of 4" in found.sentence


def test_one_number_that_is_the_sum_of_some_blocks_names_what_was_left_out() -> None:
    x = torch.randn(16411, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    def found(part: torch.Tensor) -> Diagnosis:
        expected = x.sum(dim=0, keepdim=True)
        of = Sum("N", 16411, {"x": 0}, "number")
        others = tuple(incomplete_sums({"x": x}, of, lambda named: named["x"].sum(0, keepdim=True)))
        return diagnose(Evidence((trial({"N": 16411}, part.sum(0, keepdim=True), expected, alternatives=others),)))

    assert found(x[:1024]).cause == "first_block_only" and "the first 1024 numbers" in found(x[:1024]).sentence
    assert found(x[:16384]).cause == "too_few_programs" and "the last 27 numbers" in found(x[:16384]).sentence
    assert found(x[16384:]).cause == "programs_overwrite" and "from 16384 on" in found(x[16384:]).sentence
    assert found(x[5:9]).cause == "unknown"


def test_a_result_that_is_right_only_over_zeros_adds_to_the_output() -> None:
    expected = torch.ones(1, dtype=torch.float64)
    wrong, cleared = trial({"N": 8}, expected * torch.nan, expected), trial({"N": 8}, expected, expected)
    assert diagnose(Evidence((wrong,), cleared=(cleared,))).cause == "adds_to_out"
    assert diagnose(Evidence((wrong,), cleared=(wrong,))).cause == "unknown"


def test_a_result_that_is_nearly_right_everywhere_has_too_few_digits() -> None:
    expected = torch.rand(8, 8, dtype=torch.float64) + 1
    found = diagnose(Evidence((trial({"M": 8, "N": 8, "K": 8}, expected * 1.003, expected),), summed="K"))
    assert found.cause == "low_precision" and "input_precision" in found.sentence
    assert "tl.dot" not in diagnose(Evidence((trial({"M": 8, "N": 8}, expected * 1.003, expected),))).sentence


def test_a_matrix_whose_last_rows_and_columns_are_unwritten_lacks_tiles() -> None:
    expected, missing = torch.ones(129, 257, dtype=torch.float64), torch.zeros(129, 257, dtype=torch.bool)
    missing[128:], missing[:, 256:] = True, True
    one = trial({"M": 129, "N": 257, "K": 8}, torch.where(missing, 9.0, expected), expected, unwritten=missing)
    found = diagnose(Evidence((one,), summed="K"))
    assert found.cause == "missing_tiles" and "row 128 and column 256 of the output" in found.sentence


def test_one_factor_at_every_shape_is_a_sum_that_counts_twice() -> None:
    def twice(size: int) -> Trial:
        expected = torch.full((1,), float(size), dtype=torch.float64)
        return trial({"N": size}, 2 * expected, expected)

    found = diagnose(Evidence((twice(3), twice(5), twice(8)), summed="N"))
    assert found.cause == "wrong_factor" and "every result is 2 × the expected value" in found.sentence
    assert diagnose(Evidence((right(N=3), twice(8)), summed="N")).cause != "wrong_factor"


def test_a_last_column_that_is_missing_at_every_shape_is_a_mask() -> None:
    def short(rows, columns):
        expected = torch.ones(rows, columns, dtype=torch.float64)
        missing = (torch.arange(columns) == columns - 1).expand(rows, columns)
        got = torch.where(missing, 9.0, expected)
        return trial({"M": rows, "N": columns, "K": 8}, got, expected, unwritten=missing)

    found = diagnose(Evidence((short(129, 257), short(3, 127)), summed="K"))
    assert found.cause == "last_masked" and "column 256 at M=129, N=257, K=8" in found.sentence


def test_a_wrong_rectangle_is_a_tile() -> None:
    expected = torch.ones(128, 128, dtype=torch.float64)
    got = expected.clone()
    got[64:, :64] = 2.0
    found = diagnose(Evidence((trial({"M": 128, "N": 128, "K": 8}, got, expected),), summed="K"))
    assert found.cause == "wrong_tile" and "the tile of rows 64 to 127 and columns 0 to 63" in found.sentence


def test_what_no_rule_explains_is_told_by_its_first_element() -> None:
    found = diagnose(
        Evidence((trial({"N": 2}, torch.tensor([1.0, 5.0]), torch.tensor([1.0, 3.0], dtype=torch.float64)),))
    )
    assert found.cause == "unknown" and "Element [1] should be 3 and is 5." in found.sentence


def sums(size, error=0.0):
    expected = torch.full((4,), 8.0, dtype=torch.float64)
    return trial({"M": 4, "N": size}, expected + error, expected)


def test_sums_of_several_blocks_that_are_a_little_wrong_are_no_lack_of_digits_where_one_block_is_right() -> None:
    found = diagnose(Evidence((sums(127), sums(4096), sums(16411, 0.1), sums(20008, 0.1)), summed="N"))
    assert found.cause == "first_block_of_a_row" and "Right up to N=4096, wrong from N=16411" in found.sentence
    assert diagnose(Evidence((sums(127), sums(4096, 0.1)), summed="N")).cause == "low_precision"


def test_sums_that_are_right_at_a_ragged_size_do_not_count_their_tail() -> None:
    masked = Evidence((sums(127), sums(4096), sums(16411, 3.0)), summed="N")
    assert diagnose(masked).cause == "first_block_of_a_row"
    assert diagnose(Evidence((sums(127, 3.0), sums(4096), sums(16411, 3.0)), summed="N")).cause == "unmasked_load"


def test_an_output_in_bfloat16_is_right_but_for_its_roundings() -> None:
    expected = torch.rand(4, 32, dtype=torch.float64) + 1
    rounded = trial({"M": 4, "N": 32}, expected.bfloat16(), expected)
    assert rounded.right and not trial({"M": 4, "N": 32}, (expected * 1.05).bfloat16(), expected).right
    shifted = trial({"M": 4, "N": 32}, -expected.bfloat16(), expected)
    assert diagnose(Evidence((rounded,), (shifted,))).cause == "unknown"


def test_an_output_in_bfloat16_that_is_that_of_a_known_mistake_names_it() -> None:
    expected = torch.rand(4, 32, dtype=torch.float64) + 1
    other = Alternative("wrong_param", "`causal=False`", expected * 2)
    found = diagnose(Evidence((trial({"N": 32}, (expected * 2).bfloat16(), expected, alternatives=(other,)),)))
    assert found.cause == "wrong_param" and "exactly what `causal=False` gives" in found.sentence


def test_a_row_of_one_element_that_is_right_is_no_first_block() -> None:
    expected = torch.rand(3, 64, dtype=torch.float64) + 1
    wrong = trial({"M": 3, "N": 64}, torch.rand(3, 64), expected)
    assert diagnose(Evidence((right(M=3, N=1), wrong))).cause == "unknown"
    assert diagnose(Evidence((right(M=3, N=16), wrong))).cause == "first_block_of_a_row"


def test_an_unwritten_element_and_a_write_behind_the_end_are_places_of_another_shape() -> None:
    values, unwritten = torch.ones(3, 127, dtype=torch.float64), torch.zeros(3, 127, dtype=torch.bool)
    unwritten[0, 5] = True
    found = diagnose(Evidence((trial({"M": 127, "N": 3}, values, values, unwritten=unwritten, past_end=9),)))
    assert found.cause == "wrong_places" and "1 of 381 elements of the output were not written" in found.sentence


def test_a_vector_that_is_written_behind_its_end_alone_has_a_wrong_mask() -> None:
    values, unwritten = torch.ones(127, dtype=torch.float64), torch.ones(127, dtype=torch.bool)
    found = diagnose(Evidence((trial({"N": 127}, values, values, unwritten=unwritten, past_end=896),)))
    assert found.cause == "wrong_places" and "as in `i < N`" in found.sentence
    assert "row" not in found.sentence


def half_transposed(move) -> Diagnosis:
    """Return the diagnosis of a transpose of a 65 × 33 matrix whose output a function computes from the matrix."""
    x = torch.randn(65, 33, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    others = tuple(alternatives_of({"x": x}, {"M": 65, "N": 33}, lambda named: named["x"].t(), x.t()))
    return diagnose(Evidence((trial({"M": 65, "N": 33}, move(x), x.t(), alternatives=others),)))


def test_a_transpose_that_keeps_the_order_or_turns_only_the_places_of_tiles_is_named() -> None:
    copied = half_transposed(lambda x: x.reshape(33, 65))
    assert copied.cause == "swapped_indices" and "copying the numbers in their order" in copied.sentence

    def tiles_of_16(x):
        padded = torch.nn.functional.pad(x, (0, 15, 0, 15))
        made = torch.zeros(48, 80, dtype=torch.float64)
        for r in range(0, 65, 16):
            for c in range(0, 33, 16):
                made[c : c + 16, r : r + 16] = padded[r : r + 16, c : c + 16]
        return made[:33, :65]

    unturned = half_transposed(tiles_of_16)
    assert unturned.cause == "unturned_tile" and "each tile of 16 × 16 numbers" in unturned.sentence


def test_a_sum_that_loses_some_digits_also_with_large_inputs_is_no_tail() -> None:
    expected = torch.rand(3, 127, dtype=torch.float64) + 1
    nearly = trial({"M": 3, "N": 127}, expected * 1.001, expected)
    assert diagnose(Evidence((right(M=8, N=128), nearly), (right(M=8, N=128), nearly))).cause == "low_precision"


@pytest.mark.parametrize(
    ("cause", "words", "read"),
    [
        ("wrong_input", "reading `b` in place of `a`", lambda a, b: b + b),
        ("wrong_sign", "`b` with the opposite sign", lambda a, b: a - b),
        ("wrong_stride", "every second number", lambda a, b: (a + b)[(2 * torch.arange(64)) % 64]),
    ],
)
def test_a_vector_that_is_read_wrongly_is_named(cause, words, read) -> None:
    generator = torch.Generator().manual_seed(0)
    tensors = {name: torch.randn(64, generator=generator) for name in ("a", "b")}

    def add(named):
        return named["a"].double() + named["b"].double()

    others = tuple(alternatives_of(tensors, {"N": 64}, add, add(tensors)))
    got = read(tensors["a"].double(), tensors["b"].double())
    found = diagnose(Evidence((trial({"N": 64}, got, add(tensors), alternatives=others),)))
    assert found.cause == cause and words in found.sentence


@pytest.mark.parametrize(
    ("cause", "words", "move"),
    [
        ("wrong_stride", "a row stride of 16, the length of a block, instead of 13", lambda x: strided(x, 16)),
        ("swapped_indices", "reading and writing with row and column swapped", lambda x: column_by_column(x)),
    ],
)
def test_rows_that_are_read_at_wrong_places_are_named(cause, words, move) -> None:
    x = torch.randn(5, 13, generator=torch.Generator().manual_seed(0))

    def soft(named):
        return named["x"].double().softmax(dim=1)

    others = tuple(alternatives_of({"x": x}, {"M": 5, "N": 13}, soft, soft({"x": x})))
    found = diagnose(Evidence((trial({"M": 5, "N": 13}, move(x), soft({"x": x}), alternatives=others),)))
    assert found.cause == cause and words in found.sentence


def strided(x, stride):
    """Return the softmax of rows that begin at multiples of a stride; behind the end of x stand zeros."""
    flat = torch.cat([x.reshape(-1), torch.zeros(x.shape[0] * stride)])
    return torch.as_strided(flat, x.shape, (stride, 1)).double().softmax(dim=1)


def column_by_column(x):
    rows, columns = x.shape
    return x.reshape(columns, rows).t().double().softmax(dim=1).t().reshape(rows, columns)


def test_an_output_of_zeros_is_not_told_as_an_input_of_zeros() -> None:
    tensors = {"a": torch.randn(8, 16), "b": torch.randn(16, 4)}

    def product(named):
        return named["a"].double() @ named["b"].double()

    expected = product(tensors)
    others = tuple(alternatives_of(tensors, {"M": 8, "N": 4, "K": 16}, product, expected))
    zeros = trial({"M": 8, "N": 4, "K": 16}, torch.zeros(8, 4), expected, alternatives=others)
    assert diagnose(Evidence((zeros,), summed="K")).cause != "unused_input"


@pytest.mark.parametrize(
    ("cause", "words", "places"),
    [
        ("overwritten_sum", "the places of K from 96 on", torch.arange(96, 100)),
        ("skipped_tail", "leaving out the places of K from 96 on", torch.arange(96)),
        ("skipped_part", "only the first 32 of every 64 places of K", torch.arange(100)[torch.arange(100) % 64 < 32]),
        ("counted_twice", "adding 32 places of K at each step of 16", torch.arange(100).repeat_interleave(2)[16:]),
    ],
)
def test_a_loop_that_keeps_skips_or_repeats_blocks_is_named(cause, words, places) -> None:
    generator = torch.Generator().manual_seed(0)
    tensors = {"a": torch.randn(8, 100, generator=generator), "b": torch.randn(100, 4, generator=generator)}

    def product(named):
        return named["a"].double() @ named["b"].double()

    if cause == "counted_twice":  # blocks of 32 at 0, 16, …: all places but the first 16 count twice
        places = torch.cat([torch.arange(start, min(start + 32, 100)) for start in range(0, 100, 16)])
    got = product({"a": tensors["a"][:, places], "b": tensors["b"][places]})
    others = tuple(incomplete_sums(tensors, Sum("K", 100, {"a": 1, "b": 0}, "place of K"), product))
    sizes = {"M": 8, "N": 4, "K": 100}
    found = diagnose(Evidence((trial(sizes, got, product(tensors), alternatives=others),), summed="K"))
    assert found.cause == cause and words in found.sentence


def test_a_single_place_that_is_left_out_has_more_than_one_cause() -> None:
    tensors = {"a": torch.randn(8, 65), "b": torch.randn(65, 4)}

    def product(named):
        return named["a"].double() @ named["b"].double()

    found = incomplete_sums(tensors, Sum("K", 65, {"a": 1, "b": 0}, "place of K"), product)
    assert "skipped_tail" not in {one.cause for one in found}


def test_sums_of_rows_of_which_only_the_last_survives_are_named() -> None:
    x = torch.randn(13, 40, generator=torch.Generator().manual_seed(0))
    others = tuple(incomplete_sums({"x": x}, Sum("M", 13, {"x": 0}, "row"), lambda named: named["x"].double().sum(0)))
    one = trial({"M": 13, "N": 40}, x[12].double(), x.double().sum(0), alternatives=others)
    found = diagnose(Evidence((one,)))
    assert found.cause == "programs_overwrite" and "using only row 12, that of the last program," in found.sentence


def test_an_input_that_is_left_out_is_named() -> None:
    generator = torch.Generator().manual_seed(0)
    tensors = {"x": torch.randn(8, 16, generator=generator), "w": torch.randn(16, generator=generator)}
    expected = tensors["x"].double() * tensors["w"].double()
    others = tuple(
        alternatives_of(tensors, {"M": 8, "N": 16}, lambda named: (named["x"] * named["w"]).double(), expected)
    )
    found = diagnose(Evidence((trial({"M": 8, "N": 16}, tensors["x"].double(), expected, alternatives=others),)))
    assert found.cause == "unused_input" and "an input `w` of ones" in found.sentence


def test_the_first_wrong_output_is_named_beside_the_right_ones() -> None:
    expected = torch.rand(8, dtype=torch.float64) + 1
    wrong = Evidence((trial({"N": 8}, expected + 1, expected),))
    good = Evidence((trial({"N": 8}, expected, expected),))
    found = diagnose_outputs({"dx": good, "dw": wrong, "db": good})
    assert found.sentence.startswith("Of the outputs, `dx` and `db` are right, and `dw` is wrong. At N=8, 8 of 8")
    assert diagnose_outputs({"y": wrong}).sentence.startswith("At N=8, ")
    assert diagnose_outputs({"dx": wrong, "dw": wrong}).sentence.startswith("Of the outputs, `dx` is wrong. At N=8")
    assert diagnose_outputs({"dx": good, "dw": good}).sentence.startswith("The results are right or nearly right")


def test_what_depends_on_the_old_output_is_told_before_nothing_is() -> None:
    expected = torch.rand(3, 8, dtype=torch.float64) + 1
    nothing = torch.zeros(3, 8, dtype=torch.bool)
    changing = Trial({"M": 3, "N": 8}, expected, torch.rand(3, 8), nothing, changing=24)
    found = diagnose(Evidence((changing,)))
    assert found.cause == "depends_on_out" and "24 of 24 elements depend on what `out` held" in found.sentence


def test_results_that_are_right_with_too_few_digits_for_the_gate_have_too_few_digits() -> None:
    expected = torch.rand(8, 8, dtype=torch.float64) + 1
    rounded = trial({"M": 8, "N": 8, "K": 8}, expected * (1 + 5e-5), expected)
    assert rounded.right and diagnose(Evidence((rounded,), summed="K")).cause == "low_precision"
    exact = trial({"M": 8, "N": 8, "K": 8}, expected * (1 + 1e-7), expected)
    assert diagnose(Evidence((exact,), summed="K")).cause == "unknown"
