"""A site and the documents of its texts → what leads where: targets, references, related posts and backlinks.

`link.link_site` is what other rooms call.  The diagnostics of this room are SG201 to SG213; `link` lists them.
"""
