"""SQLite files have numbered formats: an older one is brought up to date, a newer one is not touched."""

import contextlib
import sqlite3
from pathlib import Path

import pytest

from ragstone.kernel.persistence import sqlite

TABLES = ("CREATE TABLE IF NOT EXISTS a (x, y)", "CREATE TABLE IF NOT EXISTS b (z)")
UPGRADES = {1: ("ALTER TABLE a ADD COLUMN y",)}


def set_format(path: Path, number: int) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {number}")


def open_and_close(path: Path) -> None:
    sqlite.open_database(path, TABLES, format_=2, upgrades=UPGRADES).close()


def test_a_file_is_made_in_wal_mode_and_any_thread_may_use_it(tmp_path: Path) -> None:
    path = tmp_path / ".ragstone" / "f"
    with contextlib.closing(sqlite.open_database(path, TABLES, format_=2)) as connection:
        connection.execute("INSERT INTO a VALUES (1, 2)")
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_older_file_keeps_what_it_holds_and_gets_what_it_lacks(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "f")) as old, old:
        old.execute("CREATE TABLE a (x)")
        old.execute("INSERT INTO a VALUES (7)")
    set_format(tmp_path / "f", 1)
    for _ in range(2):
        open_and_close(tmp_path / "f")
    with contextlib.closing(sqlite3.connect(tmp_path / "f")) as new:
        assert new.execute("SELECT x, y FROM a").fetchall() == [(7, None)]
        assert new.execute("SELECT * FROM b").fetchall() == []


def test_a_newer_file_is_refused_untouched(tmp_path: Path, says) -> None:
    set_format(tmp_path / "f", 99)
    before = (tmp_path / "f").read_bytes()
    with pytest.raises(sqlite3.DatabaseError) as error:
        open_and_close(tmp_path / "f")
    says(error.value)
    assert (tmp_path / "f").read_bytes() == before


def test_an_upgrade_that_a_newer_ragstone_was_quicker_to_make_touches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Between the first look at the format and the lock the other one does its work.
    monkeypatch.setattr(sqlite, "_set_wal", lambda _connection, _busy_s: set_format(tmp_path / "f", 99))
    with pytest.raises(sqlite3.DatabaseError, match="newer Ragstone"):
        open_and_close(tmp_path / "f")
    with contextlib.closing(sqlite3.connect(tmp_path / "f")) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []


def test_a_file_that_is_no_database_is_an_error_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("no database, but a text that is longer than its head " * 20)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        open_and_close(tmp_path / "f")
    assert (tmp_path / "f").read_text().startswith("no database")
