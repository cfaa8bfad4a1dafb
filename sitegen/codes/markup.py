"""SG101 to SG142: mistakes in Markdown: directives, cells, HTML, formulas, labels, listings, figures."""

from __future__ import annotations

from sitegen.codes.entry import Code, CodeGroup

_POST = "content/posts/softmax/index.md"

_DIRECTIVES = (
    Code(
        "SG101",
        "Unknown directive",
        "A fence such as ```` ```{name} ```` is a directive, and sitegen has none of this name. The text would appear "
        "as plain code, so the build fails. Correct the name; a listing in an ordinary language has no braces.",
        "```{benchmrk} softmax\n```\n",
        "```{benchmark} softmax\n```\n",
        _POST,
    ),
    Code(
        "SG102",
        "Unknown role",
        "A role is a name in braces before text in backquotes, and sitegen has none of this name. Correct the name; "
        "the hint lists the roles. Where the braces are meant as text, put a backslash before the first one.",
        "The datasheet says {specc}`4.8 TB/s`.\n",
        "The datasheet says {spec}`4.8 TB/s`.\n",
        _POST,
    ),
    Code(
        "SG103",
        "Unknown option",
        "The directive, cell or listing has no option of this name. An option that is ignored would change the page "
        "without a word. Correct the name, or remove the option.",
        "```{kernel} softmax/fused\n:regoin: kernel\n```\n",
        "```{kernel} softmax/fused\n:region: kernel\n```\n",
        _POST,
    ),
    Code(
        "SG104",
        "An option is given twice",
        "Two lines give one option two values, and only one can count. Remove one of them; the hint names the line of "
        "the first.",
        "```{kernel} softmax/fused\n:region: kernel\n:region: kernel\n```\n",
        "```{kernel} softmax/fused\n:region: kernel\n```\n",
        _POST,
    ),
    Code(
        "SG105",
        "The value of an option does not fit",
        "The option exists and its value is not one that it takes: a line beyond the end of the listing, a word that "
        "is not on the list, a number out of range. The message says what was expected.",
        "```python hl=3-9\nx = 1\n```\n",
        "```python hl=1\nx = 1\n```\n",
        _POST,
    ),
)

_CELLS = (
    Code(
        "SG106",
        "An executable cell has no label",
        "The outputs of a cell are stored in a file named after its label, and other texts refer to it by the label. "
        "Add the option `label`, in lower case with hyphens.",
        "```{code-cell} python\nprint(1)\n```\n",
        "```{code-cell} python\n#| label: first-look\nprint(1)\n```\n",
        _POST,
    ),
    Code(
        "SG107",
        "An executable cell stands where none can be run",
        "Cells are run in posts only, and a post with cells is a folder, because the outputs are stored beside the "
        "text. Move the post to `content/posts/<slug>/index.md`, or use a plain fence, which is only shown.",
        "---\ntitle: About\n---\n```{code-cell} python\n#| label: first-look\nprint(1)\n```\n",
        "---\ntitle: About\n---\n```python\nprint(1)\n```\n",
        "content/pages/about.md",
    ),
    Code(
        "SG108",
        "A label or id is used twice in one text",
        "A label is an address on the page and, for a cell, the name of a file of results. Two things with one label "
        "cannot be told apart. Give one of them another label.",
        "```{code-cell} python\n#| label: look\n1 + 1\n```\n\n```{code-cell} python\n#| label: look\n2 + 2\n```\n",
        "```{code-cell} python\n#| label: look\n1 + 1\n```\n\n```{code-cell} python\n#| label: again\n2 + 2\n```\n",
        _POST,
    ),
    Code(
        "SG109",
        "A cell has no language, or one that cannot be executed",
        "A `{code-cell}` names its language: `python`, `triton` or `cuda`. sitegen runs no other. Write the language "
        "behind `{code-cell}`, or use a plain fence for code that is only shown.",
        "```{code-cell} rust\n#| label: first-look\nfn main() {}\n```\n",
        "```rust\nfn main() {}\n```\n",
        _POST,
    ),
    Code(
        "SG110",
        "Two options do not go together, or one needs another",
        "The options contradict each other, or one has a meaning only beside another: `predicts` needs `implements`, "
        "`launch` belongs to a `cuda` cell, and a layout is shown in one way at a time. Remove one option or add the "
        "other.",
        '```{code-cell} triton\n#| label: look\n#| predicts: "one read, one write: 95 %"\nprint(1)\n```\n',
        "```{code-cell} triton\n#| label: look\nprint(1)\n```\n",
        _POST,
    ),
    Code(
        "SG111",
        "A directive lacks its argument or its text, or has text that it does not take",
        "Each directive takes an argument behind its name, a text below it, or both. This one has less than it needs, "
        "or a line that is not an option where only options may stand. The message names what is missing.",
        "```{benchmark}\n```\n",
        "```{benchmark} softmax\n```\n",
        _POST,
    ),
)

_TEXT = (
    Code(
        "SG113",
        "HTML that cannot stand in a text",
        "Scripts, styles, frames, forms and event attributes are refused: a page of the site has one script and one "
        "style sheet, and its Content-Security-Policy forbids others. Use Markdown, a class of the theme, or a link.",
        '<p style="color: red">Careful.</p>\n',
        '<p class="careful">Careful.</p>\n',
        _POST,
    ),
    Code(
        "SG114",
        "An HTML tag or comment is never closed, or closes nothing",
        "The tags of a text do not balance, so the rest of the page would stand inside the wrong element. Close the "
        "tag, or remove the closing tag that has no opening one. A comment ends with `-->`: without it, no page shows "
        "what stands below.",
        "<b>Careful: each row is read three times.\n",
        "<b>Careful</b>: each row is read three times.\n",
        _POST,
    ),
    Code(
        "SG115",
        "A formula is not TeX",
        "The text between dollar signs cannot be turned into MathML: a command does not exist, or a brace is missing. "
        "A dollar sign that is meant as a dollar is written `\\$`.",
        "The mean is $\\frac{1}{N$.\n",
        "The mean is $\\frac{1}{N}$.\n",
        _POST,
    ),
    Code(
        "SG116",
        "A listing is shown without colours",
        "The fence names a language that the highlighter does not know: correct the name, or leave it out. Or the "
        "listing has a line of more than 1,000 characters or 200 blanks in one place, or is longer than 50,000 "
        "characters: 5,000 in a language other than Bash, C, C++, CSS, CUDA, Go, HTML, INI, JavaScript, PTX, Python, "
        "Rust, SASS, TOML, Triton and TypeScript. Show a part of it, or break its lines.",
        "```pyhton\nx = 1\n```\n",
        "```python\nx = 1\n```\n",
        _POST,
        warning=True,
    ),
    Code(
        "SG117",
        "An image has no words",
        "An image needs an alternative text for readers who do not see it, and for those whose connection does not "
        "load it. Describe what the image shows.",
        "![](plot.png)\n",
        "![Bandwidth rises with the size, up to a ceiling](plot.png)\n",
        _POST,
        warning=True,
    ),
    Code(
        "SG118",
        "A footnote is not defined",
        "The text refers to a footnote, and no line `[^name]: …` defines it. Add the line anywhere in the text, or "
        "correct the name.",
        "Rows are read twice.[^why]\n",
        "Rows are read twice.[^why]\n\n[^why]: Once for the maximum, once for the sum.\n",
        _POST,
    ),
    Code(
        "SG119",
        "The YAML of an option is not valid",
        "An option's value is YAML, and it cannot be parsed. The usual causes are a bracket that is not closed and a "
        "colon inside a value: put such a value between quotes.",
        "```{benchmark} softmax\n:columns: [time, bandwidth\n```\n",
        "```{benchmark} softmax\n:columns: [time, bandwidth]\n```\n",
        _POST,
    ),
    Code(
        "SG120",
        "A reference leads to a label that the text does not have",
        "`@fig-…`, `@tbl-…`, `@lst-…`, `@eq-…` and `@sec-…` name a part of the same text, and no such part has this "
        "label. Correct the label, or add it to what you mean with `{#label}` or the option `label`.",
        "As @tbl-times shows, the fused version is faster.\n",
        "As @tbl-times shows, the fused version is faster.\n\n"
        "| version | reads |\n|---|---|\n| naive | 3 |\n| fused | 1 |\n\n: Reads of a row {#tbl-times}\n",
        _POST,
    ),
    Code(
        "SG121",
        "The first part of a label names another kind of thing",
        "`fig-` is for figures, `tbl-` for tables, `lst-` for listings, `eq-` for equations and `sec-` for sections: a "
        "reference prints this word. A table that is called `fig-…` would be printed as a figure. Change the first "
        "part.",
        "| version | reads |\n|---|---|\n| naive | 3 |\n\n: Reads of a row {#fig-times}\n",
        "| version | reads |\n|---|---|\n| naive | 3 |\n\n: Reads of a row {#tbl-times}\n",
        _POST,
    ),
    Code(
        "SG122",
        "One bracket mixes a part of the text and the works of others",
        "A bracket holds citations of the bibliography, or references to figures and tables of the text, since the two "
        "are printed differently. Write two brackets.",
        "Each row is read once [@dao2022; @sec-reads].\n\n## Reads {#sec-reads}\n\nText.\n",
        "Each row is read once [@dao2022] [@sec-reads].\n\n## Reads {#sec-reads}\n\nText.\n",
        _POST,
    ),
)

_SHOWN = (
    Code(
        "SG123",
        "The notes of a listing and the marks in its code do not fit",
        "A mark `<1>` at the end of a line of code belongs to point 1 of the ordered list right below the listing, and "
        "the option `annotate` names the lines instead of marks. Here a mark has no point, a point has no mark, or a "
        "mark stands on no line of code. Add what is missing; write `annotate=false` where `<1>` is code.",
        "```python\nx = 1  # <1>\n```\n\nText.\n",
        "```python\nx = 1  # <1>\n```\n\n1. The number of rows.\n",
        _POST,
    ),
    Code(
        "SG124",
        "A set of tabs is not built as a set of tabs",
        "A `{tab-set}` holds only `{tab-item}`s, at least one, each with a title of its own; a `{tab-item}` stands "
        "only in a `{tab-set}`. Otherwise a reader could not choose a tab. Put the text into a tab, or the tab into a "
        "set.",
        ":::{tab-item} Triton\nText.\n:::\n",
        "::::{tab-set}\n:::{tab-item} Triton\nText.\n:::\n::::\n",
        _POST,
    ),
    Code(
        "SG125",
        "Unknown state of a task",
        "The role `{task}` on a line of the worklog says how the task stands, and it takes one of five words: `open`, "
        "`partial`, `done`, `dropped`, or `none` for a line that is no task. Write one of these.",
        "2026-11-22\n\nPlot the tail {task}`donne`\n",
        "2026-11-22\n\nPlot the tail {task}`done`\n",
        "content/worklog/2026.md",
        warning=True,
    ),
    Code(
        "SG130",
        "A CuTe layout that cannot be read or drawn",
        "The argument of `{layout}`, or the option `layout` of `{memory-access}`, is not a layout such as "
        "`(8,8):(8,1)`, has more than rows and columns, or has more elements than a figure can show. Shape and stride "
        "have the same brackets. Correct the layout, or show a smaller one.",
        "```{layout} (8,8:(8,1)\n```\n",
        "```{layout} (8,8):(8,1)\n```\n",
        _POST,
    ),
    Code(
        "SG131",
        "A memory access that no warp can make",
        "The address of each lane is computed by your formula for lanes 0 to 31. The formula cannot be computed, leads "
        "out of the layout or of any memory, or gives an address that is not a multiple of the access's width; a GPU "
        "faults at such an address. Correct the formula, the coordinates or the width.",
        "```{memory-access}\n:address: lane * 4\n:width: 16\n```\n",
        "```{memory-access}\n:address: lane * 16\n:width: 16\n```\n",
        _POST,
    ),
    Code(
        "SG132",
        "The stages of a timeline cannot be scheduled",
        "A `{timeline}` needs at least one tile and one stage, each stage at least one step, and the whole a length "
        "that a figure can show. Correct the number that is marked.",
        "```{timeline}\ntiles: 0\nstages: {copy: 2, compute: 3}\n```\n",
        "```{timeline}\ntiles: 4\nstages: {copy: 2, compute: 3}\n```\n",
        _POST,
    ),
    Code(
        "SG133",
        "A diagram cannot be drawn",
        "sitegen draws flowcharts, sequence diagrams and state diagrams of Mermaid while it builds. This diagram is of "
        "another kind, or its text does not parse. Correct the text, or draw the diagram as an SVG beside the post.",
        '```mermaid\npie\n  "copy" : 2\n```\n',
        "```mermaid\nflowchart LR\n  A[copy] --> B[compute]\n```\n",
        _POST,
    ),
    Code(
        "SG134",
        "The package that draws diagrams is not installed",
        "Diagrams of Mermaid are drawn by an optional package, so that nothing is drawn in the reader's browser. "
        "Install it with the command in the hint.",
        "a ```mermaid fence, and sitegen installed without its extra `diagrams`",
        "pip install 'kernel-sitegen[diagrams]'",
    ),
    Code(
        "SG135",
        "A figure or a claim cannot be read",
        "The text of `{value}` names one figure of a record, or a sum, a difference, a product or a quotient of "
        "figures. That of `{claim}` states something about figures that a record can decide. This text has another "
        "form, or a figure that sitegen does not know. Correct it as the hint says.",
        "The kernel moves {value}`softmax/fused bandwith`.\n",
        "The kernel moves {value}`softmax/fused bandwidth`.\n",
        _POST,
    ),
    Code(
        "SG136",
        "A given figure has no source",
        "The role `{given}` marks a figure that no record of the site has: the arithmetic of a prediction, an old "
        "result, somebody else's result. A reader must be able to see which of these it is. Write the source behind a "
        "semicolon.",
        "The arithmetic says {given}`2.4 TB/s`.\n",
        "The arithmetic says {given}`2.4 TB/s; three reads and a write`.\n",
        _POST,
    ),
    Code(
        "SG137",
        "A figure is typed into the text",
        "The text has a figure that looks measured, such as a rate, a share or a ratio, and no record stands behind "
        "it: a new run would not change it. Write the `{value}` of the hint, or mark the figure with `{given}` and its "
        "source when no record can have it. `sitegen check` and an editor look for such figures, and the "
        "check exits with 1. A figure of the worklog is one of its day, and may be typed; so may one of an `{example}` "
        "and, in a text that shows no kernel, a limit, as in `at most 4 ×` or `less than 1 ms`.",
        "The kernel moves 4.1 TB/s.\n",
        "The kernel moves {value}`softmax/fused bandwidth`.\n",
        _POST,
        warning=True,
    ),
    Code(
        "SG138",
        "The fence of a directive or a listing, or a formula, is never closed",
        "The line that closes the fence is missing, so the directive or the listing contains everything down to the "
        "end of the text, or to the end of the next listing. Write a line with at least as many of the same signs "
        "below the content. This is an error if another directive opens inside by the same signs, because the fence of "
        "a directive around others has more signs than they have. It is also an error if the content is a cell that "
        "is no Python. A formula needs a second `$`, or `$$`, in its paragraph.",
        ":::{note} Worth knowing\nA note.\n",
        ":::{note} Worth knowing\nA note.\n:::\n",
        _POST,
        warning=True,
    ),
    Code(
        "SG139",
        "A directive of the site cannot be used",
        "A template in `templates/directives/` has no head that declares it, takes the name of a directive of sitegen, "
        "fails when a text uses it, or opens a tag that it never closes. Begin the file with a comment of Jinja that "
        "holds `about:` in YAML, name the file differently, or correct the template as the hint says.",
        "<p>{{ argument }}</p>\n",
        "{# about: A paragraph. #}\n<p>{{ argument }}</p>\n",
        "templates/directives/remark.html",
    ),
    Code(
        "SG140",
        "A data file cannot be shown as a table",
        "`{data-table}` names a file that is not in `content/data/`, a column that no row has, or a file that is no "
        "list of rows. Correct the name, or write the file as a list of `key: value` lines.",
        "```{data-table} gpus\n```\n, and content/data/gpus.yaml with `H200: 141`",
        "```{data-table} gpus\n```\n, and content/data/gpus.yaml with `- {name: H200, memory: 141}`",
    ),
    Code(
        "SG141",
        "A word is misspelt",
        "The word is a known misspelling. Only `sitegen check --spelling` looks for misspelt words, and exits with 1. "
        "Correct the word, or write it into `content/words.txt`, one word a line, when it is right in your site.",
        "The kernel recieves a block.\n",
        "The kernel receives a block.\n",
        warning=True,
    ),
    Code(
        "SG142",
        "A fence of backticks has a backtick behind the name of its directive",
        "In Markdown, the line that opens a fence of backticks can have no backtick behind the fence. The line would "
        "be printed as plain text, and the line that closes the fence would open another one. Write the fence with "
        "colons, which may have backticks behind the name.",
        "```{quiz} What does `__ldcs` do?\n:answer: It loads.\n```\n",
        ":::{quiz} What does `__ldcs` do?\n:answer: It loads.\n:::\n",
        _POST,
    ),
    Code(
        "SG143",
        "A row of a table has more cells than its header, or a table is read as text",
        "The header says how many columns a table has, and Markdown leaves out the further cells of a row. Add a "
        "column to the header and to the line below it. A bar within a cell, also within code, is written as `\\|`. "
        "Without a line such as `|---|---|` below the header, with as many cells, the rows are a paragraph.",
        "| kernel | mask |\n|---|---|\n| tile | `a | b` |\n",
        "| kernel | mask |\n|---|---|\n| tile | `a \\| b` |\n",
        _POST,
        warning=True,
    ),
    Code(
        "SG144",
        "A link or a role is read as text",
        "To Markdown a link whose label or address is missing, or a role without backquotes, is text: readers see the "
        "brackets. Give the label a line with its address, close the address, or put the text of the role into "
        "backquotes. Brackets that are meant so have a backslash before them.",
        "See [the guide][hopper].\n",
        "See [the guide][hopper].\n\n[hopper]: https://docs.nvidia.com/cuda/hopper-tuning-guide/\n",
        _POST,
        warning=True,
    ),
)

GROUP = CodeGroup(
    "Writing Markdown",
    "The room `markup` reports these while it turns a text into HTML.",
    (*_DIRECTIVES, *_CELLS, *_TEXT, *_SHOWN),
)
