"""Time `sitegen build` on a worklog beside as many posts, and print how many times as long the worklog takes.

    python tests/benchmarks/worklog.py --days 5000

A round builds three sites one after the other: the posts, the days in one file, and the days in a file each.  Each is
built as `build.py` does it: from nothing, with nothing changed, with one post or day changed, with a template changed.
The ratios are medians over the rounds, each round compared with itself, because the machine may be busier in one than
in another.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from build import Round, build_round
from corpus import Corpus
from diary import Diary
from process import sitegen, version

CASES = ("cold", "unchanged", "edited", "template")
"""The builds of a round, as `Round` names them."""


def ratios(rounds: Sequence[Round], beside: Sequence[Round]) -> dict[str, float]:
    """Return the median over the rounds of how many times as long each build takes as the one of the same round."""
    pairs = list(zip(rounds, beside, strict=True))
    return {case: median(getattr(a, case).wall_s / getattr(b, case).wall_s for a, b in pairs) for case in CASES}


def seconds(rounds: Sequence[Round]) -> dict[str, float]:
    return {case: median(getattr(each, case).wall_s for each in rounds) for case in CASES}


def peak_mib(rounds: Sequence[Round]) -> float:
    return max(getattr(each, case).peak_mib for each in rounds for case in CASES)


def table(rounds: dict[str, list[Round]]) -> str:
    """Return the seconds of each site, and below those of a worklog its ratios to the first site, the posts."""
    beside = next(iter(rounds.values()))
    lines = ["| | cold | nothing changed | one edited | a template | largest process |", "|---|" + " ---: |" * 5]
    for name, of_site in rounds.items():
        cells = [f"{value:.2f} s" for value in seconds(of_site).values()]
        lines.append(f"| {' | '.join([name, *cells, f'{peak_mib(of_site):.0f} MiB'])} |")
        if of_site is not beside:
            times = [*ratios(of_site, beside).values(), peak_mib(of_site) / peak_mib(beside)]
            lines.append(f"| {' | '.join(['beside the posts', *(f'{value:.2f} ×' for value in times)])} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=1000, help="the number of days, and of posts beside them")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    parser.add_argument("--work", type=Path, help="make the sites in this folder (default: the system's for such)")
    parser.add_argument("--sitegen", default=sitegen(), help="the program to time (default: this environment's)")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=asked.work) as work:
        sites = {
            f"{asked.days} posts": Corpus(Path(work) / "posts" / "site", asked.days),
            f"{asked.days} days, one file": Diary(Path(work) / "one" / "site", asked.days, one_file=True),
            f"{asked.days} days, a file each": Diary(Path(work) / "each" / "site", asked.days, one_file=False),
        }
        for site in sites.values():
            site.write()
        rounds: dict[str, list[Round]] = {name: [] for name in sites}
        for number in range(asked.rounds):
            for name, site in sites.items():
                rounds[name].append(build_round(site, asked.sitegen, str(number)))
    print(f"{version(asked.sitegen)}, {os.cpu_count()} processors, {asked.rounds} rounds\n\n{table(rounds)}")
    if asked.json:
        beside = next(iter(rounds.values()))
        figures = {name: {"seconds": seconds(of), "ratios": ratios(of, beside)} for name, of in rounds.items()}
        asked.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
