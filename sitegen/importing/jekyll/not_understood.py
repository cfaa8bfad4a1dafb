"""The exception for Liquid that the import does not understand, and the bounds on what a filter changes."""

MOST_CHARACTERS = 10_000
"""Most characters of a text that a filter changes, and of each of its arguments."""
MOST_MADE = 2**20
"""Most characters of the text that a filter makes."""
MOST_ITEMS = 2000
"""Most items of a list that a filter changes, and most numbers in a range."""


class NotUnderstood(Exception):
    """A piece of Liquid has a variable, a filter or a form that is not known; it stays in the text as it is."""
