"""SG500 to SG509: mistakes in writing files, style sheets, templates and optional packages, and private words."""

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
            "A file under the site's own `templates/` is not valid Jinja, or includes a template that does not exist; "
            "or the words of a language, such as `templates/languages/ko.json`, are not valid JSON. "
            "Correct it at the line that is shown, or remove the file: the default theme has one of the same name.",
            "{% if post.tags %}<ul>{% endfor %}\n",
            "{% if post.tags %}<ul></ul>{% endif %}\n",
            "templates/post.html",
        ),
        Code(
            "SG503",
            "The site asks for something that needs another package",
            "`cards` in `content/site.yaml` are made by packages that are not installed with sitegen itself. Install "
            "the extra that the hint names, or leave the setting out.",
            "cards: true, and sitegen installed without its extra `cards`",
            "pip install 'kernel-sitegen[cards]'",
        ),
        Code(
            "SG504",
            "A page would publish a word of the redaction list",
            "The texts of a site are redacted when they are read, and this word stands where no replacement reaches: "
            "in code, in a record, in an address, in the name of a file, or in a copied file. Nothing is written. "
            "Write it differently at the line that is named, rename the file, or add that spelling of it to "
            "`private.yaml`. The message gives the number of the entry in the list and never the word, because "
            "strangers may read a log of CI. The entries of `SITEGEN_PRIVATE` count first.",
            "[her page](https://example.org/ada-lovelace), and `Ada Lovelace: A. L.` in private.yaml",
            "[her page](https://example.org/ada-lovelace), and `ada-lovelace: al` in private.yaml, too",
        ),
        Code(
            "SG505",
            "The redaction list is required and missing",
            "`redact: required` in `content/site.yaml` says that the site must not be built without a redaction list, "
            "and this machine has none. Write `private.yaml` beside `content/`, or give its text in the variable "
            "`SITEGEN_PRIVATE`, for example as a secret of CI.",
            "title: Kernels\nbase_url: https://example.org/\nredact: required\n",
            "title: Kernels\nbase_url: https://example.org/\n",
            "content/site.yaml",
        ),
        Code(
            "SG506",
            "The redaction list cannot be used",
            "The list is a mapping below `redact:`, from each word to what stands in its place. A replacement must not "
            "contain a word of the list, because it would be published. The message quotes nothing of the list.",
            "redact: [Ada Lovelace]\n",
            "redact:\n  Ada Lovelace: A. L.\n",
        ),
        Code(
            "SG507",
            "The redaction list is in the repository",
            "git tracks `private.yaml`, so whoever can read the repository can read every name in it. Remove it from "
            "the repository and add it to `.gitignore`. Commits that were made before still hold it.",
            "git add private.yaml",
            "echo private.yaml >> .gitignore",
        ),
        Code(
            "SG508",
            "A plugin cannot be used",
            "`plugins:` in `content/site.yaml` names a package that is not installed, or that fails when it is loaded "
            "or when it checks the site. Install the package, correct the name, or leave the plugin out.",
            "title: Kernels\nbase_url: https://example.org/\nplugins: [no-such-plugin]\n",
            "title: Kernels\nbase_url: https://example.org/\n",
            "content/site.yaml",
        ),
        Code(
            "SG509",
            "A link of a template leads to nothing",
            "A template of the site has a link `{{ frame.home }}path` that stands on a page, and the output has no "
            "file of that path. Readers would get the page for missing addresses. Correct the path, or write the page. "
            "Only `sitegen check` looks for such links, because it prints all pages.",
            '<a href="{{ frame.home }}imprint/">Imprint</a>\n',
            '<a href="{{ frame.home }}about/">About</a>\n',
            "templates/partials/colophon.html",
            warning=True,
        ),
    ),
)
