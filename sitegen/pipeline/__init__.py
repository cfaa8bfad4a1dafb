"""Turn the folder of a site into its output, with as little work as possible.

`build.build` runs the steps of every build, one function for each step:

    step      module                       function of an update                input       → result
    read      `read_files`                 `read_files`                         BuildRequest     → SiteFiles
    parse     `parse_texts`                `parse_texts`                        SiteFiles   → ParsedSite
    link      `link_texts`, `link_site`    `link_texts`, `link_without_errors`  ParsedSite  → LinkedSite
    plan      `plan`                       `plan_changed_pages`                 LinkedSite  → UpdatePlan
    print     `print_pages`                `print_to_stage`                     UpdatePlan  → StagedPages
    publish   `publish`                    `publish`                            StagedPages → BuildResult

Three routes share these steps, see `build.Route`: `build.update` updates an output folder, `in_memory` builds the whole
site for commands that need no output, and `preview` prints single pages on request.

An update ends early when nothing changed.  It also ends early when only posts and days of the worklog were edited and
no other page shows anything new of them (`text_interface`): then the step `patch` (`patch_pages.patch_pages`) replaces
their HTML in their own pages, and `publish` saves the state.  `build --profile` prints the time of each step under
these names.

Every file of the output belongs to a sheet of `render`.  A sheet is a pure function of its dependencies.  A build
therefore keeps these files in a folder for this site in the user's cache (`user_cache`):

- `texts.cache`: every parsed part of the site (front matter, headings, links, mistakes), by a digest of its files
  (`site_cache`).  It is small, and linking and lists need nothing else;
- `fragments/`: the HTML of each text, which is read only when its page is printed (`fragments`);
- `outputs/<output>.own`: where the HTML of each post and day is kept, and the contents of the slots on its own page
  (`patchable_pages`);
- `outputs/<output>.days`: the text of each day, and the names that an edited day could mention (`patchable_days`);
- `outputs/<output>.state`: the signatures and digests of all files, and for each sheet a digest of its dependencies,
  its files, and the reasons for which it was printed last (`build_state`, `reasons`).

The state is written last, and by a rename, so that a build that is killed leaves whole pages and a state that is true.
Each file of the cache begins with the version that wrote it and a digest; a file with another version or a wrong digest
is ignored.
"""
