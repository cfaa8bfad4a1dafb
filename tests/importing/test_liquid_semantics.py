"""What Liquid and Jekyll's filters mean where Python's own means something else: no word of a text is lost."""

from collections.abc import Callable

import pytest

from tests.importing.conftest import Imported

Post = Callable[..., Imported]


@pytest.mark.parametrize(
    ("front", "tag", "made"),
    [
        ("year: 2020", '{% include figure.html path="a.png" caption=page.year %}', "```{figure} a.png\n2020\n```"),
        ("none: 1", '{% include figure.html path="a.png" caption=page.year %}', "```{figure} a.png\n```"),
        ("draft: true", "{% include note.html text=page.draft %}", ":::{note}\ntrue\n:::"),
        ("year: [1, 2]", "{% include note.html text=page.year %}", ":::{note}\npage.year\n:::"),
        ("none: 1", "{% include note.html text=soon %}", ":::{note}\nsoon\n:::"),
        (
            "video: 12345",
            "{% include vimeo.html id=page.video %}",
            "[https://vimeo.com/12345](https://vimeo.com/12345)",
        ),
    ],
)
def test_a_parameter_of_an_include_is_the_text_of_its_value(
    front: str, tag: str, made: str, import_site: Callable[..., Imported]
) -> None:
    imported = import_site({"_posts/2024-01-05-a.md": f"---\ntitle: A\n{front}\n---\n{tag}\n", "a.png": "x"})
    assert imported.body == made
