"""`[ledger] url`, as a user meets it: every command uses that database, and no password is shown."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.support.command import TO_FILE, ragstone
from tests.support.fake_openai import Body, FakeOpenAI, Said
from tests.support.postgres import PASSWORD, PostgresServer, options

from ragstone.features.ledger._account import read_account
from ragstone.kernel.config import LedgerSection, Settings
from ragstone.kernel.errors import DataError
from ragstone.kernel.llm import _postgres as postgres_ledger
from ragstone.kernel.llm import _postgres_database as postgres_database
from ragstone.kernel.llm import open_ledger
from ragstone.kernel.llm._postgres_database import Database

SHEET = ("judge", "answers.jsonl", "--judge", "relevance", "--model", "openai/fake", "--force", *TO_FILE)


@pytest.fixture
def shared(project: Path, fake_openai: FakeOpenAI, postgres: PostgresServer) -> str:
    """How the project's database is shown; its URL in ragstone.toml has the password."""
    place = f"127.0.0.1:{postgres.port}/postgres"
    url = f"postgresql://postgres:{quote(PASSWORD)}@{place}?{options(postgres.new_schema())}"
    (project / "ragstone.toml").write_text(f'{fake_openai.toml()}\n[ledger]\nurl = "{url}"\n')
    return f"postgresql://postgres@{place}"


@pytest.mark.server
def test_what_one_command_paid_for_the_next_one_has_and_ledger_says_so(shared, project, fake_openai):
    for _ in range(2):
        assert ragstone(*SHEET).code == 0
    assert fake_openai.stats()["n_requests"] == 6
    assert not list(project.rglob("*.sqlite"))
    ran = ragstone("ledger")
    assert ran.out.startswith(f"{shared}: 6 responses, ")
    (model,) = json.loads(ragstone("ledger", "--json").out)["models"]
    assert model["made"]["calls"] == model["hits"]["calls"] == 6
    assert "sesame" not in ran.out + ran.err


@pytest.mark.server
def test_a_ledger_is_moved_from_the_file_into_the_database_and_back(shared, project, fake_openai):
    ragstone(*SHEET)
    assert ragstone("ledger", "export", "all.jsonl").code == 0
    (project / "ragstone.toml").write_text(fake_openai.toml())  # the file, from now on
    assert ragstone("ledger", "import", "all.jsonl").code == 0
    ragstone(*SHEET)
    assert fake_openai.stats()["n_requests"] == 6
    ragstone("ledger", "export", "again.jsonl")
    assert (project / "again.jsonl").read_bytes() == (project / "all.jsonl").read_bytes()


@pytest.mark.server
def test_prune_names_the_database(shared):
    ragstone(*SHEET)
    ran = ragstone("ledger", "prune", "--older-than", "0h", "--yes")
    assert f"{shared}: 6 responses to delete" in ran.err
    assert "Deleted 6 responses" in ran.err


def test_a_server_that_is_not_there_is_a_message_and_code_2(project, fake_openai):
    table = '\n[ledger]\nurl = "postgresql://ann:sesame@127.0.0.1:1/ledger"\n'
    (project / "ragstone.toml").write_text(fake_openai.toml() + table)
    for command in (SHEET, ("ledger",), ("ledger", "export", "x.jsonl")):
        ran = ragstone(*command)
        assert ran.code == 2
        assert "postgresql://ann@127.0.0.1:1/ledger: the ledger cannot be used" in " ".join(ran.err.split())
        assert "sesame" not in ran.out + ran.err


@pytest.mark.server
def test_a_server_that_goes_away_for_long_ends_the_command_and_costs_no_call(
    shared, project, fake_openai, postgres, monkeypatch
):
    monkeypatch.setattr(postgres_database, "AWAY_S", 0.5)
    monkeypatch.setattr(postgres_ledger, "CLAIM_S", 3.0)  # the first command could not give its claims back
    say = fake_openai.script

    def stop_and_say(body: Body) -> Said | str:
        if fake_openai.n_requests == 1:
            postgres.stop()
        return say(body)

    fake_openai.script = stop_and_say
    try:
        ran = ragstone(*SHEET)
    finally:
        postgres.start()
    assert ran.code == 2
    words = " ".join(ran.err.split())
    assert f"{shared}: the ledger cannot be used" in words
    assert "run `ragstone ledger import .ragstone/unstored.jsonl` and delete that file" in words
    n_paid = fake_openai.stats()["n_requests"]
    assert n_paid > 0
    assert len((project / ".ragstone" / "unstored.jsonl").read_text().splitlines()) == n_paid
    fake_openai.script = say
    assert ragstone("ledger", "import", ".ragstone/unstored.jsonl").code == 0
    assert ragstone(*SHEET).code == 0
    assert fake_openai.stats()["n_requests"] == 6


@pytest.mark.server
def test_a_database_without_a_ledger_is_not_given_one_to_look_at_it(postgres):
    name = postgres.new_schema()
    with pytest.raises(DataError, match="there is no ledger in this database yet"):
        read_account(Database(postgres.url(name)), Settings())
    assert postgres.sql(f"SELECT count(*) FROM pg_tables WHERE schemaname = '{name}'") == ["0"]


@pytest.mark.server
def test_a_ledger_of_a_newer_format_is_not_looked_at(postgres, tmp_path):
    name = postgres.new_schema()
    url = postgres.url(name)
    open_ledger(Settings(root=str(tmp_path), ledger=LedgerSection(url=url))).close()
    postgres.sql("UPDATE ragstone_format SET version = 99", name)
    with pytest.raises(DataError, match="newer Ragstone"):
        read_account(Database(url), Settings())
