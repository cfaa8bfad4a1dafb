"""A site's folder → its output, with as little work as that takes.

Every file of the output belongs to a sheet, and a sheet is a pure function of what it shows.  A build therefore keeps,
in a folder for this site in the cache of the user (`user_cache`):

- `texts.cache`: every part of the site as it was read (front matter, headings, links, mistakes), by a digest of its
  files; small, so that linking and lists need nothing else;
- `fragments/`: the HTML of each text, read only when its page is printed;
- `outputs/<output>.own`: what each text's own page has of it;
- `outputs/<output>.state`: signatures and digests of all files, and for each sheet the digest of everything it shows,
  its files as they were left, and the reasons for which it was printed last.

`update` compares a scan of the site and of the output with the state: nothing changed, nothing is imported.  When only
texts were edited, and of them nothing that another page shows, `mend` puts their HTML into their own pages.  Else
`anew` reads what changed (`texts`), on all cores (`workers`), and `printing` links all, compares each sheet's digest
with that of the last build, prints those that differ into a stage, again on all cores, and renames.  Where there is
nothing to compare with, whoever prints a sheet finds out what it shows.  The state is written last, and by a rename, so
that whatever kills a build leaves whole pages and a state that is true.  Each file of the cache carries the version
that wrote it and a digest: one that does not fit is thrown away.  `reasons` says why a sheet was printed.

`resident` keeps a site in memory for the preview: it starts from the same cache, takes in what is saved, links again
only when a text shows the others another face (`faces`), and prints the pages that somebody asks for.

`whole` is the same without a cache: for commands that need the site but no output.
"""
