"""Names of a site lead to their targets in every form in which an author may write them."""

from __future__ import annotations

import dataclasses
import datetime as dt

import pytest

from sitegen.diagnostics import Diagnostic, Span
from sitegen.linking.link import link_site
from sitegen.markup.documents import parse_documents
from sitegen.model.kernel import Goal, Implementation, Kernel, Language, Tensor, Workload
from sitegen.model.linked import Linked
from sitegen.model.site import (
    Markdown,
    Page,
    Phase,
    Post,
    Ref,
    Series,
    Site,
    SiteConfig,
    Term,
    WorklogEntry,
)
from sitegen.model.urls import address, post_url, relative, tag_url
from sitegen.read.exercises import parse_exercise

AS_OF = dt.date(2026, 11, 21)
NAMES = (
    *("../sum/index.md", "../sum/", "../sum", "../sum.md", "../%73um/", "../sum/?a=b", "../../posts/sum/"),
    *("/posts/sum/", "/posts/sum", "/posts/sum/index.html", "/content/posts/sum/index.md"),
)
CONFIG = SiteConfig("Notes", "https://example.org/notes/")


def post(slug: str, text: str = "", *, day: str = "2026-11-20", **given: object) -> Post:
    path = f"content/posts/{slug}/index.md"
    made = Post(slug, slug.title(), dt.date.fromisoformat(day), Markdown(text, path), Span(path), folder=path[:-9])
    return dataclasses.replace(made, **given)  # type: ignore[arg-type]


def kernel(**given: object) -> Kernel:
    scale = Kernel(
        name="scale",
        summary="",
        dims=("N",),
        inputs=(Tensor("x", ("N",)),),
        outputs=(Tensor("y", ("N",)),),
        dtypes=("float32",),
        flops="N",
        reads="N * itemsize",
        writes="N * itemsize",
        tolerance={"float32": 1e-6},
        checks=(),
        workloads=(Workload("4096", {"N": 4096}),),
        baselines=("torch",),
        implementations=(Implementation("tile", "kernels/scale/tile.py", Language.TRITON),),
    )
    return dataclasses.replace(scale, **given)  # type: ignore[arg-type]


def site(*posts: Post, **given: object) -> Site:
    files = {made.body.path: made.body.text for made in posts}
    return Site(CONFIG, posts=posts, files=files, **given)  # type: ignore[arg-type]


def linked(made: Site, *files: str, as_of: dt.date = AS_OF, everything: bool = False) -> tuple[Linked, list[str]]:
    documents, of_texts = parse_documents(made)
    assert of_texts == ()
    found, diagnostics = link_site(made, documents, as_of=as_of, files=files, everything=everything)
    return found, [summary(d) for d in diagnostics]


def summary(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.code} {diagnostic.span.line}:{diagnostic.span.col}"


def hrefs(found: Linked, slug: str) -> list[str]:
    return [url for (path, _), url in found.hrefs.items() if path == f"content/posts/{slug}/index.md"]


@pytest.mark.parametrize("target", NAMES)
def test_post_is_found_by_every_name_that_an_author_may_give_it(target: str) -> None:
    found, mistakes = linked(site(post("max", f"[x]({target})"), post("sum")))
    assert (hrefs(found, "max"), mistakes) == (["posts/sum/"], [])


def test_link_to_an_anchor_of_another_post() -> None:
    found, mistakes = linked(site(post("max", "[x](../sum/#한-번)"), post("sum", "## 한 번")))
    assert (hrefs(found, "max"), mistakes) == (["posts/sum/#한-번"], [])


def test_link_within_a_post_is_to_its_own_page() -> None:
    found, mistakes = linked(site(post("max", "[x](#there)\n\n## There")))
    assert (hrefs(found, "max"), mistakes) == (["posts/max/#there"], [])
    assert relative("posts/max/#there", "posts/max/") == "#there"


def test_external_link_stays_as_it_is() -> None:
    found, _ = linked(site(post("max", "[x](https://example.com/a%20b?c#d) <mailto:a@example.com>")))
    assert hrefs(found, "max") == ["https://example.com/a%20b?c#d", "mailto:a@example.com"]


def test_link_to_an_alias_goes_to_what_it_stands_for() -> None:
    renamed = post("sum", aliases=(Ref("/old/", Span("content/posts/sum/index.md")),))
    found, mistakes = linked(site(post("max", "[x](/old)"), renamed))
    assert (hrefs(found, "max"), mistakes, found.redirects) == (["posts/sum/"], [], {"old/": "posts/sum/"})


def test_link_to_an_implementation_is_to_its_place_on_the_kernels_page() -> None:
    found, _ = linked(site(post("max", "[x](../../../kernels/scale/tile.py) {kernel}`scale`"), kernels=(kernel(),)))
    assert hrefs(found, "max") == ["kernels/scale/#tile", "kernels/scale/"]


def test_image_goes_beside_the_page_of_its_post() -> None:
    made = site(post("max", "![a](img/a b.png) ![b](/logo.png)".replace("a b", "a%20b"), permalink="/old/max/"))
    found, mistakes = linked(made, "content/posts/max/img/a b.png", "content/logo.png")
    assert mistakes == []
    assert found.assets == {"old/max/img/a b.png": "content/posts/max/img/a b.png", "logo.png": "content/logo.png"}
    assert hrefs(found, "max") == ["old/max/img/a%20b.png", "logo.png"]


def test_image_of_a_post_whose_address_is_a_file_goes_into_a_folder_of_that_name() -> None:
    posts = [post(slug, "![a](a.png)", permalink=f"/2024/{slug}.html") for slug in ("max", "v1.2")]
    found, _ = linked(site(*posts), "content/posts/max/a.png", "content/posts/v1.2/a.png")
    assert hrefs(found, "max") == ["2024/max/a.png"]
    assert found.assets == {"2024/max/a.png": "content/posts/max/a.png", "2024/v1.2/a.png": "content/posts/v1.2/a.png"}


@pytest.mark.parametrize(
    "target", ["../../../secrets.png", "/etc/passwd", "../../../../x.png", "../../../kernels/scale/x.png"]
)
def test_nothing_outside_content_is_published(target: str) -> None:
    files = ("secrets.png", "kernels/scale/x.png")
    found, mistakes = linked(site(post("max", f"![a]({target})")), *files)
    assert (found.assets, mistakes) == ({}, ["SG203 1:6"])


def test_post_of_tomorrow_is_absent_from_everything() -> None:
    tomorrow = post("sum", day="2026-11-22", tags=(Ref("triton", Span("a")),))
    series = Series("all", "All", Span("series/all.yaml"), phases=(Phase("", posts=(ref("max"), ref("sum"))),))
    made = site(post("max"), tomorrow, series=(series,))
    found, mistakes = linked(made)
    assert [p.slug for p in found.site.posts] == ["max"]
    assert [r.name for r in found.site.series[0].posts] == ["max"]
    assert found.series_places[made.posts[0].body.path][0].total == 1
    assert mistakes == []
    assert [p.slug for p in linked(made, as_of=dt.date(2026, 11, 22))[0].site.posts] == ["sum", "max"]
    assert [p.slug for p in linked(made, everything=True)[0].site.posts] == ["sum", "max"]


def test_link_to_a_draft_is_a_mistake_but_its_own_links_are_not() -> None:
    made = site(post("max", "[x](../sum/)"), post("sum", "[x](../nowhere/)", draft=True))
    assert linked(made)[1] == ["SG201 1:5"]


EXERCISE = "---\ntitle: Scale\nkernel: scale\nsolution: tile\ncounted_at: {N: 8}\n---\nText.\n"


def with_starter(source: str) -> list[str]:
    """Return the mistakes of an exercise on the kernel `scale` that begins with this starter."""
    exercise, _ = parse_exercise(EXERCISE, "content/exercises/vec/index.md")
    made = site(exercises=(exercise,), kernels=(kernel(),))
    return linked(dataclasses.replace(made, files={exercise.starter: source}))[1]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "import triton\n\n@triton.jit\ndef scale_block(x): ...\n",
        "def launch(x): ...\n\ndef scale(x): ...\n",
        "def launch(x): ...\n\nscale = launch\n",
        "from rest import scale\n\ndef helper(x): ...\n",
    ],
)
def test_a_starter_may_define_its_function_in_any_way_or_leave_it_to_the_reader(source: str) -> None:
    assert with_starter(source) == []


def test_a_starter_whose_function_is_not_named_like_the_kernel_is_marked_there() -> None:
    assert with_starter("def scales(x): ...\n\ndef grid(x): ...\n") == ["SG216 1:5"]
    assert with_starter("def helper(x): ...\n\ndef doubled(x): ...\n") == ["SG216 3:5"]
    assert with_starter("def scale(x)\n") == ["SG036 1:13"]


@pytest.mark.parametrize("target", ["/exercises/vec/", "../../exercises/vec/", "../../exercises/vec/index.md"])
def test_a_link_to_an_exercise_leads_to_its_page(target: str) -> None:
    text = "---\ntitle: Add\nkernel: add\nsolution: tile\ncounted_at: {N: 8}\n---\nAdd.\n"
    exercise, _ = parse_exercise(text, "content/exercises/vec/index.md")
    found, mistakes = linked(site(post("max", f"[x]({target})"), exercises=(exercise,)))
    assert list(found.hrefs.values()) == ["exercises/vec/"] and not [one for one in mistakes if "SG201" in one]


def test_time_of_a_post_is_taken_in_the_sites_timezone() -> None:
    late = dt.datetime(2026, 11, 21, 22, 0, tzinfo=dt.UTC)
    made = site(post("max", date=late))
    assert [p.slug for p in linked(made)[0].site.posts] == ["max"]
    seoul = dataclasses.replace(made, config=dataclasses.replace(CONFIG, timezone="Asia/Seoul"))
    assert linked(seoul)[0].site.posts == ()


def test_neighbours_are_by_date_and_places_by_the_series() -> None:
    posts = (post("a", day="2026-11-01"), post("b", day="2026-11-03"), post("c", day="2026-11-02"))
    phases = (Phase("one", posts=(ref("c"),)), Phase("two", posts=(ref("a"), ref("b"))))
    found, _ = linked(site(*posts, series=(Series("all", "All", Span("series/all.yaml"), phases=phases),)))
    by_date = found.neighbours[posts[2].body.path]
    assert (by_date.previous, by_date.next) == (posts[0], posts[1])
    place = found.series_places[posts[0].body.path][0]
    assert (place.phase, place.number, place.total, place.previous, place.next) == (1, 2, 3, posts[2], posts[1])


CELL = """```{triton}
#| label: fast
#| implements: scale/fast
#| predicts: "one read and a write: 95 %"
def scale(x, *, out=None): ...
```
"""


def test_cell_joins_the_implementations_of_its_kernel() -> None:
    found, mistakes = linked(site(post("max", CELL), kernels=(kernel(),)))
    made = found.site.kernels[0].implementations[-1]
    assert mistakes == []
    assert (made.name, made.file, made.predicted_of_ceiling) == ("fast", "content/posts/max/index.md#fast", 0.95)
    assert made.source == "import torch, triton, triton.language as tl\ndef scale(x, *, out=None): ...\n"
    assert [p.slug for p in found.kernel_posts["scale"]] == ["max"]


def test_prediction_of_a_cell_without_a_share_is_marked() -> None:
    made = site(post("max", CELL.replace(": 95 %", "")), kernels=(kernel(),))
    assert linked(made)[1] == ["SG039 4:4"]


def test_cell_of_a_draft_joins_only_when_everything_is_wanted() -> None:
    made = site(post("max", CELL, draft=True), kernels=(kernel(),))
    assert len(linked(made)[0].site.kernels[0].implementations) == 1
    assert len(linked(made, everything=True)[0].site.kernels[0].implementations) == 2


def test_listing_may_show_an_implementation_of_another_posts_cell() -> None:
    _, mistakes = linked(site(post("max", CELL), post("sum", "```{kernel} scale/fast\n```\n"), kernels=(kernel(),)))
    assert mistakes == []


def test_two_cells_cannot_be_one_implementation() -> None:
    made = site(post("max", CELL), post("sum", CELL.replace("label: fast", "label: again")), kernels=(kernel(),))
    found, mistakes = linked(made)
    assert mistakes == ["SG206 3:16"]
    assert len(found.site.kernels[0].implementations) == 2


def test_word_of_an_option_is_found_where_it_stands() -> None:
    text = "The workload 512 and\n\n```{benchmark} scale\n:caption: Not 4096 but 512\n:workloads: 4096, 512\n```\n512\n"
    assert linked(site(post("max", text), kernels=(kernel(),)))[1] == ["SG205 5:19"]


def test_a_post_about_the_cells_on_an_unknown_gpu_is_marked() -> None:
    about = dataclasses.replace(post("max", CELL), gpu=Ref("nvidia-h20", Span("content/posts/max.md", 4, 6)))
    assert linked(site(about, kernels=(kernel(),)), "kernels/scale/results/nvidia-h200.json")[1] == ["SG214 4:6"]
    assert linked(site(about, kernels=(kernel(),)), "kernels/scale/results/nvidia-h20.json")[1] == []


def test_a_goal_for_a_gpu_that_is_nearly_a_known_one_is_marked_where_it_names_it() -> None:
    text = "best >= 2x torch @ 4096:float32 on nvidia-h20"
    goal = Goal(text, "best", 2, "x torch", "4096", "float32", "nvidia-h20")
    made = site(kernels=(kernel(goals=(goal,)),))
    made = dataclasses.replace(made, files={"kernels/scale/kernel.yaml": f"goals:\n  - {text!r}\n"})
    assert linked(made, "kernels/scale/results/nvidia-h200.json")[1] == ["SG214 2:41"]
    assert linked(made, "kernels/scale/results/nvidia-h20.json")[1] == []
    assert linked(made)[1] == [], "there is no record of it yet"


def test_backlinks_name_each_post_once_and_not_itself() -> None:
    found, _ = linked(site(post("max", "[x](../sum/) [y](../sum/#a) [z](#b)\n\n## B"), post("sum", "## A")))
    assert {url: [p.slug for p in posts] for url, posts in found.backlinks.items()} == {"posts/sum/": ["max"]}


def test_days_of_one_file_have_their_own_documents() -> None:
    path = "content/worklog/2026.md"
    days = [
        WorklogEntry(dt.date(2026, 11, day), Markdown(f"[x](/posts/{name}/)", path, line), Span(path))
        for day, name, line in [(20, "max", 3), (19, "sum", 7)]
    ]
    found, mistakes = linked(site(post("max"), post("sum"), worklog=tuple(days)))
    assert (dict(found.hrefs), mistakes) == ({(f"{path}:3", 0): "posts/max/", (f"{path}:7", 0): "posts/sum/"}, [])


def test_page_and_other_language_have_their_own_addresses() -> None:
    korean = post("sum", lang="ko")
    about = Page("about", "About", Markdown("[x](../posts/sum/index.md)", "content/pages/about.md"), Span("a"))
    found, mistakes = linked(site(korean, pages=(about,)))
    assert (found.hrefs["content/pages/about.md", 0], mistakes) == ("ko/posts/sum/", [])


def test_a_category_has_an_address_in_the_languages_of_its_posts_and_none_without() -> None:
    links = "[a](/categories/) [b](/categories/c++/) [c](/ko/categories/c++/)"
    korean = post("sum", lang="ko", category="C++")
    assert linked(site(post("max", links), korean))[1] == ["SG201 1:5", "SG201 1:23"]
    assert linked(site(post("max", links, category="c++"), korean))[1] == []


def test_addresses_are_written_alike() -> None:
    assert (address("old"), address("/old/"), address("/a/b.html"), address("/")) == ("old/", "old/", "a/b.html", "")
    assert address("/notes/v1.2/") == "notes/v1.2/"
    assert post_url(post("max", permalink="/2026/max"), CONFIG) == "2026/max/"
    assert relative("", "posts/max/") == "../../" and relative("", "") == "./"
    assert tag_url("CUDA C++") != tag_url("CUDA C")
    assert tag_url("C#") == "tags/csharp/" and tag_url("issue #3") == "tags/issue-3/"


def ref(name: str) -> Ref:
    return Ref(name, Span("series/all.yaml"))


def test_term_is_found_by_its_name_its_title_and_its_other_names() -> None:
    span = Span("content/terms/warp.md")
    term = Term("warp", "Warp of threads", Markdown("", "content/terms/warp.md"), span, aliases=("warps",))
    text = "{term}`warp`, {term}`Warp of threads`, {term}`Warps`, {term}`lanes <warp>`"
    found, mistakes = linked(site(post("max", text), terms=(term,)))
    assert (hrefs(found, "max"), mistakes) == (["terms/warp/"] * 3, [])
    assert [made.slug for made in found.backlinks["terms/warp/"]] == ["max"]


def test_unknown_term_speaks_of_terms() -> None:
    made = site(post("max", "{term}`wrap`"), terms=(Term("warp", "Warp", Markdown("", "a.md"), Span("a.md")),))
    documents, _ = parse_documents(made)
    (found,) = link_site(made, documents, as_of=AS_OF, files=())[1]
    assert (found.code, found.message, found.hint) == ("SG212", "unknown term `wrap`", "did you mean `warp`?")


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("logo@2x.png", ""),
        ("ada@example", ""),
        ("ada@example.org", "for an address of e-mail, write `mailto:ada@example.org`"),
        ("a.b+c@lists.example.org", "for an address of e-mail, write `mailto:a.b+c@lists.example.org`"),
    ],
)
def test_an_address_of_e_mail_without_its_scheme_is_no_file(target: str, hint: str) -> None:
    made = Site(CONFIG, posts=(post("first", f"[me]({target})"),))
    _, [found] = link_site(made, parse_documents(made)[0], as_of=AS_OF, files=())
    assert (found.code, found.message, found.hint) == ("SG201", f"`{target}` leads nowhere", hint)
