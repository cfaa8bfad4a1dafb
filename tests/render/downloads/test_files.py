"""The folder downloads/ of a site: what is there, what a zip holds, and where pages lead to it."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from types import SimpleNamespace

from selectolax.lexbor import LexborHTMLParser as Html

from sitegen.model.site import SiteConfig
from sitegen.render.downloads.run_lines import colab_address

Pages = dict[str, str | bytes]


def names_in(content: str | bytes) -> list[str]:
    assert isinstance(content, bytes)
    return zipfile.ZipFile(io.BytesIO(content)).namelist()


def test_a_zip_holds_the_programs_of_its_series_and_a_list_of_their_commands(pages: Pages) -> None:
    path = next(path for path in pages if path.endswith(".zip"))
    names, folder = names_in(pages[path]), path.rpartition("/")[2].removesuffix(".zip")
    assert {name.partition("/")[0] for name in names} == {folder}, "it unpacks into one folder"
    assert names[0] == f"{folder}/README.md"
    programs = ("kernels/softmax_fused.py", "posts/softmax.ipynb", "posts/softmax.py")
    assert {f"{folder}/{name}" for name in programs} <= set(names)
    readme = zipfile.ZipFile(io.BytesIO(bytes(pages[path]))).read(names[0]).decode()  # type: ignore[arg-type]
    assert readme.index("`python posts/softmax.py`") < readme.index("`python kernels/softmax_fused.py`")


def test_a_zip_has_the_same_bytes_whenever_it_is_made(pages: Pages, make: SimpleNamespace) -> None:
    again = make.rendered()
    zips = [path for path in pages if path.endswith(".zip")]
    assert zips and all(pages[path] == again[path] for path in zips)


def test_a_listing_names_its_command_once_and_each_cell_that_of_the_post(pages: Pages) -> None:
    lines = [line.text() for line in Html(str(pages["posts/softmax/index.html"])).css(".run")]
    assert sum("python softmax_fused.py" in line for line in lines) == 1
    assert any("python softmax.py" in line for line in lines)


def test_colab_opens_the_notebook_of_the_branch_that_site_yaml_names(make: SimpleNamespace) -> None:
    branch = "https://github.com/owner/name/tree/gh-pages"
    config = SiteConfig("", "", repository=branch)
    at = "https://colab.research.google.com/github/owner/name/blob/gh-pages/downloads/posts/softmax.ipynb"
    assert colab_address(config, "downloads/posts/softmax.ipynb") == at
    site = make.site()
    named = make.rendered(replace(site, config=replace(site.config, repository=branch)))
    assert at in str(named["posts/softmax/index.html"])


def test_no_page_leads_to_colab_without_a_repository(pages: Pages) -> None:
    assert not [path for path, text in pages.items() if path.endswith(".html") and "colab" in str(text)]


def test_a_series_leads_to_its_zip_only_when_there_is_one(pages: Pages, make: SimpleNamespace) -> None:
    def links(files: Pages) -> list[str]:
        every = [
            link.attributes["href"] or ""
            for path in files
            if path.startswith("series/") and path.endswith("html")
            for link in Html(str(files[path])).css("a")
        ]
        return [href for href in every if href.endswith(".zip")]

    assert links(pages)
    site = make.site()
    planned = [
        replace(one, phases=tuple(replace(phase, posts=(), topics=()) for phase in one.phases)) for one in site.series
    ]
    bare = make.rendered(replace(site, series=tuple(planned)))
    assert (links(bare), [path for path in bare if path.endswith(".zip")]) == ([], [])
