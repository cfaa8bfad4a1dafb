"""List the sheets of a linked site: the pages, feeds and data files of `render`, and the files that are copied or
converted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from sitegen.model.image import ImageVariant, variants_of
from sitegen.model.site import Exercise, Site
from sitegen.model.urls import exercise_zip_url, page_url
from sitegen.pipeline.additions import is_addition
from sitegen.pipeline.images import FORMS
from sitegen.pipeline.link_site import LinkedSite
from sitegen.pipeline.plugins import NamedPlugin, plugin_files
from sitegen.pipeline.private_words import guarded
from sitegen.read.notebook import file_bytes
from sitegen.read.root import SITE_FILE
from sitegen.render.rules.dependencies import Dependency
from sitegen.render.rules.sheet import Files, Sheet, fixed_dependencies
from sitegen.render.rules.site_rules import sheets
from sitegen.render.shared.frame import Printer, navigation
from sitegen.render.shared.language import PageLanguage
from sitegen.write.scan import could_be_read


def site_sheets(site: LinkedSite) -> dict[str, Sheet]:
    """Return all sheets by name, except those that are made from pages: the sitemap, and the indexes of search.

    A page replaces a file of the same name.
    """
    return {sheet.name: guarded(sheet, site) for sheet in (*file_sheets(site), *sheets(site.sources))}


def common_dependencies(site: LinkedSite) -> tuple[Dependency, ...]:
    """Return the dependencies that all pages share."""
    sources = site.sources
    footer = tuple((page.title, page_url(page, sources.config)) for page in sources.site.pages)
    added = tuple(sorted(pair for pair in site.parsed.digests.items() if is_addition(pair[0])))
    sections = tuple(navigation(sources, PageLanguage(lang)) for lang in sources.posts_by_language)
    return (
        Dependency("the templates", tuple(sorted(site.theme.templates.items())), ("templates/",)),
        Dependency("the site's own directives and data", added, ("content/data/", "templates/directives/")),
        Dependency("the theme's files", tuple(site.assets.urls.items()), ("templates/assets/",)),
        Dependency("the configuration", site.parsed.digests.get(SITE_FILE, b""), (SITE_FILE,)),
        Dependency("navigation and footer", (sections, footer, bool(sources.site.terms))),
    )


def file_sheets(site: LinkedSite) -> Iterator[Sheet]:
    """Yield the sheets that are not pages: the theme's files, files that texts link to, folders of exercises, forms of
    images.
    """
    yield theme_sheet(site)
    yield from _copied_files(site)
    yield from _exercise_folders(site)
    yield from _files_of_plugins(site)
    if site.sources.config.images:
        yield from _image_forms(site)


def theme_sheet(site: LinkedSite) -> Sheet:
    """Return the sheet of the theme's own files."""
    return Sheet("assets/", fixed_dependencies(), lambda printer: site.assets.files, listed=False)


def is_image_form(sheet: Sheet) -> bool:
    """Return whether the sheet makes forms of an image, which takes long when they are not in the cache."""
    return sheet.name.endswith(_FORMS_SUFFIX)


_FORMS_SUFFIX = ".forms"


def _copied_files(site: LinkedSite) -> Iterator[Sheet]:
    for url, path in site.sources.linked.assets.items():
        if could_be_read(digest := site.parsed.digests[path]):
            part = Dependency("the file", digest, (path,))
            yield Sheet(url, fixed_dependencies(part), partial(_copy, site.request.root, path, url), listed=False)


def _files_of_plugins(site: LinkedSite) -> Iterator[Sheet]:
    """Yield the files that each plugin makes, which depend on every file and on the day."""
    shown = (tuple(sorted(site.parsed.digests.items())), site.texts.as_of.isoformat())
    for one in site.parsed.parser.plugins:
        if one.plugin.outputs:
            files = Dependency("the files of the site and the plugin", (one.version, *shown))
            make = partial(_made_by_plugin, one, site.sources.site)
            yield Sheet(f"plugins/{one.name}/", fixed_dependencies(files), make, listed=False)


def _made_by_plugin(one: NamedPlugin, site: Site, printer: Printer) -> Files:
    return plugin_files(one, site)


def _exercise_folders(site: LinkedSite) -> Iterator[Sheet]:
    """Yield the archive of each exercise.  It depends on the sources of all kernels, because a reference may import
    another kernel's, and on the program, as every sheet does.
    """
    linked, digests = site.sources.site, site.parsed.digests
    code = [path for path in linked.files if path.startswith("kernels/")] if linked.exercises else []
    for exercise in linked.exercises:
        own = (exercise.body.path, exercise.starter)
        shown = tuple((path, digests.get(path, b"")) for path in (*own, *code))
        files = Dependency("the exercise and the kernels", shown, (*own, "kernels/"))
        yield Sheet(
            exercise_zip_url(exercise.id), fixed_dependencies(files), partial(_archive, linked, exercise), listed=False
        )


def _archive(site: Site, exercise: Exercise, printer: Printer) -> Files:
    from sitegen.execute.exercise_folder import folder_archive

    return {exercise_zip_url(exercise.id): folder_archive(site, exercise)}


def _image_forms(site: LinkedSite) -> Iterator[Sheet]:
    linked, root, folder = site.sources.linked, site.request.root, site.request.cache / FORMS
    for href, image in linked.images.items():
        url = unquote(href)
        if wanted := tuple(variants_of(url, image)):
            path = linked.assets[url]
            digest = site.parsed.digests[path]
            part = Dependency("the image", (digest, tuple(form.url for form in wanted)), (path,))
            make = partial(_convert, root, path, digest, wanted, folder)
            yield Sheet(f"{url}{_FORMS_SUFFIX}", fixed_dependencies(part), make, slow=True, listed=False)


def _copy(root: Path, path: str, url: str, printer: Printer) -> Files:
    return {url: file_bytes(root, path)}


def _convert(
    root: Path, path: str, digest: bytes, wanted: Sequence[ImageVariant], folder: Path, printer: Printer
) -> Files:
    from sitegen.write.images import variant_contents

    return variant_contents(partial(file_bytes, root, path), digest, wanted, folder)
