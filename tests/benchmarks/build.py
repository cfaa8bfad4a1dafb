"""Time `sitegen build`, as a whole process, on sites of several sizes.

    python tests/benchmarks/build.py --posts 1000
    python tests/benchmarks/build.py --posts 1000 5000 10000 --rounds 5 --json figures.json

A round builds each site from nothing, then with nothing changed, with the text of one post changed, and with a template
changed that every page uses.  All sizes take part in each round, so a slow minute of the machine affects all of them.
The script prints medians over the rounds, and the largest memory of any process.  It checks each build: the pages that
show a change must contain it.  Run it on a quiet machine, and compare only figures of the same machine.  A folder in
memory (`--work /dev/shm`) excludes the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from corpus import Corpus
from diary import Diary
from process import CommandError, Usage, medians, run, sitegen, version

HELPS = 5
"""Runs of `sitegen --help` in each round; a single run is too short to time."""


@dataclass(frozen=True, slots=True)
class Round:
    """The builds of one site in a round, in the order in which they were made."""

    cold: Usage
    unchanged: Usage
    edited: Usage
    """The build after an edit of one post or one day."""
    template: Usage


@dataclass(frozen=True, slots=True)
class Size:
    """The medians of all rounds with a site of `posts` posts."""

    posts: int
    cold: Usage
    unchanged: Usage
    post: Usage
    template: Usage

    @property
    def cold_per_post_ms(self) -> float:
        return self.cold.wall_s * 1000 / self.posts

    @property
    def peak_mib(self) -> float:
        return max(usage.peak_mib for usage in (self.cold, self.unchanged, self.post, self.template))


def build_round(corpus: Corpus | Diary, program: str, name: str) -> Round:
    """Build a site four times; `name` differs in each round.

    Raises CommandError, also when a page lacks the change.
    """
    of_user = corpus.root.with_name("cache")  # what sitegen keeps with the user: nobody else's, and cold, too
    for folder in (corpus.root / "public", corpus.root / ".sitegen", of_user):  # `.sitegen`: that of an older program
        shutil.rmtree(folder, ignore_errors=True)

    def built() -> Usage:
        return run([program, "build"], corpus.root, XDG_CACHE_HOME=str(of_user))

    cold, unchanged = built(), built()
    edited = corpus.texts // 2
    corpus.edit(edited, f"text-{name}")
    after_edit = built()
    corpus.edit_template(f"template-{name}")
    template = built()
    _check(corpus, edited, f"text-{name}")
    for number in (0, corpus.texts - 1):
        _check(corpus, number, f"template-{name}")
    return Round(cold, unchanged, after_edit, template)


def _check(corpus: Corpus | Diary, number: int, marker: str) -> None:
    page = corpus.root / "public" / corpus.url(number) / "index.html"
    if not page.is_file() or marker not in page.read_text(encoding="utf-8"):
        raise CommandError(f"{page} does not show what was changed: {marker}")


def summed_up(posts: int, rounds: Sequence[Round]) -> Size:
    return Size(
        posts,
        medians(each.cold for each in rounds),
        medians(each.unchanged for each in rounds),
        medians(each.edited for each in rounds),
        medians(each.template for each in rounds),
    )


def table(sizes: Sequence[Size]) -> str:
    head = "| posts | cold | per post | nothing changed | one post | a template | largest process |"
    rows = [
        f"| {size.posts} | {size.cold.wall_s:.2f} s | {size.cold_per_post_ms:.2f} ms | {size.unchanged.wall_s:.3f} s "
        f"| {size.post.wall_s:.3f} s | {size.template.wall_s:.2f} s | {size.peak_mib:.0f} MiB |"
        for size in sizes
    ]
    return "\n".join([head, "|" + " ---: |" * 7, *rows])


def as_json(sizes: Sequence[Size], help_: Usage, rounds: int, program: str) -> str:
    figures = {
        "sitegen": version(program),
        "python": sys.version.split()[0],
        "cpus": os.cpu_count(),
        "rounds": rounds,
        "help": asdict(help_),
        "builds": [
            {**asdict(size), "cold_per_post_ms": size.cold_per_post_ms, "peak_mib": size.peak_mib} for size in sizes
        ],
    }
    return json.dumps(figures, indent=1) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=int, nargs="+", default=[1000], help="the sizes of the sites")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    parser.add_argument("--work", type=Path, help="make the sites in this folder (default: the system's for such)")
    parser.add_argument("--sitegen", default=sitegen(), help="the program to time (default: this environment's)")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=asked.work) as work:
        corpora = [Corpus(Path(work) / str(posts), posts) for posts in asked.posts]
        for corpus in corpora:
            corpus.write()
        helps: list[Usage] = []
        rounds: list[list[Round]] = []
        for number in range(asked.rounds):
            helps += [run([asked.sitegen, "--help"], Path(work)) for _ in range(HELPS)]
            rounds.append([build_round(corpus, asked.sitegen, str(number)) for corpus in corpora])
    sizes = [
        summed_up(corpus.posts, of_size) for corpus, of_size in zip(corpora, zip(*rounds, strict=True), strict=True)
    ]
    help_ = medians(helps)
    print(f"{version(asked.sitegen)}, {os.cpu_count()} processors, {asked.rounds} rounds\n\n{table(sizes)}")
    print(f"\nsitegen --help: {help_.wall_s * 1000:.0f} ms")
    if asked.json:
        asked.json.write_text(as_json(sizes, help_, asked.rounds, asked.sitegen), encoding="utf-8")


if __name__ == "__main__":
    main()
