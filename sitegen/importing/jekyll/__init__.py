"""A Jekyll site → posts, pages and a worklog of a sitegen site, with the old addresses kept or redirected.

`site` reads the folder, `permalinks` says by Jekyll's rules where each text stood, `front_matter` and `text` turn one
document into another: Liquid first (`liquid`, `tags`), then kramdown (`blocks`, `inline`, `html`), as Jekyll does.
"""
