"""SG040 to SG059: what is odd in a worklog."""

from __future__ import annotations

from sitegen.codes.entry import Code, CodeGroup

_DIARY = "content/worklog/2026.md"


def _days(*days: int) -> str:
    """Return a worklog with entries on these days of a month."""
    return "".join(f"2026-11-{day:02d}\n\nText.\n\n" for day in days)


_WORKLOG = (
    Code(
        "SG040",
        "Impossible date in the worklog",
        "A heading or a file name looks like the date of a day, and the calendar has no such day. Its text stays with "
        "the day above. Write the date as `2026-11-22`.",
        "2026-02-30\n\n- [x] Read about shared memory\n\n2026-02-27\n\n- [x] Read about warps\n",
        "2026-02-28\n\n- [x] Read about shared memory\n\n2026-02-27\n\n- [x] Read about warps\n",
        _DIARY,
        warning=True,
    ),
    Code(
        "SG041",
        "It is not clear which number of a date is the month",
        "The dates of this file can be read with the month first or with the day first, and no date of the file "
        "decides it. sitegen has chosen one reading, which the hint shows. Write the year first to be sure.",
        "03/04/2026\n\n- [x] Read about warps\n",
        "2026-03-04\n\n- [x] Read about warps\n",
        _DIARY,
        warning=True,
    ),
    Code(
        "SG042",
        "The countdown of one day does not fit those of the other days",
        "Most days of the file count down to the same date with `T - N`, and this day's number leads to another date. "
        "It is probably a slip. Write the number that the hint gives, or leave it as a record of what you thought.",
        "2026-11-22 T - 9\n\nA.\n\n2026-11-21 T - 40\n\nB.\n\n2026-11-20 T - 41\n\nC.\n",
        "2026-11-22 T - 39\n\nA.\n\n2026-11-21 T - 40\n\nB.\n\n2026-11-20 T - 41\n\nC.\n",
        _DIARY,
        warning=True,
    ),
    Code(
        "SG043",
        "A day of the worklog comes twice",
        "Two entries have the same date, in one file or in two. The page of the day shows both, one after the other. "
        "Join them, or correct a date.",
        "2026-11-22\n\nIn the morning.\n\n2026-11-22\n\nIn the evening.\n",
        "2026-11-22\n\nIn the morning.\n\n2026-11-21\n\nIn the evening.\n",
        _DIARY,
        warning=True,
    ),
    Code(
        "SG044",
        "A worklog file has no day",
        "The file has text and neither its name nor one of its lines is a date. Its text belongs to no day, so no page "
        "shows it as an entry. Begin each day with a line such as `2026-11-22`, or give the file such a name.",
        "- [x] Read about warps\n",
        "2026-11-22\n\n- [x] Read about warps\n",
        _DIARY,
        warning=True,
    ),
    Code(
        "SG045",
        "The name and the front matter of a worklog file give two dates",
        "The file is named after one day, and `date` in its front matter is another. The front matter counts. Rename "
        "the file or correct the date, so that the next reader finds the day where its name says.",
        "---\ndate: 2026-11-22\n---\nRead about warps.\n",
        "---\ndate: 2026-11-21\n---\nRead about warps.\n",
        "content/worklog/2026-11-21.md",
        warning=True,
    ),
    Code(
        "SG046",
        "The two parts of a link are swapped",
        "Markdown writes a link as `[title](address)`, and here the address stands in the brackets. The page would "
        "show both as text. `sitegen check --fix` swaps them.",
        "2026-11-22\n\n[https://example.org/warps](How warps vote)\n",
        "2026-11-22\n\n[How warps vote](https://example.org/warps)\n",
        _DIARY,
        warning=True,
    ),
    Code(
        "SG047",
        "A link is half written",
        "A link begins with `[…](` and is never closed, so the page shows it as text. Write the address and close "
        "it with `)`. `sitegen check --fix` does so where the address is there.",
        "2026-11-22\n\n[How warps vote](https://example.org/warps\n",
        "2026-11-22\n\n[How warps vote](https://example.org/warps)\n",
        _DIARY,
        warning=True,
    ),
    Code(
        "SG048",
        "A link in the worklog has no title",
        "The link shows its address, which tells a reader of a later year little. Write `[title](address)`, or "
        "`<address>` when the address is the point. When another day has a title for the same address, the hint "
        "shows it.",
        "2026-11-22\n\nhttps://example.org/warps\n",
        "2026-11-22\n\n[How warps vote](https://example.org/warps)\n",
        _DIARY,
        warning=True,
    ),
    Code(
        "SG049",
        "Characters were read in a wrong encoding",
        "A program read UTF-8 as another encoding, and wrote what it saw. `sitegen check --fix` restores the "
        "characters when no byte is lost. Else the hint suggests one, and you decide.",
        "2026-11-22\n\nIt doesnâ€™t stall.\n",
        "2026-11-22\n\nIt doesn’t stall.\n",
        _DIARY,
        warning=True,
    ),
    Code(
        "SG050",
        "A link carries a tracker",
        "A parameter such as `utm_source` says from where its author came, and not what the link leads to. The same "
        "page then has several addresses. `sitegen check --fix` removes the parameter.",
        "2026-11-22\n\n[Warps](https://example.org/w?utm_source=mail)\n",
        "2026-11-22\n\n[Warps](https://example.org/w)\n",
        _DIARY,
        warning=True,
    ),
    Code(
        "SG051",
        "A day of the worklog is missing",
        "A single day has no entry, and the three days before it and after it have one each. Perhaps its date was "
        "written wrong. Add the day, or leave the gap.",
        _days(3, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20),
        _days(3, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20),
        _DIARY,
        warning=True,
    ),
    Code(
        "SG052",
        "A day of the worklog lies in the future",
        "The date of an entry is later than the day on which the site is checked. The year or the month is probably "
        "wrong, as happens in January. Correct the date.",
        "2027-11-22\n\nText.\n",
        "2026-11-22\n\nText.\n",
        _DIARY,
        warning=True,
    ),
    Code(
        "SG053",
        "A task has no outcome",
        "A task was left open, and the entries of the following week say nothing about it. Write what became of it, "
        "`- Done` or `- Dropped`, on a later day. {task}`none` on its line says that it is no task.",
        "2026-11-10\n\n- [ ] Plot the tail\n\n2026-11-20\n\nText.\n",
        "2026-11-10\n\n- [ ] Plot the tail\n\n2026-11-20\n\n- [x] Plot the tail\n",
        _DIARY,
        warning=True,
    ),
)

GROUP = CodeGroup(
    "The worklog",
    "What stands in a worklog is always a warning: a diary never fails a build. `sitegen check` exits with 1 when "
    "there is one, and it alone reports SG048 and SG050 to SG053.",
    _WORKLOG,
)
