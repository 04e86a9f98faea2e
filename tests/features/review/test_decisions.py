from tests.features.review.rows import decide

from ragstone.features.review.decisions import Decision, add_decision, read_decisions
from ragstone.kernel.persistence.journal import Journal


def test_decisions_are_read_back_in_order(tmp_path):
    log = Journal(tmp_path / "q.review.jsonl", Decision)
    rows = [decide("d1#1", "accept"), decide("d1#2", "reject", reason="ambiguous")]
    for row in rows:
        assert add_decision(log, lambda _new, row=row: row) == row
    assert log.rows == read_decisions(tmp_path / "q.review.jsonl") == rows
