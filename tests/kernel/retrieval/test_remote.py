import asyncio
import time

import pytest
from tests.support.fake_retriever import Answered, serving

from ragstone.kernel.config import HttpSettings, HybridSettings
from ragstone.kernel.errors import ConfigError, DataError, ModelError
from ragstone.kernel.records import Chunk, Document, Question
from ragstone.kernel.retrieval import _remote as remote_module
from ragstone.kernel.retrieval.deps import ChunkFilter, RetrieverDeps
from ragstone.kernel.retrieval.search import build_search

DOCUMENTS = {
    "d0": Document(id="d0", text="Maize needs water.\nMuch of it."),
    "d1": Document(id="d1", text="Wheat needs sun."),
}
CHUNKS = [
    Chunk(id=f"{d.id}#0", document_id=d.id, text=d.text, start=0, end=len(d.text)) for d in DOCUMENTS.values()
]
ASKED = [Question(id="q0", question="What does maize need?", lang="en", tags={"crop": "maize"})]


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr(remote_module, "backoff_s", lambda attempt, draw: 0.0)
    with serving() as server:
        yield server


async def concurrently(_name, work, questions):
    return await asyncio.gather(*map(work, questions))


async def ask(fake, questions=ASKED, k=3, *, chunks=CHUNKS, url=None, name="mine", retrievers=None, **given):
    of_means = {key: given.pop(key) for key in ("filter", "offline", "documents", "each") if key in given}
    declared = HttpSettings(url=url or fake.url, **given)
    deps = RetrieverDeps(
        retrievers={"mine": declared, **(retrievers or {})}, **{"documents": DOCUMENTS, **of_means}
    )
    search = await build_search(name, chunks, deps)
    return await search(questions, k)


def results(*found):
    return lambda _asked: {"results": list(found)}


async def test_the_question_goes_out_as_the_template_says_and_numbers_stay_numbers(fake):
    request = {
        "q": "{question}",
        "n": "{k}",
        "filter": [{"crop": "{tag.crop}", "lang": "{lang}", "region": "{tag.region}"}],
        "note": "crop: {tag.crop}, region: {tag.region}",
        "exact": True,
    }
    await ask(fake, request=request)
    (asked,) = fake.asked
    assert (asked.method, asked.headers["Content-Type"]) == ("POST", "application/json")
    assert asked.body == {
        "q": "What does maize need?",
        "n": 3,
        "filter": [{"crop": "maize", "lang": "en", "region": None}],
        "note": "crop: maize, region: ",
        "exact": True,
    }


async def test_results_are_placed_in_their_documents_exactly_or_with_other_white_space(fake):
    # "needs water" begins at 6 in d0; "water. Much of" stands there with a line break: 12 to 26.
    fake.script = results(
        {"document_id": "d0", "chunk_id": "x", "text": "needs water", "score": 9},
        {"document_id": "d0", "text": " water. Much of ", "score": 8.5},
        {"document_id": "d1", "text": "Nobody wrote this.", "score": 3},
        {"document_id": "elsewhere", "text": "Wheat needs sun.", "score": 2},
    )
    (ranking,) = await ask(fake, k=9)
    assert [(i.document_id, i.chunk_id, i.start, i.end, i.text, i.score) for i in ranking.items] == [
        ("d0", "x", 6, 17, None, 9.0),
        ("d0", None, 12, 26, None, 8.5),
        ("d1", None, None, None, "Nobody wrote this.", 3.0),
        ("elsewhere", None, None, None, "Wheat needs sun.", 2.0),
    ]
    assert ranking.retriever == "mine"


async def test_a_chunk_of_ours_without_a_text_stands_where_it_stands(fake):
    fake.script = results(
        {"document_id": "d1", "chunk_id": "d1#0"}, {"document_id": "d0", "chunk_id": "d1#0"}
    )
    (ranking,) = await ask(fake)
    assert [(item.start, item.end) for item in ranking.items] == [(0, 16), (None, None)]


async def test_paths_find_the_results_wherever_they_stand_and_ids_may_be_numbers(fake):
    fake.script = lambda _asked: {"hits": {"hits": [{"_source": {"id": 7, "body": "x"}, "_score": 0.5}]}}
    (ranking,) = await ask(
        fake, chunks=[], documents={}, items="$.hits.hits", document_id="$._source.id", text="$._source.body",
        score="$._score", chunk_id=None,
    )  # fmt: skip
    assert [(item.document_id, item.text, item.score) for item in ranking.items] == [("7", "x", 0.5)]


async def test_results_may_be_nothing_but_ids(fake):
    fake.script = results("d1", "d0")
    (ranking,) = await ask(fake, document_id="$")
    assert [(item.document_id, item.score) for item in ranking.items] == [("d1", 1.0), ("d0", 0.5)]


@pytest.mark.parametrize("scores", [(0.1, 0.2, 0.3), (3, None, 1), ("high", "low", "low")])
async def test_scores_that_rise_or_are_missing_become_reciprocal_places(fake, scores):
    fake.script = results(
        *({"document_id": f"d{n % 2}", "text": str(n), "score": s} for n, s in enumerate(scores))
    )
    (ranking,) = await ask(fake)
    assert [item.score for item in ranking.items] == [1.0, 0.5, 1 / 3]


async def test_more_results_than_k_are_cut_and_the_same_result_twice_is_one(fake):
    fake.script = results(*({"document_id": name, "score": 1} for name in ("d0", "d0", "d1", "d2")))
    (ranking,) = await ask(fake, k=3)
    assert [item.document_id for item in ranking.items] == ["d0", "d1"]


async def test_a_blank_question_is_not_asked(fake):
    (ranking,) = await ask(fake, [Question(id="q", question="  ")])
    assert (ranking.items, fake.asked) == ([], [])


async def test_an_overloaded_server_is_asked_again_after_the_time_that_it_names(fake):
    said = [
        Answered(429, b"slow down", {"Retry-After": "0.2"}),
        Answered(503),
        {"results": [{"document_id": "d0"}]},
    ]
    fake.script = lambda _asked: said.pop(0)
    started = time.monotonic()
    (ranking,) = await ask(fake)
    assert [item.document_id for item in ranking.items] == ["d0"]
    assert time.monotonic() - started >= 0.2


async def test_a_question_whose_call_fails_has_an_empty_ranking_that_says_why(fake):
    def script(asked):
        return (
            Answered(500, b"broken")
            if "wheat" in asked.body["query"]
            else {"results": [{"document_id": "d0"}]}
        )

    fake.script = script
    failed, found = await ask(fake, [Question(id="a", question="wheat?"), *ASKED])
    assert (failed.items, len(found.items)) == ([], 1)
    assert failed.metadata == {"error": f"error: {fake.url}: HTTP 500: broken"}
    assert len(fake.asked) == remote_module.ATTEMPTS + 1
    assert found.metadata is None


@pytest.mark.parametrize(
    "answered",
    [
        Answered(401, b"who are you?"),
        {"hits": [], "took": 3},
        {"results": [{"id": "d0", "body": "x"}]},
        ["d0"],
        Answered(200, b"[[[7]]]"),
        Answered(404, b"nothing here"),
    ],
    ids=["a key", "no list", "no id", "a list", "lists", "nothing there"],
)
async def test_where_every_question_fails_the_first_reason_is_told(fake, answered, says):
    fake.script = lambda _asked: answered
    with pytest.raises(ModelError) as error:
        await ask(fake)
    says(error.value)
    assert len(fake.asked) == 1


async def test_a_reply_nested_too_deeply_for_its_path_is_a_failure_of_the_question(fake, says):
    fake.script = lambda _asked: Answered(content=b'{"results":' + b"[" * 800 + b"]" * 800 + b"}")
    with pytest.raises(ModelError) as error:
        await ask(fake, items="$..hits[*]")
    says(error.value)


async def test_a_reply_that_breaks_off_in_the_middle_is_asked_for_again(fake):
    whole = b'{"results": [{"document_id": "d0"}]}'
    sent = [whole[:20], whole]

    async def respond(reader, writer):
        await reader.readuntil(b"}")  # the body of the request
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(whole), sent.pop(0)))
        writer.close()

    async with await asyncio.start_server(respond, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        (ranking,) = await ask(fake, url=f"http://127.0.0.1:{port}/search")
    assert ([item.document_id for item in ranking.items], sent) == (["d0"], [])


async def test_an_empty_list_of_results_is_no_failure(fake):
    (ranking,) = await ask(fake)
    assert (ranking.items, ranking.metadata) == ([], None)


async def test_a_server_that_is_down_ends_the_command_before_all_questions_are_tried(fake, says):
    questions = [Question(id=str(n), question="maize?") for n in range(100)]
    with pytest.raises(ModelError) as error:
        await ask(fake, questions, url="http://user:secret@127.0.0.1:9/search")
    says(error.value)
    with pytest.raises(ModelError) as told:
        await ask(fake, url="http://user:secret@127.0.0.1:9/search")
    assert "secret" not in str(told.value)


async def test_no_more_calls_than_allowed_are_made_at_once(fake):
    fake.latency_s = 0.01
    questions = [Question(id=str(n), question="maize?") for n in range(12)]
    await ask(fake, questions, each=concurrently, max_concurrency=3)
    assert (len(fake.asked), fake.most_in_flight) == (12, 3)


async def test_the_key_goes_into_the_header_and_a_missing_one_is_named(fake, monkeypatch, says):
    with pytest.raises(ModelError) as error:
        await ask(fake, api_key_env="MY_SEARCH_KEY")
    says(error.value)
    monkeypatch.setenv("MY_SEARCH_KEY", "sesame")
    await ask(fake, api_key_env="MY_SEARCH_KEY")
    assert fake.asked[0].headers["Authorization"] == "Bearer sesame"
    await ask(fake, api_key_env="MY_SEARCH_KEY", headers={"Authorization": "ApiKey {key}", "X-Team": "a"})
    assert fake.asked[1].headers["Authorization"] == "ApiKey sesame"
    assert fake.asked[1].headers["X-Team"] == "a"


async def test_offline_nobody_is_asked(fake, says):
    with pytest.raises(ModelError) as error:
        await ask(fake, offline=True, url="http://me:word@a.org")
    says(error.value)
    assert fake.asked == []


async def test_ids_that_are_all_unknown_are_a_mistake_and_some_are_not(fake, says):
    fake.script = results({"document_id": "D-0"}, {"document_id": "D-1"})
    with pytest.raises(DataError) as error:
        await ask(fake)
    says(error.value)
    assert len((await ask(fake, chunks=[], documents={}))[0].items) == 2


async def test_filters_are_passed_on_or_refused(fake, says):
    among = ChunkFilter(where={"crop": "wheat"}, match=("lang",))
    request = {"q": "{question}", "crop": "{tag.crop}", "lang": "{lang}"}
    await ask(fake, request=request, filter=among)
    assert fake.asked[0].body == {"q": "What does maize need?", "crop": "wheat", "lang": "en"}
    with pytest.raises(ConfigError) as error:
        await ask(fake, filter=among)
    says(error.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"request": {"q": "{qestion}"}}, r"nothing fills \{qestion\}. Did you mean 'question'"),
        ({"request": {"q": "maize"}}, r"put \{question\} into `request`"),
        ({"items": "$.results["}, r"mine: items = '\$\.results\[' is not a JSONPath"),
    ],
)
async def test_wrong_declarations_are_met_with_the_fix(fake, given, says):
    with pytest.raises(ConfigError, match=says):
        await ask(fake, **given)


@pytest.mark.parametrize("found", [{}, {"text": "Maize needs water. Much of it."}])
async def test_whole_documents_are_fused_with_chunks_by_document(fake, found):
    halves = [
        Chunk(id="d0#0", document_id="d0", text="Maize needs water.", start=0, end=18),
        Chunk(id="d0#1", document_id="d0", text="Much of it.", start=19, end=30),
        CHUNKS[1],
    ]
    fake.script = results({"document_id": "d1"}, {"document_id": "d0"} | found)
    both = {"both": HybridSettings(of=["bm25", "mine"], fusion="ranks")}
    (ranking,) = await ask(fake, chunks=halves, name="both", retrievers=both)
    # BM25 has the first half of d0 alone. d0: 1/61 + 1/62, d1: 1/61.
    assert [(item.document_id, item.start, item.end) for item in ranking.items] == [
        ("d0", 0, 18),
        ("d1", None, None),
    ]
    assert ranking.metadata == {"fused_by": "document"}


async def test_it_is_a_retriever_like_any_other(fake):
    fake.script = results(
        {"document_id": "d1", "text": "Wheat needs sun."}, {"document_id": "d1", "text": "Wheat"}
    )
    both = HybridSettings(of=["bm25", "mine"], fusion="ranks")
    asked = [Question(id="q", question="maize, wheat, sun")]
    (ranking,) = await ask(fake, asked, name="both", retrievers={"both": both})
    # BM25 has d1, which is the chunk that the other calls by no name, before d0.
    assert [(item.document_id, item.start, item.end) for item in ranking.items] == [
        ("d1", 0, 16),
        ("d0", 0, 30),
        ("d1", 0, 5),
    ]
