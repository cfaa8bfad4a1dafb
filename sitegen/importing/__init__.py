"""What an author wrote elsewhere → the files of a site: a Jekyll site, a diary in one page, a notebook.

Nothing is lost and nothing is overwritten: what has no place here stays in the text where it stood, visibly, and is
reported with its file and line; a file that exists is left as it is.
"""
