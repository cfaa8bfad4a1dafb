"""Turn kernels, posts with cells, and series into the sheets of the folder downloads/."""

from __future__ import annotations

from collections.abc import Iterator

from sitegen.model import urls
from sitegen.model.site import Post
from sitegen.render.rules.dependencies import Dependency
from sitegen.render.rules.sheet import SharedDependencies, Sheet, fixed_dependencies, print_with


def downloads(shared: SharedDependencies) -> Iterator[Sheet]:
    """Yield the sheets of the programs of each kernel, of each post with cells, and of the zip of each series."""
    sources = shared.sources
    for kernel in sources.site.kernels:
        make = print_with("downloads.files", "kernel_programs", kernel=kernel)
        name = f"{urls.DOWNLOADS}kernels/{kernel.name}"
        yield Sheet(name, fixed_dependencies(shared.measured), make, measured=True, listed=False)
    for post in sources.site.posts:
        if sources.document(post.body).cells:
            name = urls.post_program_url(post, "ipynb")
            dependencies = fixed_dependencies(Dependency("the post", shared.link(post)), shared.measured)
            make = print_with("downloads.files", "post_programs", post=post)
            yield Sheet(name, dependencies, make, measured=True, listed=False)
    for series in sources.site.series:
        posts = [entry for phase in sources.entries[series.id] for entry in phase if isinstance(entry, Post)]
        texts = shared.cards("its posts", posts)
        make = print_with("downloads.files", "series_zip", series=series)
        dependencies = fixed_dependencies(shared.series(series), texts, shared.measured)
        yield Sheet(urls.series_zip_url(series.id), dependencies, make, measured=True, listed=False)
