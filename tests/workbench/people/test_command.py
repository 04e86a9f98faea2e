"""`ragstone people`: accounts from the terminal."""

import json
import re

import pytest
from tests.support.command import ragstone

from ragstone.kernel.config import load_settings
from ragstone.workbench.accounts import open_accounts


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "ragstone.toml"
    path.write_text('[serve]\npublic_url = "https://bench.example/"\n')
    return path


def join(config, name, role):
    accounts = open_accounts(load_settings(config))
    accounts.accept(accounts.invite(role, "a test"), name, "hash")
    accounts.close()


def listed(config):
    return json.loads(ragstone("people", "list", "--json", "--config", config).out)


def test_an_invitation_is_printed_with_the_public_address(config):
    ran = ragstone("people", "invite", "--role", "reader", "--config", config)
    link = re.fullmatch(r"https://bench\.example/workbench/invite/([\w-]{43})\n", ran.out)
    accounts = open_accounts(load_settings(config))
    assert accounts.invitation(link[1]).role == "reader"
    accounts.close()
    assert listed(config)["invitations"][0]["role"] == "reader"


def test_roles_are_changed_and_people_removed_but_for_the_last_owner(config):
    join(config, "Anna", "owner")
    join(config, "Ben", "reader")
    ran = ragstone("people", "remove", "Anna", "--config", config)
    assert (ran.code, "last owner" in ran.err) == (2, True)
    assert ragstone("people", "role", "Ben", "owner", "--config", config).code == 0
    assert ragstone("people", "remove", "Anna", "--config", config).code == 0
    assert [(one["name"], one["role"]) for one in listed(config)["people"]] == [("Ben", "owner")]
    log = config.parent / ".ragstone" / "workbench" / "audit.jsonl"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(one["action"], one["address"]) for one in actions] == [
        ("role changed", "terminal"),
        ("removed", "terminal"),
    ]
    assert "Ben" in ragstone("people", "list", "--config", config).out


def test_a_lost_password_has_a_link_of_its_own(config):
    assert ragstone("people", "renew", "Ben", "--config", config).code == 2
    join(config, "Ben", "reader")
    assert "/workbench/invite/" in ragstone("people", "renew", "Ben", "--config", config).out
    assert listed(config)["invitations"][0]["person"] == "Ben"
