import pytest

from ragstone.features.modes import _reading
from ragstone.features.modes._reading import WrongRow, held_quote
from ragstone.kernel.records import Answer, Context

ROW = WrongRow(
    Answer(
        question_id="q",
        system="s",
        question="How deep is maize sown?",
        answer="Sow it  5 cm\ndeep.",
        contexts=[Context(text="Maize is sown 3 cm deep.")],
        reference="3 cm",
    ),
    "not in the answer: 3",
)


@pytest.mark.parametrize(
    ("quote", "part"),
    [
        ("Sow it 5 cm deep", "answer"),
        ("“sow IT 5 cm”", "answer"),
        ("How deep is maize", "question"),
        ("is sown 3 cm deep.", "contexts"),
        ("not in the answer", "rationale"),
        ("Sow it 7 cm deep", None),
        ("Sow", None),  # three letters are in many rows
        ("", None),
        ("...", None),
    ],
)
def test_a_quote_is_evidence_only_if_it_is_in_its_row(quote, part):
    evidence = held_quote(ROW, quote)
    assert (evidence and evidence.part) == part


def test_a_call_shows_few_rows_of_a_bounded_length(monkeypatch):
    short, long = WrongRow(Answer(question_id="q", system="s", answer="a" * 40)), ROW
    assert [len(piece) for piece in _reading._pieces([short] * 12)] == [5, 5, 2]
    monkeypatch.setattr(_reading, "LONGEST_CALL", 100)
    assert [len(piece) for piece in _reading._pieces([short] * 3 + [long] * 2)] == [2, 1, 1, 1]
