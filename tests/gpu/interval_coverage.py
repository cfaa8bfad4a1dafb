"""Count how often a 95 % interval holds the true figure, in simulations of stored jobs.  Needs no GPU.

    python tests/gpu/interval_coverage.py [--races 8000]          (five minutes on two cores)

Shows that the interval of a ratio is neither too narrow, which would make differences out of noise, nor too wide.  The
raw samples of every stored implementation and its first baseline say how much rounds differ (both together, since they
share a clock) and how much samples differ within a round.  From these, races of as many rounds and samples in as many
generations of processes are drawn for which the true ratio is known, and the interval is that of the measurement's own
code.  What is true is where the figure settles with ever more rounds of the same processes.

Exit 1 when less than 94 or more than 96 % of all intervals hold the true ratio, or a kernel's share is further off than
two standard errors of this simulation explain.  Records whose samples do not say which generation took them are left
out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, pvariance

from machine import ROOT, table

from sitegen.measure.statistics import Rounds, ratio_interval, round_medians
from sitegen.model.plain import from_plain
from sitegen.model.record import Evaluation, Record, Role

RACES = 8000
"""Races of each kernel; 2,000 would give the share only within 0.5 %, which is half of the allowed range."""
LEAST, MOST = 0.94, 0.96
LONG = 4000
"""Number of rounds after which a figure has settled."""
RESAMPLED = 200
HEAD = ("kernel", "races", "held %", "rounds differ by %", "samples by %", "")
Generations = tuple[tuple[tuple[float, ...], ...], ...]
"""Samples in microseconds, by generation of processes and round."""


@dataclass(frozen=True)
class Noise:
    """Noise of one evaluation, from its raw samples."""

    between: float
    """Standard deviation of ln(time) between rounds, without the part that the samples of a round explain."""
    within: tuple[float, ...]
    """Samples divided by the median of their round."""


@dataclass(frozen=True)
class Pair:
    """An evaluation and its baseline in the same rounds."""

    baseline: Noise
    subject: Noise
    together: float
    """Correlation of the deviations of both from round to round."""
    sizes: tuple[tuple[int, ...], ...]
    """Number of samples of each round, by generation."""


def noise_in(generations: Generations, rng: random.Random) -> Noise:
    within = tuple(us / median(samples) for rounds in generations for samples in rounds for us in samples)
    size = len(generations[0][0])
    of_median = pvariance([math.log(median(rng.choices(within, k=size))) for _ in range(RESAMPLED)])
    return Noise(math.sqrt(max(0.0, fmean(d * d for d in _deviations(generations)) - of_median)), within)


def pair_in(baseline: Generations, subject: Generations, rng: random.Random) -> Pair:
    """Return the noise of an evaluation and its baseline, which were timed in the same rounds."""
    noises = noise_in(baseline, rng), noise_in(subject, rng)
    product = fmean(b * s for b, s in zip(_deviations(baseline), _deviations(subject), strict=True))
    spread = noises[0].between * noises[1].between
    together = max(-1.0, min(1.0, product / spread)) if spread else 0.0
    return Pair(*noises, together, tuple(tuple(map(len, rounds)) for rounds in subject))


def _deviations(generations: Generations) -> list[float]:
    """Return ln of each round's median over the mean of its generation, corrected for the use of that mean."""
    found = []
    for rounds in generations:
        logs = [math.log(value) for value in round_medians(rounds)]
        freer = math.sqrt(len(logs) / (len(logs) - 1)) if len(logs) > 1 else 0.0
        found += [freer * (value - fmean(logs)) for value in logs]
    return found


def race(pair: Pair, rng: random.Random) -> tuple[list[Rounds], list[Rounds]]:
    """Return the rounds of a baseline and a subject whose times differ by noise alone."""
    drawn = [[_round(pair, size, rng) for size in sizes] for sizes in pair.sizes]
    return [[b for b, _ in rounds] for rounds in drawn], [[s for _, s in rounds] for rounds in drawn]


def _round(pair: Pair, size: int, rng: random.Random) -> tuple[list[float], list[float]]:
    common, own = rng.gauss(0, 1), rng.gauss(0, 1)
    shift = pair.together * common + math.sqrt(1 - pair.together**2) * own
    return _samples(pair.baseline, common, size, rng), _samples(pair.subject, shift, size, rng)


def _samples(noise: Noise, shift: float, size: int, rng: random.Random) -> list[float]:
    level = math.exp(noise.between * shift)
    return [level * one for one in rng.choices(noise.within, k=size)]


def truth(pair: Pair, rng: random.Random) -> float:
    """Return the ratio after very many rounds."""
    size = pair.sizes[0][0]
    rounds = (_round(pair, size, rng) for _ in range(LONG))
    return median(median(b) / median(s) for b, s in rounds)


def held(pairs: Sequence[Pair], races: int, seed: int) -> int:
    """Return the number of intervals that hold the true ratio, out of so many races."""
    rng, count = random.Random(seed), 0
    true = [truth(pair, rng) for pair in pairs]
    for _ in range(races):
        at = rng.randrange(len(pairs))
        interval = ratio_interval(*race(pairs[at], rng))
        count += interval.low <= true[at] <= interval.high
    return count


def stored_pairs(folder: Path) -> Iterator[Pair]:
    """Return the pair of each implementation in a kernel's records that was timed beside its first baseline."""
    rng = random.Random(0)
    for file in sorted((folder / "results").glob("*.json")):
        record = from_plain(Record, json.loads(file.read_text()))
        for e in record.evaluations:
            beside = _baseline_of(record, e)
            both = [generations_of(folder, one) for one in (beside, e) if one]
            if e.role is Role.IMPLEMENTATION and len(both) == 2 and all(both):
                yield pair_in(both[0], both[1], rng)


def generations_of(folder: Path, evaluation: Evaluation) -> Generations:
    """Return the samples by generation; empty where they are not stored or do not name their generation."""
    file = folder / "results" / "artefacts" / f"{evaluation.samples}.samples.gz"
    if not evaluation.samples or not file.exists():
        return ()
    kept = json.loads(gzip.decompress(file.read_bytes()))
    rounds, found, at = kept["rounds_us"], [], 0
    for size in kept.get("generations", []):
        found.append(tuple(tuple(samples) for samples in rounds[at : at + size]))
        at += size
    return tuple(found)


def _baseline_of(record: Record, evaluation: Evaluation) -> Evaluation | None:
    """Return the first baseline that was timed in the same rounds."""
    place = (evaluation.workload, evaluation.dtype, evaluation.params, evaluation.run)
    ratios = evaluation.performance.ratios if evaluation.performance else ()
    names = {ratio.baseline for ratio in ratios}
    others = (e for e in record.evaluations if e.role is Role.BASELINE and e.name in names)
    return next((e for e in others if (e.workload, e.dtype, e.params, e.run) == place), None)


def judged(name: str, pairs: Sequence[Pair], count: int, races: int) -> tuple[tuple[object, ...], bool]:
    share, error = count / races, math.sqrt(0.05 * 0.95 / races)
    good = LEAST - 2 * error <= share <= MOST + 2 * error
    between = median(pair.subject.between for pair in pairs)
    within = median(math.sqrt(pvariance(pair.subject.within)) for pair in pairs)
    return (name, races, share * 100, between * 100, within * 100, "" if good else "<-- NOT MET"), good


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--races", type=int, default=RACES, help="simulated for each kernel")
    races = parser.parse_args(arguments).races
    folders = sorted(file.parent for file in (ROOT / "kernels").glob("*/kernel.yaml"))
    pairs = {folder.name: found for folder in folders if (found := list(stored_pairs(folder)))}
    with ProcessPoolExecutor() as pool:
        counts = list(pool.map(held, pairs.values(), [races] * len(pairs), range(len(pairs))))
    rows = [judged(name, pairs[name], count, races) for name, count in zip(pairs, counts, strict=True)]
    print(table(HEAD, [cells for cells, _ in rows]))
    share = sum(counts) / (races * len(pairs)) if pairs else 0.0
    print(f"all: {share:.1%}, {LEAST:.0%} to {MOST:.0%} asked")
    return 0 if LEAST <= share <= MOST and all(good for _, good in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
