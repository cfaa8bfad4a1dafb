"""Turn a folder of Hugo, MyST, Quarto or Obsidian into the files of a sitegen site, with a report of what came over.

`source` reads the folder.  A dialect (`hugo`, `myst`, `quarto`, `obsidian`) says which texts there are and writes each
in the Markdown of sitegen; `shortcodes`, `containers`, `cells`, `html` and `series` are shared by dialects.  `placing`
chooses the addresses, `links` leads each link to its new address with the ids of `headings`, `front_matter` writes the
head, `convert` puts the plan together, and `counts` compares both sides.
"""
