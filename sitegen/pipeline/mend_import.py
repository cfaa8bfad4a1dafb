"""Mend the texts of an import until the site that they make has no error: plan in, plan out.

The plan is written into a folder of its own and linked there, so that every check of a build sees it.  A mistake that
no rule mends shows its block as code, and in the end its whole text: an imported site always builds.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from sitegen import inside
from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.importing.mending.text import CODE, mended, shown_as_code
from sitegen.importing.plan import ImportPlan, write_missing
from sitegen.pipeline.link_site import link
from sitegen.pipeline.parse_texts import parse_texts
from sitegen.pipeline.read_files import read_files_from_scratch
from sitegen.pipeline.request import make_request, usable_cores
from sitegen.pipeline.user_cache import cache_of_site
from sitegen.read.load import text_files
from sitegen.read.root import SITE_FILE
from sitegen.read.source import decode

BY_RULE = 4
"""Rounds in which each mistake is mended by the rule of its code; a mend may uncover another mistake."""
BY_BLOCK = 3
"""Further rounds in which the block around each mistake is shown as code."""
_SITE = "title: Import\nbase_url: https://example.org/\n"
_SHARED = (SITE_FILE, "content/references.bib")


def mend_plan(plan: ImportPlan, root: Path) -> ImportPlan:
    """Return the plan with texts that build in the site at `root`, and a warning for each mend."""
    with TemporaryDirectory(prefix="sitegen-import-") as folder:
        staged = Path(folder)
        write_missing(staged, {SITE_FILE: _SITE, **_own_texts(root), **plan.files, **_shared(root)})
        files, warnings, texts = dict(_with_texts_of_works(plan.files)), list[Diagnostic](), dict(plan.texts)
        for number in range(BY_RULE + BY_BLOCK + 1):
            errors = _errors(staged, files)
            for path, mistakes in errors.items():
                text = str(files[path])
                files[path], said = _mended(path, text, mistakes, number)
                inside.write_bytes(staged, path, str(files[path]).encode())
                warnings += said
                texts.setdefault(path, text)
            if not errors:
                break
        _forget(staged)
    return replace(plan, files=files, diagnostics=(*plan.diagnostics, *dict.fromkeys(warnings)), texts=texts)


def _with_texts_of_works(files: Mapping[str, str | bytes | Path]) -> Iterator[tuple[str, str | bytes | Path]]:
    """Yield the files, a bibliography that is copied as its text, so that it can be mended."""
    for path, content in files.items():
        if path.endswith(".bib") and isinstance(content, Path):
            yield path, decode(inside.read_bytes(content.parent, content.name), path)[0]
        else:
            yield path, content


def _own_texts(root: Path) -> Mapping[str, bytes]:
    """Return the texts of the site itself, so that no imported text takes the address of one of them."""
    return {path: inside.read_bytes(root, path) for path in text_files(root)}


def _shared(root: Path) -> Mapping[str, str | bytes]:
    """Return the files of the site that its texts depend on, and that an import leaves as they are."""
    shared: dict[str, str | bytes] = {}
    for path in _SHARED:
        with suppress(OSError):
            shared[path] = inside.read_bytes(root, path)
    return shared


def _errors(staged: Path, files: Mapping[str, object]) -> dict[str, list[Diagnostic]]:
    """Return the errors in the texts of the import, by path."""
    errors: dict[str, list[Diagnostic]] = {}
    # Not in memory, so that a round parses only the texts that the round before has changed.
    requests = [make_request(staged, everything=drafts, processes=usable_cores()) for drafts in (True, False)]
    found = (link(parse_texts(read_files_from_scratch(request))).mistakes for request in requests)
    for mistake in dict.fromkeys(chain.from_iterable(found)):
        if mistake.severity is Severity.ERROR and isinstance(files.get(mistake.span.path), str):
            errors.setdefault(mistake.span.path, []).append(mistake)
    return errors


def _mended(path: str, text: str, mistakes: list[Diagnostic], number: int) -> tuple[str, list[Diagnostic]]:
    if path.endswith(".bib"):
        return _without_works(text, mistakes)
    if not path.endswith(".md"):
        return text, []
    if number < BY_RULE:
        new, said = mended(text, mistakes)
        if new != text:
            return new, said
    if number < BY_RULE + BY_BLOCK:
        return mended(text, mistakes, whole_blocks=True)
    return shown_as_code(text, mistakes)


def _without_works(text: str, mistakes: list[Diagnostic]) -> tuple[str, list[Diagnostic]]:
    """Return a bibliography without the works that hold a mistake."""
    works = re.split(r"(?m)^(?=[ \t]*@)", text)
    kept, warnings, line = list[str](), list[Diagnostic](), 1
    for work in works:
        last = line + work.count("\n")
        found = [mistake for mistake in mistakes if line <= mistake.span.line < max(last, line + 1)]
        if found:
            said = f"the work is left out: {found[0].message}"
            warnings.append(Diagnostic(CODE, said, Span(found[0].span.path, line), "", Severity.WARNING))
        else:
            kept.append(work)
        line = last
    return "".join(kept), warnings


def _forget(staged: Path) -> None:
    """Remove what the checks left in the user's cache for the folder."""
    shutil.rmtree(cache_of_site(staged), ignore_errors=True)
