"""What a database is called, and what the user is told when it cannot be used. Passwords are in neither."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.postgres import PASSWORD

from ragstone.kernel.config import LedgerSection, Settings
from ragstone.kernel.errors import ConfigError, RagstoneError
from ragstone.kernel.llm import open_ledger
from ragstone.kernel.llm._postgres_database import Database, connect

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def settings(url: str, root: Path | str = ".") -> Settings:
    return Settings(root=str(root), ledger=LedgerSection(url=url))


def refusal(url: str, root: Path) -> str:
    """Return what the user is told."""
    with pytest.raises(RagstoneError) as caught:
        open_ledger(settings(url, root))
    assert (
        caught.value.__context__ is None or caught.value.__suppress_context__
    )  # what psycopg said is not shown with it
    return str(caught.value)


def test_a_database_is_shown_with_all_but_its_password():
    shown = {
        "postgres://ann:secret@db.example.org:6432/ledger?sslmode=require&password=secret": (
            "postgresql://ann@db.example.org:6432/ledger?sslmode=require"
        ),
        "postgresql://ann@/ledger?host=/run/pg&port=1": "postgresql://ann@/ledger?host=/run/pg&port=1",
        "postgresql://[::1]:5432,other:5433/ledger": "postgresql://[::1]:5432,other:5433/ledger",
        "postgresql:///ledger": "postgresql:///ledger",
    }
    for url, expected in shown.items():
        assert str(Database(url)) == repr(Database(url)) == expected


@given(ANY_TEXT, ANY_TEXT)
@example("a@", ":1/b")
@example("/", "")
@example("?host=", "")
@example("#", "@")
def test_no_password_is_shown_however_it_is_written(before, after):
    word = f"{before}SESAME{after}"
    assert str(Database(f"postgresql://u:{quote(word, safe='')}@h/db")) == "postgresql://u@h/db"
    for url in (f"postgresql://u:{word}@h/db", f"postgresql://h/db?password={quote(word, safe='')}"):
        try:
            shown = str(Database(url))
        except ConfigError as mistake:
            shown = str(mistake)
        assert "SESAME" not in shown


@pytest.mark.parametrize(
    "url", ["", "ledger.sqlite", "mysql://u@h/db", "postgresql://u:p w@h/db", "postgresql://u:a/b@h/db"]
)
def test_what_is_no_url_is_said_to_be_none(says, url, tmp_path):
    says(refusal(url, tmp_path))


def test_a_server_that_is_not_there_is_said_at_once(tmp_path):
    told = refusal("postgresql://ann:sesame@127.0.0.1:1/ledger", tmp_path)
    assert told.startswith(
        "postgresql://ann@127.0.0.1:1/ledger: the ledger cannot be used (connection failed"
    )
    assert "Check that the server runs and that [ledger] url names it" in told
    assert "sesame" not in told


@pytest.mark.server
class TestRefusals:
    def test_a_wrong_password(self, postgres, tmp_path):
        right = quote(PASSWORD)
        url = f"postgresql://postgres:PLACE@127.0.0.1:{postgres.port}/postgres"
        told = refusal(url.replace("PLACE", "wrong%20word"), tmp_path)
        assert 'password authentication failed for user "postgres"' in told
        assert "Set PGPASSWORD, or add a line for this server, database and user to ~/.pgpass." in told
        assert "wrong" not in told
        told = refusal(url.replace(":PLACE", ""), tmp_path)
        assert "no password supplied" in told
        assert "PGPASSWORD" in told
        open_ledger(settings(url.replace("PLACE", right), tmp_path)).close()

    def test_the_password_is_taken_from_the_environment(self, postgres, tmp_path, monkeypatch):
        monkeypatch.setenv("PGPASSWORD", PASSWORD)
        open_ledger(settings(f"postgresql://postgres@127.0.0.1:{postgres.port}/postgres", tmp_path)).close()

    def test_no_such_database_and_no_such_user(self, postgres, tmp_path):
        told = refusal(postgres.url(database="nowhere"), tmp_path)
        assert 'database "nowhere" does not exist' in told
        assert "Create it once, as a user who may: createdb NAME." in told
        assert "Name a user that the server knows" in refusal(postgres.url(user="nobody"), tmp_path)

    def test_a_user_who_may_not_create_tables(self, postgres, tmp_path):
        postgres.sql("CREATE ROLE guest LOGIN")
        name = postgres.new_schema()
        postgres.sql(f"GRANT USAGE ON SCHEMA {name} TO guest")
        told = refusal(postgres.url(name, user="guest"), tmp_path)
        assert f"permission denied for schema {name}" in told
        assert "must be allowed to create tables at the first use" in told
        open_ledger(settings(postgres.url(name), tmp_path)).close()
        told = refusal(postgres.url(name, user="guest"), tmp_path)
        assert "permission denied for table ragstone_format" in told
        postgres.sql(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {name} TO guest")
        open_ledger(settings(postgres.url(name, user="guest"), tmp_path)).close()

    def test_tables_of_a_newer_format_are_not_touched(self, postgres, tmp_path):
        name = postgres.new_schema()
        open_ledger(settings(postgres.url(name), tmp_path)).close()
        postgres.sql("UPDATE ragstone_format SET version = 99", name)
        told = refusal(postgres.url(name), tmp_path)
        assert "written by a newer Ragstone (format 99). Upgrade with: pip install -U ragstone" in told

    def test_a_server_that_can_only_be_read(self, postgres, tmp_path):
        url = f"{postgres.url(postgres.new_schema())}%20-cdefault_transaction_read_only%3Don"
        assert "This server is read-only" in refusal(url, tmp_path)

    def test_a_search_path_that_leads_nowhere(self, postgres, tmp_path):
        assert "names no schema that exists: create one" in refusal(postgres.url("nowhere"), tmp_path)


@pytest.mark.server
def test_tables_are_made_once_however_many_come_at_once(postgres):
    name = postgres.new_schema()
    with ThreadPoolExecutor(8) as pool:
        for connection in pool.map(connect, [Database(postgres.url(name))] * 8):
            connection.close()
    assert postgres.sql("SELECT version FROM ragstone_format", name) == ["1"]
