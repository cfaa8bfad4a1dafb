"""Each kind of page contains what its readers look for."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import jinja2
import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitegen.model.site import Markdown, PlannedPost, Ref, SeriesExercise, WorklogEntry
from sitegen.render.shared.theme import Theme, environment, load_theme
from sitegen.render.texts.day_summaries import excerpt

Pages = dict[str, str | bytes]


def page(pages: Pages, path: str) -> LexborHTMLParser:
    return LexborHTMLParser(str(pages[path]))


def words(node: LexborNode | None) -> str:
    assert node is not None
    return " ".join(node.text(separator=" ").replace("\u00a0", " ").split())


def test_the_home_page_promises_what_the_description_begins_with(pages: Pages) -> None:
    home = page(pages, "index.html")
    assert words(home.css_first("h1")) == "Kernels explained"
    assert words(home.css_first(".lede")) == "Every figure was measured."


def test_a_description_of_one_sentence_stands_below_the_title(make: SimpleNamespace) -> None:
    site = make.site()
    short = replace(site, config=replace(site.config, description="Kernels explained."))
    home = page(make.rendered(short), "index.html")
    assert words(home.css_first("h1")) == "Warp & Weft"
    assert words(home.css_first(".lede")) == "Kernels explained."


def test_the_doors_of_the_home_page_give_their_reason(pages: Pages) -> None:
    door = page(pages, "index.html").css_first("li.entry")
    assert words(door).startswith("You know what a reduction is. A softmax that reads memory once")


def test_the_countdown_runs_to_the_day_that_the_build_is_told(pages: Pages) -> None:
    assert "T − 40 to “the last kernel at its ceiling”" in words(page(pages, "index.html").css_first("main"))


def test_an_almost_empty_site_has_a_home_and_no_empty_sections(make: SimpleNamespace) -> None:
    site = make.site()
    bare = replace(site, posts=(), pages=(), series=(), worklog=(), kernels=(), terms=(), files={})
    bare = replace(bare, config=replace(bare.config, entry_points=(), countdown=None))
    pages = make.rendered(bare)
    assert sorted(pages) == ["404.html", "feed.json", "feed.xml", "index.html", "robots.txt", "sitemap.xml"]
    assert not page(pages, "index.html").css("section, nav")


def test_a_post_stands_in_its_series_between_its_neighbours(pages: Pages) -> None:
    post = page(pages, "posts/softmax/index.html")
    assert words(post.css_first(".eyebrow")) == "GPU Systems Phase 2, Triton kernels part 2 of 2"
    turn = post.css_first("nav.turn")
    assert turn is not None
    assert words(turn.css_first("a[rel=prev] b")) == "Adding many numbers"
    assert words(turn.css_first("p.next")) == "Next in the series, planned LayerNorm"
    squares = [path.attributes["d"].count("z") for path in turn.css("svg.strip path")]
    assert sum(squares) == 4 and turn.css_first("svg.strip path.plan").attributes["d"].count("z") == 2


def test_a_post_lists_its_sections_with_their_numbers(pages: Pages) -> None:
    entries = [words(entry) for entry in page(pages, "posts/softmax/index.html").css("nav.toc li")]
    assert entries == ["1 What must move", "2 Try it", "3 What it measures"]


def test_a_series_shows_topics_posts_and_what_is_planned(pages: Pages) -> None:
    series = page(pages, "series/gpu-systems/index.html")
    assert [words(topic) for topic in series.css("ul.topics li")] == ["coalescing", "bytes in flight 1"]
    assert series.css_first("ul.topics a").attributes["href"] == "#post-sum"
    states = [words(state) for state in series.css("ol.parts .state")]
    assert states == ["1 min", "newest, 1 min", "planned", "planned"]


@pytest.fixture
def connected(make: SimpleNamespace) -> Pages:
    """The site, where softmax needs what the sum teaches, and an exercise and a planned post need more."""
    site = make.site()
    (series,) = site.series
    first, second = series.phases
    span = series.span
    exercise = SeriesExercise(Ref("softmax", span), "Softmax", 60, (Ref("fusion", span),))
    planned = (PlannedPost("LayerNorm", needs=(Ref("Fusion", span), Ref("C", span))), PlannedPost("Attention"))
    phases = (replace(first, outcome="say what moves."), replace(second, planned=planned, exercises=(exercise,)))
    posts = [
        replace(post, needs=(Ref("bytes in flight", span),), teaches=(Ref("fusion", span),))
        if post.slug == "softmax"
        else replace(post, teaches=(Ref("Bytes in flight", span),))
        if post.slug == "sum"
        else post
        for post in site.posts
    ]
    rendered: Pages = make.rendered(replace(site, posts=tuple(posts), series=(replace(series, phases=phases),)))
    return rendered


def test_a_series_says_what_each_step_needs_and_what_a_reader_can_do_now(connected: Pages) -> None:
    series = page(connected, "series/gpu-systems/index.html")
    assert words(series.css_first("#planned-2-1 .of")) == "needs Fusion , C"
    assert [a.attributes["href"] for a in series.css("#planned-2-1 .of a")] == ["#post-softmax"]
    assert words(series.css_first("#exercise-softmax .state")) == "planned, 60 min"
    assert not series.css("#exercise-softmax a[href$='/']") and not series.css("#planned-2-1 a[href$='/']")
    assert words(series.css_first("#post-softmax .of")).startswith("best of ceiling, H200: softmax")
    assert [words(one) for one in series.css(".outcome")] == ["You can now say what moves."]


def test_a_need_that_only_a_post_outside_of_the_series_teaches_leads_to_the_concepts(make: SimpleNamespace) -> None:
    site = make.site()
    (series,) = site.series
    first, second = series.phases
    teaching = {"sum": {"teaches": (Ref("sums", series.span),)}, "softmax": {"needs": (Ref("Sums", series.span),)}}
    posts = tuple(replace(post, **teaching.get(post.slug, {})) for post in site.posts)
    alone = replace(series, phases=(replace(first, posts=(), topics=()), second))
    rendered = make.rendered(replace(site, posts=posts, series=(alone,)))
    needs = page(rendered, "series/gpu-systems/index.html").css_first("#post-softmax .of span:last-child")
    assert words(needs) == "needs Sums"
    assert [a.attributes["href"] for a in needs.css("a")] == ["../../concepts/#sums"]


@pytest.mark.parametrize("newest", [True, False])
def test_the_map_explains_its_coloured_frame_where_there_is_one(make: SimpleNamespace, newest: bool) -> None:
    site = make.site()
    (series,) = site.series
    first, second = series.phases
    without = replace(series, phases=(first, replace(second, posts=(), topics=())))
    rendered = make.rendered(site if newest else replace(site, series=(without,)))
    section = page(rendered, "series/gpu-systems/index.html").css_first("section:has(#map)")
    assert ("The coloured frame marks the newest post." in section.text()) is newest
    assert bool(section.css("rect.now")) is newest


def test_the_map_links_what_is_written_and_draws_a_line_to_each_user(connected: Pages) -> None:
    graph = page(connected, "series/gpu-systems/index.html").css_first("svg.graph")
    assert graph is not None
    links = [(a.attributes["aria-label"], a.attributes["href"]) for a in graph.css("a")]
    assert links == [
        ("Adding many numbers, post", "../../posts/sum/"),
        ("A softmax that reads memory once, newest post", "../../posts/softmax/"),
    ]
    assert [line.attributes["class"] for line in graph.css("path.link")] == ["link", "link plan", "link plan"]
    assert len(graph.css("rect.plan")) == 3 and len(graph.css("rect.ex")) == 1


def test_progress_goes_by_ids_of_what_has_a_page_and_is_hidden_without_a_script(connected: Pages) -> None:
    series = page(connected, "series/gpu-systems/index.html")
    assert [line.attributes["data-progress"] for line in series.css("li[data-progress]")] == [
        "post:sum",
        "post:softmax",
    ]
    assert series.css_first("section.progress[hidden]") is not None
    read = page(connected, "posts/softmax/index.html").css_first("article[data-progress]")
    assert read is not None and read.attributes["data-progress"] == "post:softmax"


def test_a_post_says_what_its_reader_needs_first_and_will_learn(connected: Pages) -> None:
    facts = page(connected, "posts/softmax/index.html").css_first(".prose > .facts")
    assert words(facts) == "you need this first bytes in flight : Adding many numbers you will learn fusion"
    assert facts is not None and [a.attributes["href"] for a in facts.css("a")] == [
        "../../concepts/#bytes-in-flight",
        "../../posts/sum/",
        "../../concepts/#fusion",
    ]


def test_a_post_ends_with_the_exercise_that_needs_what_it_teaches(connected: Pages) -> None:
    ends = [page(connected, f"posts/{slug}/index.html").css_first("nav.turn") for slug in ("softmax", "sum")]
    assert ["Exercise Softmax" in words(end) for end in ends] == [True, False]


def test_the_index_of_concepts_lists_who_teaches_and_who_needs_each(connected: Pages) -> None:
    concepts = page(connected, "concepts/index.html")
    shown = {words(one.css_first("h2")): words(one.css_first("dl")) for one in concepts.css("section")}
    assert shown["fusion"] == "taught in A softmax that reads memory once"
    flight = "taught in Adding many numbers needed in A softmax that reads memory once"
    assert next(text for name, text in shown.items() if name.lower() == "bytes in flight") == flight


def test_the_archive_is_paged_at_fifty_and_its_pages_lead_to_each_other(make: SimpleNamespace) -> None:
    site = make.site()
    first = site.posts[1]
    many = [
        replace(
            first, slug=f"p{n}", body=replace(first.body, path=f"content/posts/p{n}.md"), tags=(Ref("C++", first.span),)
        )
        for n in range(51)
    ]
    pages = make.rendered(replace(site, posts=(*site.posts, *many)))
    assert len(page(pages, "posts/index.html").css("li.post")) == 50
    assert len(page(pages, "posts/page/2/index.html").css("li.post")) == 3
    older = page(pages, "posts/index.html").css_first("a[rel=next]")
    newer = page(pages, "posts/page/2/index.html").css_first("a[rel=prev]")
    assert older is not None
    assert newer is not None
    assert (older.attributes["href"], newer.attributes["href"]) == ("../posts/page/2/", "../../../posts/")
    assert len(page(pages, "tags/c++/index.html").css("li.post")) == 50


def test_a_day_shows_its_month_its_open_tasks_and_the_days_beside_it(pages: Pages) -> None:
    day = page(pages, "worklog/2026-11-20/index.html")
    assert words(day.css_first("h1")) == "Friday, 20 November"
    assert words(day.css_first(".count")) == "T − 41"
    left = ["Partly done: Write it down open for 1 day, since 19 November 2026"]
    assert [words(task) for task in day.css(".around ul.tasks li")] == left
    assert words(day.css_first("table.cal [aria-current=date]")) == "20"
    assert len(day.css("table.cal td a")) == 3
    assert words(day.css_first("a[rel=prev]")) == "Previous day Thursday, 19 November"
    assert words(day.css_first("a[rel=next]")) == "Next day Saturday, 21 November"
    within = [link.attributes["href"] for link in day.css(".eyebrow a")]
    assert within == [f"../../worklog/{part}" for part in ("", "2026-w47/", "2026-11/", "2026/")]


def test_a_day_keeps_the_count_that_was_written_on_it(make: SimpleNamespace) -> None:
    site = make.site()
    entry: WorklogEntry = replace(site.worklog[0], days_left=154)
    pages = make.rendered(replace(site, worklog=(entry,)))
    count = words(page(pages, "worklog/2026-11-21/index.html").css_first(".around section:has(.count)"))
    assert count == f"Countdown T − 154 {(dt.date(2026, 11, 21) + dt.timedelta(154)).day} April 2027"


def test_the_worklog_list_tells_no_screen_reader_words(pages: Pages) -> None:
    line = words(page(pages, "worklog/index.html").css_first("li.post"))
    assert line == "2026-11-21 Saturday, 21 November Measured softmax 0 · Write it down 1 of 2 tasks done"


def test_an_alias_leads_to_where_the_post_is_now(make: SimpleNamespace) -> None:
    site = make.site()
    moved = replace(site.posts[0], aliases=(Ref("/old/softmax/", site.posts[0].span),))
    pages = make.rendered(replace(site, posts=(moved, *site.posts[1:])))
    link = page(pages, "old/softmax/index.html").css_first("a")
    assert link is not None
    assert link.attributes["href"] == "../../posts/softmax/"
    assert "old/softmax" not in str(pages["sitemap.xml"])
    assert pages["_redirects"] == "/blog/old/softmax/ /blog/posts/softmax/ 301\n"
    canonical = page(pages, "old/softmax/index.html").css_first("link[rel=canonical]")
    assert canonical is not None
    assert canonical.attributes["href"] == "https://example.org/blog/posts/softmax/"


def test_a_post_whose_permalink_is_a_file_is_in_the_sitemap_too(make: SimpleNamespace) -> None:
    site = make.site()
    moved = replace(site.posts[0], permalink="/2026/softmax.html", updated=dt.date(2026, 11, 22))
    pages = make.rendered(replace(site, posts=(moved, *site.posts[1:]), config=replace(site.config, twins=True)))
    assert "2026/softmax.md" in pages
    lines = [line for line in str(pages["sitemap.xml"]).splitlines() if "softmax.html" in line]
    assert lines == ["<url><loc>https://example.org/blog/2026/softmax.html</loc><lastmod>2026-11-22</lastmod></url>"]


def test_the_sitemap_says_of_lists_when_what_they_list_changed(make: SimpleNamespace) -> None:
    lines = str(make.rendered()["sitemap.xml"]).splitlines()
    changed = {line.split("</loc>")[0].removeprefix("<url><loc>https://example.org/blog/"): line for line in lines}
    assert "<lastmod>2026-11-21</lastmod>" in changed[""]
    assert "<lastmod>2026-11-21</lastmod>" in changed["tags/triton/"]
    assert "<lastmod>2026-11-14</lastmod>" in changed["posts/sum/"]
    assert "lastmod" not in changed["about/"]


def test_a_site_overrides_one_template_and_keeps_the_others(tmp_path: Path) -> None:
    (tmp_path / "templates" / "partials").mkdir(parents=True)
    (tmp_path / "templates" / "partials" / "colophon.html").write_text("<footer>mine</footer>\n", encoding="utf-8")
    theme, default = load_theme(tmp_path), load_theme()
    assert theme.templates["partials/colophon.html"] == "<footer>mine</footer>\n"
    assert theme.templates["base.html"] == default.templates["base.html"]
    assert theme.assets == default.assets


def test_a_template_that_asks_for_an_unknown_name_is_an_error() -> None:
    template = environment(Theme({"a.html": "{{ page.titel }}"})).get_template("a.html")
    with pytest.raises(jinja2.UndefinedError, match="titel"):
        template.render(page=object())


def test_a_teaser_ends_with_a_sentence(make: SimpleNamespace) -> None:
    long = "A row of loads waits for memory, and nothing else does. " * 4
    assert excerpt(f"<p>It stalls. Why? {long}</p>").endswith("nothing else does.")
    assert excerpt("<ul><li>one</li><li>two</li></ul><p>Three.</p><p>Four</p>") == "one · two · Three. Four"
    assert excerpt(f"<p>{'endless ' * 40}</p>").endswith("endless …")


def test_a_day_tells_how_many_days_in_a_row_were_written(pages: Pages) -> None:
    assert "3 days in a row" in words(page(pages, "worklog/2026-11-21/index.html").css_first(".titles .meta"))
    assert "in a row" not in words(page(pages, "worklog/2026-11-19/index.html").css_first(".titles"))


def test_the_list_of_tasks_shows_the_history_of_each(pages: Pages) -> None:
    tasks = page(pages, "worklog/tasks/index.html")
    assert words(tasks.css_first(".lede")).startswith("1 open, 3 ended")
    still_open, *ended = tasks.css(".histories > li")
    assert words(still_open).startswith("Partly done: Write it down open for 2 days Partly done, 19 November 2026")
    assert [link.attributes["href"] for link in still_open.css("a")] == [
        f"../../worklog/2026-11-{day}/" for day in (19, 20, 21)
    ]
    assert [words(one).split(" Done,")[1] for one in ended] == [f" {day} November 2026" for day in (21, 20, 19)]
    assert page(pages, "worklog/index.html").css_first("a[href$='worklog/tasks/']") is not None


def test_a_week_a_month_and_a_year_show_their_days_and_lead_to_each_other(make: SimpleNamespace) -> None:
    site = make.site()
    old = replace(site.worklog[-1], date=dt.date(2025, 12, 29), body=Markdown("Text.\n", "b.md"))
    pages = make.rendered(replace(site, worklog=(*site.worklog, old)))
    week = page(pages, "worklog/2026-w47/index.html")
    assert words(week.css_first("h1")) == "Week 47 of 2026" and words(week.css_first(".lede")).startswith("3 days, ")
    assert [day.attributes["id"] for day in week.css("li.post")] == [f"2026-11-{day}" for day in (21, 20, 19)]
    assert week.css_first("a[rel=prev]").attributes["href"] == "../../worklog/2026-w01/"
    first = page(pages, "worklog/2026-w01/index.html")  # the week has days of two years
    assert words(first.css_first(".titles .meta")) == "2025 December 2025"
    month = page(pages, "worklog/2026-11/index.html")
    assert len(month.css("table.cal td a")) == 3 and month.css_first("[aria-current=date]") is None
    assert words(page(pages, "worklog/2025/index.html").css_first("li.post a")) == "December 2025"
    assert words(page(pages, "worklog/2025/index.html").css_first("a[rel=next]")) == "2026 →"


def test_a_day_names_what_it_is_about_and_that_page_names_the_day(pages: Pages) -> None:
    day = page(pages, "worklog/2026-11-20/index.html")
    about = {link.attributes["href"] for link in day.css(".around [aria-label=About] a")}
    assert {"../../kernels/softmax/", "../../posts/softmax/"} <= about
    for path in ("posts/softmax/index.html", "kernels/softmax/index.html"):
        days = page(pages, path).css("p.meta[data-given=worklog] a")
        assert [link.attributes["href"] for link in days] == [f"../../worklog/2026-11-{n}/" for n in (21, 20, 19)]


def test_the_reading_list_shows_what_was_read_and_where(make: SimpleNamespace) -> None:
    text = "- [A paper](https://example.org/paper)\n  - read till page 3\n\nhttps://www.example.net/a?v=1\n"
    site = make.site()
    entry = replace(site.worklog[0], body=replace(site.worklog[0].body, text=text), tasks=())
    pages = make.rendered(replace(site, worklog=(entry, *site.worklog[1:])))
    links = page(pages, "worklog/links/index.html")
    assert words(links.css_first(".lede")) == "3 links: 1 reading, 1 linked, 1 only in posts."
    titles = [words(title) for title in links.css(".reading > li > p:first-child > a")]
    assert titles == ["A paper", "www.example.net/a?v=1", "Triton"]
    assert links.css_first(".reading ul a").attributes["href"] == "../../worklog/2026-11-21/"
    assert page(pages, "worklog/index.html").css_first("a[href$='worklog/links/']") is not None


def test_a_worklog_without_tasks_has_no_list_of_them(make: SimpleNamespace) -> None:
    site = make.site()
    pages = make.rendered(replace(site, worklog=tuple(replace(day, tasks=()) for day in site.worklog)))
    assert "worklog/tasks/index.html" not in pages
    assert page(pages, "worklog/index.html").css_first("a[href$='worklog/tasks/']") is None
