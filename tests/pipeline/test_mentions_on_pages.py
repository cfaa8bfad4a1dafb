"""On the pages of a built site, a day of the worklog and each page that it is about link to each other."""

import datetime as dt
import posixpath
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from sitegen.pipeline.build import update
from sitegen.write.scaffold import new_site_files

EXERCISE = "---\ntitle: Add in tiles\nkernel: axpy\nsolution: tile\ncounted_at: {N: 8}\n---\nText.\n"
POSTS = {f"part-{n}": f"Part {word} of the story" for n, word in enumerate(("one", "two", "three", "four", "five"))}
TERMS = {"warp": "Warp", "bank": "Bank conflict", "spill": "Spill"}
MENTIONS = {
    **{f"posts/{slug}": f"Again: {title}." for slug, title in POSTS.items()},
    **{f"terms/{slug}": f"Read about {{term}}`{slug}`." for slug in TERMS},
    "kernels/axpy": "axpy is faster now.",
    "exercises/add": "Solved Add in tiles.",
}
"""What a day says, by the page that it mentions; each stands on a day of its own."""


def made(root: Path) -> Path:
    files = {path: str(text) for path, text in new_site_files("K", dt.date(2026, 11, 1)).items() if "axpy" in path}
    files["content/site.yaml"] = "title: K\nbase_url: https://example.org/\n"
    files["content/exercises/add/index.md"] = EXERCISE
    files["content/exercises/add/starter.py"] = "def axpy(x, y, *, alpha):\n    return x\n"
    files |= {
        f"content/posts/{slug}.md": f"---\ntitle: {t}\ndate: 2026-11-01\n---\nText.\n" for slug, t in POSTS.items()
    }
    files |= {f"content/terms/{slug}.md": f"---\ntitle: {title}\n---\nText.\n" for slug, title in TERMS.items()}
    days = (f"{day_of(page)}\n\n{text}\n" for page, text in MENTIONS.items())
    files["content/worklog/diary.md"] = "\n".join(days)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    result = update(root, root / "public", as_of=dt.date(2026, 11, 30), processes=1)
    assert not result.failed, result.report
    return root / "public"


def day_of(page: str) -> str:
    return f"2026-11-{11 + list(MENTIONS).index(page)}"


def links(public: Path, page: str, place: str = "main") -> set[str]:
    """Return the pages that a part of a page links to."""
    tree = LexborHTMLParser((public / page / "index.html").read_bytes())
    hrefs = [link.attributes["href"] or "" for link in tree.css(f"{place} a[href]")]
    return {posixpath.normpath(f"{page}/{href}") for href in hrefs}


def test_ten_mentions_link_both_ways(tmp_path: Path) -> None:
    public, found = made(tmp_path), {}
    for page in MENTIONS:
        day = f"worklog/{day_of(page)}"
        about = links(public, day, "section[aria-label=About]")
        back = {link for link in links(public, page) if link.startswith("worklog/2026-")}
        found[page] = (page in about, back)
    assert found == {page: (True, {f"worklog/{day_of(page)}"}) for page in MENTIONS}
    assert len(found) == 10
