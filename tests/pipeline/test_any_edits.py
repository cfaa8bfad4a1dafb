"""After any series of edits the output is, byte for byte, that of a clean build of the site."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from sitegen.pipeline.build import update
from sitegen.pipeline.in_memory import build_in_memory
from sitegen.pipeline.preview import PreviewSite
from sitegen.pipeline.print_pages import KEPT_TEXTS
from sitegen.pipeline.user_cache import cache_of_site

WORDS = st.sampled_from(["bank", "tile", "warp", "a longer *sentence* with `code`", "$x^2$", "[home](/)"])
FEW, MANY = 6, 50
"""Numbers of posts of the site: in the ordinary suite, and when many sequences are tried."""
NUMBERS = st.integers(0, MANY - 1)
"""Numbers of posts to edit; a site of fewer posts takes the remainder."""
FRONT = st.sampled_from(
    [
        "draft: true\n",
        "updated: 2026-11-20\n",
        "description: In one sentence.\n",
        "aliases: [/old/]\n",
        "permalink: /kept/\n",
        "kernels: [vector_add]\n",
        "lang: ko\n",
        "category: Foundations\n",
        "category: foundations\nlang: ko\n",
        "discuss: https://example.org/1\n",
    ]
)
CONFIG = st.sampled_from(
    [
        *("language: ko", "timezone: Asia/Seoul", "gpus: []", "entry_points: []", "titel: x"),
        *("twins: true", "feeds: [tags, series, worklog]", "cards: true", "whole_series: true", "search: true"),
        "search: true\ntwins: true",
    ]
)


class Edits(RuleBasedStateMachine):
    def __init__(self, fifty: SimpleNamespace, posts: int) -> None:
        super().__init__()
        self.fifty, self.posts = fifty, posts

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.root = self.fifty.make(self.folder / "site", self.posts, every_record=self.posts == MANY)
        self.day = dt.date(2026, 11, 21)
        self.compare()

    def post(self, number: int, **more: str) -> str:
        return str(self.fifty.post(number % self.posts, **more, posts=self.posts))

    def path(self, number: int, name: str = "post") -> str:
        return f"content/posts/{name}-{number % self.posts:02}.md"

    def write(self, path: str, text: str) -> None:
        self.fifty.write(self.root, path, text)

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def compare(self) -> None:
        output = self.root / "public"
        before = self.fifty.tree(output)
        result = update(self.root, output, as_of=self.day, processes=1)
        clean = build_in_memory(self.root, as_of=self.day)
        assert result.failed == clean.failed, result.report
        if result.failed:
            assert self.fifty.tree(output) == before
        else:
            whole = {p: c.encode() if isinstance(c, str) else c for p, c in clean.files.items()}
            now = self.fifty.tree(output)
            whole |= self.search_files() if "search/pages.json" in now else {}
            assert now.keys() == whole.keys()
            assert [path for path in now if now[path] != whole[path]] == []

    def search_files(self) -> dict[str, bytes]:
        """Return the index of search and its texts, of which a build in memory has none, from a build from nothing."""
        clean = self.folder / "clean"
        shutil.rmtree(clean, ignore_errors=True)
        update(self.root, clean, as_of=self.day, processes=1)
        return {path: data for path, data in self.fifty.tree(clean).items() if path.startswith("search/")}

    @rule(number=NUMBERS, words=WORDS)
    def edit_prose(self, number: int, words: str) -> None:
        self.write(self.path(number), self.post(number, more=words))
        self.compare()

    @rule(number=NUMBERS, words=WORDS)
    def edit_title(self, number: int, words: str) -> None:
        self.write(self.path(number), self.post(number, title=f'"{words} {number}"'))
        self.compare()

    @rule(number=NUMBERS, front=FRONT)
    def edit_front_matter(self, number: int, front: str) -> None:
        self.write(self.path(number), self.post(number, front=front))
        self.compare()

    @rule(number=NUMBERS, date=st.dates(dt.date(2026, 1, 1), dt.date(2026, 12, 31)))
    def edit_date(self, number: int, date: dt.date) -> None:
        text = self.post(number).replace("date: ", f"date: {date.isoformat()} # ", 1)
        self.write(self.path(number), text)
        self.compare()

    @rule(number=NUMBERS, to=NUMBERS, anchor=st.sampled_from(["", "#a-part", "#nowhere"]))
    def link(self, number: int, to: int, anchor: str) -> None:
        more = f"[there](../posts/post-{to % self.posts:02}.md{anchor})"
        self.write(self.path(number), self.post(number, more=more))
        self.compare()

    @rule(number=NUMBERS)
    def delete_post(self, number: int) -> None:
        (self.root / self.path(number)).unlink(missing_ok=True)
        before = self.path(number - 1)  # which links to it
        self.write(before, self.post(number - 1).replace("[the next]", "next: "))
        self.compare()

    @rule(number=NUMBERS)
    def rename_post(self, number: int) -> None:
        path = self.root / self.path(number)
        if path.exists():
            path.rename(self.root / self.path(number, "renamed"))
        self.compare()

    @rule(number=NUMBERS)
    def restore_post(self, number: int) -> None:
        self.write(self.path(number), self.post(number))
        (self.root / self.path(number, "renamed")).unlink(missing_ok=True)
        self.compare()

    @rule(posts=st.lists(NUMBERS, max_size=6, unique=True), name=st.sampled_from(["all", "some"]))
    def edit_series(self, posts: list[int], name: str) -> None:
        listed = ", ".join(f"post-{number:02}" for number in {number % self.posts: None for number in posts})
        self.write(f"series/{name}.yaml", f"title: {name} {len(posts)}\nposts: [{listed}]\nplanned: [Later]\n")
        self.compare()

    @rule(name=st.sampled_from(["all", "some"]))
    def delete_series(self, name: str) -> None:
        (self.root / f"series/{name}.yaml").unlink(missing_ok=True)
        self.compare()

    @rule(
        words=WORDS, name=st.sampled_from(["partials/colophon.html", "404.html", "assets/site.js", "assets/more.css"])
    )
    def edit_template(self, words: str, name: str) -> None:
        self.write(f"templates/{name}", f"/* {words} */" if name.startswith("assets") else f"<p>{words}</p>")
        self.compare()

    @rule()
    def break_template(self) -> None:
        self.write("templates/posts.html", "{{ page.nothing }}")
        self.compare()

    @rule()
    def delete_templates(self) -> None:
        shutil.rmtree(self.root / "templates", ignore_errors=True)
        self.compare()

    @rule(words=st.sampled_from(["abc1234", "def5678"]))
    def edit_record(self, words: str) -> None:
        path = self.root / "kernels/vector_add/results/nvidia-h200.json"
        if path.exists():
            record = json.loads(path.read_text(encoding="utf-8"))
            record["runs"][0]["commit"] = words
            path.write_text(json.dumps(record), encoding="utf-8")
        self.compare()

    @rule()
    def delete_record(self) -> None:
        shutil.rmtree(self.root / "kernels/vector_add/results", ignore_errors=True)
        self.compare()

    @rule(words=st.sampled_from(["# one", "# two"]))
    def edit_kernel(self, words: str) -> None:
        path = next((self.root / "kernels/vector_add").glob("*.py"))
        path.write_text(f"{path.read_text(encoding='utf-8')}\n{words}\n", encoding="utf-8")
        self.compare()

    @rule(words=WORDS)
    def edit_picture(self, words: str) -> None:
        self.write("content/posts/measured/plot.svg", f"<svg viewBox='0 0 {len(words)} 10'></svg>")
        self.compare()

    @rule(lines=st.lists(CONFIG, max_size=3, unique=True))
    def edit_config(self, lines: list[str]) -> None:
        """Change a setting: `twins`, feeds and `whole_series` show whole texts, and a misspelt key fails the build."""
        self.write("content/site.yaml", "\n".join(["title: Other", "base_url: https://example.org/", *lines, ""]))
        self.compare()

    @rule(words=WORDS, draft=st.booleans())
    def translate(self, words: str, draft: bool) -> None:
        front = "draft: true\n" if draft else ""
        text = f"---\ntitle: 측정\ndate: 2026-11-20\ntags: [measured, odd]\n{front}---\n![그림](plot.svg) {words}\n"
        text += "\n> [!TIP]\n> 글\n\n```python\nx\n```\n"
        self.write("content/posts/measured/index.ko.md", text)
        self.compare()

    @rule()
    def delete_translation(self) -> None:
        (self.root / "content/posts/measured/index.ko.md").unlink(missing_ok=True)
        self.compare()

    @rule(words=st.sampled_from(["이전", "앞"]))
    def edit_catalogue(self, words: str) -> None:
        self.write(
            "templates/languages/ko.json", json.dumps({"Older": words, "Tip": words, "{language} listing": words})
        )
        self.compare()

    @rule(day=st.integers(18, 25), words=WORDS)
    def edit_worklog(self, day: int, words: str) -> None:
        self.write(f"content/worklog/2026-11-{day}.md", f"{words}\n\n- [ ] {words}\n")
        self.compare()

    @rule(day=st.integers(18, 25))
    def delete_day(self, day: int) -> None:
        (self.root / f"content/worklog/2026-11-{day}.md").unlink(missing_ok=True)
        self.compare()

    @rule(name=st.sampled_from(["about", "more"]), words=WORDS)
    def edit_page(self, name: str, words: str) -> None:
        self.write(f"content/pages/{name}.md", f'---\ntitle: "{words}"\n---\n{words}\n')
        self.compare()

    @rule(name=st.sampled_from(["warp", "lane"]), words=WORDS)
    def edit_term(self, name: str, words: str) -> None:
        self.write(f"content/terms/{name}.md", f"---\ntitle: {name.title()}s\n---\nMany of {words}. More.\n")
        self.compare()

    @rule(days=st.integers(-200, 60))
    def another_day(self, days: int) -> None:
        self.day = dt.date(2026, 11, 21) + dt.timedelta(days=days)
        self.compare()

    @rule()
    def nothing(self) -> None:
        self.compare()

    @precondition(lambda self: (self.root / "public").is_dir())
    @rule(at=st.integers(0, 1000), how=st.sampled_from(["delete", "edit"]))
    def tamper_with_output(self, at: int, how: str) -> None:
        files = sorted(path for path in (self.root / "public").rglob("*.html") if path.is_file())
        if files and how == "delete":
            files[at % len(files)].unlink()
        elif files:
            files[at % len(files)].write_text("edited", encoding="utf-8")
        result = update(self.root, self.root / "public", as_of=self.day, processes=1)
        if not result.failed:
            self.compare()
        else:
            self.write("content/site.yaml", "title: Whole\nbase_url: https://example.org/\n")

    @rule()
    def delete_output(self) -> None:
        shutil.rmtree(self.root / "public")
        self.compare_again()

    @rule(name=st.sampled_from(["texts.cache", "outputs", "fragments", KEPT_TEXTS]), at=st.floats(0, 1))
    def damage_cache(self, name: str, at: float) -> None:
        place = cache_of_site(self.root) / name
        for path in [place] if place.is_file() else sorted(place.glob("*")) if place.is_dir() else []:
            data = bytearray(path.read_bytes())
            if data and path.suffix in (".cache", ".state", ".html"):
                data[int(at * (len(data) - 1))] ^= 0x55
                path.write_bytes(data)
        self.compare()

    def compare_again(self) -> None:
        """Compare again without an earlier output; a site with mistakes makes none."""
        (self.root / "public").mkdir(exist_ok=True)
        self.compare()


class Searched(Edits):
    """The same edits of a site with search and Markdown twins from the beginning."""

    added: Mapping[str, str] = MappingProxyType({"search": "true", "twins": "true"})
    """Lines of site.yaml, by key."""

    def compare(self) -> None:
        config = self.root / "content/site.yaml"
        text = config.read_text()
        config.write_text(text + "".join(f"{key}: {to}\n" for key, to in self.added.items() if f"{key}:" not in text))
        super().compare()


class Gathered(Searched):
    """The same edits of a site with pages and feeds of many texts, which are kept, from the beginning."""

    added = MappingProxyType({"whole_series": "true", "feeds": "[tags, series, worklog]"})

    @rule(words=WORDS, lines=st.integers(0, 3))
    def edit_measured_text(self, words: str, lines: int) -> None:
        text = "---\ntitle: Measured\ndate: 2026-11-20\ntags: [measured]\n---\n![A picture](plot.svg)\n"
        text += f"{words}\n\n" * lines + "```{benchmark} vector_add\n```\n"
        text += f"\n```{{code-cell}} python\n#| label: sum\n{len(words) // 5} + 1\n```\n"
        self.write("content/posts/measured/index.md", text)
        self.compare()


class Previewed(Edits):
    """The same edits in a preview, which is told which files were saved."""

    def __init__(self, fifty: SimpleNamespace, posts: int) -> None:
        super().__init__(fifty, posts)
        self.preview: tuple[dt.date, PreviewSite] | None = None
        self.saved: dict[str, bytes] = {}
        self.paths: set[str] = set()

    def compare(self) -> None:
        (self.root / "public").mkdir(exist_ok=True)
        before, self.saved = self.saved, self.sources()
        if self.preview is None or self.preview[0] != self.day:
            self.preview = (self.day, PreviewSite(self.root, as_of=self.day))
        preview = self.preview[1]
        preview.follow([path for path in {*before, *self.saved} if before.get(path) != self.saved.get(path)])
        clean = build_in_memory(self.root, as_of=self.day, everything=True)
        self.paths |= clean.files.keys()
        now = {path: preview.file(path) for path in self.paths}
        assert preview.failed == clean.failed, preview.report
        if not clean.failed:
            assert [path for path in now if now[path] != clean.files.get(path)] == []

    def sources(self) -> dict[str, bytes]:
        rooms = ("content", "kernels", "series", "templates")
        return {f"{room}/{path}": data for room in rooms for path, data in self.fifty.tree(self.root / room).items()}


def run(machine: type[Edits], fifty: SimpleNamespace, posts: int, sequences: int, steps: int) -> None:
    chosen = settings(
        max_examples=sequences, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(lambda: machine(fifty, posts), settings=chosen)


def test_an_incremental_build_is_a_clean_build(fifty: SimpleNamespace) -> None:
    run(Edits, fifty, FEW, 10, 4)


def test_an_incremental_build_with_pages_of_many_texts_is_a_clean_build(fifty: SimpleNamespace) -> None:
    run(Gathered, fifty, FEW, 3, 4)


def test_an_incremental_build_with_search_is_a_clean_build(fifty: SimpleNamespace) -> None:
    run(Searched, fifty, FEW, 3, 4)


@pytest.mark.soak
def test_an_incremental_build_is_a_clean_build_after_many_edits(fifty: SimpleNamespace) -> None:
    run(Edits, fifty, MANY, 500, 12)


def test_a_preview_shows_a_clean_build(fifty: SimpleNamespace) -> None:
    run(Previewed, fifty, FEW, 5, 4)


@pytest.mark.soak
def test_a_preview_shows_a_clean_build_after_many_edits(fifty: SimpleNamespace) -> None:
    run(Previewed, fifty, MANY, 200, 12)


def test_series_page_follows_the_kernels_of_its_posts(fifty: SimpleNamespace) -> None:
    state = Edits(fifty, FEW)
    state.begin()
    state.edit_front_matter(front="kernels: [vector_add]\n", number=2)
    state.teardown()
