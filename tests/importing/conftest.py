"""A Jekyll site of a few files, imported."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from sitegen.diagnostics import Diagnostic
from sitegen.importing.jekyll.convert import import_jekyll

CONFIG = "title: Notes\nurl: https://kern.example\n"


@dataclass(frozen=True, slots=True)
class Imported:
    files: Mapping[str, str | bytes | Path]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def body(self) -> str:
        """The text of the only post, below its front matter, without the last line end."""
        posts = [text for path, text in self.files.items() if path.startswith("content/posts/") and path.endswith("md")]
        (text,) = posts
        assert isinstance(text, str)
        return text.split("---\n", 2)[2].removesuffix("\n")

    @property
    def front_matter(self) -> str:
        (text,) = (str(text) for path, text in self.files.items() if path.startswith("content/posts/"))
        return text.split("---\n", 2)[1]

    @property
    def said(self) -> list[str]:
        """The diagnostics in reading order, each as `SG601 _posts/2024-01-05-a.md:5`."""
        found = sorted(self.diagnostics, key=lambda d: d.span)
        return [f"{d.code} {d.span.path}:{d.span.line}" for d in found]


@pytest.fixture
def import_site(tmp_path: Path) -> Callable[..., Imported]:
    """Import a Jekyll site with these texts by path."""

    def imported(files: Mapping[str, str], config: str = CONFIG) -> Imported:
        for path, text in {"_config.yml": config, **files}.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        plan = import_jekyll(tmp_path)
        return Imported(plan.files, plan.diagnostics)

    return imported


@pytest.fixture
def post(import_site: Callable[..., Imported]) -> Callable[..., Imported]:
    """Import a site of one post with this text, which begins on line 5."""

    def imported(body: str, config: str = CONFIG, **files: str) -> Imported:
        return import_site({"_posts/2024-01-05-a.md": f"---\ntitle: A\nlayout: post\n---\n{body}", **files}, config)

    return imported
