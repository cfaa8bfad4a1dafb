"""Properties of jobs that follow from their fields."""

from __future__ import annotations

from sitegen.model.job import RejectJob
from sitegen.model.kernel import Implementation, Kernel, Language


def test_a_wrong_variant_of_one_dtype_is_judged_in_that_one_and_others_in_the_kernels_first():
    kernel = Kernel("product", "", (), (), (), ("bfloat16", "float32"), "0", "0", "0", {}, (), (), (), ())
    job = RejectJob("product/wrong", kernel, "bfloat16", {}, {})
    assert job.dtype_of(Implementation("as_tf32", "as_tf32.py", Language.TRITON, dtypes=("float32",))) == "float32"
    assert job.dtype_of(Implementation("moves", "moves.py", Language.TRITON)) == "bfloat16"
