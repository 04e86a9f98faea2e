"""What lies in `.ragstone` is its owner's alone."""

import contextlib
import os
import stat
from pathlib import Path

import pytest

from ragstone.kernel.persistence.private import make_file, make_folder, narrow, no_empty_folders

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")


def open_to_others(folder: Path) -> list[str]:
    return [str(one) for one in (folder, *folder.rglob("*")) if one.lstat().st_mode & 0o077]


def test_what_was_made_before_is_narrowed_at_the_next_use(tmp_path):
    old = tmp_path / ".ragstone" / "workbench" / "rows" / "index.duckdb"
    old.parent.mkdir(parents=True)
    old.write_text("kept")
    old.chmod(0o644)
    (tmp_path / "outside").write_text("shared")
    (tmp_path / "outside").chmod(0o644)
    (old.parent / "link").symlink_to(tmp_path / "outside")
    make_folder(tmp_path / ".ragstone" / "assistant" / "uploads")
    assert [one for one in open_to_others(tmp_path / ".ragstone") if not one.endswith("link")] == []
    assert old.read_text() == "kept"
    assert stat.S_IMODE((tmp_path / "outside").stat().st_mode) == 0o644


def test_elsewhere_folders_are_as_others_are(tmp_path):
    before = os.umask(0o022)
    try:
        assert stat.S_IMODE(make_folder(tmp_path / "runs" / "one").stat().st_mode) == 0o755
        assert not make_file(tmp_path / "store" / "x.sqlite").exists()  # SQLite makes it
    finally:
        os.umask(before)


def test_what_is_not_ours_to_change_hinders_nothing(tmp_path, monkeypatch):
    (tmp_path / ".ragstone").mkdir(mode=0o755)
    monkeypatch.setattr(os, "geteuid", lambda: -1)
    assert make_folder(tmp_path / ".ragstone" / "x").is_dir()
    assert stat.S_IMODE((tmp_path / ".ragstone").stat().st_mode) == 0o755

    def refuse(*_args: object, **_options: object) -> None:
        raise PermissionError(1, "not here")

    monkeypatch.undo()
    monkeypatch.setattr(Path, "chmod", refuse)
    narrow(tmp_path / ".ragstone")
    assert make_folder(tmp_path / ".ragstone" / "y").is_dir()


def test_folders_that_were_made_for_nothing_go_where_the_work_fails(tmp_path):
    (tmp_path / "before").mkdir()
    with contextlib.suppress(ValueError), no_empty_folders():
        for name in ("before", "before/new", "a/b/c", "used"):
            make_folder(tmp_path / name)
        (tmp_path / "used" / "row").touch()
        raise ValueError("wrong")
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["before", "row", "used"]
    with no_empty_folders():
        make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
