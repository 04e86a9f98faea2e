import msgspec
import pytest

from ragstone.features.blame._causes import KnownAnswer, PointFacts, find_cause, needs_memory, observed
from ragstone.features.blame._departures import StepFault
from ragstone.features.blame._passages import HeldAnswer
from ragstone.features.blame._points import CountedPoint
from ragstone.features.blame._steps import AgentSteps

LOST = CountedPoint(question_id="q", lost=True)
WRONG = KnownAnswer(text="In 1850.", right=False, refused=False, supported=True)
REFUSED = KnownAnswer(text="I do not know.", right=False, refused=True, supported=False)
RIGHT = KnownAnswer(text="In 1843.", right=True)


def cause(**known):
    facts = PointFacts(**{"point": LOST, "answer": WRONG, "relevant": ["mill"], "found": True, **known})
    found = find_cause(facts, "s")
    return found.cause, found.component


def because(**known):
    return find_cause(
        PointFacts(**{"point": LOST, "answer": WRONG, "relevant": ["mill"], **known}), "s"
    ).because


def unsupported(given):
    return msgspec.structs.replace(given, supported=False)


def test_what_was_not_retrieved_and_is_right_with_the_document_in_hand_is_the_retrievers(says):
    assert cause(found=False, gold=RIGHT) == ("not retrieved", "retriever")
    said = because(found=False, gold=RIGHT)
    says(said)
    assert "In 1843" in said


def test_a_refusal_without_the_document_is_the_retrievers_and_with_it_the_models():
    assert cause(answer=REFUSED, found=False, gold=RIGHT) == ("not retrieved", "retriever")
    assert cause(answer=REFUSED) == ("refused though answerable", "model + prompt")
    assert cause(answer=WRONG, found=False, gold=REFUSED) == ("refused though answerable", "model + prompt")


def test_what_stays_wrong_with_the_document_in_hand_is_the_models_by_what_it_says_then():
    assert cause(found=False, gold=WRONG) == ("retrieved but not used", "model + prompt")
    invented = {"found": False, "gold": unsupported(WRONG), "memory": "In 1900.", "same": False}
    assert cause(**invented) == ("invented", "model + prompt")
    assert "given that document, the answer is still wrong and goes beyond what it was given: “" in because(
        **invented
    )


def test_an_answer_that_keeps_to_the_right_document_and_is_wrong_did_not_use_it():
    assert cause() == ("retrieved but not used", "model + prompt")


def test_an_answer_beyond_its_contexts_is_from_memory_if_it_is_given_without_any_too():
    beyond = unsupported(WRONG)
    assert cause(answer=beyond, memory="1850", same=True) == ("answered from memory", "model + prompt")
    assert cause(answer=beyond, memory="1900", same=False) == ("invented", "model + prompt")
    assert cause(answer=beyond) == ("cannot tell", "model + prompt")
    assert cause(answer=msgspec.structs.replace(WRONG, supported=None)) == ("cannot tell", "model + prompt")


def test_a_reference_is_doubtful_where_its_passages_speak_for_the_answer_and_not_for_it():
    assert cause(gold=WRONG, reference=False) == ("reference doubtful", "dataset")
    assert cause(gold=REFUSED, reference=False) == ("reference doubtful", "dataset")
    assert cause(gold=WRONG, reference=True)[1] == "model + prompt"
    # Nothing supports the answer either: a model that makes things up proves nothing against the reference.
    assert cause(gold=unsupported(WRONG), reference=False)[1] == "model + prompt"
    assert cause(found=False, gold=RIGHT, reference=False)[1] == "retriever"


def test_without_another_answer_a_reference_is_doubted_only_if_the_right_document_was_there():
    assert cause(reference=False) == ("reference doubtful", "dataset")
    assert cause(reference=False, answer=unsupported(WRONG))[1] == "model + prompt"
    assert cause(reference=False, found=False)[1] == "retriever"


@pytest.mark.parametrize("lost", [True, False])
def test_judge_and_second_opinion_that_disagree_are_the_judges_either_way(lost):
    point = CountedPoint(question_id="q", lost=lost, second=lost)
    assert cause(point=point) == ("judge doubtful", "judge")
    assert because(point=point, second="people").startswith(
        "The judge takes this point, and people give it"
        if lost
        else "The judge gives this point, and people take it"
    )


def test_a_second_opinion_that_agrees_leaves_the_point_where_it_was():
    assert cause(point=CountedPoint(question_id="q", lost=True, second=False))[1] == "model + prompt"


def test_a_wrong_reference_and_not_the_judge_is_blamed_where_people_give_what_the_judge_takes():
    point = CountedPoint(question_id="q", lost=True, second=True)
    assert cause(point=point, gold=WRONG, reference=False) == ("reference doubtful", "dataset")


def test_an_unanswerable_question_that_was_answered():
    point = CountedPoint(question_id="q", lost=True, answerable=False)
    assert cause(point=point, found=None) == ("answered though unanswerable", "model + prompt")


def test_where_nobody_says_what_was_retrieved_a_right_answer_in_hand_tells_nothing():
    assert cause(found=None, gold=RIGHT) == ("cannot tell", "cannot tell")
    assert cause(found=None) == ("cannot tell", "cannot tell")
    assert cause(found=None, gold=WRONG) == ("retrieved but not used", "model + prompt")


FAILED = StepFault("tool failed", "The weather failed.")
WRONG_TOOL = StepFault("wrong tool", "Another one.")


def test_a_departure_from_the_expected_steps_is_the_cause_whatever_was_retrieved():
    for found in (True, False, None):
        steps = AgentSteps(expected=True, departure=WRONG_TOOL)
        assert cause(found=found, gold=RIGHT, steps=steps) == ("wrong tool", "model + prompt")
    steps = AgentSteps(expected=True, departure=FAILED)
    assert cause(found=None, steps=steps) == ("tool failed", "tools")


def test_a_result_that_holds_the_reference_was_ignored_before_any_failure_counts(says):
    steps = AgentSteps(holds=True, failed=FAILED, brought="weather() brought “1843”")
    assert cause(found=None, steps=steps) == ("right result ignored", "model + prompt")
    says(because(found=None, steps=steps))
    assert cause(found=None, steps=AgentSteps(holds=False, failed=FAILED)) == ("tool failed", "tools")


def test_where_the_document_was_among_the_contexts_todays_causes_stay():
    steps = AgentSteps(holds=True, failed=FAILED)
    assert cause(found=True, steps=steps) == ("retrieved but not used", "model + prompt")
    assert cause(found=False, gold=RIGHT, steps=AgentSteps(holds=False)) == ("not retrieved", "retriever")


def test_dataset_and_judge_go_before_the_steps():
    steps = AgentSteps(expected=True, departure=FAILED)
    assert cause(gold=WRONG, reference=False, steps=steps)[1] == "dataset"
    point = CountedPoint(question_id="q", lost=True, second=True)
    assert cause(point=point, steps=steps)[1] == "judge"
    point = CountedPoint(question_id="q", lost=True, answerable=False)
    assert cause(point=point, steps=steps)[0] == "answered though unanswerable"


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        (AgentSteps(holds=False), "No call failed, and no result contains the reference."),
        (AgentSteps(), "No call failed, and it is unknown whether a result contains the reference."),
        (
            AgentSteps(expected=True, holds=False),
            "No expected call is missing or failed, and no result contains the reference.",
        ),
    ],
)
def test_steps_that_explain_nothing_are_no_guess(steps, says):
    assert cause(found=None, steps=steps) == ("cannot tell", "cannot tell")
    assert because(found=None, steps=steps) == says


def test_memory_is_not_asked_for_what_the_steps_explain():
    facts = PointFacts(point=LOST, answer=unsupported(WRONG), found=True)
    steps = AgentSteps(expected=True, departure=WRONG_TOOL)
    assert needs_memory(facts)
    assert not needs_memory(msgspec.structs.replace(facts, steps=steps))


def test_memory_is_asked_only_where_it_decides():
    beyond = PointFacts(point=LOST, answer=unsupported(WRONG), found=True)
    assert needs_memory(beyond)
    assert not needs_memory(msgspec.structs.replace(beyond, answer=WRONG))
    assert not needs_memory(msgspec.structs.replace(beyond, answer=REFUSED))
    assert not needs_memory(msgspec.structs.replace(beyond, found=False, gold=RIGHT))
    assert not needs_memory(msgspec.structs.replace(beyond, point=CountedPoint(question_id="q", lost=False)))


def test_the_answer_that_tells_is_the_one_with_the_right_passages():
    facts = PointFacts(point=LOST, answer=WRONG, found=True, gold=RIGHT)
    assert observed(facts) is WRONG
    assert observed(msgspec.structs.replace(facts, found=False)) is RIGHT
    unjudged = msgspec.structs.replace(facts, found=False, gold=KnownAnswer(text="?"))
    assert observed(unjudged) is WRONG


def test_long_answers_are_cut_and_newlines_do_not_break_the_sentence():
    said = because(answer=KnownAnswer(text="one\ntwo " * 90, right=False, supported=True), found=True)
    assert "\n" not in said
    assert said.endswith("…”.")


PARTS = {"evidence": 1.0, "reference": 1.0, "words": 0.2}


@pytest.mark.parametrize("by", PARTS)
def test_a_part_of_the_document_without_the_answer_is_the_retrievers(by, says):
    held = HeldAnswer(held=False, by=by, in_contexts=PARTS[by], in_document=0.9)
    assert cause(found=True, held=held) == ("not retrieved", "retriever")
    assert cause(found=True, held=held, answer=REFUSED) == ("not retrieved", "retriever")
    assert cause(found=True, held=held, gold=RIGHT) == ("not retrieved", "retriever")
    says(because(found=True, held=held))
    # Given the document, it stays wrong: better retrieval alone would not bring the point back.
    assert cause(found=True, held=held, gold=WRONG) == ("retrieved but not used", "model + prompt")
    says(because(found=True, held=held, gold=WRONG))


def test_a_reference_that_other_documents_say_was_retrieved(says):
    held = HeldAnswer(held=True, by="reference")
    assert cause(found=False, held=held) == ("retrieved but not used", "model + prompt")
    said = because(found=False, held=held)
    says(said)
    assert "was among the contexts" not in said
    assert cause(found=None, held=held) == ("retrieved but not used", "model + prompt")
    says(because(found=None, held=held))


def test_what_contexts_lack_says_nothing_where_it_is_unknown_which_documents_they_are_from():
    held = HeldAnswer(held=False, by="reference")
    assert cause(found=None, held=held) == ("cannot tell", "cannot tell")
    assert "the part" not in because(found=None, held=held)


def test_a_judge_of_words_says_which_words_no_context_has_and_not_what_supports_what(says):
    kept = msgspec.structs.replace(WRONG, lacking="")
    assert cause(answer=kept) == ("retrieved but not used", "model + prompt")
    says(because(found=True, answer=kept))
    beyond = msgspec.structs.replace(WRONG, supported=False, lacking="mill, 1850")
    assert cause(answer=beyond) == ("cannot tell", "model + prompt")
    says(because(found=True, answer=beyond))
    says(because(found=True, answer=beyond, memory="1900", same=False))
    says(because(found=True, answer=kept, reference=False))
    says(because(found=True, answer=kept, gold=WRONG, reference=False))
    for known in ({"answer": kept}, {"answer": beyond}, {"answer": kept, "reference": False}):
        said = because(found=True, **known)
        assert "keeps to" not in said
        assert "support" not in said


@pytest.mark.parametrize(
    ("fault", "component"),
    [("expected steps doubtful", "dataset"), ("wrong order", "model + prompt"), ("tool failed", "tools")],
)
def test_the_component_of_a_departure_is_that_of_its_cause(fault, component):
    steps = AgentSteps(expected=True, departure=StepFault(fault, "So it was."))
    assert cause(found=None, steps=steps) == (fault, component)
