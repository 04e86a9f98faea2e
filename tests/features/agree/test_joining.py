"""Labels beside other tools' verdicts: by id, else by the texts of question and answer."""

from collections.abc import Callable

import pytest
from tests.support.linear import grow

from ragstone.features.agree.joining import join_labels
from ragstone.kernel.records import Answer, Judgement, Label
from ragstone.kernel.tables import parse_rows
from ragstone.kernel.tables.names import question_key


def judgement(question_id: str, system: str = "default", **notes: object) -> Judgement:
    return Judgement(
        question_id=question_id,
        system=system,
        judge="j",
        metric="correctness",
        status="scored",
        score=1.0,
        model="m",
        prompt_version=1,
        metadata={"tool": "T", **notes},
    )


def label(question_id: str = "row-1", system: str = "default", **notes: object) -> Label:
    return Label(question_id=question_id, system=system, score=1.0, metadata=dict(notes) or None)


def joined(
    judgements: list[Judgement], labels: list[Label], answers: list[Answer] | None = None
) -> list[tuple[str, str]]:
    return [(row.question_id, row.system) for row in join_labels(judgements, labels, answers or [])]


WHEN = question_key("When?")
TWICE = [
    judgement(WHEN, question="When?", answer="Now.", trace_id="t1"),
    judgement(f"{WHEN}-2", question="When?", answer="Then.", trace_id="t2"),
]


def test_labels_of_our_own_judgements_stay_as_they_are() -> None:
    own = Judgement(
        question_id="q", system="a", judge="j", metric="m", status="error", model="m", prompt_version=1
    )
    assert joined([own], [label("q")]) == [("q", "default")]


@pytest.mark.parametrize(
    "notes",
    [
        {"trace_id": "t2"},
        {"traceId": "t2"},
        {"question": "When?", "answer": "Then."},
        {"question": " When? ", "response": "Then.\n"},
        {"user_input": "When?", "output": "Then."},
    ],
)
def test_a_label_is_for_the_answer_of_its_id_or_its_texts(notes: dict[str, object]) -> None:
    assert joined(TWICE, [label(WHEN if "question" in notes else "row-1", **notes)]) == [
        (f"{WHEN}-2", "default")
    ]


def test_an_id_that_is_given_counts_more_than_the_texts() -> None:
    rows = [judgement("7", question="When?", answer="Now."), judgement("8", question="When?", answer="Then.")]
    assert joined(rows, [label("8", question="When?", answer="Now.")]) == [("8", "default")]


def test_a_question_alone_is_enough_where_it_has_one_answer(
    caplog: pytest.LogCaptureFixture, says: Callable[[object], None]
) -> None:
    assert joined(TWICE[:1], [label(WHEN, question="When?")]) == [(WHEN, "default")]
    assert caplog.messages == []
    assert joined(TWICE, [label(WHEN, question="When?"), label(trace_id="t1")]) == [(WHEN, "default")]
    says(caplog.messages[-1])


def test_another_answer_to_the_same_question_is_not_the_one_that_was_judged(
    caplog: pytest.LogCaptureFixture, says: Callable[[object], None]
) -> None:
    other = label(WHEN, question="When?", answer="Never.")
    assert joined(TWICE[:1], [other, label("row-2"), label("row-3", trace_id="t1")]) == [
        *((WHEN, "default"), ("row-2", "default")),  # as they were
        (WHEN, "default"),
    ]
    says(caplog.messages[-1])


def test_a_system_that_is_named_on_one_side_is_that_of_the_answer() -> None:
    rows = [judgement("1", "a"), judgement("1", "b"), judgement("2", "a")]
    assert joined(rows, [label("1", "b"), label("2"), label("2", "a")]) == [
        ("1", "b"),
        ("2", "a"),
        ("2", "a"),
    ]
    assert joined(rows, [label("1")]) == []  # of a or of b
    assert joined([judgement("1")], [label("1", "a")]) == [("1", "default")]
    assert joined(rows, [label("2", "b")]) == [("2", "b")]  # not judged


def test_a_sheet_names_answers_that_verdicts_know_by_their_trace_alone() -> None:
    bare = [judgement("t1", trace_id="t1"), judgement("t2", trace_id="t2")]
    sheet = parse_rows(
        [
            {"question": "When?", "answer": "Now.", "trace_id": "t1"},
            {"question": "Where?", "answer": "Here.", "trace_id": "t2"},
        ],
        Answer,
    )
    labels = [label(question_key("Where?"), question="Where?"), label(question="When?", answer="Now.")]
    assert joined(bare, labels, sheet) == [("t2", "default"), ("t1", "default")]


def test_verdicts_that_name_no_answer_are_not_taken_for_labels_without_an_id() -> None:
    assert joined([judgement("unplaced-1")], [label("row-1")]) == [("row-1", "default")]


@pytest.mark.parametrize("alike", ["question", "question and answer", "id"])
def test_many_labels_of_one_name_are_joined_in_linear_time(alike: str) -> None:
    def made(size: int) -> tuple[list[Judgement], list[Label]]:
        n = size // 64
        answers = ["Now." if alike == "question and answer" else f"At {at}." for at in range(n)]
        notes = {"session_id": "s"} if alike == "id" else {}
        judgements = [
            judgement(f"{WHEN}-{at + 2}", question="When?", answer=text, **notes)
            for at, text in enumerate(answers)
        ]
        texts = {} if alike == "question" else {"answer": "Now."}
        return judgements, [label(WHEN, question="When?", **texts, **notes) for _ in range(n)]

    growth = grow(lambda rows: join_labels(*rows), made)
    assert not growth.fault, growth
