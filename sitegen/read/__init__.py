"""Read the files of an author into a `Site`, with a diagnostic for every mistake in every file.

`read_text` and `LazyTexts` in texts.py open the files; everything else works on text.  Codes of this room:

SG001 not UTF-8 · SG002 YAML syntax · SG003 duplicate key · SG004 no front matter
SG010 missing key · SG011 wrong type · SG012 unknown key · SG013 impossible date · SG014 unknown word
SG015 do not go together · SG016 a file that nothing reads
SG020 slug twice · SG021 address twice · SG022 missing file · SG023 listed or named twice · SG024 unfit name
SG030 formula · SG031 dims · SG032 tolerance · SG033 goal · SG034 launch · SG035 implementation file
SG037 the gate of a wrong variant · SG038 sweeps
SG040 to SG053 worklog, always warnings
"""
