"""The mirror of a site: texts of the editor stay out of the site, and nothing outside of the site comes in."""

from pathlib import Path

from sitegen.editor.mirror import Mirror


def site(folder: Path) -> Path:
    (folder / "content").mkdir(parents=True)
    (folder / "content/site.yaml").write_text("title: A\n", encoding="utf-8")
    return folder


def test_open_text_is_in_the_mirror_alone_until_it_is_released(tmp_path: Path) -> None:
    root = site(tmp_path / "site")
    mirror = Mirror(root)
    mirror.take("content/site.yaml", "title: B\n")
    mirror.refresh(["content/site.yaml"])
    assert mirror.text("content/site.yaml") == "title: B\n"
    assert (root / "content/site.yaml").read_text("utf-8") == "title: A\n"
    mirror.release("content/site.yaml")
    assert mirror.text("content/site.yaml") == "title: A\n"
    mirror.close()
    assert not mirror.folder.exists()


def test_file_that_another_program_made_or_removed_is_taken_in(tmp_path: Path) -> None:
    root = site(tmp_path / "site")
    mirror = Mirror(root)
    (root / "content/posts").mkdir()
    (root / "content/posts/a.md").write_text("A", encoding="utf-8")
    (root / "content/site.yaml").unlink()
    mirror.refresh(["content/posts/a.md", "content/site.yaml"])
    assert mirror.text("content/posts/a.md") == "A"
    assert not (mirror.folder / "content/site.yaml").exists()
    mirror.close()


def test_link_that_leads_out_of_the_site_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("key", encoding="utf-8")
    root = site(tmp_path / "site")
    (root / "content/a.md").symlink_to(tmp_path / "secret")
    mirror = Mirror(root)
    assert mirror.text("content/a.md") == ""
    assert not (mirror.folder / "content/a.md").exists()
    mirror.close()
