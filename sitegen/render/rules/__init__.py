"""Turn the linked site into sheets: for each page its files, everything that the page depends on, and the function that
prints it.
"""
