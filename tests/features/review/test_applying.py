import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.features.review.rows import (
    BY_ID,
    DOCUMENTS,
    MAIS,
    QUESTIONS,
    RUST,
    TEXTS,
    TREATED,
    decide,
    edit,
    quoted,
    span,
)

from ragstone.features.review.applying import apply_review, quote, review_items
from ragstone.features.review.decisions import Decision, Values, digest_of
from ragstone.kernel.dataset.placing import place_evidence, remember_sources
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Document, Question


def reviewed(decisions, documents=DOCUMENTS, questions=QUESTIONS):
    return {one.id: one for one in apply_review(questions, decisions, documents)}


def test_what_nobody_decided_stays_as_the_build_left_it():
    assert apply_review(QUESTIONS, []) == [BY_ID["d1#1"], BY_ID["d2#1"]]


def test_an_accepted_question_says_by_whom_and_keeps_its_text():
    found = reviewed([decide("d1#1", "accept")])["d1#1"]
    assert found.metadata == {"review": {"decision": "accepted", "by": ["ana"]}}
    assert msgspec.structs.replace(found, metadata=None) == BY_ID["d1#1"]


def test_a_rejected_question_leaves_the_set_and_says_why(says):
    row = decide("d1#1", "reject", reason="wrong_answer", comment="it is  sulphur")
    assert "d1#1" not in reviewed([row])
    item = review_items(QUESTIONS, [row], TEXTS.get)[0]
    lost = item.question.metadata["lost"]
    assert (lost["step"], lost["reason"], len(lost)) == ("review", "rejected", 3)
    says(lost["detail"])


def test_a_question_that_critics_rejected_is_rescued_and_says_so():
    found = reviewed([decide("d1#2", "accept")])["d1#2"]
    assert found.metadata == {
        "review": {
            "decision": "accepted",
            "by": ["ana"],
            "rescued": {"step": "criticise", "reason": "low_score", "detail": "relevance 2 < 4: dull"},
        }
    }


def test_an_edit_changes_its_fields_and_accepts(says):
    row = edit("d1#1", question="How does one treat rust?", reference=["with fungicide", "fungicide"])
    found = reviewed([row])["d1#1"]
    says(found.question)
    assert found.reference == ["with fungicide", "fungicide"]
    assert found.metadata["review"] == {
        "decision": "edited",
        "by": ["ana"],
        "changed": ["question", "reference"],
    }
    assert found.evidence == BY_ID["d1#1"].evidence


def test_evidence_in_another_document_takes_the_question_there():
    row = edit("d1#1", evidence=[quoted("d2", "कटाई सितंबर में होती है")])
    found = reviewed([row])["d1#1"]
    (there,) = found.evidence
    assert MAIS[there.start : there.end] == "कटाई सितंबर में होती है"
    assert found.document_ids == ["d2"]


def test_an_unanswerable_question_has_no_documents():
    row = edit("d1#1", answerable=False, reference=None, evidence=None)
    found = reviewed([row])["d1#1"]
    assert (found.answerable, found.reference, found.evidence, found.document_ids) == (
        False,
        None,
        None,
        None,
    )


def test_an_undo_takes_back_the_last_decision_alone():
    first = edit("d1#1", question="How does one treat rust?")
    now = reviewed([first])["d1#1"]
    second = decide("d1#1", "reject", now=now, reason="ambiguous")
    back = decide("d1#1", "undo", undoes=second.id)
    assert reviewed([first, second, back]) == reviewed([first])
    assert reviewed([first, second, back, decide("d1#1", "undo", undoes=first.id)]) == reviewed([])


def test_a_decision_that_was_sent_twice_counts_once():
    row = decide("d1#1", "accept")
    assert reviewed([row, row]) == reviewed([row])


@pytest.mark.parametrize(
    ("decisions", "words"),
    [
        ([decide("d1#1", "undo", undoes="none")], "not the last valid decision"),
        (
            [decide("d1#1", "accept", id="a"), decide("d1#1", "reject", id="a", reason="ambiguous")],
            "two different",
        ),
        ([decide("d9#1", "accept", now=BY_ID["d1#1"])], "lacks: 'd9#1'"),
    ],
)
def test_a_log_that_cannot_be_followed_is_refused(decisions, words):
    with pytest.raises(DataError, match=words):
        apply_review(QUESTIONS, decisions, DOCUMENTS)


def test_a_rejected_question_that_is_gone_may_stay_so():
    row = decide("d9#1", "reject", now=BY_ID["d1#1"], reason="ambiguous")
    assert apply_review(QUESTIONS, [row]) == apply_review(QUESTIONS, [])


def test_evidence_moves_with_its_words_when_the_document_grows():
    grown = [Document(id="d1", text=f"Since 2019, {RUST}"), DOCUMENTS[1]]
    found = reviewed([decide("d1#1", "accept")], grown)["d1#1"]
    (there,) = found.evidence
    assert there.start == span("d1", TREATED).start + len("Since 2019, ")
    assert grown[0].text[there.start : there.end] == TREATED
    assert found.metadata["review"]["moved"] is True
    made = [remember_sources(row, TEXTS) for row in QUESTIONS]
    moved = reviewed([decide("d1#1", "accept")], grown, made)
    assert place_evidence([*moved.values()], grown).n_changed == 0
    again = reviewed([decide("d1#1", "accept")], grown, [*moved.values()])
    assert again == moved


def test_words_that_the_document_no_longer_holds_are_never_pointed_at(says):
    changed = [Document(id="d1", text="Rust is left alone. Sow wheat in October."), DOCUMENTS[1]]
    found = reviewed([decide("d1#1", "accept")], changed)["d1#1"]
    assert found.evidence is None
    review = found.metadata["review"]
    assert (review["by"], len(review)) == (["ana"], 2)
    says(review["look"])


def test_a_document_that_is_gone_is_said(says):
    found = reviewed([decide("d1#1", "accept")], [DOCUMENTS[1]])["d1#1"]
    assert found.evidence is None
    says(found.metadata["review"]["look"])


def test_a_decision_on_other_words_counts_no_more(says):
    anew = [msgspec.structs.replace(QUESTIONS[0], question="Who treats rust?"), *QUESTIONS[1:]]
    found = reviewed([decide("d1#1", "reject", reason="ambiguous")], questions=anew)["d1#1"]
    says(found.metadata["review"]["look"])


def test_an_edit_of_other_words_is_not_made(says):
    row = edit("d1#1", question="How does one treat rust?")
    anew = [msgspec.structs.replace(QUESTIONS[0], question="Who treats rust?"), *QUESTIONS[1:]]
    found = reviewed([row], questions=anew)["d1#1"]
    assert found.question == "Who treats rust?"
    says(found.metadata["review"]["look"])


def test_evidence_that_was_changed_in_the_file_is_left_alone_and_told(says):
    anew = [msgspec.structs.replace(QUESTIONS[0], evidence=[span("d1", "Reap in July")]), *QUESTIONS[1:]]
    found = reviewed([decide("d1#1", "accept")], questions=anew)["d1#1"]
    assert found.evidence == [span("d1", "Reap in July")]
    says(found.metadata["review"]["look"])


def test_offsets_beyond_the_document_are_refused_with_its_length(says):
    with pytest.raises(DataError) as error:
        quote([msgspec.structs.replace(span("d1", TREATED), start=60, end=900)], TEXTS.get)
    says(error.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"decision": "reject"},
        {"decision": "reject", "reason": "other"},
        {"decision": "accept", "reason": "ambiguous"},
        {"decision": "edit"},
        {"decision": "edit", "before": Values(question="a"), "after": Values(kind="open")},
        {"decision": "undo"},
        {"decision": "accept", "person": " "},
        {
            "decision": "edit",
            "before": Values(evidence=None),
            "after": Values(evidence=[span("d1", TREATED)]),
        },
    ],
)
def test_a_decision_that_makes_no_sense_is_none(wrong, says):
    with pytest.raises(ValueError) as error:
        Decision(**{"id": "a", "question_id": "q", "person": "ana", **wrong})
    says(error.value)


WORDS = st.text(st.sampled_from("ab é🌾क्ि\u0301"), min_size=1, max_size=8).filter(str.strip)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["accept", "reject", "edit", "evidence", "undo"]),
        st.sampled_from(list(BY_ID)),
        WORDS,
        st.integers(0, 40),
        st.integers(1, 12),
    ),
    max_size=14,
)


def played(steps):
    """Return decisions as the workbench would make them, one after the other."""
    log, stacks, now = [], {name: [] for name in BY_ID}, dict(BY_ID)
    for kind, name, words, start, length in steps:
        if kind == "undo":
            if not stacks[name]:
                continue
            row = decide(name, "undo", undoes=stacks[name].pop().id)
        elif kind == "edit":
            row = edit(name, now=now[name], question=words)
        elif kind == "evidence":
            part = TEXTS["d2"][start : start + length]
            row = edit(name, now=now[name], evidence=quote([_at("d2", start, part)], TEXTS.get))
        else:
            row = decide(name, kind, now=now[name], reason="ambiguous" if kind == "reject" else None)
        if kind != "undo":
            stacks[name].append(row)
        log.append(row)
        items = review_items(QUESTIONS, log, TEXTS.get)
        now = {item.given.id: item.question for item in items}
    return log


def _at(name, start, part):
    return msgspec.structs.replace(
        span("d2", TEXTS["d2"][:1]), document_id=name, start=start, end=start + len(part)
    )


@given(STEPS)
def test_whatever_is_decided_evidence_points_at_the_words_that_were_shown(steps):
    log = played(steps)
    for item in review_items(QUESTIONS, log, TEXTS.get):
        assert item.look is None
        shown = next((one.evidence for one in reversed(item.stack) if one.evidence), None)
        expected = [one.text for one in shown or quote(item.given.evidence, TEXTS.get) or ()]
        there = [TEXTS[one.document_id][one.start : one.end] for one in item.question.evidence or ()]
        assert there == expected


@given(STEPS)
def test_a_review_applied_twice_is_applied_once(steps):
    log = played(steps)
    once = apply_review(QUESTIONS, log, DOCUMENTS)
    assert apply_review(once, log, DOCUMENTS) == once
    every = [item.question for item in review_items(QUESTIONS, log, TEXTS.get)]
    assert [item.question for item in review_items(every, log, TEXTS.get)] == every


@given(STEPS, st.text(max_size=5), st.booleans())
def test_applied_twice_is_once_where_the_documents_have_changed_too(steps, more, cut):
    log = played(steps)
    documents = [Document(id="d1", text=more + RUST), Document(id="d2", text=MAIS[9:] if cut else MAIS)]
    texts = {one.id: one.text for one in documents}
    once = [item.question for item in review_items(QUESTIONS, log, texts.get)]
    assert [item.question for item in review_items(once, log, texts.get)] == once
    for row, item in zip(once, review_items(QUESTIONS, log, texts.get), strict=True):
        if item.stack and item.look is None and item.outcome != "rejected":
            shown = [one.text for one in item.stack[-1].evidence or ()]
            there = [texts[one.document_id][one.start : one.end] for one in row.evidence or ()]
            assert there == shown


def test_the_digest_of_what_is_seen_knows_one_reference_from_none():
    assert digest_of(Question(id="a", question="Q", reference="x")) == digest_of(
        Question(id="b", question="Q", reference=["x"])
    )
