"""Turn parsed texts into the linked site, with all values that its pages are made from and all its mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b

from sitegen.diagnostics import Diagnostic, did_you_mean, has_errors, in_reading_order
from sitegen.model.look import style_sheet
from sitegen.model.site import SiteConfig
from sitegen.pipeline.broken_claims import broken_claims, claims_in
from sitegen.pipeline.file_mistakes import mistakes_of_files
from sitegen.pipeline.link_texts import LinkedTexts, link_texts, with_titles
from sitegen.pipeline.misnamed_kernels import without_consequences
from sitegen.pipeline.missing_entries import missing_entries, outputs_in
from sitegen.pipeline.missing_packages import missing_packages
from sitegen.pipeline.mistakes import mistakes_error
from sitegen.pipeline.parse_texts import ParsedSite
from sitegen.pipeline.plugins import plugin_mistakes
from sitegen.pipeline.probe_sources import load_probe_sources, load_program_parts
from sitegen.pipeline.redaction_list import list_mistakes
from sitegen.pipeline.request import BuildRequest
from sitegen.pipeline.site_records import SiteRecords
from sitegen.read.severity import worklog_never_fails
from sitegen.render.inputs.measured_digest import digest_of_measured
from sitegen.render.inputs.sources import Sources
from sitegen.render.shared.theme import Theme, load_theme, with_styles
from sitegen.write.assets import Assets, fingerprint
from sitegen.write.drawings import Drawings
from sitegen.write.scan import could_be_read

CARDS = "cards"
"""The folder of the cache that keeps the drawings of cards."""


@dataclass(frozen=True, slots=True)
class LinkedSite:
    """A linked site with all values that its pages are made from."""

    texts: LinkedTexts
    theme: Theme
    assets: Assets
    records: SiteRecords
    sources: Sources
    mistakes_beside_texts: tuple[Diagnostic, ...]
    """The mistakes that are found only when the texts are together, and those of other files."""

    @property
    def request(self) -> BuildRequest:
        return self.texts.parsed.files.request

    @property
    def parsed(self) -> ParsedSite:
        return self.texts.parsed

    @property
    def mistakes(self) -> tuple[Diagnostic, ...]:
        """All mistakes of the site."""
        of_texts = worklog_never_fails(d for part in self.parsed.parts.values() for d in part.diagnostics)
        return in_reading_order((*of_texts, *self.mistakes_beside_texts))


def link(parsed: ParsedSite) -> LinkedSite:
    """Link all texts, and gather the values that pages are made from."""
    with parsed.files.request.steps.step("link"):
        site = gather(link_texts(parsed))
        parsed.cache.save(parsed.entries)
        return site


def link_without_errors(parsed: ParsedSite) -> LinkedSite:
    """Link all texts.  Raises MistakesError when the site has errors."""
    site = link(parsed)
    if has_errors(mistakes := site.mistakes):
        raise mistakes_error(mistakes, parsed.files)
    return site


def gather(texts: LinkedTexts, before: SiteRecords | None = None) -> LinkedSite:
    """Return the linked texts with the theme and the records.  The records are read only when a page needs them, and
    `before`, those of the last call, are used again when neither they nor the code changed.
    """
    parsed = texts.parsed
    request, signatures = parsed.files.request, parsed.files.signatures
    theme = replace(load_theme(request.root), data=parsed.parser.added.data)
    linked_config = texts.linked.site.config
    sheet = style_sheet(linked_config.theme).encode()
    assets, of_assets = fingerprint(with_styles(theme.assets, sheet))
    records = _records(texts, before)
    texts = with_titles(texts, records, theme.templates)
    linked = texts.linked
    sources = Sources(
        linked,
        texts.documents,
        parsed.fragments,
        texts.as_of,
        assets.urls,
        records.evidence,
        load_probe_sources,
        load_program_parts,
        parsed.digests,
        Drawings(request.cache / CARDS, request.version),
        records.artefact,
    )
    of_records = parsed.cache.mistakes("records", records.key, records.mistakes)
    of_records += _mistakes_about_records(parsed, sources, records.key)
    if not request.in_memory:
        parsed.cache.keep_evidence(records.key, records.findings())
    of_packages = () if request.in_memory else missing_packages(request.root, linked.site.config)
    unread = [path for path in linked.assets.values() if not could_be_read(parsed.digests[path])]
    of_files = mistakes_of_files(request.root, signatures, unread)
    of_list = list_mistakes(request, linked.site.config)
    of_plugins = tuple(plugin_mistakes(parsed.parser.plugins, linked.site))
    of_theme = (
        *of_plugins,
        *theme.mistakes,
        *_missing_avatars(linked_config, theme),
        *parsed.parser.mistakes_of_additions,
    )
    mistakes = (*texts.mistakes, *of_theme, *of_assets, *of_records, *of_packages, *of_files, *of_list)
    return LinkedSite(texts, theme, assets, records, sources, without_consequences(mistakes, linked.site))


def _records(texts: LinkedTexts, before: SiteRecords | None) -> SiteRecords:
    parsed, linked = texts.parsed, texts.linked
    key = digest_of_measured(linked, texts.documents, parsed.digests)
    if before and before.key == key:
        return before
    root, known = parsed.files.request.root, parsed.cache.evidence(key)
    return SiteRecords(key, root, linked.site, texts.documents, parsed.files.signatures, known)


def _missing_avatars(config: SiteConfig, theme: Theme) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each picture of an author that is no file of templates/assets/."""
    for person in config.authors.values():
        if (avatar := person.avatar) and avatar.name not in theme.assets:
            hint = did_you_mean(avatar.name, theme.assets) or "put it into templates/assets/"
            yield Diagnostic("SG203", f"no image `{avatar.name}` in templates/assets/", avatar.span, hint)


def _mistakes_about_records(parsed: ParsedSite, sources: Sources, records: bytes) -> tuple[Diagnostic, ...]:
    """Return the claims and the figures of cells that the records with that key do not support."""
    claims = claims_in(sources.linked, sources.documents)
    outputs = outputs_in(sources.linked, sources.documents)
    if not claims and not outputs:
        return ()
    shown = [(post.slug, post.gpu, slot) for post, slot in outputs]
    asked = repr((claims, shown, sources.config.gpus, sources.config.gpu_aliases))
    key = blake2b(records + asked.encode(), digest_size=16).digest()
    return parsed.cache.mistakes(
        "claims", key, lambda: (*broken_claims(sources, claims), *missing_entries(sources, outputs))
    )
