import pytest

from ragstone.dataset.candidate import Candidate, lose
from ragstone.dataset.closed_book import ClosedBookReply, ask_closed_book, closed_book_prompt, drop_known
from ragstone.llm import CallFailed, Reply
from ragstone.llm.madeup import made_up_reply
from ragstone.records import Question, Usage

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
    async def ask(prompt):
        raise CallFailed("timeout", "no reply in 60 s")

    asked = await ask_closed_book(candidate(), ask=ask, secret=SECRET)
    assert asked.loss is None
    assert asked.question.tags is None
    assert asked.question.metadata == {"closed_book": {"status": "timeout", "error": "no reply in 60 s"}}


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


async def test_a_known_question_is_dropped_with_the_answer_that_was_given():
    known = await ask_closed_book(candidate(), ask=saying("Ada Palmgren"), secret=SECRET)
    loss = drop_known(known).loss
    assert (loss.reason, loss.detail) == ("known_by_heart", "answered 'Ada Palmgren' without a document")
    unknown = await ask_closed_book(candidate(), ask=saying("Nobody"), secret=SECRET)
    assert drop_known(unknown) is unknown
    assert drop_known(candidate()).loss is None


async def test_a_made_up_reply_of_a_forecast_is_survived():
    async def ask(prompt):
        return made_up_reply(prompt)

    asked = await ask_closed_book(candidate(), ask=ask, secret=SECRET)
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
