"""The authors of a Jekyll site come over when no post gets a wrong one."""

from collections.abc import Callable

CONFIG = "title: Notes\nurl: https://kern.example\n"
PEOPLE = "ada:\n  name: Ada L\n  url: https://ada.example/\n  avatar: /a.png\nbo: {name: Bo}\n"


def posts(one: str, two: str) -> dict[str, str]:
    return {
        "_posts/2024-01-05-a.md": f"---\ntitle: A\n{one}---\nText.\n",
        "_posts/2024-01-06-b.md": f"---\ntitle: B\n{two}---\nText.\n",
    }


def test_ids_of_the_data_file_become_authors_of_the_site(import_site: Callable) -> None:
    imported = import_site({**posts("author: ada\n", "authors: [bo, ada]\n"), "_data/authors.yml": PEOPLE})
    assert str(imported.files["content/site.yaml"]).endswith(
        "authors:\n  ada-l:\n    name: Ada L\n    link: https://ada.example/\n  bo:\n    name: Bo\n"
    )
    assert "authors: [ada-l]\n" in str(imported.files["content/posts/a.md"])
    assert "authors: [bo, ada-l]\n" in str(imported.files["content/posts/b.md"])
    assert imported.said == []


def test_author_of_the_settings_is_first_when_a_post_names_nobody(import_site: Callable) -> None:
    written = posts("author:\n- name: Jo\n  url: javascript:x\n- name: Cy\n", "")
    imported = import_site(written, CONFIG + "author: {name: Me Myself}\n")
    assert str(imported.files["content/site.yaml"]).endswith(
        "authors:\n  me-myself:\n    name: Me Myself\n  jo:\n    name: Jo\n  cy:\n    name: Cy\n"
    )
    assert "authors: [jo, cy]\n" in str(imported.files["content/posts/a.md"])
    assert "author" not in str(imported.files["content/posts/b.md"])


def test_authors_stay_comments_when_a_post_would_get_a_wrong_one(import_site: Callable) -> None:
    imported = import_site(posts("author: Jo\n", ""), CONFIG + 'author: "© 2024 All rights"\n')
    assert "authors" not in str(imported.files["content/site.yaml"])
    assert "# author: Jo\n" in str(imported.files["content/posts/a.md"])
    assert imported.said == ["SG602 _posts/2024-01-05-a.md:3"]


def test_file_of_authors_that_is_no_mapping_is_no_file_of_authors(import_site: Callable) -> None:
    imported = import_site({**posts("author: ada\n", "author: ada\n"), "_data/authors.yml": "- ada\n"})
    assert str(imported.files["content/site.yaml"]).endswith("authors:\n  ada:\n    name: ada\n")
