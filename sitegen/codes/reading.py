"""SG001 to SG039: mistakes in files, YAML, addresses and kernels."""

from __future__ import annotations

from sitegen.codes.entry import Code, CodeGroup

_POST = "content/posts/softmax/index.md"
_SITE = "content/site.yaml"
_KERNEL = "kernels/softmax/kernel.yaml"
_EXERCISE = "---\ntitle: Vector add\nkernel: vector_add\nsolution: tile\ncounted_at: {M: 8, N: 128}\n---\n"

_FILES = (
    Code(
        "SG001",
        "The file is not UTF-8",
        "The file has a byte that is not part of any UTF-8 character. sitegen reads every text as UTF-8, so that a "
        "site is the same on each machine. Save the file as UTF-8; editors call this the encoding.",
        "a file in Latin-1, where ü is the single byte 0xfc",
        "the same file in UTF-8, where ü is the two bytes 0xc3 0xbc",
    ),
    Code(
        "SG002",
        "Invalid YAML",
        "The front matter or a YAML file cannot be parsed. Nothing of this YAML is read, so other mistakes in it are "
        "not reported yet. The usual causes are a missing colon, a missing bracket, a tab, or a colon inside a value: "
        "put such a value between quotes.",
        "title: Softmax: one pass\nbase_url: https://example.org/\n",
        'title: "Softmax: one pass"\nbase_url: https://example.org/\n',
        _SITE,
    ),
    Code(
        "SG003",
        "A key stands twice in one YAML mapping",
        "Two values are given for one key, and only one of them can count. YAML parsers differ in which one they take. "
        "Remove one of the two lines.",
        "title: Kernels\ntitle: Bytes in flight\nbase_url: https://example.org/\n",
        "title: Bytes in flight\nbase_url: https://example.org/\n",
        _SITE,
    ),
    Code(
        "SG004",
        "The front matter is missing or is never closed",
        "A post, page or term begins with front matter, which is YAML between two lines of three hyphens. Without it "
        "the text has no title, and a post has no date. Begin the file with such a line and the required keys, and end "
        "the front matter with another one.",
        "---\ntitle: A fast softmax\ndate: 2026-11-22\n\nThe naive version reads each row three times.\n",
        "---\ntitle: A fast softmax\ndate: 2026-11-22\n---\nThe naive version reads each row three times.\n",
        _POST,
    ),
)

_KEYS = (
    Code(
        "SG010",
        "A required key is missing or empty",
        "A file needs this key and does not give it a value. A post needs `title` and `date`, `content/site.yaml` "
        "needs `title` and `base_url`, a series needs `title`; a kernel needs what its page and its measurement are "
        "made from. Add the key with a value.",
        "---\ntitle: A fast softmax\n---\nText.\n",
        "---\ntitle: A fast softmax\ndate: 2026-11-22\n---\nText.\n",
        _POST,
    ),
    Code(
        "SG011",
        "A value has the wrong type",
        "The key expects another kind of value: text, a number, a list, a date, true or false. The message says which "
        "one was expected and which one stands there. Write the value in the expected form.",
        "---\ntitle: A fast softmax\ndate: 2026-11-22\ndraft: maybe\n---\nText.\n",
        "---\ntitle: A fast softmax\ndate: 2026-11-22\ndraft: true\n---\nText.\n",
        _POST,
    ),
    Code(
        "SG012",
        "Unknown key",
        "The file has a key that sitegen does not know. An unknown key is an error because it is most often a slip of "
        "the keyboard, and the intended setting would be ignored without a word. Correct the name, or remove the line.",
        "---\ntitle: A fast softmax\ndate: 2026-11-22\ndecription: One read, one write.\n---\nText.\n",
        "---\ntitle: A fast softmax\ndate: 2026-11-22\ndescription: One read, one write.\n---\nText.\n",
        _POST,
    ),
    Code(
        "SG013",
        "Impossible date",
        "The value has the form of a date or a time, and the calendar or the clock has no such value; or `updated` of "
        "a post is earlier than its `date`. Dates are sorted and printed, so a wrong one cannot be guessed. Correct "
        "the day, the month, the year or the time.",
        "---\ntitle: A fast softmax\ndate: 2026-02-30\n---\nText.\n",
        "---\ntitle: A fast softmax\ndate: 2026-02-28\n---\nText.\n",
        _POST,
    ),
    Code(
        "SG014",
        "The value is none of the allowed ones",
        "The key takes one of a few words, or a word of a certain form: a feed, a dtype, a language, a time zone, a "
        "GPU's id, an absolute address. The value is none of them. The hint lists the allowed words or shows the form.",
        "title: Kernels\nbase_url: https://example.org/\nfeeds: [tag]\n",
        "title: Kernels\nbase_url: https://example.org/\nfeeds: [tags]\n",
        _SITE,
    ),
    Code(
        "SG015",
        "Two keys of a series do not go together",
        "A series lists its posts either in `phases`, or in the short form `posts`, which makes one phase. A file with "
        "both would list posts that belong to no phase. Move the posts into a phase, or remove `phases`.",
        "title: Basics\nposts: [softmax]\nphases:\n  - {title: Reductions, posts: [reductions]}\n",
        "title: Basics\nphases:\n  - {title: Reductions, posts: [reductions]}\n",
        "series/basics.yaml",
    ),
    Code(
        "SG016",
        "No reader takes this file",
        "The file looks as if it belonged to the site, and no page is made of it: its name or its folder is not one "
        "that sitegen reads, or it is a template that no other template names. "
        "A file that is silently left out would be noticed only by readers. Rename it or move it; "
        "the hint says where such a file belongs.",
        "series/basics.yml",
        "series/basics.yaml",
        warning=True,
    ),
    Code(
        "SG017",
        "A heading of an exercise is nearly `## Hints`",
        "The hints of an exercise are the text below the heading `## Hints`, and its statement is the text above it. "
        "This heading has nearly the same word, or another number of marks, so that the hints are a part of the "
        "statement. Write `## Hints`.",
        _EXERCISE + "Add.\n\n## Hint\n\nMask.\n",
        _EXERCISE + "Add.\n\n## Hints\n\nMask.\n",
        "content/exercises/vector-add/index.md",
        warning=True,
    ),
)

_LANGUAGES = (
    Code(
        "SG018",
        "A text does not have the letters of its language",
        "The code of its language is also the code of a country, and the text has the letters of that country's "
        "language: `kr` is Kanuri, and Korean is `ko`. Browsers and screen readers would take the text for the wrong "
        "language. Write the code of the language, in the name of the file of a translation or in `lang`.",
        "---\ntitle: 행의 분산\ndate: 2026-11-22\nlang: kr\n---\n분산을 계산한다.\n",
        "---\ntitle: 행의 분산\ndate: 2026-11-22\nlang: ko\n---\n분산을 계산한다.\n",
        _POST,
        warning=True,
    ),
)

_ADDRESSES = (
    Code(
        "SG020",
        "Two posts have the same slug",
        "The slug is the name of a post's file or folder, and the address of its page. Two posts with one slug in one "
        "language would be one page. Rename one of the two.",
        "content/posts/softmax.md and content/posts/softmax/index.md",
        "content/posts/softmax.md and content/posts/softmax-in-cuda/index.md",
    ),
    Code(
        "SG021",
        "Two things claim the same address",
        "A permalink, an alias or a page's name is an address that something else of the site has. Only one file can "
        "be written there. Choose another address.",
        "---\ntitle: A fast softmax\ndate: 2026-11-22\npermalink: /worklog/\n---\nText.\n",
        "---\ntitle: A fast softmax\ndate: 2026-11-22\npermalink: /softmax/\n---\nText.\n",
        _POST,
    ),
    Code(
        "SG022",
        "A file is missing or cannot be read",
        "A file that the site needs does not exist, or the operating system refuses to open it. Each site has "
        "`content/site.yaml`, each kernel has a `reference.py`, and each implementation has the file that "
        "`kernel.yaml` names. Create the file, correct its name, or correct its permissions.",
        "implementations:\n  - {name: fused, file: fusd.py}\n",
        "implementations:\n  - {name: fused, file: fused.py}\n",
        _KERNEL,
    ),
    Code(
        "SG023",
        "A name stands twice in one list",
        "A post or an exercise of a series, an implementation, a workload or a work of a bibliography is named twice, "
        "or two terms of the glossary have the same title or alias. A reference to that name could mean either. Remove "
        "or rename one of the two; the message or the hint names the place of the first.",
        "title: Basics\nposts: [softmax, softmax]\n",
        "title: Basics\nposts: [softmax, reductions]\n",
        "series/basics.yaml",
    ),
    Code(
        "SG024",
        "A name or an address has an unfit form",
        "The name cannot be used where it will stand: in an address, in a formula, or as a function. A kernel is named "
        "like its folder, dims and tensors are letters, digits and `_`, and some words have a meaning of their own. "
        "Choose another name; the hint says which form is expected.",
        "kernel: fast_softmax\n",
        "kernel: softmax\n",
        _KERNEL,
    ),
    Code(
        "SG025",
        "Invalid BibTeX",
        "A bibliography cannot be parsed at this place. The entry is left out, so citations of it fail too. The usual "
        "cause is a comma or a brace that is missing in the lines above.",
        "@article{dao2022,\n  title = {FlashAttention}\n  year = 2022\n}\n",
        "@article{dao2022,\n  author = {Tri Dao},\n  title = {FlashAttention},\n  year = 2022\n}\n",
        "content/references.bib",
    ),
    Code(
        "SG026",
        "A notebook cannot be read",
        "A post may be a notebook, `index.ipynb`, and this file is none: it is not JSON, or it has no list of cells. "
        "Nothing of it is read. Open it in Jupyter and save it again; a notebook of version 3 is saved as version 4. "
        "What is not JSON Jupyter cannot open either: take the marks of a merge out, or restore an earlier copy.",
        "not JSON\n",
        '{"cells": [{"cell_type": "raw", "source": "---\\ntitle: A\\ndate: 2026-11-22\\n---"}]}\n',
        "content/posts/first-look/index.ipynb",
    ),
    Code(
        "SG028",
        "A topic names what its phase does not list",
        "A topic of a series names the posts and exercises that treat it, and the phase of the topic does not list "
        "this one. The topic links to a line of the phase, so the link would lead nowhere. Correct the name, or add "
        "the post or the exercise to the phase.",
        "title: Basics\nposts: [softmax]\ntopics: [{title: fusion, posts: [sofmax]}]\n",
        "title: Basics\nposts: [softmax]\ntopics: [{title: fusion, posts: [softmax]}]\n",
        "series/basics.yaml",
    ),
    Code(
        "SG029",
        "The colours of a theme are hard to read",
        "Text in one of the colours of `theme:` has too little contrast with the page or with code behind it, on light "
        "or on dark pages. Many readers could not read it, and the pages would fail WCAG 2.2. Choose a darker or a "
        "lighter colour; the message names the pair and its contrast.",
        'title: A\nbase_url: https://example.org/\ntheme: {hot: ["#e0b090", "#ff8a55"]}\n',
        'title: A\nbase_url: https://example.org/\ntheme: {hot: ["#b83400", "#ff8a55"]}\n',
        _SITE,
    ),
)

_KERNELS = (
    Code(
        "SG030",
        "A formula of a kernel cannot be computed",
        "A formula such as `reads`, `flops` or a grid size has a name that the kernel does not define, or is not a "
        "formula of this grammar, or has no sensible value at one of the workloads. Bandwidth and of-ceiling are "
        "computed from these formulas. Use dims, params, constants, `itemsize`, `+ - * // % **`, brackets, `min`, "
        "`max` and `cdiv`.",
        "reads: M * K * itemsize\n",
        "reads: M * N * itemsize\n",
        _KERNEL,
    ),
    Code(
        "SG031",
        "A workload or a check does not give the dims of the kernel",
        "Each entry of `workloads` and `checks` gives each dim of the kernel a size of at least 1, and no other dim. A "
        "missing size leaves the shape of the inputs unknown. Add the dim, correct its name, or correct its size.",
        "workloads: [{M: 8192}]\n",
        "workloads: [{M: 8192, N: 8192}]\n",
        _KERNEL,
    ),
    Code(
        "SG032",
        "The tolerances of a kernel do not fit its dtypes",
        "`tolerance` gives each dtype of the kernel one number that is at least 0 and below 1: the largest relative "
        "error of a correct result. Without it an implementation cannot be checked, and what is not checked is not "
        "timed. Add the dtype, or correct the number.",
        "dtypes: [float32]\ntolerance: {float32: 2}\n",
        "dtypes: [float32]\ntolerance: {float32: 1e-6}\n",
        _KERNEL,
    ),
    Code(
        "SG033",
        "A goal is not written as a goal, or names what the kernel does not have",
        "A goal compares an implementation, or `best`, with a share or a baseline at one workload and dtype. The "
        "status of a goal can only be computed when all these names exist in the kernel. Correct the form or the name.",
        'goals: ["best >= 0.98 of-copy @ 512x512:float32"]\n',
        'goals: ["best >= 0.98 of-copy @ 8192x8192:float32"]\n',
        _KERNEL,
    ),
    Code(
        "SG034",
        "The launch of an implementation is not complete or does not fit its language",
        "A `.cu` file is called either through `launch` (entry, grid, block, args) or through host code named by "
        "`host`; a `.py` file launches itself. Arguments are the kernel's tensors, dims, params and constants, an "
        "architecture is written as `>=sm_90`, and a block has at most 1,024 threads at each workload. Add what is "
        "missing, or remove what does not belong there.",
        "implementations:\n  - {name: naive, file: naive.cu}\n",
        "implementations:\n"
        "  - name: naive\n"
        "    file: naive.cu\n"
        "    launch: {entry: naive, grid: [M], block: [256], args: [x, y, N]}\n",
        _KERNEL,
    ),
    Code(
        "SG035",
        "The file of an implementation does not hold the function that is called",
        "An implementation is a `.py` file with a function named like the kernel, or a `.cu` file with the function "
        'that `launch` or `host` names, and `extern "C"` before it. '
        "`reference.py` has the baselines, and the function `extra_inputs` where "
        "kernel.yaml names input sets. Without these functions nothing can be measured. Rename the function, or name "
        "the right file.",
        "kernels/softmax/fused.py defines `fused_softmax`",
        "kernels/softmax/fused.py defines `softmax`",
    ),
    Code(
        "SG036",
        "A Python file does not parse",
        "The source of an implementation, a reference or a starter is not valid Python. sitegen parses it to find its "
        "names, and never runs it in a build. Correct the syntax at the place that is shown.",
        "def softmax(x, *, out=None)\n    return x\n",
        "def softmax(x, *, out=None):\n    return x\n",
        "kernels/softmax/fused.py",
    ),
    Code(
        "SG037",
        "The gate of a wrong variant does not fit it",
        "`gate` names the one test of correctness that must reject a variant under `wrong/` while all other tests are "
        "off, and `at` names the shape of `checks` where it must. The gate must give the status that `fails` "
        "names. Correct the gate, the status or the shape.",
        "wrong:\n  - {name: half, file: fused.py, fails: wrong_dtype, gate: shape}\n",
        "wrong:\n  - {name: half, file: fused.py, fails: wrong_dtype, gate: dtype}\n",
        _KERNEL,
    ),
    Code(
        "SG038",
        "A sweep names what the kernel does not have, or its values cannot be measured",
        "A sweep gives constants of one implementation's launch, or dims of the kernel, several values at one workload "
        "and dtype. Each value is at least 1 and occurs once, no block gets more than 1,024 threads, and a sweep has "
        "at most 64 points. `M=N=K` gives three dims one value. Correct the name, or the values.",
        "sweeps:\n"
        "  - {name: rows, title: Time over M, implementation: fused, workload: 8192x8192, dtype: float32,\n"
        "     dims: {M: [1024, 1024]}}\n",
        "sweeps:\n"
        "  - {name: rows, title: Time over M, implementation: fused, workload: 8192x8192, dtype: float32,\n"
        "     dims: {M: [1024, 2048]}}\n",
        _KERNEL,
    ),
    Code(
        "SG039",
        "A prediction has no share of the ceiling",
        "The last percentage of `predicts` is the share of the ceiling that the author expects. Tables and charts show "
        "it beside the measured share. A prediction in words alone is compared with nothing. Write the share at the "
        "end of the sentence, also into `predicts` of a cell.",
        'implementations:\n  - {name: fused, file: fused.py, predicts: "one read, one write"}\n',
        'implementations:\n  - {name: fused, file: fused.py, predicts: "one read, one write: 95 %"}\n',
        _KERNEL,
        warning=True,
    ),
)

GROUP = CodeGroup(
    "Reading files",
    "The room `read` reports these while it turns files into the model. SG028 comes from `linking`: only the whole "
    "site shows which of two names is wrong.",
    (*_FILES, *_KEYS, *_LANGUAGES, *_ADDRESSES, *_KERNELS),
)
