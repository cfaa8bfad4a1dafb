"""Tokens that are made in one call: much of what a parser does is to make them."""

from __future__ import annotations

from markdown_it.token import Token


class Made(Token):
    """A token whose attributes are a dictionary already, so that nothing is left to do when it is made."""

    __slots__ = ()

    def __post_init__(self) -> None:
        pass
