"""The linked site → what is written beside the HTML pages: feeds, Markdown, search indexes, cards."""
