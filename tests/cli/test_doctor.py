"""`ragstone doctor` looks at the cluster and the database that ragstone.toml names, too."""

import json
import socket
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.support.command import ragstone
from tests.support.postgres import PASSWORD, PostgresServer, options


@pytest.fixture
def nobody() -> str:
    """An address of this machine where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def looked() -> dict[str, dict[str, object]]:
    return {check["name"]: check for check in json.loads(ragstone("doctor", "--json").out)}


def test_extras_for_clusters_storage_and_databases_are_named(project: Path) -> None:
    checks = looked()
    assert {"ray", "s3fs", "gcsfs", "psycopg"} <= checks.keys()
    assert not {"[engine] address", "[ledger] url"} & checks.keys()  # nothing is named, so nothing is tried


@pytest.mark.parametrize(("kind", "code"), [("ray", 2), ("local", 0)])
def test_an_address_without_a_cluster_fails_where_stages_run_there(
    project: Path, nobody: str, kind: str, code: int
) -> None:
    (project / "ragstone.toml").write_text(f'[engine]\nkind = "{kind}"\naddress = "{nobody}"\n')
    ran = ragstone("doctor")
    assert ran.code == code
    if "-> pip install 'ragstone[ray]'" not in ran.out:
        assert f"[engine] address: no Ray cluster at '{nobody}'" in ran.out


def test_a_database_that_does_not_answer_fails_without_showing_the_password(
    project: Path, nobody: str
) -> None:
    pytest.importorskip("psycopg")
    (project / "ragstone.toml").write_text(f'[ledger]\nurl = "postgresql://ann:sesame@{nobody}/them"\n')
    ran = ragstone("doctor")
    assert ran.code == 2
    assert f"FAILS   [ledger] url: postgresql://ann@{nobody}/them: the ledger cannot be used" in ran.out
    assert "sesame" not in ran.out + ran.err


@pytest.mark.real
def test_a_database_that_can_be_used_is_said_to_be(project: Path, postgres: PostgresServer) -> None:
    place = f"127.0.0.1:{postgres.port}/postgres"
    url = f"postgresql://postgres:{quote(PASSWORD)}@{place}?{options(postgres.new_schema())}"
    (project / "ragstone.toml").write_text(f'[ledger]\nurl = "{url}"\n')
    assert looked()["[ledger] url"]["detail"] == f"postgresql://postgres@{place} can be used"
