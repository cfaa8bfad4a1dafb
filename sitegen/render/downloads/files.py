"""Return the files of the folder downloads/: programs of kernels and posts, and a zip for each series."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping

from sitegen.model.kernel import Kernel
from sitegen.model.site import Post, Series
from sitegen.model.urls import absolute, kernel_url, post_program_url, program_url, series_url, series_zip_url
from sitegen.render.downloads.notebooks import PostProgram, notebook, script
from sitegen.render.downloads.programs import in_import_order, program
from sitegen.render.inputs.implementations import source_of
from sitegen.render.inputs.series_questions import posts_in_order
from sitegen.render.inputs.sources import Sources
from sitegen.render.shared.frame import Printer
from sitegen.results.keys import cell_sources

Files = Mapping[str, str | bytes]


def kernel_programs(printer: Printer, kernel: Kernel) -> Files:
    """Return the program of each implementation of a kernel, by output path."""
    sources, files = printer.sources, printer.sources.site.files
    if not sources.program_parts:
        return {}
    there = {one.name: f"{kernel_url(kernel.name)}#{one.name}" for one in kernel.implementations}
    return {
        program_url(kernel.name, one.name): program(
            kernel, one, files, sources.program_parts, absolute(there[one.name], sources.config)
        )
        for one in kernel.implementations
        if source_of(sources.site, one)
    }


def post_programs(printer: Printer, post: Post) -> Files:
    """Return the notebook and the program of a post that has cells, by output path."""
    of_post = _post_program(printer.sources, post)
    file = post_program_url(post, "py")
    return {post_program_url(post, "ipynb"): notebook(of_post), file: script(of_post, file.rpartition("/")[2])}


def _post_program(sources: Sources, post: Post) -> PostProgram:
    cells = sources.document(post.body).cells
    modules = cell_sources(cells, sources.site.files)
    return PostProgram(
        title=post.title,
        page=absolute(sources.post_url(post), sources.config),
        cells=cells,
        outputs={cell.label: one.outputs for cell in cells for one in sources.cell_records(post.slug, cell.label)[:1]},
        modules={path: modules[path] for path in in_import_order(modules, sources.site.files)},
        embed=sources.program_parts.get("embedded", ""),
    )


def series_zip(printer: Printer, series: Series) -> Files:
    """Return a zip with all programs of the posts of a series and of their kernels; empty when there are none.

    It holds one folder, which has the id of the series, so that it unpacks into no other folder's files.  The posts
    come first, in the order of the series.
    """
    sources = printer.sources
    posts = posts_in_order(sources, series)
    names = sorted({name for post in posts for name in sources.kernels_of.get(post.body.path, ())})
    files: dict[str, str | bytes] = {}
    for post in posts:
        files |= post_programs(printer, post) if sources.document(post.body).cells else {}
    for kernel in filter(None, map(sources.kernel, names)):
        files |= kernel_programs(printer, kernel)
    if not files:
        return {}
    names_of_files = {path.partition("/")[2]: text for path, text in files.items()}
    held = {"README.md": _readme(sources, series, names_of_files), **names_of_files}
    return {series_zip_url(series.id): _zip({f"{series.id}/{name}": content for name, content in held.items()})}


def has_programs(sources: Sources, series: Series) -> bool:
    """Return whether there is a zip of a series: a post of it has cells or a kernel."""
    return any(
        sources.document(post.body).cells or post.body.path in sources.kernels_of for post in sources.posts_of(series)
    )


def _readme(sources: Sources, series: Series, files: Iterable[str]) -> str:
    """Return the README of a zip: what the files are, and how to run them."""
    page = absolute(series_url(series.id), sources.config)
    commands = "\n".join(f"- `python {name}`" for name in files if name.endswith(".py"))
    return f"""# {series.title}

{series.tagline}

The programs of [{page}]({page}). They need an NVIDIA GPU, and these packages:

    pip install torch triton "cuda-core[cu13]"

`posts/` holds the programs of each post, as a notebook with the stored outputs and as a Python file. `kernels/` holds
each implementation of the kernels: a file checks the implementation against its reference, and times it. A file whose
docstring names nvcc needs the CUDA toolkit. Without a GPU, the Triton programs check small shapes under Triton's
interpreter.

The list has the posts in the order of the series, and then the kernels:

{commands}
"""


def _zip(files: Mapping[str, str | bytes]) -> bytes:
    """Return a zip whose bytes depend only on the files: no times, one order, one way of compression."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # dated 1980, the first year of the format
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    return written.getvalue()
