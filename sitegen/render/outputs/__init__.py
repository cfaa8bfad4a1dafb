"""Turn the linked site into the files beside its HTML pages: feeds, Markdown, search indexes, cards."""
