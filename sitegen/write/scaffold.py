"""Make the files of a new site or a new post, as text by path, from a title and a date.

`create` writes them when none of them exists.
"""

from __future__ import annotations

import datetime as dt
import json
import os.path
import re
import unicodedata
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template

from sitegen import inside
from sitegen.inside import OutsideError
from sitegen.read.distribution import InstallSource, install_source
from sitegen.write import starter
from sitegen.write.output import OutputError, unwritable_error

WORKFLOWS = ("site.yml", "kernels.yml")
REQUIREMENTS = ".github/requirements.txt"
INSTALLED = (REQUIREMENTS, ".github/requirements-gpu.txt")
"""Requirements files of the workflows, without a GPU and with one."""
ON_A_GPU = ("cluster", "cuda", "gpu")
PLACEHOLDER = "git+https://example.org/sitegen.git"
"""Address in a requirements file when none is known that GitHub can reach."""


def new_site_files(title: str, day: dt.date, program: InstallSource | None = None) -> Mapping[str, str | bytes]:
    """Return the files of a site that builds without a mistake: a post about a Triton kernel, a series, a worklog day,
    schemas, workflows.

    The workflows install the program from its origin `program`, which is looked up when it is None.
    """
    texts = {
        "content/site.yaml": starter.SITE,
        "content/posts/first-kernel.md": starter.POST,
        "content/pages/about.md": starter.ABOUT,
        f"content/worklog/{day.isoformat()}.md": starter.WORKLOG,
        "series/first-steps.yaml": starter.SERIES,
        "kernels/axpy/kernel.yaml": starter.KERNEL,
        "kernels/axpy/reference.py": starter.REFERENCE,
        "kernels/axpy/tile.py": starter.TILE,
        "kernels/axpy/wrong/no_mask.py": starter.NO_MASK,
        ".gitignore": starter.GITIGNORE,
    }
    filled = {path: _fill_template(text, title, day) for path, text in texts.items()}
    workflows = {f".github/workflows/{name}": _read_workflow(name) for name in WORKFLOWS}
    return filled | schema_files() | workflows | _requirements(program or install_source())


def schema_files() -> dict[str, str | bytes]:
    """Return the JSON Schemas by which an editor explains and checks the keys of the site's files."""
    from sitegen.read.schemas import schemas  # late, because only these files need it

    return {f"schemas/{name}.json": json.dumps(one, indent=1) + "\n" for name, one in schemas().items()}


def names_a_source(texts: Mapping[str, str | bytes]) -> bool:
    """Tell whether the workflows of these files have an address to install the program from."""
    return PLACEHOLDER not in str(texts[REQUIREMENTS])


def _requirements(program: InstallSource) -> dict[str, str | bytes]:
    """Return the requirements files of the workflows; a wheel of this machine is copied beside them."""
    wheel = program.wheel
    if wheel is not None:
        lines = [f"./.github/{wheel.name}", f"./.github/{wheel.name}[{','.join(ON_A_GPU)}]"]
        return {path: f"{line}\n" for path, line in zip(INSTALLED, lines, strict=True)} | {
            f".github/{wheel.name}": wheel.read_bytes()
        }
    unknown = InstallSource(PLACEHOLDER)
    known = program if program.requirement() else unknown
    before = "" if known is program else starter.REQUIREMENTS
    lines = [known.requirement(), known.requirement(*ON_A_GPU)]
    return {path: f"{before}{line}\n" for path, line in zip(INSTALLED, lines, strict=True)}


def new_post_file(title: str, day: dt.date) -> tuple[str, str]:
    """Return path and text of a draft in a folder of its own, which will also hold its pictures and outputs of cells.

    The slug is made of the title.  Raises OutputError when none can be made.
    """
    slug = slug_of(title)
    if not slug:
        raise OutputError("content/posts", f"no address can be made of the title `{title}`", "use a letter or a digit")
    return f"content/posts/{slug}/index.md", _fill_template(starter.NEW_POST, title, day)


def slug_of(title: str) -> str:
    """Return the slug of a title, `a-softmax-twice` for `A softmax, twice`; letters of any script stay.

    It is empty when the title has no letter or digit.
    """
    plain = unicodedata.normalize("NFC", title).lower()
    return "-".join(re.findall(r"[^\W_]+", plain))


def create(root: Path, texts: Mapping[str, str | bytes]) -> None:
    """Write new files below a folder.

    Raises OutputError, and then writes nothing, when one of them exists; also when the folder cannot be written, or a
    folder below it is a link.
    """
    for path in texts:
        for same in (path, f"{path.removesuffix('/index.md')}.md"):  # a text is a file or a folder
            if os.path.lexists(root / same):
                raise OutputError(same, f"`{same}` exists already", f"nothing was written; {_instead(same)}")
    write(root, texts)


def _instead(path: str) -> str:
    """Return what to do when a file exists: a day of the worklog has no other name."""
    return "`sitegen worklog today` opens it" if path.startswith("content/worklog/") else "choose another name"


def write(root: Path, texts: Mapping[str, str | bytes]) -> None:
    """Write files below a folder, in place of those that exist.  Raises OutputError where that is impossible."""
    try:
        for path, text in texts.items():
            inside.write_bytes(root, path, text.encode() if isinstance(text, str) else text)
    except OutsideError as error:
        raise unwritable_error(str(error.filename), error, "put the folder itself in its place") from error
    except OSError as error:
        raise unwritable_error(
            str(error.filename or root), error, "mend its permissions, or choose another name"
        ) from error


def _fill_template(text: str, title: str, day: dt.date) -> str:
    return Template(text).substitute(title=json.dumps(title, ensure_ascii=False), date=day.isoformat())


def _read_workflow(name: str) -> str:
    """Return the workflow that this project itself runs: a wheel has it in the package, a checkout under .github."""
    shipped = Path(str(files("sitegen"))) / "starter" / "workflows" / name
    checkout = Path(str(files("sitegen"))).parent / ".github" / "workflows" / name
    return (shipped if shipped.exists() else checkout).read_text(encoding="utf-8")
