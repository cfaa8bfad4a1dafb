"""The hint for a dead link comes from thousands of addresses at once."""

import time

import pytest

from sitegen.linking.near_addresses import MOST, near_addresses

NAMES = [f"content/posts/about-{number}-things/index.md" for number in range(5_000)]


@pytest.mark.parametrize("word", ["content/posts/sofmtax.md", "content/softmax.md", "softmax", "/softmax/"])
def test_address_that_is_written_with_a_slip_is_among_the_best(word: str) -> None:
    index = near_addresses([*NAMES, "content/posts/softmax.md"])
    assert "content/posts/softmax.md" in index.near(word)


def test_few_addresses_are_all_compared() -> None:
    assert near_addresses(["b", "a", "b"]).near("zzz") == ["a", "b"]
    assert near_addresses([]).near("x") == []


def test_thousands_of_dead_links_take_seconds() -> None:
    index, began = near_addresses(NAMES), time.monotonic()
    for number in range(2_000):
        assert len(index.near(f"content/about-{number}-thing.md")) <= MOST
    assert time.monotonic() - began < 10
