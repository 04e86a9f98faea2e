"""Accounts, invitations and sessions in their file."""

import sqlite3
import stat

import pytest
from tests.support.workbench import Clock

from ragstone.kernel.errors import DataError
from ragstone.workbench.accounts import Accounts


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def accounts(tmp_path, clock):
    opened = Accounts(tmp_path / "store", 12, clock)
    yield opened
    opened.close()


def join(accounts, name, role="reader"):
    return accounts.accept(accounts.invite(role, "a test"), name, f"hash of {name}")


def test_the_file_is_its_owners_alone_and_holds_no_token(accounts):
    token = accounts.invite("owner", "a test")
    session = accounts.begin_session(join(accounts, "Anna").id)
    path = accounts._register.path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for secret in (token, session):
        assert secret.encode() not in path.read_bytes()
        assert len(secret) >= 43  # 256 bits in base64


def test_an_invitation_makes_one_account(accounts):
    token = accounts.invite("annotator", "Anna")
    assert accounts.invitation(token).made_by == "Anna"
    assert accounts.accept(token, "  Ben\t Okoye ", "hash").name == "Ben Okoye"
    with pytest.raises(DataError, match="no longer works"):
        accounts.accept(token, "Carl", "hash")
    assert accounts.find("ben okoye").role == "annotator"
    assert accounts.find("Carl") is None


def test_an_invitation_expires_after_seven_days(accounts, clock):
    token = accounts.invite("reader", "Anna")
    clock.move(days=6.99)
    assert accounts.invitation(token) is not None
    clock.move(days=0.01)
    assert accounts.invitation(token) is None
    assert accounts.invitations() == []
    with pytest.raises(DataError, match="no longer works"):
        accounts.accept(token, "Ben", "hash")


def test_a_revoked_invitation_is_open_no_more(accounts):
    token = accounts.invite("reader", "Anna")
    [open_one] = accounts.invitations()
    assert accounts.revoke(open_one.id).role == "reader"
    assert accounts.revoke(open_one.id) is None
    assert accounts.invitation(token) is None


def test_a_refused_name_leaves_the_invitation_open(accounts):
    join(accounts, "Straße")
    token = accounts.invite("reader", "Anna")
    for taken in ("STRASSE", "straße", "ſtraße"):  # one name, however it is written
        with pytest.raises(DataError, match="is taken"):
            accounts.accept(token, taken, "hash")
    assert accounts.accept(token, "Ben", "hash").name == "Ben"


def test_the_first_invitation_is_made_only_while_nobody_has_an_account(accounts):
    first = accounts.invite_first("the terminal")
    second = accounts.invite_first("the terminal")
    assert accounts.invitation(first) is None  # each start ends the link before
    accounts.accept(second, "Anna", "hash")
    assert accounts.invite_first("the terminal") is None


def test_the_last_owner_stays(accounts, says):
    join(accounts, "Anna", "owner")
    for change in (lambda: accounts.remove("anna"), lambda: accounts.set_role("Anna", "annotator")):
        with pytest.raises(DataError) as error:
            change()
        says(error.value)
    accounts.set_role("Anna", "owner")
    join(accounts, "Ben", "owner")
    assert accounts.remove("Anna").name == "Anna"
    with pytest.raises(DataError, match="last owner"):
        accounts.remove("Ben")


def test_who_is_removed_is_logged_out_and_the_name_stays_theirs(accounts):
    join(accounts, "Anna", "owner")
    ben = join(accounts, "Ben")
    session, link = accounts.begin_session(ben.id), accounts.renew("Ben", "Anna")
    accounts.remove("Ben")
    assert accounts.who(session) is None
    assert accounts.invitation(link) is None
    with pytest.raises(DataError, match="is taken"):
        join(accounts, "ben")


def test_a_new_password_ends_sessions_links_and_tokens(accounts):
    ben = join(accounts, "Ben")
    session, before = accounts.begin_session(ben.id), accounts.csrf(ben)
    first, link = accounts.renew("Ben", "Anna"), accounts.renew("Ben", "Anna")
    assert accounts.invitation(first) is None  # the later link takes its place
    renewed = accounts.accept(link, "", "another hash")
    assert (renewed.id, renewed.password) == (ben.id, "another hash")
    assert accounts.who(session) is None
    assert accounts.csrf(renewed) != before
    with pytest.raises(DataError, match="has no account"):
        accounts.renew("Nobody", "Anna")


def test_a_session_ends_so_long_after_the_last_request(accounts, clock):
    token = accounts.begin_session(join(accounts, "Anna").id)
    for _ in range(4):
        clock.move(hours=11.9)
        assert accounts.who(token).name == "Anna"
    clock.move(hours=12)
    assert accounts.who(token) is None


def test_requests_in_a_row_write_nothing(accounts, clock):
    token = accounts.begin_session(join(accounts, "Anna").id)
    before = accounts._register.path.stat().st_mtime_ns
    clock.move(minutes=0.5)
    assert accounts.who(token) is not None
    assert accounts._register.path.stat().st_mtime_ns == before


def test_a_role_holds_from_the_next_request_on(accounts):
    token = accounts.begin_session(join(accounts, "Anna", "annotator").id)
    accounts.set_role("Anna", "reader")
    assert accounts.who(token).role == "reader"


def test_two_processes_may_have_the_file_open(accounts, tmp_path, clock):
    other = Accounts(tmp_path / "store", 12, clock)
    token = accounts.invite("reader", "Anna")
    other.accept(token, "Ben", "hash")
    assert [one.name for one in accounts.people()] == ["Ben"]
    assert accounts.csrf(accounts.find("Ben")) == other.csrf(other.find("Ben"))
    other.close()


def test_a_file_that_is_none_is_told(tmp_path, clock, says):
    (tmp_path / "accounts.sqlite").write_text("no database " * 100)
    with pytest.raises(DataError) as error:
        Accounts(tmp_path, 12, clock)
    says(error.value)


def test_a_file_that_another_process_holds_is_told(accounts, monkeypatch, says):
    held = sqlite3.connect(accounts._register.path, isolation_level=None)
    held.execute("BEGIN EXCLUSIVE")
    accounts._register._database.execute("PRAGMA busy_timeout = 10")
    with pytest.raises(DataError) as error:
        accounts.invite("reader", "Anna")
    says(error.value)
    held.close()


@pytest.mark.parametrize(
    ("name", "alike"),
    [
        ("Ace", "Асе"),  # all of it Cyrillic
        ("BEH", "ВЕН"),
        ("Pae", "РАЕ"),  # nobody who reads it cares for the case
        ("OTO", "ΟΤΟ"),  # Greek
        ("Iris", "lris"),
        ("Ben 1", "Ben l"),
        ("Bernard", "Bemard"),
        ("O'Brien", "O’Brien"),
        ("Anna", "An\u200cna"),
    ],
)
def test_who_looks_like_somebody_with_an_account_gets_none(accounts, name, alike):
    join(accounts, name)
    with pytest.raises(DataError):
        join(accounts, alike)
    assert [one.name for one in accounts.people()] == [name]


def test_who_was_removed_is_not_looked_like_either(accounts):
    join(accounts, "Rae", "owner")
    join(accounts, "Ace")
    accounts.remove("Ace")
    with pytest.raises(DataError, match="looks like one"):
        join(accounts, "Асе")


def test_names_that_differ_to_the_eye_do_not_hinder_each_other(accounts):
    for name in ("Ian", "Lan", "Rae", "Raé", "Вова", "Νίκος", "李雷", "李 Ken"):
        join(accounts, name)
    assert len(accounts.people()) == 8


def test_an_account_from_before_the_rule_works_still(accounts):
    accounts._register.rows(
        "INSERT INTO people (key, name, role, password, created) VALUES (?, ?, 'reader', 'hash', 0)",
        *("rае", "Rае"),  # Latin and Cyrillic
    )
    assert accounts.find("Rае ").name == "Rае"
    assert accounts.set_role("Rае", "owner").name == "Rае"
