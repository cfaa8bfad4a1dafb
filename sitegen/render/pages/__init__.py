"""The linked site → its HTML pages, one module a kind of page."""
