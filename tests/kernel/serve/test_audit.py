"""The audit log: what a line holds, that nothing in it can look like another line, pages."""

import json
import stat

import pytest
from tests.support.workbench import Clock, peopled

from ragstone.kernel.config import load_settings
from ragstone.kernel.errors import DataError
from ragstone.kernel.serve import audit
from ragstone.kernel.serve.audit import AuditLog


@pytest.fixture
def log(tmp_path):
    return AuditLog(tmp_path / "store", Clock())


def test_a_line_says_who_when_what_and_from_where(log, tmp_path):
    log.note("Anna", "labels exported", "10.0.0.7", {"queue": "first", "labels": 20})
    path = tmp_path / "store" / "audit.jsonl"
    assert json.loads(path.read_text()) == {
        "at": "2027-01-15T08:00:00+00:00",  # 1,800,000,000 s since 1970
        "who": "Anna",
        "action": "labels exported",
        "address": "10.0.0.7",
        "facts": {"queue": "first", "labels": 20},
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_text_looks_like_another_line(log, tmp_path):
    evil = 'x"}\n{"who": "Eve"}\r\u2028\u202e\x1b[2J\ud800'
    log.note(evil, "role changed", "10.0.0.7", {"name": evil, "long": "y" * 10_000})
    raw = (tmp_path / "store" / "audit.jsonl").read_bytes()
    assert raw.count(b"\n") == 1
    assert raw.isascii()
    assert b"\x1b" not in raw
    assert len(raw) < 1000


def test_a_full_log_is_put_aside_and_read_on(log, tmp_path, monkeypatch):
    monkeypatch.setattr(audit, "ROTATED_BYTES", 300)
    for n in range(12):
        log.note("Anna", "login", "", {"n": n})
    assert len(list((tmp_path / "store").glob("audit-0*.jsonl"))) >= 2
    assert [one.facts["n"] for one in log.newest()] == list(range(11, -1, -1))


def test_a_line_that_is_cut_off_is_left_out(log, tmp_path):
    log.note("Anna", "login", "", {})
    with (tmp_path / "store" / "audit.jsonl").open("a") as file:
        file.write('{"at": "2027')
    assert [one.who for one in log.newest()] == ["Anna"]


def test_a_log_that_cannot_be_written_is_told(tmp_path, says):
    (tmp_path / "store").write_text("a file")
    with pytest.raises(DataError) as error:
        AuditLog(tmp_path / "store", Clock()).note("Anna", "login", "", {})
    says(error.value)


@pytest.mark.long
def test_owners_read_it_by_the_page(project):
    with peopled(load_settings(project / "ragstone.toml")) as people:
        anna = people.person("Anna", "owner")
        people.add("<b>Ben", "reader")
        for role in ("annotator", "reader") * 26:
            anna.post("/workbench/people/role", data={"name": "<b>Ben", "role": role})
        first = anna.get("/workbench/people/log").text
        assert first.count("role changed") == 50
        assert "&lt;b&gt;Ben" in first
        assert "page=2" in first
        second = anna.get("/workbench/people/log?page=2").text
        assert (second.count("role changed"), "page=3" in second) == (2, False)
        assert anna.get("/workbench/people/log?page=0").status_code == 400
        assert people.person("Rea", "reader").get("/workbench/people/log").status_code == 403
