"""The files of a new site and of a new post."""

import datetime as dt
import json
import posixpath
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

import sitegen
from sitegen.diagnostics import render_diagnostics
from sitegen.read.distribution import InstallSource
from sitegen.read.load import parse_site
from sitegen.read.yaml_nodes import parse_yaml, without_places
from sitegen.write.output import OutputError
from sitegen.write.scaffold import create, names_a_source, new_post_file, new_site_files, schema_files, slug_of, write

DAY = dt.date(2026, 11, 21)


def front_matter(text: str) -> dict[str, object]:
    loaded = yaml.safe_load(text.split("---\n")[1])
    assert isinstance(loaded, dict)
    return loaded


@pytest.mark.parametrize("title", ["Bytes: a cost", 'Say "when"', "루프라인 모델", "yes", "# 1", "$HOME", "a\\b"])
def test_title_of_any_letters_stays_the_title(title: str) -> None:
    _, post = new_post_file(title, DAY)
    assert front_matter(post)["title"] == title
    assert yaml.safe_load(new_site_files(title, DAY)["content/site.yaml"])["title"] == title


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("A softmax, twice", "a-softmax-twice"),
        ("  C++ & CUDA_13 ", "c-cuda-13"),
        ("루프라인 모델", "루프라인-모델"),
        ("../../etc/passwd", "etc-passwd"),
        ("Größe", "größe"),
        ("?!", ""),
    ],
)
def test_slug_of_a_title(title: str, slug: str) -> None:
    assert slug_of(title) == slug


def test_new_post_is_a_draft_of_today() -> None:
    path, text = new_post_file("A softmax", DAY)
    assert path == "content/posts/a-softmax/index.md"
    assert front_matter(text) | {"date": str(front_matter(text)["date"])} == {
        "title": "A softmax",
        "date": "2026-11-21",
        "description": None,
        "tags": [],
        "draft": True,
    }


def test_title_without_a_letter_is_a_message() -> None:
    with pytest.raises(OutputError, match="no address can be made"):
        new_post_file("?!", DAY)


def test_existing_file_is_never_overwritten_and_nothing_else_is_written(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("mine")
    with pytest.raises(OutputError, match=r"`b\.md` exists already"):
        create(tmp_path, {"a.md": "new", "b.md": "new"})
    assert [path.name for path in tmp_path.iterdir()] == ["b.md"]
    assert (tmp_path / "b.md").read_text() == "mine"


def test_folder_that_cannot_be_made_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a file")
    with pytest.raises(OutputError, match="cannot be written: Not a directory"):
        create(tmp_path / "notes.txt" / "site", {"content/site.yaml": ""})


def test_title_longer_than_a_file_name_is_a_message(tmp_path: Path) -> None:
    path, text = new_post_file("softmax " * 50, DAY)
    with pytest.raises(OutputError, match="File name too long"):
        create(tmp_path, {path: text})


def test_a_post_that_is_a_file_keeps_its_address(tmp_path: Path) -> None:
    (tmp_path / "content/posts").mkdir(parents=True)
    (tmp_path / "content/posts/a-softmax.md").write_text("mine")
    path, text = new_post_file("A softmax", DAY)
    with pytest.raises(OutputError, match=r"`content/posts/a-softmax\.md` exists already"):
        create(tmp_path, {path: text})
    assert not (tmp_path / path).exists()


def test_new_site_has_the_workflows_of_this_project() -> None:
    texts = new_site_files("Kernels", DAY)
    for name in ("site.yml", "kernels.yml"):
        ours = Path(__file__).parents[2] / ".github" / "workflows" / name
        assert texts[f".github/workflows/{name}"] == ours.read_text(encoding="utf-8")


def test_new_site_keeps_its_output_and_cache_out_of_git() -> None:
    assert {"public/", ".sitegen/", "/bundle.zip", "/result.zip"} <= set(
        new_site_files("Kernels", DAY)[".gitignore"].split()
    )


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (InstallSource(), f"kernel-sitegen=={sitegen.__version__}"),
        (
            InstallSource("git+https://example.org/a.git@c0ffee"),
            "kernel-sitegen @ git+https://example.org/a.git@c0ffee",
        ),
    ],
    ids=["the index", "git"],
)
def test_workflows_install_the_program_from_where_this_one_came(program: InstallSource, line: str) -> None:
    texts = new_site_files("Kernels", DAY, program)
    assert texts[".github/requirements.txt"] == f"{line}\n"
    on_a_gpu = line.replace("kernel-sitegen", "kernel-sitegen[cluster,cuda,gpu]")
    assert texts[".github/requirements-gpu.txt"] == f"{on_a_gpu}\n"
    assert names_a_source(texts)


def test_a_wheel_of_this_machine_comes_along(tmp_path: Path) -> None:
    wheel = tmp_path / "kernel_sitegen-1-py3-none-any.whl"
    wheel.write_bytes(b"PK")
    texts = new_site_files("Kernels", DAY, InstallSource(path=wheel))
    assert texts[f".github/{wheel.name}"] == b"PK"
    assert texts[".github/requirements.txt"] == f"./.github/{wheel.name}\n"


def test_where_no_address_is_known_the_author_is_told_what_to_write(tmp_path: Path) -> None:
    texts = new_site_files("Kernels", DAY, InstallSource(path=tmp_path))
    assert "Before you push, write that address below" in texts[".github/requirements.txt"]
    assert texts[".github/requirements-gpu.txt"].splitlines()[-1].startswith("kernel-sitegen[cluster,cuda,gpu] @ git+")
    assert not names_a_source(texts)
    assert str(tmp_path) not in "".join(text for text in texts.values() if isinstance(text, str))


def test_new_site_is_read_without_a_mistake() -> None:
    texts = new_site_files("Kernels", DAY)
    site, diagnostics = parse_site({path: text for path, text in texts.items() if not path.startswith(".")})
    assert render_diagnostics(diagnostics, texts) == ""
    assert [post.slug for post in site.posts] == ["first-kernel"]
    assert [entry.date for entry in site.worklog] == [DAY]
    assert [len(entry.tasks) for entry in site.worklog] == [2]
    assert [kernel.name for kernel in site.kernels] == ["axpy"]


def test_new_post_is_read_without_a_mistake() -> None:
    path, text = new_post_file("Where the time goes", DAY)
    texts = {**new_site_files("Kernels", DAY), path: text}
    _, diagnostics = parse_site({path: text for path, text in texts.items() if not path.startswith(".")})
    assert render_diagnostics(diagnostics, texts) == ""


def test_python_of_a_new_site_compiles() -> None:
    texts = new_site_files("Kernels", DAY)
    for path in texts:
        if path.endswith(".py"):
            compile(texts[path], path, "exec")


def test_yaml_of_a_new_site_names_a_schema_that_it_has_and_fits() -> None:
    files = new_site_files("Kernels", DAY)
    named = {path: re.match(r"# yaml-language-server: \$schema=(\S+)\n", str(text)) for path, text in files.items()}
    places = {path: match[1] for path, match in named.items() if match}
    assert set(places) == {path for path in files if path.endswith(".yaml")}
    for path, schema in places.items():
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), schema))
        (node, _) = parse_yaml(str(files[path]), path)
        assert node is not None
        Draft7Validator(json.loads(files[whole])).validate(without_places(node))


def test_schemas_are_written_over_older_ones(tmp_path: Path) -> None:
    create(tmp_path, new_site_files("Kernels", DAY))
    (tmp_path / "schemas/site.json").write_text("{}", encoding="utf-8")
    write(tmp_path, schema_files())
    assert json.loads((tmp_path / "schemas/site.json").read_text(encoding="utf-8"))["title"] == "content/site.yaml"
