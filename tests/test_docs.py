"""README, CONTRIBUTING and docs/ describe the program: every command, option, file and constant in them exists."""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sitegen.cli import main
from sitegen.codes import REGISTRY
from sitegen.codes.entry import as_text
from sitegen.markup.registry import declared

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
POSTS = ROOT / "docs/content/posts"
DOCS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(POSTS.glob("*.md"))}
DOCS |= {path.parent.name: path.read_text(encoding="utf-8") for path in sorted(POSTS.glob("*/index.md"))}
MANUAL = {name: text for name, text in DOCS.items() if not name.startswith("reference-") and name != "diagnostics"}
"""The chapters that are written by hand."""


def commands(group: click.Group = main, above: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    """Return every command of the program by its words."""
    found: dict[tuple[str, ...], click.Command] = {}
    context = click.Context(group)
    for name in group.list_commands(context):
        words, command = (*above, name), group.get_command(context, name)
        assert command is not None
        found |= commands(command, words) if isinstance(command, click.Group) else {words: command}
    return found


def invocations(text: str) -> Iterator[list[str]]:
    """Yield the words after `sitegen` wherever a document shows a command, in a fence or in a line."""
    shown = re.findall(r"`(sitegen [^`\n]+)`|^(sitegen .+)$", text, re.MULTILINE)
    for inline, line in shown:
        yield shlex.split(inline or line, comments=True)[1:]


def fences(text: str, language: str) -> list[str]:
    """Return the blocks of a language in a text, in order."""
    return [body for _, body in re.findall(rf"^(```+){language}\n(.*?)^\1$", text, re.MULTILINE | re.DOTALL)]


def command_of(words: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the command that the words begin with, and the other words."""
    names = max((names for names in commands() if tuple(words[: len(names)]) == names), key=len, default=())
    return names, words[len(names) :]


def mistakes(text: str) -> list[str]:
    """Return the names in a document that the program does not have."""
    wrong = []
    for words in invocations(text):
        names, rest = command_of(words)
        known = {option for parameter in commands()[names].params for option in parameter.opts} if names else set()
        wrong += [] if names else [f"no command `sitegen {shlex.join(words)}`"]
        wrong += [f"{' '.join(names)} has no {word}" for word in rest if word.startswith("-") and word not in known]
    return wrong


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_every_command_and_option_shown_exists(text: str) -> None:
    assert list(invocations(text))
    assert mistakes(text) == []


@pytest.mark.parametrize("page", DOCS)
def test_every_command_and_option_of_the_documentation_exists(page: str) -> None:
    inline = re.findall(r"`sitegen [^`\n]+`", DOCS[page])
    assert mistakes("\n".join([*inline, *fences(DOCS[page], "sh")])) == []


def test_command_or_option_that_does_not_exist_is_found() -> None:
    text = "```sh\nsitegen built\nsitegen build --fast   # quickly\n```\nand `sitegen new page X`"
    assert mistakes(text) == ["no command `sitegen built`", "build has no --fast", "no command `sitegen new page X`"]


def test_every_command_is_in_a_chapter_of_the_manual() -> None:
    shown = {command_of(words)[0] for text in MANUAL.values() for words in invocations(text)}
    assert set(commands()) - shown == set()


def test_every_command_and_option_explains_itself() -> None:
    for names, command in commands().items():
        assert command.help, names
        assert [p.name for p in command.params if isinstance(p, click.Option) and not p.help] == [], names


@pytest.mark.parametrize("text", [README, *MANUAL.values()], ids=["README", *MANUAL])
def test_option_in_prose_exists(text: str) -> None:
    """`--as-of`, alone between backquotes, belongs to some command."""
    known = {option for command in commands().values() for parameter in command.params for option in parameter.opts}
    assert set(re.findall(r"`(--[a-z][a-z-]*)", text)) <= known


def make_targets(text: str) -> set[str]:
    """Return the targets that a text names, as in `make test-web`, alone or at the beginning of a line."""
    return set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE))


FOREIGN_PACKAGE = re.compile(r"(?<![\w-])sitegen\[|\bpip install(?: -\S+)* [\"']?sitegen\b(?!\.)")
"""An installation of `sitegen`, which is somebody else's package; this one is `kernel-sitegen`."""


@pytest.mark.parametrize("command", ["pip install sitegen", "pip install -U 'sitegen==1'", "`sitegen[gpu]`"])
def test_installation_of_the_foreign_package_is_found(command: str) -> None:
    assert FOREIGN_PACKAGE.search(command)
    assert not FOREIGN_PACKAGE.search(command.replace("sitegen", "kernel-sitegen"))


def test_nothing_tells_a_reader_to_install_the_foreign_package() -> None:
    codes = {code: as_text(entry) for code, entry in REGISTRY.items()}
    program = {str(path): path.read_text(encoding="utf-8") for path in (ROOT / "sitegen").rglob("*.py")}
    texts = {**codes, **program, **DOCS, "README": README, "CONTRIBUTING": CONTRIBUTING}
    assert [name for name, text in texts.items() if FOREIGN_PACKAGE.search(text)] == []


def test_make_targets_are_those_that_the_readme_contributing_and_the_makefile_itself_explain() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert targets
    for target in targets[1].split():
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    assert set(targets[1].split()) == set(re.findall(r"^# make ([a-z-]+) ", makefile, re.MULTILINE))
    assert set(targets[1].split()) == make_targets(README) | make_targets(CONTRIBUTING)


def test_folders_of_the_quick_tests_exist() -> None:
    dry = subprocess.run(["make", "--dry-run", "unit"], cwd=ROOT, capture_output=True, text=True, check=True)
    named = re.findall(r"\btests/[\w./]+", dry.stdout)
    assert len(named) > 5
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_contributing_says_what_ci_runs_in_that_order() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    table = CONTRIBUTING.partition("## What CI runs")[2].partition("\n## ")[0]
    steps = re.findall(r"^\| `(make [a-z-]+|\.ci/\w+)`", table, re.MULTILINE)
    assert steps == re.findall(r"^(make (?!venv)[a-z-]+|\.ci/\w+)", script, re.MULTILINE)


def test_folders_of_contributing_are_those_of_the_repository() -> None:
    table = CONTRIBUTING.partition("## Folders")[2].partition("\n## ")[0]
    named = {
        name for cell in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)/`", cell)
    }
    assert {name for name in named if not (ROOT / name).is_dir()} <= {"public"}
    assert {"content", "series", "kernels", "templates", "sitegen", "tests", "docs"} <= named


@pytest.mark.parametrize("document", [ROOT / "README.md", ROOT / ".github" / "CONTRIBUTING.md"], ids=lambda p: p.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    text = re.sub(r"^(```+).*?^\1$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
    assert [target for target in targets if not (document.parent / target).exists()] == []


def follow(commands: str, home: Path, folder: Path) -> None:
    """Run every command in a shell, except those that do not end, take long or need the environment of the page."""
    typed = "\n".join(line for line in commands.splitlines() if not re.match(r"sitegen (serve|run)|\. ~/", line))
    home.mkdir(exist_ok=True)
    program = f'sitegen() {{ {shlex.quote(sys.executable)} -m sitegen "$@"; }}\n'
    env = {**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        ["bash", "-e"], input=program + typed, cwd=folder, env=env, text=True, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_first_post_of_the_manual_is_on_the_page_when_its_steps_are_followed(tmp_path: Path) -> None:
    begin, _, end = fences(DOCS["start"], "sh")[2:5]
    (text,) = fences(DOCS["start"], "markdown")
    site = tmp_path / "home" / "kernels"
    follow(begin, tmp_path / "home", tmp_path)
    (post,) = site.glob("content/posts/*/index.md")
    written = post.read_text(encoding="utf-8") + text
    post.write_text(written.replace("draft: true\n", ""), encoding="utf-8")
    follow(end, tmp_path / "home", site)
    page = (site / "public" / "posts" / post.parent.name / "index.html").read_text(encoding="utf-8")
    assert "Where the time goes" in page
    assert "This cell is the implementation" in page
    assert "two_tiles" in (site / "public" / "kernels" / "axpy" / "index.html").read_text(encoding="utf-8")


def test_first_post_of_the_readme_is_the_beginning_of_that_of_the_manual() -> None:
    (begin, end), (text,) = fences(README, "sh")[1:], fences(README, "markdown")
    assert begin == fences(DOCS["start"], "sh")[2]
    assert [line.split("#")[0].strip() for line in end.splitlines()] == [
        "sitegen check",
        "sitegen run",
        "sitegen build",
    ]
    assert all(part in DOCS["start"] for part in re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("picture", re.findall(r"\((\.github/screenshots/[^)]+)\)", README))
def test_picture_of_the_readme_is_small(picture: str) -> None:
    assert 0 < (ROOT / picture).stat().st_size < 300_000


def test_every_directive_and_role_is_shown_in_a_chapter_of_the_manual() -> None:
    written = set(re.findall(r"\{([a-z-]+)\}", "\n".join(MANUAL.values())))
    assert [one.names for one in declared() if one.is_offered and not written.intersection(one.names)] == []


# ------------------------------------------------------------------------------------------- the site in docs/


def test_documentation_builds_without_a_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("public", ".sitegen"))
    shutil.copytree(ROOT / "kernels/sum", tmp_path / "docs/kernels/sum", dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path / "docs")
    checked = CliRunner().invoke(main, ["check"])
    found = set(re.findall(r"^(?:error|warning)\[SG\d+\]", checked.output, re.MULTILINE))
    assert not found, checked.output


def test_reference_pages_are_what_the_registries_say() -> None:
    script = [sys.executable, str(ROOT / "docs" / "generate"), "--check"]
    ran = subprocess.run(
        script, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_every_template_of_a_page_is_in_the_reference() -> None:
    listed = set(re.findall(r"^## `(\S+\.html)`", DOCS["reference-templates"], re.MULTILINE))
    without_view = {"base.html", "code.html", "groups.html", "redirect.html"}
    assert {path.name for path in (ROOT / "templates").glob("*.html")} - listed == without_view


@pytest.mark.parametrize("page", DOCS)
def test_file_that_the_documentation_names_exists(page: str) -> None:
    if page not in ("architecture", "numbers", "decisions"):  # the others name the files of other sites
        return
    named = re.findall(r"`((?:sitegen|tests|templates|docs)/[\w./-]*)`", DOCS[page])
    assert [path for path in named if not (ROOT / path).exists()] == []


PLACES = re.findall(
    r"^(\w[^\n]*)\n: (.+)$", DOCS["architecture"].partition("{#sec-where}")[2].partition("\n## ")[0], re.MULTILINE
)
"""What changes, and where, of the section *Where do I change …?*."""


def test_the_section_of_places_has_entries() -> None:
    assert len(PLACES) > 10


@pytest.mark.parametrize(("what", "where"), PLACES, ids=[what for what, _ in PLACES])
def test_every_place_of_a_change_ends_with_its_test(what: str, where: str) -> None:
    assert re.search(r"`tests/[\w/]*test_\w+\.py`", where.rpartition(" Test: ")[2])


@pytest.mark.parametrize(("what", "where"), PLACES, ids=[what for what, _ in PLACES])
def test_every_name_of_a_place_is_in_a_file_beside_it(what: str, where: str) -> None:
    files = [ROOT / path for path in re.findall(r"`((?:sitegen|tests)/[\w/.]+\.py)`", where)]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    names = re.findall(r"`([A-Z_][A-Z_]{2,}|[A-Z][a-z]+[A-Za-z]*|\w+_\w+)`", where)
    assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []


def test_rooms_of_the_documentation_are_those_of_the_program_in_their_order() -> None:
    text = (ROOT / "tests" / "test_rooms.py").read_text(encoding="utf-8")
    rooms = ast.literal_eval(re.search(r"^ROOMS = (\(.*?^\))", text, re.MULTILINE | re.DOTALL)[1])  # type: ignore[index]
    section = DOCS["architecture"].partition("## The rooms")[2].partition("\n## ")[0]
    shown = re.findall(r"^`(\w+)`\n: ", section, re.MULTILINE)
    assert tuple(shown) == rooms


CONSTANTS = [
    ("workload", "MATRIX_INTENSITY", 64.0, "64 operations or more for each byte"),
    ("workload", "(L2_ROTATION, MOST_SETS)", (3, 4096), "at least 3 times the L2"),
    ("judging", "(BASELINE_SHARE, ULPS, ROW_SHARE)", (4.0, 2.0, 4.0), "at most 4 times the tolerance"),
    ("correctness", "SEEDS", 3, "Three seeds"),
    ("guarded_calls", "REPEATS", 5, "Five calls with the same inputs"),
    ("guarded_calls", "LAUNCH_DEADLINE_S", 10.0, "| one launch | 10 s |"),
    ("inputs", "CANARY_BYTES", 64 << 10, "64 KiB of guard bytes"),
    ("rounds", "(GENERATIONS, GENERATION_ROUNDS, LEAST_SAMPLES)", (3, 4, 20), "at least 4 rounds"),
    ("rounds", "TURN_US", 8000.0, "as many samples as fill 8 ms, and at least 20"),
    ("rounds", "MORE_GENERATIONS", 2, "Two more generations follow"),
    ("rounds", "(MOST_DEVICE_S, MOST_JOB_S)", (3.0, 6.0), "3 s of one evaluation, or 6 s of the job"),
    ("rounds", "NARROW", 0.002, "±0.2 %"),
    ("extra_generations", "(AGREED, LONG_US)", (0.002, 50.0), "or at most 50 µs"),
    ("extra_generations", "NEAR", (0.6, 1.4), "between 0.6 and 1.4 times what counts as a change"),
    ("extra_generations", "JUDGED_WITHIN", 1.1, "more than 1.1 times as long as the fastest"),
    ("extra_generations", "MOST_GENERATIONS", 5, "at most five generations"),
    ("timing", "GRAPH_CALLS", 200, "200 calls, or fewer when these fill 1 ms"),
    ("rounds", "(GRAPH_US, LEAST_REPLAYS)", (1000.0, 10), "at least 10 when a sample is the replay"),
    ("clock", "SETTLED_S", 0.2, "for 0.2 s"),
    ("timing", "LAUNCH_BOUND_SHARE", 0.10, "differ by more than 10 %"),
    ("timing", "(BURST_CALLS, IDLE_S, SUSTAINED_S)", (12, 0.2, 0.3), "at most 12 calls, each after 0.2 s"),
    ("job_timing", "WARM_S", 0.2, "runs for 0.2 s before the first round"),
    ("job_timing", "MATRIX_GRAPH_BELOW_US", 20.0, "takes less than 20 µs"),
    ("statistics", "DRAWS", 1000, "1,000 times"),
    ("statistics", "TAIL", 0.027, "2.7 % of the draws"),
    ("ceilings", "MEMORY_BYTES", 6 * 10**9, "6 GB in one call"),
    ("ceilings", "(_BEST, _SAMPLES)", (3, 20), "The fastest three, the fastest bulk copy and torch"),
    ("statistics", "(FEW, STUDENT_T)", (5, 2.776), "is measured five times more"),
    ("arithmetic_probes", "LIBRARY_SIZES", (4096, 8192, 16384), "products of 4096 to 16384"),
    ("compile", "COMPILE_DEADLINE_S", 120.0, "| compiling | 120 s |"),
    ("workspace", "(PREPARE_S, EVALUATION_S)", (120.0, 60.0), "| everything else of one evaluation | 60 s |"),
    ("workspace", "WITHOUT_GPU_SLOWER", 3.0, "three minutes once in a run"),
    ("process", "GRACE_S", 2.0, "| after SIGTERM, until SIGKILL to the process group | 2 s |"),
    ("../model/record", "CALIBRATION", 0.02, "come out right within 2 %"),
    ("../results/figures", "MARGIN", 0.02, "more than 2 % above its limit"),
    ("../results/figures", "CACHE_FACTOR", 4, "Workloads below 4 times the L2 are exempt"),
    ("../results/formula_check", "(FEWER, MORE)", (0.02, 0.05), "within −2 % and +5 %"),
    ("../results/formula_check", "JUDGED_FACTOR", 8, "above 8 times the L2"),
    ("../results/verdicts", "LEAST_CHANGE", 0.01, "the change exceeds 1 %"),
    ("../results/verdicts", "BETWEEN_GPUS", 0.02, "of-ceiling may differ by 2 %"),
    ("../results/noise", "AA_NOISE", 0.0013, "0.13 % is assumed"),
]
"""Names in a module of sitegen/measure, their value, and the words of *How a number is made* that state it."""


@pytest.mark.parametrize(("module", "names", "value", "words"), CONSTANTS, ids=lambda part: str(part)[:40])
def test_constant_of_how_a_number_is_made_is_that_of_the_code(
    module: str, names: str, value: object, words: str
) -> None:
    assert words in re.sub(r"\{given\}`([^;`]+);[^`]*`", r"\1", DOCS["numbers"]).replace("\u00a0", " ")
    tree = ast.parse((ROOT / "sitegen" / "measure" / f"{module}.py").resolve().read_text(encoding="utf-8"))
    written = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    assert eval(ast.unparse(written[names])) == value
