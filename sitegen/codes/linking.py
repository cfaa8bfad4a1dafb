"""SG201 to SG223: references from a text to other texts, files, kernels and works."""

from __future__ import annotations

from sitegen.codes.entry import Code, CodeGroup

_POST = "content/posts/softmax/index.md"

GROUP = CodeGroup(
    "Linking",
    "The room `linking` reports these when all texts of the site have been parsed: only then is it known where a name "
    "leads.",
    (
        Code(
            "SG201",
            "A link leads to nothing",
            "The target is no page and no file of this site. A reader would meet an error page. Correct the target; it "
            "may also be a draft, a post dated after the day of the build, or a path outside of the site.",
            "See [the other post](../sofmax/).\n",
            "See [the other post](../memory-bound/).\n",
            _POST,
        ),
        Code(
            "SG202",
            "A link leads to a place that its page does not have",
            "The page exists, and nothing on it has the id behind `#`. The browser would show the top of the page "
            "instead. Headings get their id from their words; a label `{#sec-…}` gives a heading an id that stays.",
            "See [above](#reads-and-writes).\n\n## Reads\n\nText.\n",
            "See [above](#reads).\n\n## Reads\n\nText.\n",
            _POST,
        ),
        Code(
            "SG203",
            "An image or a file is missing, or is on another host",
            "A page loads only files of its own site, so that it works from a disk and tells no third party who reads "
            "it. Put the file beside the text and name it by its path from there.",
            "![Bandwidth over size](plto.png)\n",
            "![Bandwidth over size](plot.png)\n",
            _POST,
        ),
        Code(
            "SG204",
            "Unknown kernel",
            "The text names a kernel, and `kernels/` has no folder of this name with a `kernel.yaml`. Correct the "
            "name, or add the kernel.",
            "```{benchmark} sofmax\n```\n",
            "```{benchmark} softmax\n```\n",
            _POST,
        ),
        Code(
            "SG205",
            "A kernel does not have what the text names",
            "The kernel exists, and the implementation, region, workload, dtype, baseline or line that is named does "
            "not. The table or listing would be empty. Correct the name; the hint lists what the kernel has.",
            "```{kernel} softmax/fussed\n```\n",
            "```{kernel} softmax/fused\n```\n",
            _POST,
        ),
        Code(
            "SG206",
            "A cell does not make the implementation that it names",
            "A cell with `implements` is checked and measured like a file under `kernels/`. Its name is taken already, "
            "the function that is to be called is missing, or `launch` uses a name that the kernel does not have. A "
            "Triton cell defines a function named like the kernel; a CUDA cell defines the `entry` of its `launch`.",
            "```{code-cell} triton\n#| label: two-pass\n#| implements: softmax/two_pass\n"
            "def my_softmax(x, *, out=None):\n    return x\n```\n",
            "```{code-cell} triton\n#| label: two-pass\n#| implements: softmax/two_pass\n"
            "def softmax(x, *, out=None):\n    return x\n```\n",
            _POST,
        ),
        Code(
            "SG207",
            "Unknown post",
            "A series or an entry point names a post by its slug, and no post has this slug. Correct the slug. A post "
            "that is not written yet is listed by its title under `planned`.",
            "title: Basics\nposts: [sofmax]\n",
            "title: Basics\nposts: [softmax]\n",
            "series/basics.yaml",
        ),
        Code(
            "SG208",
            "Unknown exercise",
            "A phase of a series names an exercise, and `content/exercises/` has no folder of this name. Correct the "
            "name. An exercise that is not written yet has a title: `{id: scan, title: A scan}`.",
            "title: Basics\nphases:\n  - {title: Reductions, posts: [softmax], exercises: [vectoradd]}\n",
            "title: Basics\nphases:\n  - {title: Reductions, posts: [softmax], exercises: [vector-add]}\n",
            "series/basics.yaml",
        ),
        Code(
            "SG209",
            "A cell of a translation is not the cell of its original",
            "A translation shows what the cells of the original measured, so it repeats their code word for word. A "
            "cell that differs, or that the original does not have, has no results. Copy the cell from the original.",
            "---\ntitle: Softmax\ndate: 2026-11-22\n---\n```{code-cell} python\n#| label: look\nprint(2)\n```\n",
            "---\ntitle: Softmax\ndate: 2026-11-22\n---\nText.\n",
            "content/posts/softmax/index.de.md",
        ),
        Code(
            "SG210",
            "There is no bibliography to cite from",
            "The text cites a work, and neither `bibliography:` in its front matter nor `content/references.bib` gives "
            "it a BibTeX file; or the file that is named does not exist. Add the file or correct its name.",
            "---\ntitle: A fast softmax\ndate: 2026-11-22\nbibliography: ref.bib\n---\nText.\n",
            "---\ntitle: A fast softmax\ndate: 2026-11-22\nbibliography: refs.bib\n---\nText.\n",
            _POST,
        ),
        Code(
            "SG211",
            "No work has this key",
            "`@key` cites a work of the bibliography, and none has this key. Correct the key, or add the work. An at "
            "sign that is meant as one is written `\\@`.",
            "As @dao2202 shows, each row is read once.\n",
            "As @dao2022 shows, each row is read once.\n",
            _POST,
        ),
        Code(
            "SG212",
            "Unknown term",
            "The role `{term}` links to an entry of the glossary, and `content/terms/` has no entry with this name, "
            "title or alias. Correct the name, or write the entry.",
            "A {term}`wrap` has 32 lanes.\n",
            "A {term}`warp` has 32 lanes.\n",
            _POST,
        ),
        Code(
            "SG213",
            "An image cannot be shown, or a file can hold a script",
            "The file exists and is damaged, is larger than a page can carry, is a drawing that holds a script, or is "
            "a page of HTML or XML beside the text. Browsers would show a broken picture, or run the script as one of "
            "this site. A drawing that loads a file of another site is refused, too. Save the image again, smaller or "
            "without the script, and put a page into a .zip file.",
            "an SVG with a <script> in it",
            "the same SVG without the script",
        ),
        Code(
            "SG214",
            "Unknown GPU",
            "A figure, a claim or a goal names a GPU that neither `site.yaml` nor a record of the site names, or an "
            "entry of `gpu_aliases` in `site.yaml` has the id of a GPU first and its short name behind it. The figure "
            "would never be there. Correct the name; the id of a GPU is its product name in lower case, such as "
            "`nvidia-h200`.",
            "The kernel moves {value}`softmax/fused bandwidth on nvidia-h20`.\n",
            "The kernel moves {value}`softmax/fused bandwidth`.\n",
            _POST,
        ),
        Code(
            "SG215",
            "A link leads to an old address",
            "The link leads to an alias of a page, so that readers take a detour through a redirect. A "
            "build does not report it. Write the address of the page; `sitegen check --fix` does so.",
            "---\ntitle: Softmax\ndate: 2026-11-22\naliases: [/old/]\n---\n[This page](/old/) moved.\n",
            "---\ntitle: Softmax\ndate: 2026-11-22\naliases: [/old/]\n---\n[This page](/posts/softmax/) moved.\n",
            _POST,
            warning=True,
        ),
        Code(
            "SG216",
            "An exercise cannot be checked",
            "The check of an exercise begins with `starter.py` beside its text, in which it calls the function that is "
            "named like the kernel. It compares the reader's kernel with a solution in Triton, and counts loads at the "
            "shape `counted_at`, which gives a size to each dim of the kernel. One of these is missing or is of "
            "another kind. Add the file, rename the function, or correct the front matter.",
            "---\ntitle: Vector add\nkernel: vector_add\nsolution: tile\ncounted_at: {N: 128}\n---\nText.\n",
            "---\ntitle: Vector add\nkernel: vector_add\nsolution: tile\ncounted_at: {M: 8, N: 128}\n---\nText.\n",
            "content/exercises/vector-add/index.md",
        ),
        Code(
            "SG217",
            "Unknown cell, or unknown row or column of its table",
            "`{output}` and `{plot}` name a cell of their post by its label, and the post has no cell of this "
            "name. `{output}` also names a row and a column, and the stored table of the cell does not have them. The "
            "figure would never be there. Correct the name. After a change of the cell, the table is compared only "
            "when it is measured again.",
            "```{code-cell} python\n#| label: first-look\nprint(1)\n```\n\nIt takes {output}`first-lok:alone:time`.\n",
            "```{code-cell} python\n#| label: first-look\nprint(1)\n```\n\nIt takes {output}`first-look:alone:time`.\n",
            "content/posts/times/index.md",
        ),
        Code(
            "SG218",
            "Unknown author",
            "`authors:` of a post names an author that `content/site.yaml` does not describe, so the page would have "
            "no name to show. Correct the name, or add the author to `authors:` of `content/site.yaml`.",
            "authors: [adda], and `authors: {ada: {name: Ada}}` in content/site.yaml",
            "authors: [ada], and `authors: {ada: {name: Ada}}` in content/site.yaml",
        ),
        Code(
            "SG219",
            "A link to another site is dead",
            "The address answered that there is no such page, or its host does not answer. Only `sitegen check "
            "--external` asks other sites, and exits with 1. Link to the new address, or to a copy in an archive.",
            "[the paper](https://example.org/no-such-page)",
            "[the paper](https://example.org/)",
            warning=True,
        ),
        Code(
            "SG220",
            "A concept is needed before it is taught",
            "A post, a planned post or an exercise of a series needs a concept that the series teaches only later, so "
            "a reader who follows the order meets it unprepared. When two of them need each other, no order helps. "
            "Change the order of the series, or take the need out.",
            "title: Basics\nplanned:\n  - {title: Fusion, needs: [tiling]}\n  - {title: Tiles, teaches: [tiling]}\n",
            "title: Basics\nplanned:\n  - {title: Tiles, teaches: [tiling]}\n  - {title: Fusion, needs: [tiling]}\n",
            "series/basics.yaml",
        ),
        Code(
            "SG221",
            "Series wait for each other",
            "`after` names the series that a reader should know before this one. Here the names lead back to the "
            "series itself, so that no series of the circle could be read first. Take one of the names out.",
            "title: Basics\nafter: [basics]\nposts: [softmax]\n",
            "title: Basics\nposts: [softmax]\n",
            "series/basics.yaml",
        ),
        Code(
            "SG222",
            "Unknown series",
            "`after` names a series by its id, which is the name of its file without `.yaml`, and no file in `series/` "
            "has this name. Correct the name; knowledge from elsewhere belongs into `prerequisites`.",
            "title: Basics\nafter: [gpus]\nposts: [softmax]\n",
            "title: Basics\nprerequisites: A first course on GPUs.\nposts: [softmax]\n",
            "series/basics.yaml",
        ),
        Code(
            "SG223",
            "Nothing teaches this concept, and another has nearly its name",
            "`needs` names a concept that no post teaches and that is no term of the glossary, while a concept with "
            "almost the same name exists. The reader would see a name without a link. Correct the name; a concept from "
            "elsewhere, such as `C`, gives no warning.",
            "title: Basics\nplanned: [{title: Lanes, needs: [wrap]}]\n",
            "title: Basics\nplanned: [{title: Lanes, needs: [warp]}]\n",
            "series/basics.yaml",
            warning=True,
        ),
    ),
)
