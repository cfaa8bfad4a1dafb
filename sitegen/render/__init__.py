"""Turn the model and records into pages.  This room takes values and returns strings: it reads no clock, no file and no
network.
"""
