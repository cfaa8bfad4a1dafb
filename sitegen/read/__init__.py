"""Files → `Site`: what the author wrote, with every mistake of every file as a diagnostic beside it.

`load_site` in load.py and `Texts` are the only ones that open files; all else is pure on text.  Codes of this room:

SG001 not UTF-8 · SG002 YAML syntax · SG003 duplicate key · SG004 no front matter
SG010 missing key · SG011 wrong type · SG012 unknown key · SG013 impossible date · SG014 unknown word
SG015 do not go together · SG016 a file that nothing reads
SG020 slug twice · SG021 address twice · SG022 missing file · SG023 listed or named twice · SG024 unfit name
SG030 formula · SG031 dims · SG032 tolerance · SG033 goal · SG034 launch · SG035 implementation file
SG040 to SG049 worklog, always warnings
"""
