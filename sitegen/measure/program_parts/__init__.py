"""Parts of the programs that a reader downloads.  They import nothing of sitegen, because each is copied as text.

`render/downloads/programs.py` puts them around the source of an implementation.
"""
