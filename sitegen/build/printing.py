"""A site that was read → its output: link all, print what shows what is new, write that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

import jinja2

from sitegen import inside
from sitegen.build.authors_templates import TEMPLATES, of_template, shows_texts_as_they_are
from sitegen.build.composed import Composed, link
from sitegen.build.images import FORMS
from sitegen.build.index import Index
from sitegen.build.own_pages import OwnPage, load_own_pages, save_own_pages
from sitegen.build.reasons import NEW, TOUCHED, reasons
from sitegen.build.state import Printed, State, left_of, save, trusted
from sitegen.build.texts import Fragments, Read, Reader
from sitegen.build.update import Job, Outcome
from sitegen.build.user_cache import compiled_templates
from sitegen.build.workers import each, in_batches
from sitegen.diagnostics import Diagnostic, has_errors, render_report
from sitegen.model.dates import day_of
from sitegen.model.linked import document_key
from sitegen.model.site import Post
from sitegen.model.urls import CARD
from sitegen.read.config import zone_of
from sitegen.read.texts import LazyTexts
from sitegen.render.rules.dependencies import DAY, TEXT, Part, key_of, key_of_parts
from sitegen.render.rules.discovery_rules import search_indexes, sitemap
from sitegen.render.rules.rule import Files, Sheet
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.theme import environment
from sitegen.write.drawings import Drawings
from sitegen.write.images import remove_unused_variants
from sitegen.write.output import STAGE, check_output, checked_output_path, differs, encoded, publish, stage, staging


@dataclass(frozen=True, slots=True)
class Made:
    """A sheet that stands in the output as it should, or in the stage."""

    printed: Printed
    digests: frozenset[bytes]
    """Of files, in what it shows beside its own text."""
    staged: Mapping[str, str] = field(default_factory=dict)
    """When it was printed now: by path its name in the stage, empty where the output has the same already."""
    contents: tuple[str, ...] | None = None
    """What stands in the slots of the text whose own page it is, where that is nothing but addresses and images."""


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
        sheets, compare = site.sheets(), _Comparison(job, site)
        made = {name: standing for name, sheet in sheets.items() if (standing := compare.standing(sheet))}
    printer = Printer(site.sources, environment(site.theme, compiled_templates(job.root, job.version)))
    due = [sheet for name, sheet in sheets.items() if name not in made]
    check_output(job.output, job.cache)
    with staging(job.output):
        with job.stages.stage("print", len(due)) as tick:
            made |= _print(job, due, printer, compare, tick)
            for last in _made_of_pages(job, site, sheets, made):
                sheets[last.name] = last
                if standing := compare.standing(last):
                    made[last.name] = standing
                else:
                    due.append(last)
                    made |= _print(job, [last], printer, compare, tick)
        with job.stages.stage("write"):
            made = {name: made[name] for name in sheets}
            owners = _owners(made)
            new = {p: at for p, name in owners.items() if (at := made[name].staged.get(p))}
            written = publish(job.output, job.cache, owners.keys(), new)
            Drawings(job.cache / "cards").prune(2 * sum(path.endswith(CARD) for path in owners))
            state = _state(job, site, made, owners, new)
            save_own_pages(job.remembered, job.version, _own_pages(job, site, sheets, made, state))
            save(job.remembered, job.version, state)
            remove_unused_variants(job.cache / FORMS, set(site.read.digests.values()))
    return Outcome(state.report, False, written, tuple(sheet.name for sheet in due), state.sheets)


def _owners(made: Mapping[str, Made]) -> dict[str, str]:
    """The sheet of each file: of two that make it, the later."""
    return {path: name for name, one in made.items() for path in one.printed.files}


def _made_of_pages(job: Job, site: Composed, sheets: Mapping[str, Sheet], made: Mapping[str, Made]) -> Iterator[Sheet]:
    """What can be made only when all pages are: the sitemap, and the indexes of search."""
    yield sitemap(_listed(sheets, made))
    if site.sources.config.search:
        owners = _owners({name: made[name] for name in sheets})

        def content(path: str) -> bytes:
            new = made[owners[path]].staged.get(path)
            return inside.read_bytes(job.output, f"{STAGE}/{new}" if new else path)

        found = [(path, kind, one.name) for one in sheets.values() for path, kind in one.found.items()]
        keys = {path: (kind, made[name].printed.key) for path, kind, name in found if path in owners}
        yield from search_indexes(keys, content)


def _listed(sheets: Mapping[str, Sheet], made: Mapping[str, Made]) -> Iterator[tuple[str, str]]:
    """The files that the sitemap may list, each with the day of its last change."""
    for sheet in sheets.values():
        paths = made[sheet.name].printed.files if sheet.listed else ()
        yield from ((path, sheet.modified) for path in paths)


class _Comparison:
    """With the build before.  Where nothing can be as it was, for there was none or all pages show something else now,
    no sheet is asked what it shows until it is printed, by a worker.
    """

    def __init__(self, job: Job, site: Composed) -> None:
        self._job = job
        self._common = site.common()
        self._parts = key_of(self._common)[1]
        before = job.last.digests if job.last else {}
        now = site.read.digests
        self._changed = sorted(p for p in {*before, *now} if before.get(p) != now.get(p)) if before else []

    def standing(self, sheet: Sheet) -> Made | None:
        """What stands in the output, if it would be the same now."""
        before = self._before(sheet)
        if before is None or before.parts[: len(self._parts)] != self._parts:
            return None
        shows = sheet.shows()
        same = before.key == key_of_parts((*self._parts, *key_of(shows)[1]))
        return Made(before, _digests(shows)) if same and self._is_as_left(before) else None

    def printed(self, sheet: Sheet, staged: Mapping[str, str], contents: tuple[str, ...] | None) -> Made:
        """What was printed of it now."""
        own = sheet.shows()
        shows, parts = (*self._common, *own), (*self._parts, *key_of(own)[1])
        key, names = key_of_parts(parts), tuple(part.what for part in shows)
        before = self._before(sheet)
        why = NEW if before is None else TOUCHED if before.key == key else reasons(shows, parts, before, self._changed)
        return Made(Printed(key, parts, names, tuple(staged), why), _digests(own), staged, contents)

    def _before(self, sheet: Sheet) -> Printed | None:
        return self._job.last.sheets.get(sheet.name) if self._job.last else None

    def _is_as_left(self, before: Printed) -> bool:
        assert self._job.last is not None
        left = self._job.last.outputs
        return all(left_of(f"{self._job.output}/{path}") == left.get(path, ()) for path in before.files)


def _digests(shows: Iterable[Part]) -> frozenset[bytes]:
    """Of files, but of the text on its own page."""
    values = (part.value for part in shows if part.files and part.what != TEXT)
    return frozenset(digest for value in values for digest in _digests_in(value))


def _digests_in(value: object) -> Iterator[bytes]:
    """Most are words: of what they are is asked in the fastest way."""
    if type(value) is bytes:
        yield value
    elif type(value) is tuple:
        for one in value:
            if type(one) is not str:
                yield from _digests_in(one)


def _print(
    job: Job, due: Sequence[Sheet], printer: Printer, compare: _Comparison, tick: Callable[[int], None]
) -> dict[str, Made]:
    if any(sheet.measured for sheet in due):
        _ = printer.sources.measured  # once, before workers inherit it

    def work(batch: Sequence[Sheet], worker: int) -> list[tuple[str, Made]]:
        return [(one.name, compare.printed(one, staged(one.make(printer)), contents(one))) for one in batch]

    def contents(sheet: Sheet) -> tuple[str, ...] | None:
        from sitegen.render.texts.filled_slots import plain_contents

        return plain_contents(printer, sheet.text) if isinstance(sheet.text, Post) else None

    def staged(files: Files) -> dict[str, str]:
        names = {}
        for path, content in files.items():
            data, name = encoded(content), blake2b(path.encode(), digest_size=12).hexdigest()
            names[path] = stage(job.output, name, data) if differs(job.output, checked_output_path(path), data) else ""
        return names

    slow = [[one] for one in due if one.measured or one.slow]
    plain = [one for one in due if not one.measured and not one.slow]
    made: dict[str, Made] = {}
    for answer in each(work, [*slow, *in_batches(plain, job.processes)], job.processes):
        made.update(answer)
        tick(len(answer))
    return made


def _own_pages(
    job: Job, site: Composed, sheets: Mapping[str, Sheet], made: Mapping[str, Made], state: State
) -> dict[str, OwnPage]:
    """Of the texts that `mend` may take; what stands in those that were not printed now is as it was."""
    if site.sources.config.search or not shows_texts_as_they_are(site.theme.templates):
        return {}  # the index of search is made of whole pages
    before = load_own_pages(job.remembered, job.version) if job.last else {}
    elsewhere = frozenset[bytes]().union(*(one.digests for one in made.values()))
    found: dict[str, OwnPage] = {}
    for name, sheet in sheets.items():
        if not isinstance(sheet.text, Post):
            continue
        path, known, key = sheet.text.body.path, state.sheets[name], document_key(sheet.text.body)
        parsed, old = site.read.parsed[path], before.get(path)
        kept = old.contents if old and old.key == known.key else None
        contents = made[name].contents if made[name].staged else kept
        alone = known.key and known.files == (name,) and site.read.digests[path] not in elsewhere
        if parsed.face and alone and contents is not None:
            html, pieces = parsed.fragments[key], parsed.pieces.get(key, ())
            lang = sheet.text.lang or site.sources.config.language
            found[path] = OwnPage(name, known.key, parsed.face, lang, html, pieces, contents)
    return found


def _state(
    job: Job,
    site: Composed,
    made: Mapping[str, Made],
    owners: Mapping[str, str],
    new: Mapping[str, str],
) -> State:
    """A sheet of which a file gave way to another sheet's is never taken for what it was."""
    before = job.last.outputs if job.last else {}
    outputs = {p: before[p] if p in before and p not in new else left_of(f"{job.output}/{p}") for p in owners}
    lost = {name for name, one in made.items() if any(owners[path] != name for path in one.printed.files)}
    sheets = {name: replace(one.printed, key=b"") if name in lost else one.printed for name, one in made.items()}
    config = site.sources.config
    day, zone = site.link.as_of.toordinal(), zone_of(config)
    days = {day_of(post.date, zone).toordinal() for post in site.link.posts if not post.draft}
    return State(
        signatures=trusted(job.seen, job.began_ns),
        digests=dict(site.read.digests),
        as_of=day,
        everything=job.everything,
        timezone=config.timezone,
        shows_day=any(DAY in one.printed.names for one in made.values()),
        waiting=() if job.everything else tuple(sorted(waits for waits in days if waits > day)),
        sheets=sheets,
        outputs={path: left for path, left in outputs.items() if left},
        report=_report(job, site.found),
    )


def _report(job: Job, found: Sequence[Diagnostic]) -> str:
    return render_report(found, LazyTexts(job.root, job.seen))
