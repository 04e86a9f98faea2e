import msgspec
import numpy as np
import pytest
from tests.support.doors import stubbed
from tests.support.golden import check_prompt
from tests.support.scripted_judge import Scripted

from ragstone.features.build._chains import MOST_CHAINS
from ragstone.features.build._extras import NEAREST, needs_all, pair_passages, write_negative
from ragstone.kernel.dataset.candidate import Candidate, Loss, SourcePassage
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Question


def passage(name, text, start=0, lang="en"):
    return SourcePassage(document_id=name, start=start, end=start + len(text), text=text, lang=lang)


TEXTS = [
    "wheat is sown early and wants cool nights",
    "barley stands drought better than most",
    "maize grows tall where summers are hot",
    "oats feed horses in northern lands",
    "rye bread keeps for weeks on end",
    "rice fields are flooded every spring",
]
PASSAGES = [passage(f"d{number}", text) for number, text in enumerate(TEXTS)]


def finding(*found):
    """Return a search that always finds these, and notes what it was asked."""

    async def search(text):
        search.asked.append(text)
        return list(found)

    search.asked = []
    return search


async def paired(passages, search, n=5, seed=0):
    return await pair_passages(passages, search, n, np.random.default_rng(seed))


async def test_the_nearest_of_another_document_is_the_partner():
    first, near, far = (
        passage("a", "cattle graze"),
        passage("b", "cattle drink"),
        passage("c", "cattle sleep"),
    )
    same = passage("a", "cattle rest", start=50)
    pairs = await paired([first], finding(first, same, near, far), n=1)
    assert pairs == [(first, near)]


async def test_the_search_is_by_the_passages_own_text():
    search = finding()
    assert await paired(PASSAGES[:1], search) == []
    assert set(search.asked) == {PASSAGES[0].text}


async def test_near_duplicates_are_no_pair():
    first = passage("a", "one two three four five six seven eight nine ten")
    copy = passage("b", "one two three four five six seven eight nine eleven")
    other = passage("c", "one two three four and then other words come in")
    assert await paired([first], finding(copy, other), n=1) == [(first, other)]


async def test_two_languages_make_no_pair():
    assert (
        await paired([passage("a", "cattle graze")], finding(passage("b", "cattle drink", lang="de"))) == []
    )


async def test_pairs_are_distinct_and_no_passage_is_in_more_than_a_few():
    pairs = await paired(PASSAGES, finding(*PASSAGES), n=100)
    keys = [frozenset((one.document_id, other.document_id)) for one, other in pairs]
    assert len(set(keys)) == len(keys)
    assert all(one.document_id != other.document_id for one, other in pairs)
    for each in PASSAGES:
        assert sum(each.document_id in key for key in keys) <= MOST_CHAINS
    # Six passages, each in three pairs at most: nine pairs at most.
    assert 6 <= len(pairs) <= 9


async def test_all_passages_have_their_turn_before_one_has_its_second():
    pairs = await paired(PASSAGES, finding(*PASSAGES), n=3)
    assert len({each.document_id for pair in pairs for each in pair}) == 6


@pytest.mark.parametrize("n", [0, 1, 4])
async def test_as_many_as_are_wanted(n):
    assert len(await paired(PASSAGES, finding(*PASSAGES), n=n)) == n


async def test_the_seed_decides_and_nothing_else():
    search = finding(*PASSAGES)
    assert await paired(PASSAGES, search, n=3, seed=1) == await paired(PASSAGES, search, n=3, seed=1)
    assert await paired(PASSAGES, search, n=3, seed=1) != await paired(PASSAGES, search, n=3, seed=2)


TWO = Candidate(
    question=Question(id="d0#1", question="Which is sown earlier, wheat or barley?", reference="Wheat."),
    passages=tuple(PASSAGES[:2]),
)


def said(answered, reason="So it is."):
    return {"reason": reason, "answered": answered}


async def test_a_question_that_neither_passage_answers_needs_all():
    ask = Scripted(said(False, "No barley."), said(False, "No wheat."))
    found = await needs_all(TWO, ask=ask, secret=b"secret")
    assert found.loss is None
    assert found.question.metadata == {"hops": {"d0": "No barley.", "d1": "No wheat."}}
    shown = [prompt.messages[1].content for prompt in ask.prompts]
    assert [[one.text in text for one in TWO.passages] for text in shown] == [[True, False], [False, True]]
    assert all("Wheat." not in text for text in shown)  # the answer would help to find it


@pytest.mark.parametrize("replies", [(said(True, "It says so."),), (said(False), said(True, "It says so."))])
async def test_one_that_a_passage_alone_answers_is_lost(replies, says):
    ask = Scripted(*replies)
    found = await needs_all(TWO, ask=ask, secret=b"secret")
    assert found.loss.reason == "single_hop"
    says(found.loss.detail)
    assert len(ask.prompts) == len(replies)


async def test_a_failed_call_is_never_taken_for_needing_both(says):
    ask = Scripted(said(False), CallFailed("timeout", "no reply within 60 s"))
    found = await needs_all(TWO, ask=ask, secret=b"secret")
    assert found.loss.reason == "not_criticised"
    says(found.loss.detail)


async def test_a_lost_one_and_one_of_a_single_passage_are_not_asked_about():
    single = Candidate(question=TWO.question, passages=TWO.passages[:1])
    lost = Candidate(question=TWO.question, passages=TWO.passages, loss=Loss(reason="duplicate"))
    for one in (single, lost):
        assert await needs_all(one, ask=Scripted(), secret=b"secret") is one


async def test_a_made_up_reply_of_a_forecast_is_survived():
    assert (await needs_all(TWO, ask=stubbed, secret=b"secret")).loss.reason == "single_hop"


TEXT = "The pump lifts 40 litres a minute. It was bought in 2019 from a dealer in Ulm."
PASSAGE = SourcePassage(document_id="d", start=100, end=100 + len(TEXT), text=TEXT, lang="en")
OTHER = SourcePassage(document_id="e", start=0, end=18, text="Pumps cost little.", lang="en")

DRAFT = {
    "missing": "the price of the pump",
    "quote": "It was bought in 2019 from a dealer in Ulm.",
    "question": "How much did the pump from the dealer in Ulm cost?",
    "wrong_answer": "2019 euros",
}
UNANSWERED = {"reason": "No price is told.", "answered": False}


def drafted(**changed):
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
    found, _ = await written(drafted(), UNANSWERED)
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
    _, ask = await written(drafted(), UNANSWERED, passage=titled)
    shown = ask.prompts[0].messages[1].content
    assert shown.startswith("<title " if title else "<passage ")
    assert TEXT in shown


async def test_the_prompts_read_as_they_did():
    _, ask = await written(drafted(), UNANSWERED)
    for name, prompt in zip(("negative", "answering"), ask.prompts, strict=True):
        check_prompt(name, prompt.messages)


async def test_the_nearest_passages_are_looked_at_for_an_answer_the_own_one_first(says):
    search.asked.clear()
    _, ask = await written(drafted(), UNANSWERED)
    shown = ask.prompts[1].messages[1].content
    assert search.asked == [DRAFT["question"]]
    says(shown)
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
    many = [SourcePassage(document_id=str(n), start=0, end=1, text=text) for n in range(20)]

    async def finding_many(_text):
        return many

    ask = Scripted(drafted(), UNANSWERED)
    await write_negative(PASSAGE, finding_many, audience="x", ask=ask, secret=b"s")
    assert ask.prompts[1].messages[1].content.count(text) == n_shown - 1


async def test_one_that_a_passage_answers_is_lost():
    reason = "[2] tells the price."
    found, _ = await written(drafted(), {"reason": reason, "answered": True})
    assert found.candidates[0].loss == Loss(reason="answerable", detail=reason)


async def test_without_the_check_it_is_never_accepted():
    found, _ = await written(drafted(), CallFailed("timeout", "late"))
    assert found.candidates[0].loss == Loss(reason="not_criticised", detail="answerable: timeout, late")


async def test_a_call_that_failed_gives_no_candidate():
    found, _ = await written(CallFailed("refused", "no"))
    assert (found.candidates, found.n_asked) == ([], 1)
    assert found.failed == Loss(reason="call_failed", detail="refused: no")


async def test_tempting_words_that_are_not_in_the_passage_lose_it():
    found, ask = await written(drafted(quote="The pump runs on moonlight and good will."))
    assert found.candidates[0].loss.reason == "no_evidence"
    assert "tempting" not in found.candidates[0].question.metadata
    assert len(ask.prompts) == 1


GERMAN = "Wie viel hat die Pumpe von dem Händler in Ulm damals gekostet?"


async def test_in_another_language_it_is_lost_and_asked_for_once_more(says):
    found, ask = await written(drafted(question=GERMAN), drafted(), UNANSWERED)
    first, second = found.candidates
    assert first.loss.reason == "wrong_language"
    says(first.loss.detail)
    assert (first.question.lang, second.question.lang, second.loss) == ("de", "en", None)
    told = [prompt.messages[0].content for prompt in ask.prompts[:2]]
    assert told[0] != told[1]
    assert "English" in told[1]


async def test_twice_in_another_language_is_lost_twice_and_asked_no_more():
    found, ask = await written(drafted(question=GERMAN), drafted(question=GERMAN))
    assert [one.loss.reason for one in found.candidates] == ["wrong_language", "wrong_language"]
    assert len(ask.prompts) == 2


async def test_where_the_second_call_fails_the_first_question_is_counted_all_the_same():
    found, _ = await written(drafted(question=GERMAN), CallFailed("timeout", "late"))
    assert [one.loss.reason for one in found.candidates] == ["wrong_language"]
    assert found.failed == Loss(reason="call_failed", detail="timeout: late")


async def test_a_model_of_its_own_can_look_for_the_answer():
    check = Scripted(UNANSWERED)
    found, ask = await written(drafted(), check=check)
    assert found.candidates[0].loss is None
    assert (len(ask.prompts), len(check.prompts)) == (1, 1)


@pytest.mark.parametrize(("sample", "temperature"), [(0, None), (2, 0.7)])
async def test_another_sample_is_another_call(sample, temperature):
    _, ask = await written(drafted(), UNANSWERED, sample=sample)
    assert (ask.prompts[0].sample, ask.prompts[0].temperature) == (sample, temperature)


async def test_a_negative_survives_a_made_up_reply_of_a_forecast():
    found, _ = await written(ask=stubbed)
    assert found.candidates[0].loss.reason == "no_evidence"
