"""SG601 to SG610: parts of an old site that `sitegen import` could not take over unchanged."""

from __future__ import annotations

from sitegen.codes.entry import Code, CodeGroup

_JEKYLL = "_posts/2024-01-05-softmax.md"

GROUP = CodeGroup(
    "Importing",
    "Only an import reports these. Each names a place of the old site that a person should look at.",
    (
        Code(
            "SG601",
            "Liquid that is not understood",
            "The old text has a Liquid tag or filter for which sitegen has no counterpart. It stays in the new text, "
            "visibly, so that nothing is lost. Replace it by what it should show.",
            "{% random_quote %}\n",
            "A sentence of your own.\n",
            _JEKYLL,
            warning=True,
        ),
        Code(
            "SG602",
            "A front matter key that has no place here",
            "sitegen has no such key, and unknown keys are errors. The line stays in the new file as a comment, and "
            "the message lists the other files that have it. Remove the comment when you do not need it.",
            "---\ntitle: Softmax\ngiscus_comments: true\n---\nText.\n",
            "---\ntitle: Softmax\n---\nText.\n",
            _JEKYLL,
            warning=True,
        ),
        Code(
            "SG603",
            "A link or an image leads to something that was not imported",
            "The old site had the target from elsewhere, or did not have it at all. A link is written as an address; "
            "in place of an image stands a link. Put the file beside the new text, or correct the link.",
            "![Bandwidth](/assets/gone.png)\n",
            "![Bandwidth](/assets/plot.svg)\n",
            _JEKYLL,
            warning=True,
        ),
        Code(
            "SG604",
            "HTML that cannot stand in a text, or a citation of nothing",
            "Frames, scripts, inline styles and event attributes are refused on every page, so the importer replaces "
            "a frame by a link, leaves scripts and styles out, and shows other elements as code. A key that is in no "
            "bibliography stands in the text, in brackets. Look at the place, and write it in Markdown.",
            '<p style="color: red">Careful.</p>\n',
            "**Careful.**\n",
            _JEKYLL,
            warning=True,
        ),
        Code(
            "SG605",
            "A form of kramdown that has no counterpart",
            "kramdown has attributes, abbreviations and extensions that sitegen does not have. The importer leaves "
            "them out or keeps them as text, and says which. Usually nothing is to be done; where the form mattered, "
            "rewrite it.",
            "*[GPU]: graphics processing unit\n",
            "A GPU is a graphics processing unit.\n",
            _JEKYLL,
            warning=True,
        ),
        Code(
            "SG606",
            "A file that is left out, or is not what the command reads",
            "The folder is no Jekyll site, the notebook is not a notebook, or the diary has no day: name the right "
            "file. As a warning: Liquid makes a page or a feed of the old site from lists. sitegen makes its own: "
            "write what you still need anew.",
            "sitegen import notebook notes.md",
            "sitegen import notebook notes.ipynb",
        ),
        Code(
            "SG607",
            "An old address cannot be kept",
            "The old address is that of something else now, or has characters that no address of sitegen has. Links "
            "from elsewhere to it will fail. Choose which of the two keeps the address, or set up the redirect on your "
            "server.",
            "two old pages with the permalink /notes/",
            "two old pages with the permalinks /notes/ and /more-notes/",
            warning=True,
        ),
        Code(
            "SG608",
            "A post without a date, or with a date that cannot be read",
            "A post needs a date for its place in lists and feeds, and Jekyll takes it from the file name or the front "
            "matter. A date that cannot be read, or a name without one, is a warning; a post that has no date in the "
            "end is an error. Write the date as `2024-01-05`.",
            "_posts/softmax.md",
            "_posts/2024-01-05-softmax.md",
        ),
        Code(
            "SG609",
            "A setting of the old site that is missing or has no place here",
            "`_config.yml` has settings that mean nothing to sitegen, or lacks `title` or `url`, for which the "
            "importer made something up. Read `content/site.yaml`, and correct what was made up before you publish.",
            "title: Kernels\nurl: https://example.org\nplugins: [jekyll-feed, jekyll-maps]\nmy_setting: 1\n",
            "title: Kernels\nurl: https://example.org\n",
            "_config.yml",
            warning=True,
        ),
        Code(
            "SG610",
            "A mistake of the source was mended",
            "The old text had something that is an error here: a tag that is never closed, a link that leads nowhere, "
            "TeX that is not known, an id that stands twice. The import wrote it so that the site builds, and the "
            "words stayed. What could not be mended is shown as code. Look at the place, and write it as you want it.",
            "See [the table](#gone).\n",
            "See the table.\n",
            _JEKYLL,
            warning=True,
        ),
    ),
)
