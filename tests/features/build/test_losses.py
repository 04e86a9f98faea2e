from ragstone.features.build._losses import check_candidate, lose, mark_repeats
from ragstone.kernel.dataset.candidate import Candidate
from ragstone.kernel.records import Question


def candidates(*texts, **fields):
    rows = [Question(id=f"q{n}", question=text, **fields) for n, text in enumerate(texts)]
    return [Candidate(question=row, passages=()) for row in rows]


def test_the_first_of_a_group_stays_and_the_others_name_it():
    marked = mark_repeats(candidates("Who dug the canal?", "Why?", "who dug the canal", "Who dug a dam?"))
    losses = [(one.loss.reason, one.loss.detail) if one.loss else None for one in marked]
    assert losses == [None, None, ("duplicate", "q0"), None]
    near = mark_repeats(candidates("Who dug the canal?", "Please, who dug the canal?"))
    assert (near[1].loss.reason, near[1].loss.detail) == ("near_duplicate", "q0")


def test_a_question_without_an_id_is_named_by_its_words(says):
    first, second = (
        Candidate(question=Question(id="", question="Who dug the canal?"), passages=()) for _ in range(2)
    )
    says(mark_repeats([first, second])[1].loss.detail)


def test_one_question_with_two_answers_is_said_to_be_ambiguous(says):
    rows = [
        Question(id="a", question="Who won the final?", reference="Ajax", document_ids=["1"]),
        Question(id="b", question="Who won the final?", reference="Porto", document_ids=["2"]),
        Question(id="c", question="Who won the final?", reference="Ajax", document_ids=["2"]),
    ]
    marked = mark_repeats([Candidate(question=row, passages=()) for row in rows])
    says(marked[1].loss.detail)
    assert marked[2].loss.detail == "a"


def test_lost_candidates_and_those_of_another_language_are_not_compared():
    first, second = candidates("Wo?", "Wo?")
    assert mark_repeats([lose(first, "empty"), second])[1].loss is None
    other = Candidate(question=Question(id="x", question="Wo?", lang="de"), passages=())
    assert mark_repeats([first, other])[1].loss is None


def test_marking_twice_changes_nothing():
    once = mark_repeats(candidates("Who dug the canal?", "who dug the canal"))
    assert mark_repeats(once) == once


def test_a_candidate_is_lost_for_the_first_check_that_finds_something_and_keeps_its_loss():
    (asked,) = candidates("According to the passage, when is wheat sown?", reference="October")
    lost = check_candidate(asked)
    assert lost.loss.reason == "mentions_context"
    assert check_candidate(lost) is lost
    assert check_candidate(candidates("When is wheat sown?", reference="October")[0]).loss is None
