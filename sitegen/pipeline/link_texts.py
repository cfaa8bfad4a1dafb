"""Turn parsed texts into linked texts: find the target of each name, and the images that the texts show."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b

from sitegen.diagnostics import Diagnostic
from sitegen.linking.image_files import with_images
from sitegen.linking.link import Resolved, link_site, resolved, unpublished
from sitegen.model.document import Document
from sitegen.model.kernel import Kernel
from sitegen.model.linked import Linked
from sitegen.model.site import Post
from sitegen.model.titles import has_figures, titled
from sitegen.pipeline.images import ImageReader, faults_of_linked
from sitegen.pipeline.parse_texts import ParsedSite
from sitegen.pipeline.parsed_part import ParsedPart
from sitegen.pipeline.site_records import SiteRecords
from sitegen.read.load import assemble, is_text
from sitegen.read.texts import LazyTexts


class Documents(Mapping[str, Document]):
    """The document of each text, by `document_key`, unpacked at its first access."""

    def __init__(self, parts: Iterable[ParsedPart]) -> None:
        self._owners = {key: part for part in parts for key in part.keys}

    def put(self, part: ParsedPart) -> None:
        """Replace the documents that have the same keys as those of a part."""
        self._owners |= dict.fromkeys(part.keys, part)

    def __getitem__(self, key: str) -> Document:
        return self._owners[key].documents[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._owners)

    def __len__(self) -> int:
        return len(self._owners)


@dataclass(frozen=True, slots=True)
class LinkedTexts:
    """All texts of a site together, for one day."""

    parsed: ParsedSite
    linked: Linked
    documents: Documents
    posts: tuple[Post, ...]
    """All posts, also those that are not published."""
    kernels: tuple[Kernel, ...]
    """The kernels without the implementations that stand in cells."""
    as_of: dt.date
    mistakes: tuple[Diagnostic, ...]
    """The mistakes that are found only when the texts are together."""
    sources: LazyTexts
    """The text of each file, as the author wrote it."""


def link_texts(parsed: ParsedSite) -> LinkedTexts:
    """Find the targets of the names in all texts.  They come from the cache when no file changed."""
    request, signatures = parsed.files.request, parsed.files.signatures
    sources = LazyTexts(request.root, filter(is_text, signatures), request.privacy.published)
    parts = {name: one.part for name, one in parsed.parts.items() if one.part is not None}
    site, of_site = assemble(parts, sources)
    documents = Documents(parsed.parts.values())
    as_of = request.day(site.config.timezone)
    files, all_posts = frozenset(signatures), request.everything
    key = _key_of_links(parsed.digests, () if all_posts else unpublished(site, as_of))
    known = parsed.cache.links(key)
    linked, of_names = link_site(site, documents, as_of=as_of, files=files, everything=all_posts, known=known)
    if known is None and (links := resolved(linked, of_names)):
        parsed.cache.keep_links(key, links)
    reader = ImageReader(request.root, request.cache, request.version, parsed.digests, request.processes)
    linked, of_images = with_images(linked, documents, reader, partial(faults_of_linked, request.root))
    return LinkedTexts(
        parsed, linked, documents, site.posts, site.kernels, as_of, (*of_site, *of_names, *of_images), sources
    )


def with_titles(texts: LinkedTexts, records: SiteRecords, templates: Mapping[str, str]) -> LinkedTexts:
    """Return the texts with figures of records in their titles.

    Only a site that has such figures is linked twice: lists, series and related posts hold the posts with their titles.
    """
    site, parsed = texts.linked.site, texts.parsed
    if not any(map(has_figures, titled(site))):
        return texts
    from sitegen.linking.value_refs import known_names
    from sitegen.pipeline.figures_in_titles import mistakes_in_titles, with_figures
    from sitegen.results.quantities import Measured

    files, request = frozenset(parsed.files.signatures), parsed.files.request
    kernels = {kernel.name: kernel for kernel in site.kernels}
    mistakes = mistakes_in_titles(site, known_names(site, files))
    evidence = records.evidence()
    measured = Measured(kernels, evidence.records, evidence.of_evaluation, site.config.gpus, site.config.gpu_aliases)
    filled = with_figures(replace(site, posts=texts.posts, kernels=texts.kernels), measured, templates)
    known = Resolved(texts.linked.hrefs, texts.linked.assets, texts.linked.rich)
    linked, _ = link_site(
        filled, texts.documents, as_of=texts.as_of, files=files, everything=request.everything, known=known
    )
    linked = replace(linked, images=texts.linked.images)
    return replace(texts, linked=linked, mistakes=(*texts.mistakes, *mistakes))


def _key_of_links(digests: Mapping[str, bytes], hidden: Iterable[str]) -> bytes:
    """Return a digest of all files, and of the posts that are not published."""
    key = blake2b("\0".join(sorted(hidden)).encode(), digest_size=16)
    key.update(b"".join(b"\0%s\0%s" % (path.encode(), digests[path]) for path in sorted(digests)))
    return key.digest()
