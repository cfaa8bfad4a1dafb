"""Turn a Jekyll site, a diary in one page or a notebook into the files of a site.

Nothing is lost: a construct without a counterpart stays visible in the text and is reported with its file and line.
Nothing is overwritten: a file that exists is left as it is.
"""
