"""Answer an editor: the mistakes of a site whose texts are open, completion, and definitions."""
