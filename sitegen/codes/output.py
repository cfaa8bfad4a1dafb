"""SG500 to SG503: mistakes in writing files, style sheets, templates and optional packages."""

from __future__ import annotations

from sitegen.codes.entry import Code, CodeGroup

GROUP = CodeGroup(
    "Writing the site",
    "These are reported when pages are printed and files are written. The previous output stays as it was.",
    (
        Code(
            "SG500",
            "A file or folder cannot be written",
            "The operating system refuses to write it, something else stands in its place, or the output folder holds "
            "files that sitegen did not make. sitegen removes nothing that it did not write. Name another folder, move "
            "the file away, or correct the permissions.",
            "sitegen build --out ~/Documents",
            "sitegen build --out ~/Documents/site",
        ),
        Code(
            "SG501",
            "A style sheet refers to a file that is no asset",
            "A `url(…)` in a style sheet of `templates/assets/` names a file that is not there, so browsers would ask "
            "for something that the site does not have. Add the file, or correct the path.",
            "background: url(grian.svg);\n",
            "background: url(grain.svg);\n",
            "templates/assets/site.css",
        ),
        Code(
            "SG502",
            "A template of the site fails",
            "A file under the site's own `templates/` is not valid Jinja, or includes a template that does not exist. "
            "Correct it at the line that is shown, or remove the file: the default theme has one of the same name.",
            "{% if post.tags %}<ul>{% endfor %}\n",
            "{% if post.tags %}<ul></ul>{% endif %}\n",
            "templates/post.html",
        ),
        Code(
            "SG503",
            "The site asks for something that needs another package",
            "`search` and `cards` in `content/site.yaml` are made by packages that are not installed with sitegen "
            "itself. Install the extra that the hint names, or leave the setting out.",
            "search: true, and sitegen installed without its extra `search`",
            "pip install 'sitegen[search]'",
        ),
    ),
)
