"""The file content/site.yaml becomes a SiteConfig, and series/<id>.yaml a Series."""

import datetime as dt
import json

import pytest

from sitegen.model.site import PlannedPost, TargetSettings
from sitegen.read.config import parse_config, zone_of
from sitegen.read.exercises import parse_exercise
from sitegen.read.series import parse_series

SITE = "title: Notes\nbase_url: https://example.org/notes\n"


def test_a_title_and_an_address_are_a_site() -> None:
    config, found = parse_config(SITE)
    assert (config.base_url, config.language, zone_of(config), found) == (
        "https://example.org/notes/",
        "en",
        dt.UTC,
        (),
    )
    assert not (config.cards or config.search or config.feeds)


def test_every_key_of_the_design_is_read() -> None:
    text = (
        SITE
        + """timezone: Asia/Seoul
entry_points: [{post: first, because: "It is short."}]
countdown: {goal: A talk, date: 2026-12-31}
gpus: [nvidia-h200]
gpu_aliases: {h200: nvidia-h200}
targets: {lab: {hosts: [gpu1], bind: 10.0.0.1}, far: {slurm: 2, bind: login1, sbatch: [--partition=gpu]}}
cards: true
feeds: [tags, series]
"""
    )
    config, found = parse_config(text)
    assert not found
    assert (config.entry_points[0].post.name, config.entry_points[0].post.span.line) == ("first", 4)
    assert config.countdown is not None and config.countdown.date == dt.date(2026, 12, 31)
    assert config.targets == {
        "lab": TargetSettings(("gpu1",), bind="10.0.0.1"),
        "far": TargetSettings(slurm=2, bind="login1", sbatch=("--partition=gpu",)),
    }
    assert (config.feeds, config.cards, config.search) == (("tags", "series"), True, False)
    assert zone_of(config).utcoffset(dt.datetime(2026, 11, 22)) == dt.timedelta(hours=9)


@pytest.mark.parametrize(
    ("text", "found", "hint"),
    [
        ("words\n", "`words`", "write the lines `title: …`, `base_url: …`"),
        (SITE + "countdown: 2026-12-31\n", "`2026-12-31`", "write `{goal: …, date: …}`"),
        (SITE + "countdown: [2026-12-31]\n", "a list", "write `{goal: …, date: …}`"),
        (SITE + "entry_points: [first]\n", "`first`", "write the lines `post: …`, `because: …`"),
    ],
)
def test_a_value_in_the_place_of_keys_is_one_mistake_that_names_the_keys(text: str, found: str, hint: str) -> None:
    [mistake] = parse_config(text)[1]
    assert mistake.code == "SG011" and mistake.message == f"expected `key: value` lines, found {found}"
    assert mistake.hint == hint


@pytest.mark.parametrize(
    ("target", "code", "message"),
    [
        ("{host: [gpu1], bind: a}", "SG012", "unknown key of a target `host`"),
        ("{bind: a}", "SG014", "the target `lab` has none of `hosts`, `slurm` and `scheduler`; it needs one of them"),
        ("{hosts: [a], slurm: 2, bind: a}", "SG014", "the target `lab` has `hosts` and `slurm`; it needs one of them"),
        ("{hosts: [gpu1]}", "SG010", "missing key of a target `bind`"),
        ("{slurm: 1}", "SG010", "missing key of a target `bind`"),
        ("{slurm: 0, bind: a}", "SG014", "`0` is no number of GPUs"),
        ("{slurm: yes please, bind: a}", "SG011", "expected a whole number, found `yes please`"),
        ("{slurm: 1, bind: a, sbatch: [partition=gpu]}", "SG014", "`partition=gpu` is no option of sbatch"),
        ('{slurm: 1, bind: a, sbatch: ["--time=1\\nrm -r x"]}', "SG014", "`--time=1` is no option of sbatch"),
        ("{slurm: 1, bind: a, sbatch: --mem=1G}", "SG011", "expected a list, found `--mem=1G`"),
    ],
)
def test_a_target_that_cannot_be_used_is_an_error_at_its_place(target: str, code: str, message: str) -> None:
    _, found = parse_config(f"{SITE}targets: {{lab: {target}}}\n")
    assert (code, message) in [(d.code, d.message) for d in found]
    assert {d.span.line for d in found} == {3}


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("baseurl: /blog", "remove this line: the path belongs to the address in `base_url`, as in"),
        ("url: https://example.org", "remove this line: the whole address of the site is `base_url`, as in"),
        ("permalink: /:year/:title/", "remove this line: a post is at `/posts/<its name>/`, or at the `permalink`"),
        ("gems: [jekyll-feed]", "remove this line: plugins of Jekyll do not run here"),
        ("author: Ada Lovelace", "write `authors:`, and below it a line such as `  ada: {name: Ada Lovelace}`"),
        ("theme: minima", "a theme has no name here: write lines such as `hot: ["),
    ],
)
def test_a_key_of_jekyll_says_what_to_write_here_and_is_not_renamed_by_fix(line: str, hint: str) -> None:
    _, [found] = parse_config(f"{SITE}{line}\n")
    assert found.span.line == 3 and found.hint.startswith(hint) and found.fix is None


@pytest.mark.parametrize(
    "address", ["/notes/", "example.org", "ftp://example.org/", "https://", "https://a b/", "https://a/?q"]
)
def test_a_base_url_that_no_feed_can_use_is_refused(address: str) -> None:
    _, found = parse_config(f"title: Notes\nbase_url: {address}\n")
    assert [(d.code, d.span.line, d.span.col) for d in found] == [("SG014", 2, 11)]


@pytest.mark.parametrize(
    "address", ["owner/name", "https://github.com/owner/name", "https://example.org/a/b/tree/main"]
)
def test_a_repository_that_names_no_branch_on_github_is_refused(address: str) -> None:
    config, found = parse_config(f"{SITE}repository: {address}\n")
    assert (config.repository, [(d.code, d.span.line, d.span.col) for d in found]) == ("", [("SG014", 3, 13)])
    assert "tree/gh-pages" in found[0].hint


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "/etc/localtime", "[UTC]", "''"])
def test_a_time_zone_that_is_none_is_named_and_utc_stands_in(zone: str) -> None:
    config, found = parse_config(f"{SITE}timezone: {zone}\n")
    assert zone_of(config) is dt.UTC
    assert [d.span.line for d in found] == [3]


def test_the_short_form_of_a_series_is_one_untitled_phase() -> None:
    series, found = parse_series("title: Basics\nposts: [one, two]\nplanned: [Three]\n", "series/basics.yaml")
    assert not found
    assert [(p.title, [ref.name for ref in p.posts], p.planned) for p in series.phases] == [
        ("", ["one", "two"], (PlannedPost("Three"),))
    ]
    assert (series.id, series.span.col) == ("basics", 8)


def test_a_series_may_still_be_all_plans() -> None:
    series, found = parse_series("title: Basics\nphases: [{title: One, planned: [A, B]}]\n", "series/basics.yaml")
    assert (series.posts, series.phases[0].planned, found) == ((), (PlannedPost("A"), PlannedPost("B")), ())


def test_a_post_twice_in_two_phases_is_named_at_the_second() -> None:
    text = "title: Basics\nphases:\n  - {title: One, posts: [a, b]}\n  - {title: Two, posts: [b]}\n"
    _, found = parse_series(text, "series/basics.yaml")
    assert [(d.code, d.span.line, d.span.col, d.hint) for d in found] == [("SG023", 4, 26, "first on line 3")]


@pytest.mark.parametrize(("written", "minutes", "places"), [("-5", 0, [5]), ("0", 0, []), ("20", 20, [])])
def test_minutes_of_an_exercise_are_not_negative(written: str, minutes: int, places: list[int]) -> None:
    text = f"title: Basics\nphases:\n  - title: One\n    exercises:\n      - {{id: scan, minutes: {written}}}\n"
    series, found = parse_series(text, "series/basics.yaml")
    assert series.phases[0].exercises[0].minutes == minutes
    assert [d.span.line for d in found] == places
    front = f"title: Scan\nkernel: scan\nsolution: tile\ncounted_at: {{N: 64}}\nminutes: {written}\n"
    exercise, mistakes = parse_exercise(f"---\n{front}---\nText.\n", "content/exercises/scan/index.md")
    assert (exercise.minutes, [(d.code, d.span.line) for d in mistakes]) == (minutes, [("SG011", 6)] if places else [])


def test_a_topic_a_planned_post_and_an_exercise_may_be_a_name_or_tell_more() -> None:
    text = (
        "title: Basics\nphases:\n  - title: One\n    outcome: add numbers.\n    posts: [sum]\n"
        "    topics: [trees, {title: shuffles, posts: [sum], exercises: [scan]}]\n"
        "    planned: [Attention, {title: Scans, needs: [sums], teaches: [scans]}]\n"
        "    exercises: [vector-add, {id: scan, title: A scan, minutes: 90, needs: [scans]}]\n"
    )
    series, found = parse_series(text, "series/basics.yaml")
    (phase,) = series.phases
    assert (found, phase.outcome) == ((), "add numbers.")
    assert [(t.title, len(t.posts), len(t.exercises)) for t in phase.topics] == [("trees", 0, 0), ("shuffles", 1, 1)]
    assert [(p.title, len(p.needs), len(p.teaches)) for p in phase.planned] == [("Attention", 0, 0), ("Scans", 1, 1)]
    assert [(e.id.name, e.title, e.minutes) for e in phase.exercises] == [("vector-add", "", 0), ("scan", "A scan", 90)]


@pytest.mark.parametrize(
    "link", ["javascript:x", "JavaScript:x", "data:text/html,x", " javascript:x", "java\tscript:x"]
)
def test_a_link_of_the_menu_that_a_browser_would_run_is_refused(link: str) -> None:
    _, found = parse_config(f"{SITE}menu: [{{title: x, link: {json.dumps(link)}}}]\n")
    assert [(d.code, d.span.line) for d in found] == [("SG014", 3)]


@pytest.mark.parametrize("link", ["/kernels/", "https://example.org/a:b", "mailto:a@b.org", "#top", "/a/?x=1:2"])
def test_other_links_of_the_menu_are_read(link: str) -> None:
    assert not parse_config(f"{SITE}menu: [{{title: x, link: {json.dumps(link)}}}]\n")[1]
