"""Whether contexts hold the answer: documents are cut into parts, and the right part may be missing."""

import pytest

from ragstone.features.blame._passages import HeldAnswer, held_answer, says_reference
from ragstone.kernel.records import Answer, Chunk, Context, Document, Evidence, Question

FIRST, SECOND = "The old mill stands by the river.", "It was opened in March 1843 by Ada Brook."
MILL = Document(id="mill", text=f"{FIRST} {SECOND}")
ELSEWHERE = Document(id="news", text="Ada Brook opened the mill in March 1843, they say.")
DOCUMENTS = {one.id: one for one in (MILL, ELSEWHERE)}
PLACE = MILL.text.index("March 1843")


def held(*contexts, reference="March 1843", evidence=False, relevant=("mill",), same=(), chunks=(), **more):
    question = Question(
        id="q",
        question="When did the mill open?",
        reference=reference,
        document_ids=list(relevant),
        evidence=[Evidence(document_id="mill", start=PLACE, end=PLACE + 10)] if evidence else None,
        **more,
    )
    rows = [Context(text=text, document_id=name) for name, text in contexts]
    answer = Answer(question_id="q", system="s", answer="In May.", contexts=rows)
    return held_answer(answer, question, DOCUMENTS, {"mill": list(chunks)}, dict(same))


@pytest.mark.parametrize("evidence", [True, False])
def test_another_part_of_the_right_document_does_not_hold_the_answer(evidence):
    by = "evidence" if evidence else "reference"
    assert held(("mill", FIRST), evidence=evidence) == HeldAnswer(held=False, by=by)
    assert held(("mill", SECOND), evidence=evidence).held
    assert held(("mill", MILL.text), evidence=evidence).held


def test_half_of_the_evidence_is_enough_and_less_is_not():
    cut = PLACE + 5  # of "March 1843", ten characters
    assert held(("mill", MILL.text[:cut]), evidence=True) == HeldAnswer(held=True, by="evidence")
    assert held(("mill", MILL.text[: cut - 1]), evidence=True) == HeldAnswer(held=False, by="evidence")


def test_a_chunk_is_placed_by_its_id_where_its_words_are_in_the_document_twice():
    twice = Document(id="twice", text="Same words. Same words.")
    question = Question(
        id="q", question="?", reference="none", evidence=[Evidence(document_id="twice", start=12, end=23)]
    )
    chunks = {"twice": [Chunk(id="twice#1", document_id="twice", text="Same words.", start=12, end=23)]}
    for name, is_held in (("twice#1", True), (None, False)):
        context = Context(id=name, text="Same words.", document_id="twice")
        answer = Answer(question_id="q", system="s", answer="?", contexts=[context])
        assert held_answer(answer, question, {"twice": twice}, chunks, {}).held is is_held


def test_where_a_context_stands_nowhere_in_its_document_the_evidence_is_no_guide():
    assert held(("mill", "Rewritten by the retriever."), reference="1900", evidence=True) is None


def test_a_long_reference_counts_wherever_it_is_said_and_a_short_one_only_in_its_document():
    assert held(("news", ELSEWHERE.text), reference="Ada Brook opened the mill").held
    assert held(("news", ELSEWHERE.text), reference="1843") == HeldAnswer(held=False, by="reference")


def test_a_reference_in_other_words_is_held_by_how_many_of_them_the_contexts_have():
    # Of its six words (opened, Ada, Brook, March, 1843, river) the document has all, FIRST one, SECOND five.
    reference = "Ada Brook opened it by the river in 1843, March"
    assert held(("mill", FIRST), reference=reference) == HeldAnswer(
        held=False, by="words", in_contexts=pytest.approx(1 / 6), in_document=1.0
    )
    assert held(("mill", SECOND), reference=reference).held


def test_nothing_is_said_of_what_the_document_does_not_say():
    assert held(("mill", FIRST), reference="Nobody remembers any date") is None
    assert held(("mill", FIRST), relevant=("lost",)) is None
    assert held() is None
    assert held(("mill", FIRST), answerable=False) is None


def test_a_part_of_a_translation_may_hold_the_answer_in_another_language():
    assert held(("moulin", "Il a ouvert en mars 1843."), same={"moulin": "mill"}) is None
    assert held(("mill", SECOND), ("moulin", "Il est vieux."), same={"moulin": "mill"}).held


def test_words_are_enough_against_a_doubt_but_not_with_another_number():
    contexts = [Context(text=MILL.text)]
    question = Question(id="q", question="?", reference="Ada Brook opened the mill in 1843, I think")
    assert says_reference(question, contexts)
    wrong = Question(id="q", question="?", reference="Ada Brook opened the mill in 1850, I think")
    assert not says_reference(wrong, contexts)
    assert not says_reference(Question(id="q", question="?", reference="Bread is baked daily"), contexts)
