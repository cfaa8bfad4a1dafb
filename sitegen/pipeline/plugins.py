"""Load the plugins that site.yaml names: installed packages that add directives, checks, files and importers.

A package offers a `Plugin` through an entry point of the group `sitegen.plugins`.  An installed package that the site
does not name is never loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from sitegen.diagnostics import Diagnostic, Span, did_you_mean
from sitegen.markup.directive import Directive
from sitegen.model.site import Ref, Site
from sitegen.read.foreign_keys import is_plugin_of_jekyll

GROUP = "sitegen.plugins"
Texts = Mapping[str, str | bytes]
"""The content of files by path."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """The directives, checks, importers and outputs that a package adds to the sites that name it."""

    directives: Sequence[Directive] = ()
    """Directives beside those of sitegen; none may have a name of sitegen's."""
    checks: Sequence[Callable[[Site], Iterable[Diagnostic]]] = ()
    """Functions that find mistakes in a site: in published posts for `build`, in all for `check`."""
    outputs: Sequence[Callable[[Site], Texts]] = ()
    """Functions that make files below `plugins/<name>/` of the output, by path below that folder."""
    importers: Mapping[str, Callable[[Path], Texts]] = field(default_factory=dict)
    """Functions that turn a file or a folder into files of a site, by the name for `sitegen import plugin`."""


@dataclass(frozen=True, slots=True)
class NamedPlugin:
    """A plugin that was loaded."""

    name: str
    version: str
    plugin: Plugin


def load_plugins(names: Sequence[Ref]) -> tuple[tuple[NamedPlugin, ...], tuple[Diagnostic, ...]]:
    """Return the plugins of these names, and a mistake for each that is not installed or cannot be loaded."""
    if not names:
        return (), ()
    installed = {one.name: one for one in entry_points(group=GROUP)}
    loaded, mistakes = [], []
    for ref in names:
        if ref.name not in installed:
            mistakes.append(_not_installed(ref, installed))
            continue
        try:
            loaded.append(_loaded(installed[ref.name]))
        except Exception as error:  # a plugin is somebody else's program
            mistakes.append(_failed(ref.name, error, ref.span))
    return tuple(loaded), tuple(mistakes)


def installed_versions(names: Iterable[Ref]) -> tuple[str, ...]:
    """Return the name and the version of each plugin that is named and installed: `example 1.0`."""
    wanted = {ref.name for ref in names}
    found = [one for one in (entry_points(group=GROUP) if wanted else ()) if one.name in wanted]
    return tuple(sorted(f"{one.name} {_version(one)}" for one in found))


def plugin_mistakes(plugins: Iterable[NamedPlugin], site: Site) -> Iterator[Diagnostic]:
    """Yield the mistakes that the checks of plugins find in a site."""
    for one in plugins:
        for check in one.plugin.checks:
            try:
                yield from check(site)
            except Exception as error:  # a plugin is somebody else's program
                yield _failed(one.name, error, _span(site, one.name))


def plugin_files(one: NamedPlugin, site: Site) -> dict[str, str | bytes]:
    """Return the files that a plugin makes of a site, by output path."""
    made = {path: data for make in one.plugin.outputs for path, data in make(site).items()}
    return {f"plugins/{one.name}/{path}": data for path, data in made.items()}


def _loaded(found: EntryPoint) -> NamedPlugin:
    plugin = found.load()
    if not isinstance(plugin, Plugin):
        raise TypeError(f"{found.value} is no Plugin")
    return NamedPlugin(found.name, _version(found), plugin)


def _version(found: EntryPoint) -> str:
    return found.dist.version if found.dist else ""


def _span(site: Site, name: str) -> Span:
    return next((ref.span for ref in site.config.plugins if ref.name == name), Span("content/site.yaml"))


def _not_installed(ref: Ref, installed: Iterable[str]) -> Diagnostic:
    if is_plugin_of_jekyll(ref.name):
        return Diagnostic("SG508", f"`{ref.name}` is a plugin of Jekyll", ref.span, "remove it: it does not run here")
    hint = did_you_mean(ref.name, installed) or "install the package that offers it"
    return Diagnostic("SG508", f"the plugin `{ref.name}` is not installed", ref.span, hint)


def _failed(name: str, error: Exception, span: Span) -> Diagnostic:
    said = f"{type(error).__name__}: {error}".partition("\n")[0]
    return Diagnostic("SG508", f"the plugin `{name}` fails: {said}", span, "tell the author of the plugin")
