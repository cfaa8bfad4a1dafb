"""The linked site → one rule for each page: what it writes, what it depends on, and what prints it."""
