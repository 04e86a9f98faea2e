import numpy as np
import pytest
from tests.support.scripted_judge import Scripted

from ragstone.dataset.candidate import Candidate, Loss, Passage
from ragstone.dataset.hops import MOST_PAIRS, needs_both, pair_passages
from ragstone.llm import CallFailed
from ragstone.llm.madeup import made_up_reply
from ragstone.records import Question


def passage(name, text, start=0, lang="en"):
    return Passage(document_id=name, start=start, end=start + len(text), text=text, lang=lang)


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
        assert sum(each.document_id in key for key in keys) <= MOST_PAIRS
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


async def test_a_question_that_neither_passage_answers_needs_both():
    ask = Scripted(said(False, "No barley."), said(False, "No wheat."))
    found = await needs_both(TWO, ask=ask, secret=b"secret")
    assert found.loss is None
    assert found.question.metadata == {"hops": {"d0": "No barley.", "d1": "No wheat."}}
    shown = [prompt.messages[1].content for prompt in ask.prompts]
    assert [[one.text in text for one in TWO.passages] for text in shown] == [[True, False], [False, True]]
    assert all("Wheat." not in text for text in shown)  # the answer would help to find it


@pytest.mark.parametrize("replies", [(said(True, "It says so."),), (said(False), said(True, "It says so."))])
async def test_one_that_a_passage_alone_answers_is_lost(replies):
    ask = Scripted(*replies)
    found = await needs_both(TWO, ask=ask, secret=b"secret")
    assert found.loss == Loss(reason="single_hop", detail=f"d{len(replies) - 1} alone: It says so.")
    assert len(ask.prompts) == len(replies)


async def test_a_failed_call_is_never_taken_for_needing_both():
    ask = Scripted(said(False), CallFailed("timeout", "no reply within 60 s"))
    found = await needs_both(TWO, ask=ask, secret=b"secret")
    assert found.loss == Loss(reason="not_criticised", detail="needs_both: timeout, no reply within 60 s")


async def test_a_lost_one_and_one_of_a_single_passage_are_not_asked_about():
    single = Candidate(question=TWO.question, passages=TWO.passages[:1])
    lost = Candidate(question=TWO.question, passages=TWO.passages, loss=Loss(reason="duplicate"))
    for one in (single, lost):
        assert await needs_both(one, ask=Scripted(), secret=b"secret") is one


async def test_a_made_up_reply_of_a_forecast_is_survived():
    async def ask(prompt):
        return made_up_reply(prompt)

    assert (await needs_both(TWO, ask=ask, secret=b"secret")).loss.reason == "single_hop"
