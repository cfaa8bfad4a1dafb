"""Properties of the pages that need no browser: HTML, links, ids, feeds, structured data."""

from __future__ import annotations

import json
import posixpath
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import feedparser
import pytest
from selectolax.lexbor import LexborHTMLParser

VNU = Path(__file__).parent / "node_modules/vnu-jar/build/dist/vnu.jar"


@pytest.fixture(scope="module", params=["made", "own", "docs"])
def site(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def parsed(site: Any) -> dict[str, LexborHTMLParser]:
    return {path: LexborHTMLParser((site.folder / path).read_bytes()) for path in site.pages}


def test_every_page_is_valid_html(made: Any, own: Any, docs: Any) -> None:
    command = ["java", "-jar", str(VNU), "--errors-only", "--format", "json", "--skip-non-html"]
    folders = [str(made.folder), str(own.folder), str(docs.folder)]
    found = subprocess.run([*command, *folders], capture_output=True, text=True, check=False, timeout=300)
    messages = json.loads(found.stderr or found.stdout)["messages"]
    errors = [f"{m['url']}:{m.get('lastLine')}: {m['message']}" for m in messages if m["type"] == "error"]
    assert errors == []
    assert found.returncode == 0


def references(page: LexborHTMLParser) -> Iterator[str]:
    for node in page.css("[href], [src]"):
        yield node.attributes.get("href") or node.attributes.get("src") or ""
    for node in page.css("[srcset]"):
        yield from (one.split()[0] for one in (node.attributes["srcset"] or "").split(","))


def test_every_internal_address_leads_to_a_file_and_every_anchor_to_an_id(
    site: Any, parsed: dict[str, LexborHTMLParser]
) -> None:
    ids = {path: {node.attributes["id"] for node in page.css("[id]")} for path, page in parsed.items()}
    files = {file.relative_to(site.folder).as_posix() for file in site.folder.rglob("*") if file.is_file()}
    checked = 0
    for path, page in parsed.items():
        for address in references(page):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            assert path == "404.html" or not parts.path.startswith("/"), f"{path}: {address} holds on one host only"
            inside = unquote(parts.path).removeprefix(site.base) if path == "404.html" else unquote(parts.path)
            found = posixpath.normpath(posixpath.join(posixpath.dirname(path), inside)) if inside else path
            found = "index.html" if found == "." else f"{found}/index.html" if inside.endswith("/") else found
            assert found in files, f"{path}: {address}"
            assert not parts.fragment or unquote(parts.fragment) in ids[found], f"{path}: {address}"
            checked += 1
    assert checked > 10 * len(parsed)


def test_every_id_is_the_only_one_of_its_page(parsed: dict[str, LexborHTMLParser]) -> None:
    for path, page in parsed.items():
        ids = [node.attributes["id"] for node in page.css("[id]")]
        assert sorted(ids) == sorted(set(ids)), path


def test_no_page_loads_anything_from_elsewhere(parsed: dict[str, LexborHTMLParser]) -> None:
    for path, page in parsed.items():
        loaded = [*page.css("[src]"), *page.css("link[rel=stylesheet], link[rel=preload], link[rel=icon]")]
        assert not [n for n in loaded if "//" in (n.attributes.get("src") or n.attributes.get("href") or "")], path
        assert not page.css("[style], style, [onclick]"), path


def test_every_feed_is_one_without_a_fault(site: Any) -> None:
    feeds = sorted(site.folder.rglob("feed.xml"))
    for file in feeds:
        found = feedparser.parse(file.read_bytes())
        assert not found.bozo, (file, found.get("bozo_exception"))
        assert found.entries, file
        assert all(entry.link.startswith("https://example.org/") for entry in found.entries), file
    for file in site.folder.rglob("feed.json"):
        assert json.loads(file.read_text())["items"], file
    assert feeds


def test_data_for_machines_is_json_of_schema_org(parsed: dict[str, LexborHTMLParser]) -> None:
    data = {
        path: [node.text() for node in page.css('script[type="application/ld+json"]')] for path, page in parsed.items()
    }
    made = [json.loads(text) for texts in data.values() for text in texts]
    assert made
    assert all(one["@context"] == "https://schema.org" for one in made)
