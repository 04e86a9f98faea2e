import msgspec
import pytest

from ragstone.kernel.judging import load_judge, question_digest
from ragstone.kernel.records import Answer


def tuned_on(*digests):
    return msgspec.structs.replace(load_judge("relevance"), tuned_on=list(digests), examples=[])


def test_a_digest_is_that_of_the_question_and_not_of_its_id():
    assert question_digest("q1", "Why?") == question_digest("q2", "Why?") == question_digest("Why?")
    assert question_digest("q1", "Why?") != question_digest("q1", "How?")
    # sha256("why?"): the text in small letters, 16 hexadecimal digits of it
    assert question_digest("x", "Why?") == "f5b2b98bf44b6088"


@pytest.mark.parametrize("text", ["WHY is it so?", " Why  is\nit so? "])
def test_letter_case_and_spaces_do_not_matter(text):
    assert question_digest("q", text) == question_digest("q", "Why is it so?")


def test_half_a_surrogate_pair_has_a_digest():
    assert len(question_digest("q", "\ud83d")) == 16


def test_a_question_is_known_by_text_or_id():
    by_text, by_id = question_digest("q9", "Why?"), question_digest("q1")
    answer = Answer(question_id="q1", question="Why?", answer="x")
    assert tuned_on(by_text).is_tuned_on(answer)
    assert tuned_on(by_id).is_tuned_on(answer)
    assert not tuned_on().is_tuned_on(answer)
    assert not tuned_on(question_digest("q2", "How?")).is_tuned_on(answer)


def test_a_row_without_its_question_is_known_by_its_id():
    assert tuned_on(question_digest("q1")).is_tuned_on(Answer(question_id="q1", answer="x"))


def test_only_examples_that_are_shown_count():
    rubric = load_judge("rubric@shots=1")
    first, second = (
        Answer(question_id="q", question=example.question, answer="x") for example in rubric.examples[:2]
    )
    assert rubric.is_tuned_on(first)
    assert not rubric.is_tuned_on(second)
    assert load_judge("rubric@shots=2").is_tuned_on(second)
    assert not load_judge("rubric").is_tuned_on(first)  # shots = 0


def test_examples_without_a_question_match_no_row():
    judge = msgspec.structs.replace(
        load_judge("rubric@shots=1"),
        examples=[msgspec.structs.replace(load_judge("rubric").examples[0], question=None)],
    )
    assert not judge.is_tuned_on(Answer(question_id="", question=None, answer="x"))
