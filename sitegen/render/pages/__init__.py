"""Turn the linked site into its HTML pages; each module prints one kind of page."""
