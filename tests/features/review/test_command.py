import json

import msgspec
from tests.features.review.rows import QUESTIONS, decide
from tests.support.command import ragstone
from tests.support.review_sets import write_set

from ragstone.features.review.decisions import log_path
from ragstone.kernel.records import Document
from ragstone.kernel.tables import write_rows


def under_review(folder):
    path = write_set(folder / "set")
    rows = [decide("d1#1", "accept"), decide("d2#1", "reject", reason="other", comment="a joke")]
    log_path(path).write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in rows))
    return path


def test_a_review_is_applied_and_told(tmp_path, monkeypatch, says):
    monkeypatch.chdir(tmp_path)
    path = under_review(tmp_path)
    done = ragstone("review", path)
    assert done.code == 0, done.err
    says(done.out + done.err)
    (line,) = (path.parent / "reviewed" / "questions.jsonl").read_text().splitlines()
    assert json.loads(line)["id"] == "d1#1"


def test_numbers_as_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = under_review(tmp_path)
    done = ragstone("review", path, "--json", "-o", tmp_path / "out.jsonl", "--decisions", log_path(path))
    told = json.loads(done.out)
    assert (told["review"]["n_accepted"], told["certificate"]) == (1, None)
    assert told["files"] == [str(tmp_path / "out.jsonl"), str(tmp_path / "out.all.jsonl")]


def test_what_must_be_looked_at_again_is_named_and_strict_says_so(tmp_path, monkeypatch, says):
    monkeypatch.chdir(tmp_path)
    path = under_review(tmp_path)
    write_rows(path.parent / "documents.jsonl", [Document(id="d1", text="No.")], Document, force=True)
    done = ragstone("review", path, "--strict")
    assert done.code == 5
    says(done.out + done.err)
    assert ragstone("review", path, "--force").code == 0


def test_a_log_of_another_set_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = under_review(tmp_path)
    write_set(path.parent, QUESTIONS[2:])
    done = ragstone("review", path, "--only-decided", "--documents", path.parent / "documents.jsonl")
    assert done.code == 2
    assert "lacks: 'd1#1'" in done.out + done.err
