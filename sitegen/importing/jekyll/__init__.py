"""Turn a Jekyll site into posts, pages and a worklog of a sitegen site, with the old addresses kept or redirected.

`site` reads the folder, `permalinks` computes the old address of each text by Jekyll's rules, `destinations` chooses
the new one.  `convert` turns each document into a file: its front matter (`front_matter`), then its text.  Jekyll's
order is kept: Liquid first (`liquid`, `tags`), then kramdown (`blocks`, `inline`, `html`).
"""
