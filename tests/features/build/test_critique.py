import pytest
from tests.support.doors import stubbed
from tests.support.scripted_judge import Scripted

from ragstone.features.build._critic import critic_names, load_critics
from ragstone.features.build._critique import (
    ClosedBookReply,
    ask_closed_book,
    closed_book_prompt,
    critique,
    drop_known,
)
from ragstone.features.build._losses import lose
from ragstone.kernel.dataset.candidate import Candidate, Loss, SourcePassage
from ragstone.kernel.judging.inputs import UNANSWERABLE
from ragstone.kernel.llm import CallFailed, Reply
from ragstone.kernel.records import Question, Usage

PASSAGE = SourcePassage(
    document_id="d", start=0, end=32, text="Sensors are installed in spring.", title="Sensors"
)
CANDIDATE = Candidate(
    question=Question(id="d#1", question="When are sensors installed?", reference="In spring."),
    passages=(PASSAGE,),
)
ALL = load_critics(critic_names())


async def judged(ask, candidate=CANDIDATE, critics=ALL, **changed):
    settings = {"audience": "farmers", "threshold": 4, "secret": b"secret", "one_call": False} | changed
    return await critique(candidate, critics, ask=ask, **settings)


def said(score, reason="So it is."):
    return {"reason": reason, "score": score}


async def test_scores_reasons_and_versions_are_kept():
    found = await judged(Scripted(said(5, "There."), said(4, "Useful."), said(5, "Named.")))
    assert found.loss is None
    assert found.question.scores == {"groundedness": 5, "relevance": 4, "stand_alone": 5}
    assert found.question.metadata == {
        "rationales": {"groundedness": "There.", "relevance": "Useful.", "stand_alone": "Named."},
        "critics": {"groundedness": 1, "relevance": 1, "stand_alone": 1},
    }


async def test_below_the_threshold_on_one_critic_is_lost_with_its_reason(says):
    found = await judged(Scripted(said(5), said(5), said(2, "It points at nothing.")))
    assert found.loss.reason == "low_score"
    says(found.loss.detail)
    assert found.question.scores == {"groundedness": 5, "relevance": 5, "stand_alone": 2}


async def test_below_the_threshold_on_several_critics_names_them_all(says):
    found = await judged(Scripted(said(1, "No."), said(3, "Hardly."), said(5)))
    assert found.loss.reason == "low_score"
    says(found.loss.detail)


@pytest.mark.parametrize(("threshold", "lost"), [(3, False), (4, True)])
async def test_the_threshold_is_the_lowest_score_that_passes(threshold, lost):
    found = await judged(Scripted(said(3), said(3), said(3)), threshold=threshold)
    assert (found.loss is not None) == lost


async def test_a_failed_call_is_never_accepted_and_never_a_score(says):
    found = await judged(Scripted(said(5), CallFailed("timeout", "no reply within 60 s"), said(5)))
    assert found.loss.reason == "not_criticised"
    says(found.loss.detail)
    assert found.question.scores == {"groundedness": 5, "stand_alone": 5}


async def test_a_low_score_decides_whatever_else_failed(says):
    found = await judged(Scripted(said(2, "No."), CallFailed("timeout", "late"), said(5)))
    assert found.loss.reason == "low_score"
    says(found.loss.detail)


async def test_one_that_is_lost_already_is_not_asked_about():
    lost = Candidate(question=CANDIDATE.question, passages=(PASSAGE,), loss=Loss(reason="duplicate"))
    ask = Scripted()
    assert await judged(ask, lost) is lost
    assert ask.prompts == []


async def test_an_unanswerable_question_is_judged_by_the_critics_that_are_made_for_it():
    question = Question(id="d#2", question="Who makes the sensors?", answerable=False)
    ask = Scripted(said(5), said(5))
    found = await judged(ask, Candidate(question=question, passages=(PASSAGE,)))
    assert found.question.scores == {"relevance": 5, "stand_alone": 5}
    assert found.loss is None
    assert len(ask.prompts) == 2


async def test_a_critic_of_answers_is_told_that_an_unanswerable_question_has_none(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\nversion = 1\ninputs = ["question", "answer"]\nscale = [1, 5]\nsource = "x"\n'
        'prompt = "{question} {answer}"\n',
        encoding="utf-8",
    )
    ask = Scripted(said(5))
    question = Question(id="d#2", question="Who makes the sensors?", answerable=False)
    candidate = Candidate(question=question, passages=(PASSAGE,))
    await judged(ask, candidate, load_critics([tmp_path / "mine.toml"]))
    assert UNANSWERABLE in ask.prompts[0].messages[1].content


async def test_the_passage_is_shown_under_its_title_and_two_passages_are_numbered(says):
    other = SourcePassage(document_id="e", start=0, end=4, text="Corn.")
    two = Candidate(question=CANDIDATE.question, passages=(PASSAGE, other))
    one_ask, two_ask = Scripted(said(5)), Scripted(said(5))
    await judged(one_ask, critics=ALL[:1])
    await judged(two_ask, two, critics=ALL[:1])
    says(one_ask.prompts[0].messages[1].content)
    shown = two_ask.prompts[0].messages[1].content
    says(shown)


async def test_one_call_makes_one_call():
    reply = {f"{name}_{part}": value for name in critic_names() for part, value in said(5).items()}
    ask = Scripted(reply)
    found = await judged(ask, one_call=True)
    assert len(ask.prompts) == 1
    assert found.question.scores == {"groundedness": 5, "relevance": 5, "stand_alone": 5}


async def test_alternatives_of_the_answer_are_all_shown(says):
    question = Question(id="q", question="When?", reference=["In spring.", "In May."])
    ask = Scripted(said(5))
    await judged(ask, Candidate(question=question, passages=(PASSAGE,)), critics=ALL[:1])
    says(ask.prompts[0].messages[1].content)


SECRET = b"s" * 32


def candidate(question="Who dug the canal?", reference="Ada Palmgren", **fields):
    return Candidate(question=Question(id="q", question=question, reference=reference, **fields), passages=())


def saying(answer):
    async def ask(prompt):
        value = ClosedBookReply(answer=answer)
        return Reply(text=answer, value=value, usage=Usage(), latency_s=0.0, cost_usd=None)

    return ask


async def never(prompt):
    raise AssertionError("nobody should be asked")


async def test_a_right_answer_is_noted_and_tagged_and_loses_nothing():
    asked = await ask_closed_book(
        candidate(tags={"crop": "rye"}), ask=saying(" Ada Palmgren. "), secret=SECRET
    )
    assert asked.loss is None
    assert asked.question.metadata == {"closed_book": {"answer": "Ada Palmgren.", "correct": True}}
    assert asked.question.tags == {"crop": "rye", "closed_book": "known"}


async def test_a_wrong_answer_is_tagged_unknown():
    asked = await ask_closed_book(candidate(), ask=saying("I do not know"), secret=SECRET)
    assert asked.question.tags == {"closed_book": "unknown"}
    assert asked.question.metadata["closed_book"]["correct"] is False


async def test_a_failed_call_is_noted_and_gives_no_tag():
    late = "no reply in 60 s"

    async def ask(prompt):
        raise CallFailed("timeout", late)

    asked = await ask_closed_book(candidate(), ask=ask, secret=SECRET)
    assert asked.loss is None
    assert asked.question.tags is None
    assert asked.question.metadata == {"closed_book": {"status": "timeout", "error": late}}


@pytest.mark.parametrize(
    "unasked",
    [lose(candidate(), "too_long"), candidate(reference=None), candidate(answerable=False)],
)
async def test_what_cannot_be_compared_is_not_asked(unasked):
    assert await ask_closed_book(unasked, ask=never, secret=SECRET) is unasked


async def test_a_guess_is_noted_as_one_and_drops_nothing():
    statement = candidate("Rye is a grass.", "true", kind="true_false")
    asked = await ask_closed_book(statement, ask=saying("True"), secret=SECRET)
    assert asked.question.metadata["closed_book"] == {"answer": "True", "correct": True, "guessable": True}
    assert drop_known(asked).loss is None


async def test_a_known_question_is_dropped_with_the_answer_that_was_given(says):
    known = await ask_closed_book(candidate(), ask=saying("Ada Palmgren"), secret=SECRET)
    loss = drop_known(known).loss
    assert loss.reason == "known_by_heart"
    says(loss.detail)
    unknown = await ask_closed_book(candidate(), ask=saying("Nobody"), secret=SECRET)
    assert drop_known(unknown) is unknown
    assert drop_known(candidate()).loss is None


async def test_a_made_up_reply_of_a_forecast_is_survived():
    asked = await ask_closed_book(candidate(), ask=stubbed, secret=SECRET)
    assert asked.question.tags == {"closed_book": "unknown"}


def test_the_prompt_holds_the_question_and_no_answer_and_is_the_same_for_the_same_question():
    prompt = closed_book_prompt(candidate().question, SECRET)
    shown = "".join(message.content for message in prompt.messages)
    assert "Who dug the canal?" in shown
    assert "Palmgren" not in shown
    assert prompt == closed_book_prompt(candidate(reference="Another").question, SECRET)
    assert prompt.nonce is not None
    statement = closed_book_prompt(candidate(kind="true_false").question, SECRET)
    assert "true or false" in statement.messages[0].content
