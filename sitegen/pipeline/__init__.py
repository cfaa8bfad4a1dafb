"""A site's folder → its output, with as little work as that takes.

`build.build` is the way of every build, one function a step:

    read      `read_files`               BuildRequest → SiteFiles     the files, and what the last build left
    parse     `parse_texts`              SiteFiles    → ParsedSite    each text by itself, on all cores
    link      `link_texts`, `link_site`  ParsedSite   → LinkedSite    where names lead; theme and records
    plan      `plan`                     LinkedSite   → UpdatePlan    the pages that would be different now
    print     `print_pages`              UpdatePlan   → StagedPages   these pages, in a staging folder, on all cores
    publish   `publish`                  StagedPages  → BuildResult   the output folder, and the state

Three routes lead through it, see `build.Route`: `build.update` makes an output folder, `in_memory` builds everything
from the beginning for commands that need no output, and `preview` prints the pages that somebody asks for.

An update ends early when nothing changed, or when only texts were edited of which no other page shows anything new
(`text_interface`): then `patch_pages` puts their HTML into their own pages.

Every file of the output belongs to a sheet of `render`, and a sheet is a pure function of what it shows.  A build
therefore keeps, in a folder for this site in the cache of the user (`user_cache`):

- `texts.cache`: every part of the site as it was parsed (front matter, headings, links, mistakes), by a digest of its
  files; small, so that linking and lists need nothing else (`site_cache`);
- `fragments/`: the HTML of each text, read only when its page is printed (`fragments`);
- `outputs/<output>.own`: what each text's own page has of it (`patchable_pages`);
- `outputs/<output>.state`: signatures and digests of all files, and for each sheet the digest of everything it shows,
  its files as they were left, and the reasons for which it was printed last (`build_state`, `reasons`).

The state is written last, and by a rename, so that a build that is killed leaves whole pages and a true state.  Each
file of the cache begins with the version that wrote it and a digest: one that does not fit is thrown away.
"""
