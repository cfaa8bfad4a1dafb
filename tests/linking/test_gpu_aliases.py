"""A short name of a GPU and its id that are swapped in site.yaml are noticed, and no other pair of names is."""

from __future__ import annotations

import pytest

from sitegen.diagnostics import Span
from sitegen.linking.gpu_aliases import alias_mistakes
from sitegen.model.site import Site, SiteConfig

RECORDS = ("kernels/scale/results/nvidia-h200.json", "kernels/scale/results/a100-sxm4-40gb.json")


def site(alias: str, gpu: str, *gpus: str) -> Site:
    config = SiteConfig("Notes", "https://example.org/", gpus=gpus, gpu_aliases={alias: gpu})
    text = f"gpus: [{', '.join(gpus)}]\ngpu_aliases:\n  {alias}: {gpu}\n"
    return Site(config, files={"content/site.yaml": text})


@pytest.mark.parametrize(
    ("alias", "gpu", "gpus"),
    [
        ("h200", "nvidia-h200", ("nvidia-h200",)),
        ("b200", "nvidia-b200", ()),
        ("jetson-orin", "orin", ()),
        ("nvidia-a100-sxm4-40gb", "a100-sxm4-40gb", ("nvidia-a100-sxm4-40gb",)),
        ("h100", "nvidia-h100", ("h100",)),
    ],
    ids=["as it should be", "no record yet", "a short id", "both are ids", "a short name under gpus"],
)
def test_other_aliases_are_right(alias: str, gpu: str, gpus: tuple[str, ...]) -> None:
    assert list(alias_mistakes(site(alias, gpu, *gpus), RECORDS)) == []


@pytest.mark.parametrize("gpus", [("nvidia-h200",), ()])
def test_the_id_of_a_known_gpu_before_its_short_name_is_marked(gpus: tuple[str, ...]) -> None:
    [found] = alias_mistakes(site("nvidia-h200", "h200", *gpus), RECORDS)
    assert (found.code, found.span) == ("SG214", Span("content/site.yaml", 3, 16, 4))
    assert found.hint == "write `h200: nvidia-h200`"
