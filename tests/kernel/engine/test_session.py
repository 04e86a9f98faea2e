"""What a session opens for dense retrievers and for judges: endpoints' embedders, counted and closed."""

import asyncio
import threading
from pathlib import Path

import msgspec
import pytest
from tests.support.scripts import embed_words, fail

from ragstone.kernel.config import (
    RetrieveSection,
)
from ragstone.kernel.engine.session import SessionOptions, open_session
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.llm import CallFailed, Caps
from ragstone.kernel.records import Answer, Chunk, Question
from ragstone.kernel.stages.judge import judge_rows
from ragstone.kernel.stages.retrieve import rank_questions

QUESTIONS = [Question(id=f"q{n}", question=f"what is word{n}?") for n in range(10)]
CHUNKS = [
    Chunk(id=f"c{n}", document_id=f"d{n}", text=f"word{n} is here", start=0, end=len(f"word{n} is here"))
    for n in range(100)
]


def settings_of(fake, root: Path, **table):
    table = {"price_usd_per_million": {"input": 2.0, "output": 0.0}, "dimensions": 1024, **table}
    given = fake.settings(root=root, **table)
    dense = RetrieveSection(retriever="dense", embedder="openai/fake", k=2)
    return msgspec.structs.replace(given, retrieve=dense)


async def ranked(settings, **options):
    async with open_session(settings, SessionOptions(**options)) as session:
        rankings = await rank_questions(QUESTIONS, CHUNKS, session)
        return rankings, session.calls()


async def test_an_endpoints_vectors_rank_and_are_counted_once(fake_openai, tmp_path):
    settings = settings_of(fake_openai, tmp_path)
    rankings, calls = await ranked(settings)
    assert [one.items[0].document_id for one in rankings] == [f"d{n}" for n in range(10)]
    # 100 chunks in two batches, 10 questions in one; the fake counts a token for each four characters.
    tokens = sum(len(chunk.text) // 4 + 1 for chunk in CHUNKS) + sum(
        len(question.question) // 4 + 1 for question in QUESTIONS
    )
    assert (calls.made, calls.usage.input) == (3, tokens)
    assert calls.cost_usd == pytest.approx(tokens * 2e-6)
    again, calls = await ranked(settings)
    assert again == rankings
    assert (calls.made, calls.cost_usd, fake_openai.n_requests) == (0, 0.0, 3)
    offline, _ = await ranked(settings, offline=True)
    assert offline == rankings
    assert not [thread for thread in threading.enumerate() if thread.name == "ragstone-embedding"]


async def test_threads_that_ask_at_once_share_one_embedder(fake_openai, tmp_path):
    both = threading.Barrier(4)  # so many documents are chunked by meaning at once

    async with open_session(settings_of(fake_openai, tmp_path)) as session:

        def embedder() -> object:
            both.wait(60)
            return session.embedder("openai/fake")

        opened = await asyncio.gather(*(asyncio.to_thread(embedder) for _ in range(both.parties)))
    assert len(set(map(id, opened))) == 1


async def test_a_cap_that_cuts_embedding_says_how_far_it_came(fake_openai, tmp_path, says):
    with pytest.raises(CallFailed) as over:
        await ranked(settings_of(fake_openai, tmp_path), caps=Caps(calls=1))
    says(over.value)
    assert over.value.status == "over_budget"


async def judged(settings, n_rows=200):
    answers = [
        Answer(question_id=f"q{n}", answer=f"answer {n}", reference=f"truth {n}") for n in range(n_rows)
    ]
    async with open_session(settings) as session:
        rows = judge_rows(lambda: answers, load_judges(["similarity"]), session, n_rows)
        return [row async for row in rows], session.calls()


async def test_a_judge_of_similarity_asks_for_many_rows_at_once(fake_openai, tmp_path):
    fake_openai.latency_s = 0.01
    rows, calls = await judged(settings_of(fake_openai, tmp_path))
    # `answer 7` and `truth 7` share one of their two words, and no hashed dimension but by chance.
    assert {row.status for row in rows} == {"scored"}
    assert min(row.score for row in rows) >= 0.5 - 1e-6
    assert calls.made <= 10  # 400 texts in batches of 64, not 200 calls


async def test_rows_whose_texts_are_lost_fail_alone(fake_openai, tmp_path, says):
    def script(body):
        lost = "answer 7" in body["input"]
        return fail(400, "content too long") if lost else embed_words(body)

    fake_openai.embedding = script
    rows, _ = await judged(settings_of(fake_openai, tmp_path), 100)
    failed = [row for row in rows if row.status != "scored"]
    assert [(row.question_id, row.status) for row in failed] == [("q7", "error")]
    says(failed[0].error)


async def test_ctrl_c_ends_the_session_and_keeps_what_was_in_flight(fake_openai, tmp_path):
    fake_openai.latency_s = 0.2
    settings = settings_of(fake_openai, tmp_path, max_concurrency=1)
    work = asyncio.create_task(ranked(settings))
    while not fake_openai.n_requests:  # noqa: ASYNC110 - the server lives in another thread
        await asyncio.sleep(0.01)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert fake_openai.n_requests == 1
    fake_openai.latency_s = 0
    await ranked(settings)
    assert set(fake_openai.embedded.values()) == {1}
