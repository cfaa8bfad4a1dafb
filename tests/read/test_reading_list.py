"""Each address of a worklog is one link, with its best title, its notes, and how far it was read."""

import pytest

from sitegen.read.reading_list import Reading, canonical, reading_list
from sitegen.read.worklog import parse_worklog

LOG = "content/worklog/log.md"
DIARY = """2026-11-20

[https://example.org/matmul](https://example.org/matmul); Read till PTX code;
- [ ] [Rings](https://example.org/rings)
[https://example.org/swapped](Swapped (updated))

```
https://example.org/code
```

2026-11-21

- [Inside matmul](http://www.Example.org/matmul/?utm_source=x#part) finished
  - warps are lanes
  - https://example.org/other and [more](https://example.org/more)
- https://video.example.org/watch?v=a and https://video.example.org/watch?v=b
[A post](/posts/a/)
"""


def test_each_address_is_one_link_whatever_its_spelling() -> None:
    found = {item.url: item for item in reading_list(parse_worklog({LOG: DIARY})[0])}
    host = "https://example.org"
    assert found.keys() == {
        *(f"{host}/{name}" for name in ("matmul", "rings", "swapped", "other", "more")),
        *(f"https://video.example.org/watch?v={video}" for video in "ab"),
    }
    matmul = found[f"{host}/matmul"]
    assert (matmul.title, [day.day for day in matmul.dates]) == ("Inside matmul", [20, 21])
    assert [note.text for note in matmul.notes] == ["Read till PTX code", "finished", "warps are lanes"]
    assert matmul.reading is Reading.READ
    assert (found[f"{host}/rings"].title, found[f"{host}/rings"].reading) == ("Rings", Reading.TO_READ)
    assert found[f"{host}/swapped"].title == "Swapped (updated)"
    assert found[f"{host}/other"].reading is Reading.UNSAID and found[f"{host}/other"].title == ""


@pytest.mark.parametrize(
    ("words", "reading"),
    [
        ("; Read till PTX code;", Reading.READING),
        (" - want to later see it", Reading.TO_READ),
        (" - Done", Reading.READ),
        (" - Glossed over", Reading.READING),
        (" (Done, notes pending)", Reading.READING),
        (" -> Tmr;", Reading.TO_READ),
        (" has a section on readers", Reading.UNSAID),
    ],
)
def test_the_words_beside_a_link_say_how_far_it_was_read(words: str, reading: Reading) -> None:
    [item] = reading_list(parse_worklog({LOG: f"2026-11-20\n\n[A](https://example.org/a){words}\n"})[0])
    assert item.reading is reading


def test_an_address_keeps_what_makes_it_another() -> None:
    assert canonical("http://www.example.org/a/") == canonical("https://EXAMPLE.org/a?fbclid=1#b") == "example.org/a"
    assert canonical("https://example.org/A?v=1") != canonical("https://example.org/a?v=1")
