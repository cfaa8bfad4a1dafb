"""Print the line below a program of a text that says how a reader runs it: the commands, the files, a cloud."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.document import Cell
from sitegen.model.kernel import Implementation, Kernel
from sitegen.model.site import Post, Site, SiteConfig
from sitegen.model.urls import post_program_url, program_url, relative
from sitegen.render.downloads.notebooks import needs_of
from sitegen.render.downloads.programs import file_of, install_all
from sitegen.render.inputs.implementations import source_of
from sitegen.render.shared.frame import Link, Printer

_COLAB = "https://colab.research.google.com/github/"
_GITHUB = "https://github.com/"


@dataclass(frozen=True, slots=True)
class RunLine:
    """The commands that run a program."""

    install: str
    command: str
    files: tuple[Link, ...]
    """The files to download."""
    colab: str
    """The link that opens the notebook in Colab; empty when site.yaml names no repository."""


def implementation_line(printer: Printer, kernel: Kernel, one: Implementation, here: str, lang: str) -> Markup:
    """Return the line for an implementation."""
    link = program_link(kernel, one, here)
    line = RunLine(install_all([one.language]), f"python {link.text}", (link,), "")
    return printer.fragment("partials/run.html", line, lang)


def cells_line(printer: Printer, post: Post, cells: Sequence[Cell], here: str) -> Markup:
    """Return the line for the cells of a post, which run together."""
    notebook, script = (post_program_url(post, suffix) for suffix in ("ipynb", "py"))
    files = tuple(Link(url.rpartition("/")[2], relative(url, here)) for url in (notebook, script))
    colab = colab_address(printer.sources.config, notebook)
    return printer.fragment(
        "partials/run.html", RunLine(needs_of(cells), f"python {files[1].text}", files, colab), post.lang
    )


def colab_address(config: SiteConfig, notebook: str) -> str:
    """Return the address at which Colab opens a notebook of the built site; empty without `repository` in site.yaml."""
    if not config.repository:
        return ""
    return f"{_COLAB}{config.repository.removeprefix(_GITHUB).replace('/tree/', '/blob/').rstrip('/')}/{notebook}"


def programs(site: Site, kernel: Kernel, here: str) -> tuple[Link, ...]:
    """Return a link to the program of each implementation of a kernel."""
    return tuple(program_link(kernel, one, here) for one in _written(site, kernel))


def program_link(kernel: Kernel, one: Implementation, here: str) -> Link:
    """Return the link to the program of an implementation."""
    return Link(file_of(kernel, one), relative(program_url(kernel.name, one.name), here))


def run_commands(site: Site, kernel: Kernel) -> tuple[str, ...]:
    """Return the commands that install what the programs of a kernel need, and run the first of them; empty when there
    is none.
    """
    written = _written(site, kernel)
    if not written:
        return ()
    command = f"python {file_of(kernel, written[0])}"
    return install_all([one.language for one in written]), command, f"{command} --all"


def _written(site: Site, kernel: Kernel) -> list[Implementation]:
    return [one for one in kernel.implementations if source_of(site, one)]
