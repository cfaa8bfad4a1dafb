"""Resolve the names in a site's documents: targets of links, cited works, related posts and backlinks.

`link.link_site` is what other rooms call.  The diagnostics of this room are SG201 to SG215; `link` lists most of them.
"""
