"""A plugin that cannot be loaded."""

raise RuntimeError("no such device")
