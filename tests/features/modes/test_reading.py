import pytest

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
