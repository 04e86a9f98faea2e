import os
from pathlib import Path

import msgspec
import pytest
from tests.support.scripted_judge import Scripted

from ragstone.dataset.candidate import Loss, Passage
from ragstone.dataset.negatives import NEAREST, write_negative
from ragstone.llm import CallFailed
from ragstone.llm.madeup import made_up_reply

GOLDEN = Path(__file__).parent.parent / "golden" / "prompts"
TEXT = "The pump lifts 40 litres a minute. It was bought in 2019 from a dealer in Ulm."
PASSAGE = Passage(document_id="d", start=100, end=100 + len(TEXT), text=TEXT, lang="en")
OTHER = Passage(document_id="e", start=0, end=18, text="Pumps cost little.", lang="en")

DRAFT = {
    "missing": "the price of the pump",
    "quote": "It was bought in 2019 from a dealer in Ulm.",
    "question": "How much did the pump from the dealer in Ulm cost?",
    "wrong_answer": "2019 euros",
}
UNANSWERED = {"reason": "No price is told.", "answered": False}


def said(**changed):
    return DRAFT | changed


async def search(text):
    search.asked.append(text)
    return [OTHER, PASSAGE]


search.asked = []


async def written(*replies, passage=PASSAGE, **changed):
    ask = Scripted(*replies)
    settings = {"audience": "farmers", "ask": ask, "secret": b"secret"} | changed
    return await write_negative(passage, search, **settings), ask


async def test_a_negative_is_unanswerable_and_names_what_tempts():
    found, _ = await written(said(), UNANSWERED)
    (one,) = found.candidates
    assert found.failed is None
    assert one.loss is None
    question = one.question
    assert (question.question, question.answerable, question.lang) == (DRAFT["question"], False, "en")
    assert (question.reference, question.evidence, question.document_ids) == (None, None, None)
    assert question.tags == {"style": "negative"}
    assert question.metadata == {
        "missing": "the price of the pump",
        "quote": DRAFT["quote"],
        "wrong_answer": "2019 euros",
        "tempting": {"document_id": "d", "start": 135, "end": 178},
        "unanswered": "No price is told.",
    }
    # Offsets are those of the document, where the passage begins at 100.
    assert TEXT[135 - 100 : 178 - 100] == DRAFT["quote"]


@pytest.mark.parametrize("title", ["Pumps", None])
async def test_the_passage_is_shown_after_its_title_if_it_has_one(title):
    titled = msgspec.structs.replace(PASSAGE, title=title)
    _, ask = await written(said(), UNANSWERED, passage=titled)
    shown = ask.prompts[0].messages[1].content
    assert shown.startswith("<title " if title else "<passage ")
    assert TEXT in shown


async def test_the_prompts_read_as_they_did():
    _, ask = await written(said(), UNANSWERED)
    for name, prompt in zip(("negative", "answering"), ask.prompts, strict=True):
        texts = (f"--- {message.role}\n{message.content}" for message in prompt.messages)
        text = "\n\n".join(texts) + "\n"
        golden = GOLDEN / f"{name}.txt"
        if os.environ.get("RAGSTONE_UPDATE_GOLDEN"):
            golden.write_text(text, encoding="utf-8")
        assert text == golden.read_text(encoding="utf-8")


async def test_the_nearest_passages_are_looked_at_for_an_answer_the_own_one_first():
    search.asked.clear()
    _, ask = await written(said(), UNANSWERED)
    shown = ask.prompts[1].messages[1].content
    assert search.asked == [DRAFT["question"]]
    assert f"\n[1] {TEXT}\n\n[2] Pumps cost little.\n" in shown
    assert DRAFT["question"] in shown
    assert "2019 euros" not in shown


@pytest.mark.parametrize(
    ("text", "n_shown"),
    [
        ("a text", NEAREST),
        ("a" * 3000, NEAREST),  # 79 + 4 * 3,000 bytes
        ("\u0915" * 2000, 3),  # three bytes a character: 79 + 2 * 6,000, and a third would be 18,079
        ("a" * 20_000, 1),
    ],
)
async def test_no_more_passages_are_shown_than_a_context_holds(text, n_shown):
    many = [Passage(document_id=str(n), start=0, end=1, text=text) for n in range(20)]

    async def finding_many(_text):
        return many

    ask = Scripted(said(), UNANSWERED)
    await write_negative(PASSAGE, finding_many, audience="x", ask=ask, secret=b"s")
    assert ask.prompts[1].messages[1].content.count(text) == n_shown - 1


async def test_one_that_a_passage_answers_is_lost():
    found, _ = await written(said(), {"reason": "[2] tells the price.", "answered": True})
    assert found.candidates[0].loss == Loss(reason="answerable", detail="[2] tells the price.")


async def test_without_the_check_it_is_never_accepted():
    found, _ = await written(said(), CallFailed("timeout", "late"))
    assert found.candidates[0].loss == Loss(reason="not_criticised", detail="answerable: timeout, late")


async def test_a_call_that_failed_gives_no_candidate():
    found, _ = await written(CallFailed("refused", "no"))
    assert (found.candidates, found.n_asked) == ([], 1)
    assert found.failed == Loss(reason="call_failed", detail="refused: no")


async def test_tempting_words_that_are_not_in_the_passage_lose_it():
    found, ask = await written(said(quote="The pump runs on moonlight and good will."))
    assert found.candidates[0].loss.reason == "no_evidence"
    assert "tempting" not in found.candidates[0].question.metadata
    assert len(ask.prompts) == 1


GERMAN = "Wie viel hat die Pumpe von dem Händler in Ulm damals gekostet?"


async def test_in_another_language_it_is_lost_and_asked_for_once_more():
    found, ask = await written(said(question=GERMAN), said(), UNANSWERED)
    first, second = found.candidates
    assert first.loss == Loss(reason="wrong_language", detail="de in place of en")
    assert (first.question.lang, second.question.lang, second.loss) == ("de", "en", None)
    told = [prompt.messages[0].content for prompt in ask.prompts[:2]]
    assert told[0] != told[1]
    assert "English" in told[1]


async def test_twice_in_another_language_is_lost_twice_and_asked_no_more():
    found, ask = await written(said(question=GERMAN), said(question=GERMAN))
    assert [one.loss.reason for one in found.candidates] == ["wrong_language", "wrong_language"]
    assert len(ask.prompts) == 2


async def test_where_the_second_call_fails_the_first_question_is_counted_all_the_same():
    found, _ = await written(said(question=GERMAN), CallFailed("timeout", "late"))
    assert [one.loss.reason for one in found.candidates] == ["wrong_language"]
    assert found.failed == Loss(reason="call_failed", detail="timeout: late")


async def test_a_model_of_its_own_can_look_for_the_answer():
    check = Scripted(UNANSWERED)
    found, ask = await written(said(), check=check)
    assert found.candidates[0].loss is None
    assert (len(ask.prompts), len(check.prompts)) == (1, 1)


@pytest.mark.parametrize(("sample", "temperature"), [(0, None), (2, 0.7)])
async def test_another_sample_is_another_call(sample, temperature):
    _, ask = await written(said(), UNANSWERED, sample=sample)
    assert (ask.prompts[0].sample, ask.prompts[0].temperature) == (sample, temperature)


async def test_a_made_up_reply_of_a_forecast_is_survived():
    async def ask(prompt):
        return made_up_reply(prompt)

    found, _ = await written(ask=ask)
    assert found.candidates[0].loss.reason == "no_evidence"
