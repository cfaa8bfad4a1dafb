"""A site that was read → its output: link all, print what shows what is new, write that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import jinja2

from sitegen.build.authors_templates import TEMPLATES, of_template, shows_texts_as_they_are
from sitegen.build.compiled import compiled_templates
from sitegen.build.composed import Composed, link
from sitegen.build.images import FORMS
from sitegen.build.index import Index
from sitegen.build.own_pages import OwnPage, load_own_pages, save_own_pages
from sitegen.build.reasons import NEW, TOUCHED, reasons
from sitegen.build.state import Printed, State, left_of, save, trusted
from sitegen.build.texts import Fragments, Read, Reader
from sitegen.build.update import Job, Outcome
from sitegen.build.workers import each, in_batches
from sitegen.diagnostics import Diagnostic, has_errors, render_report
from sitegen.model.dates import day_of
from sitegen.model.linked import document_key
from sitegen.model.site import Post
from sitegen.model.urls import CARD
from sitegen.read.config import zone_of
from sitegen.read.texts import Texts
from sitegen.render.finding_sheets import search_indexes, sitemap
from sitegen.render.frame import Printer
from sitegen.render.parts import DAY, TEXT, key_of, key_of_parts
from sitegen.render.sheet import Files, Sheet
from sitegen.render.theme import environment
from sitegen.write.drawings import Drawings
from sitegen.write.forms import forget_forms
from sitegen.write.output import STAGE, check_output, checked, differs, encoded, publish, stage, staging


@dataclass(frozen=True, slots=True)
class Planned:
    """A sheet and what was decided about it."""

    sheet: Sheet
    printed: Printed
    due: bool
    """Whether it must be printed; else it stands in the output as it should."""


def print_site(job: Job, read: Read, reader: Reader, index: Index) -> Outcome:
    with job.stages.stage("link"):
        linked = link(job, read, index)
        fragments = Fragments(reader.shelf, read.parsed, reader.html_of)
        site = Composed(job, read, linked, fragments, index)
        index.save(read.entries)
    if has_errors(found := site.found):
        return Outcome(_report(job, found), failed=True)
    try:
        return _print_and_write(job, site)
    except jinja2.TemplateError as error:
        if not (job.root / TEMPLATES).is_dir():
            raise
        return Outcome(_report(job, (*found, of_template(error, site.theme.templates))), failed=True)


def _print_and_write(job: Job, site: Composed) -> Outcome:
    with job.stages.stage("compare"):
        decide = _Decider(job, site)
        planned = {name: decide(sheet) for name, sheet in site.sheets().items()}
    printer = Printer(site.sources, environment(site.theme, compiled_templates(job.version)))
    due = [one for one in planned.values() if one.due]
    check_output(job.output, job.cache)
    with staging(job.output):
        with job.stages.stage("print", len(due)) as tick:
            staged, own = _print(job, due, printer, tick)
            files = {name: tuple(staged[name]) if one.due else one.printed.files for name, one in planned.items()}
            for last in map(decide, _made_of_pages(job, site, planned, files, staged)):
                planned[last.sheet.name] = last
                staged |= _print(job, [last] if last.due else [], printer, tick)[0]
                files[last.sheet.name] = tuple(staged[last.sheet.name]) if last.due else last.printed.files
        with job.stages.stage("write"):
            owners = {path: name for name, paths in files.items() for path in paths}
            new = {p: at for p, name in owners.items() if (at := staged.get(name, {}).get(p))}
            written = publish(job.output, job.cache, owners.keys(), new)
            Drawings(job.cache / "cards").prune(2 * sum(path.endswith(CARD) for path in owners))
            state = _state(job, site, planned, files, owners, new)
            save_own_pages(job.remembered, job.version, _own_pages(job, site, planned, state, own))
            save(job.remembered, job.version, state)
            forget_forms(job.cache / FORMS, set(site.read.digests.values()))
    printed = tuple(one.sheet.name for one in planned.values() if one.due)
    return Outcome(state.report, False, written, printed, state.sheets)


def _made_of_pages(
    job: Job,
    site: Composed,
    planned: Mapping[str, Planned],
    files: Mapping[str, tuple[str, ...]],
    staged: Mapping[str, Mapping[str, str]],
) -> Iterator[Sheet]:
    """What can be made only when all pages are: the sitemap, and the indexes of search."""
    yield sitemap(_listed(planned, files))
    if site.sources.config.search:
        owners = {path: name for name, paths in files.items() for path in paths}

        def content(path: str) -> bytes:
            new = staged.get(owners[path], {}).get(path)
            return (job.output / STAGE / new if new else job.output / path).read_bytes()

        found = [(path, kind, one) for one in planned.values() for path, kind in one.sheet.found.items()]
        yield from search_indexes({p: (kind, one.printed.key) for p, kind, one in found if p in owners}, content)


def _listed(planned: Mapping[str, Planned], files: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """The files that the sitemap may list, each with the day of its last change."""
    for name, paths in files.items():
        sheet = planned[name].sheet
        yield from ((path, sheet.modified) for path in paths if sheet.listed)


class _Decider:
    """Says of each sheet whether it must be printed."""

    def __init__(self, job: Job, site: Composed) -> None:
        self._job = job
        self._common = site.common()
        self._parts = key_of(self._common)[1]
        before = job.last.digests if job.last else {}
        now = site.read.digests
        self._changed = sorted(p for p in {*before, *now} if before.get(p) != now.get(p)) if before else []

    def __call__(self, sheet: Sheet) -> Planned:
        parts = (*self._parts, *key_of(sheet.shows)[1])
        key = key_of_parts(parts)
        before = self._job.last.sheets.get(sheet.name) if self._job.last else None
        shows = (*self._common, *sheet.shows)
        why: tuple[str, ...] = NEW
        if before is not None:
            same = before.key == key
            if same and self._is_as_left(before):
                return Planned(sheet, before, due=False)
            why = TOUCHED if same else reasons(shows, parts, before, self._changed)
        return Planned(sheet, Printed(key, parts, tuple(part.what for part in shows), (), why), due=True)

    def _is_as_left(self, before: Printed) -> bool:
        assert self._job.last is not None
        left = self._job.last.outputs
        return all(left_of(f"{self._job.output}/{path}") == left.get(path, ()) for path in before.files)


def _print(
    job: Job, due: Sequence[Planned], printer: Printer, tick: Callable[[int], None]
) -> tuple[dict[str, dict[str, str]], dict[str, tuple[str, ...]]]:
    """By sheet, its files and the name in the stage of those that differ from the output, empty for the others; and
    what stands in the slots of the text whose own page it is, where that is nothing but addresses and images.
    """
    if any(one.sheet.measured for one in due):
        _ = printer.sources.measured  # once, before workers inherit it

    def work(batch: Sequence[Planned], worker: int) -> list[tuple[str, dict[str, str], tuple[str, ...] | None]]:
        return [(one.sheet.name, staged(one.sheet.make(printer)), contents(one.sheet)) for one in batch]

    def contents(sheet: Sheet) -> tuple[str, ...] | None:
        from sitegen.render.slots import plain_contents

        return plain_contents(printer, sheet.text) if isinstance(sheet.text, Post) else None

    def staged(made: Files) -> dict[str, str]:
        names = {}
        for path, content in made.items():
            data, name = encoded(content), blake2b(path.encode(), digest_size=12).hexdigest()
            names[path] = stage(job.output, name, data) if differs(f"{job.output}/{checked(path)}", data) else ""
        return names

    slow = [[one] for one in due if one.sheet.measured or one.sheet.slow]
    plain = [one for one in due if not one.sheet.measured and not one.sheet.slow]
    batches = [*slow, *in_batches(plain, job.processes)]
    files: dict[str, dict[str, str]] = {}
    slots: dict[str, tuple[str, ...]] = {}
    for answer in each(work, batches, job.processes):
        for name, made, inside in answer:
            files[name] = made
            slots |= {name: inside} if inside is not None else {}
        tick(len(answer))
    return files, slots


def _own_pages(
    job: Job, site: Composed, planned: Mapping[str, Planned], state: State, printed: Mapping[str, tuple[str, ...]]
) -> dict[str, OwnPage]:
    """Of the texts that `mend` may take; what stands in those that were not printed now is as it was."""
    if site.sources.config.search or not shows_texts_as_they_are(site.theme.templates):
        return {}  # the index of search is made of whole pages
    before = load_own_pages(job.remembered, job.version) if job.last else {}
    elsewhere = _digests_elsewhere(planned.values())
    found: dict[str, OwnPage] = {}
    for name, one in planned.items():
        if not isinstance(one.sheet.text, Post):
            continue
        path, known, key = one.sheet.text.body.path, state.sheets[name], document_key(one.sheet.text.body)
        parsed, old = site.read.parsed[path], before.get(path)
        kept = old.contents if old and old.key == known.key else None
        contents = printed.get(name) if one.due else kept
        alone = known.key and known.files == (name,) and site.read.digests[path] not in elsewhere
        if parsed.face and alone and contents is not None:
            html, pieces = parsed.fragments[key], parsed.pieces.get(key, ())
            lang = one.sheet.text.lang or site.sources.config.language
            found[path] = OwnPage(name, known.key, parsed.face, lang, html, pieces, contents)
    return found


def _digests_elsewhere(planned: Iterable[Planned]) -> set[bytes]:
    """Digests of files in what sheets show, but for texts on their own pages."""
    return {
        digest
        for one in planned
        for part in one.sheet.shows
        if part.files and part.what != TEXT
        for digest in _digests_in(part.value)
    }


def _digests_in(value: object) -> Iterator[bytes]:
    """Most are words: of what they are is asked in the fastest way."""
    if type(value) is bytes:
        yield value
    elif type(value) is tuple:
        for one in value:
            if type(one) is not str:
                yield from _digests_in(one)


def _state(
    job: Job,
    site: Composed,
    planned: Mapping[str, Planned],
    files: Mapping[str, tuple[str, ...]],
    owners: Mapping[str, str],
    new: Mapping[str, str],
) -> State:
    """A sheet of which a file gave way to another sheet's is never taken for what it was."""
    before = job.last.outputs if job.last else {}
    outputs = {p: before[p] if p in before and p not in new else left_of(f"{job.output}/{p}") for p in owners}
    whole = {name: all(owners[path] == name for path in paths) for name, paths in files.items()}
    sheets = {
        name: replace(one.printed, files=files[name], key=one.printed.key if whole[name] else b"")
        for name, one in planned.items()
    }
    config = site.sources.config
    day, zone = site.link.as_of.toordinal(), zone_of(config)
    days = {day_of(post.date, zone).toordinal() for post in site.link.posts if not post.draft}
    return State(
        signatures=trusted(job.seen, job.began_ns),
        digests=dict(site.read.digests),
        as_of=day,
        everything=job.everything,
        timezone=config.timezone,
        shows_day=any(p.what == DAY and p.value for one in planned.values() for p in one.sheet.shows),
        waiting=() if job.everything else tuple(sorted(waits for waits in days if waits > day)),
        sheets=sheets,
        outputs={path: left for path, left in outputs.items() if left},
        report=_report(job, site.found),
    )


def _report(job: Job, found: Sequence[Diagnostic]) -> str:
    return render_report(found, Texts(job.root, job.seen))
