"""A build's cache comes back as it was on every Python that may read it, and brings no code."""

import datetime as dt
import os
import pickle
import zoneinfo

import pytest

from sitegen.markup.parse import parse_document
from sitegen.model.kernel import Status
from sitegen.model.site import Markdown
from sitegen.write.cache import pack, unpack


def test_a_choice_comes_back_also_where_python_would_fetch_it_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's Python 3.11.2 fetches an Enum by name with `getattr`, which is no part of the model."""
    monkeypatch.setattr(Status, "__reduce_ex__", lambda self, protocol: (getattr, (Status, self.name)))
    assert unpack(pack((Status.RACE, {"best": Status.PASSED}))) == (Status.RACE, {"best": Status.PASSED})


def test_a_pickle_that_calls_something_else_is_refused() -> None:
    class Harmful:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, ("true",)

    with pytest.raises(pickle.UnpicklingError, match="no class of the model"):
        unpack(pickle.dumps(Harmful()))


def test_texts_days_and_zones_come_back() -> None:
    value = (Markdown("a.md", "Text.", 3), dt.datetime(2026, 11, 22, tzinfo=zoneinfo.ZoneInfo("Asia/Seoul")))
    assert unpack(pack(value)) == value


def test_a_document_with_a_question_comes_back() -> None:
    document, _ = parse_document(Markdown("a.md", "```{quiz} Why?\n:answer: So.\n```\n", 1))
    assert unpack(pack(document)).kept == document.kept
