"""Turn documents into HTML: fill slots, images and citations, and cut what other pages quote of a text."""
