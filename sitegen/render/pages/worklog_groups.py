"""Print a long list of the worklog in groups, page by page: all tasks, all links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sitegen.model.urls import WORKLOG, list_page_url, relative
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.paging import on_page, pages_of
from sitegen.render.shared.structured import About


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    about: str
    """A sentence beside the title; may be empty."""
    rows: Sequence[Any]


@dataclass(frozen=True, slots=True)
class GroupsPage:
    title: str
    summary: str
    groups: tuple[Group, ...]
    worklog: str
    stylesheet: str
    newer: str
    older: str
    number: int
    pages: int


@dataclass(frozen=True, slots=True)
class GroupedList:
    """A list that its template prints on several pages."""

    url: str
    template: str
    title: str
    description: str
    summary: str
    groups: tuple[Group, ...]


def print_groups(
    printer: Printer, listed: GroupedList, number: int, row: Callable[[Any, str], object]
) -> tuple[str, str]:
    """Return page `number`, from 1; `row` turns an entry, and the URL of the page, into what the template shows."""
    here = list_page_url(listed.url, number)
    entries = [(group, entry) for group in listed.groups for entry in group.rows]
    total, shown = pages_of(entries), on_page(entries, number)
    groups = (
        Group(group.title, group.about, tuple(row(entry, here) for of, entry in shown if of is group))
        for group in listed.groups
    )
    page = GroupsPage(
        title=listed.title,
        summary=listed.summary,
        groups=tuple(group for group in groups if group.rows),
        worklog=relative(WORKLOG, here),
        stylesheet=relative(printer.sources.assets["worklog.css"], here),
        newer=relative(list_page_url(listed.url, number - 1), here) if number > 1 else "",
        older=relative(list_page_url(listed.url, number + 1), here) if number < total else "",
        number=number,
        pages=total,
    )
    title = listed.title if number == 1 else f"{listed.title}, page {number}"
    about = About(("CollectionPage",))
    return printer.page(
        listed.template, here, page, title=title, description=listed.description, section=WORKLOG, about=about
    )
