"""Rendered files → the output folder: what changed, whole or not at all; and the files of a new site or post."""
