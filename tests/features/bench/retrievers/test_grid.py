import json
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from tests.support.scripts import always, fail

import ragstone
from ragstone.features.bench.retrievers.grid import forecast_bench
from ragstone.features.bench.retrievers.timing import BuiltSearch, Indexes, Watch, search_timed
from ragstone.features.bench.retrievers.words import read_leaderboard
from ragstone.kernel.config import (
    BenchSection,
    ChunkSection,
    DocumentsSection,
    RunSection,
    ShortlistSettings,
    load_settings,
)
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Chunk, Document, Evidence, Question, Ranking, RankingItem
from ragstone.kernel.retrieval.deps import RetrieverDeps
from ragstone.kernel.retrieval.query_measures import measure_cut
from ragstone.kernel.retrieval.search import RETRIEVERS, build_search
from ragstone.kernel.tables import read_rows, write_rows

CROPS = ("wheat", "maize", "barley", "rye", "oats", "rice", "millet", "sorghum")


def documents():
    """Return a document a crop: two paragraphs, of which the second says when it is sown."""
    return [
        Document(
            id=crop,
            text=f"{crop.title()} feeds people and animals in many lands.\n\nOne sows {crop} in month {n}.",
        )
        for n, crop in enumerate(CROPS)
    ]


def questions(*, evidence=True):
    """Return a question a crop, with the second paragraph as its evidence."""
    return [
        Question(
            id=f"q-{document.id}",
            question=f"When does one sow {document.id}?",
            document_ids=[document.id],
            evidence=[
                Evidence(
                    document_id=document.id, start=document.text.index("One sows"), end=len(document.text)
                )
            ]
            if evidence
            else None,
        )
        for document in documents()
    ]


def write_grid(folder, fake):
    """Write eight documents and questions, and settings: two chunkers, BM25, an endpoint that answers."""
    write_rows(folder / "documents.jsonl", documents(), Document)
    write_rows(folder / "questions.jsonl", questions(), Question)
    (folder / "ragstone.toml").write_text(
        '[documents]\npaths = ["documents.jsonl"]\n[questions]\npath = "questions.jsonl"\n'
        "[bench.retrievers]\nretrievers = ['bm25']\nk = [1, 3]\n"
        'chunkers = [{ method = "whole" }, { size = 60 }]\n' + fake.toml()
    )
    return folder


@pytest.fixture
def settings(tmp_path, fake_openai):
    return load_settings(write_grid(tmp_path, fake_openai) / "ragstone.toml")


def with_grid(settings, **keys):
    grid = msgspec.structs.replace(settings.bench.retrievers, **keys)
    return msgspec.structs.replace(settings, bench=BenchSection(retrievers=grid))


def numbers(summary):
    """Return a leaderboard without its times."""
    found = msgspec.to_builtins(summary)
    for row in found["leaderboard"]["standings"]:
        del row["timing"]
    return found


def test_a_bench_writes_leaderboard_rankings_manifest_and_page(settings, tmp_path):
    summary = ragstone.bench_retrievers(settings)
    folder = tmp_path / "runs" / "run-retrievers"
    assert {file.name for file in folder.iterdir()} == {
        "documents.jsonl",
        "questions.jsonl",
        "rankings-01-whole-bm25.jsonl",
        "rankings-02-recursive-60-bm25.jsonl",
        "leaderboard.json",
        "manifest.json",
        "report.html",
    }
    assert numbers(read_leaderboard(folder)) == numbers(summary)
    rankings = list(read_rows(folder / "rankings-01-whole-bm25.jsonl", Ranking))
    assert [ranking.question_id for ranking in rankings] == [question.id for question in questions()]
    assert {ranking.retriever for ranking in rankings} == {"whole · bm25"}
    assert max(len(ranking.items) for ranking in rankings) == 3
    manifest = json.loads((folder / "manifest.json").read_text())
    assert set(manifest["files"]) == {file.name for file in folder.glob("*.jsonl")}
    assert "prompt" not in manifest


def test_run_again_every_number_but_the_times_is_the_same(settings, tmp_path):
    first = ragstone.bench_retrievers(settings)
    files = {file: file.read_bytes() for file in (tmp_path / "runs").rglob("*.jsonl")}
    assert numbers(ragstone.bench_retrievers(settings)) == numbers(first)
    assert {file: file.read_bytes() for file in (tmp_path / "runs").rglob("*.jsonl")} == files


def test_chunkers_are_compared_by_the_characters_of_the_evidence(settings):
    summary = ragstone.bench_retrievers(settings)
    board = summary.leaderboard
    assert board.measure == "span_recall@1"
    assert "evidence" in board.why
    whole = next(row for row in board.standings if row.configuration.chunker.method == "whole")
    assert whole.measures["1"]["span_recall@1"].value == 1.0
    # The evidence is the second paragraph, `One sows X in month N.`: half of the document or less.
    assert whole.measures["1"]["span_precision@1"].value < 0.5
    assert any("span precision" in note for note in summary.notes)


def test_without_evidence_or_with_one_chunker_the_measure_is_ndcg(settings, tmp_path):
    one = with_grid(settings, chunkers=None)
    assert ragstone.bench_retrievers(one).leaderboard.measure == "ndcg@1"
    write_rows(tmp_path / "questions.jsonl", questions(evidence=False), Question, force=True)
    board = ragstone.bench_retrievers(settings, force=True).leaderboard
    assert board.measure == "ndcg@1"
    assert "no evidence" in board.why


def test_declared_measure_orders_the_leaderboard_at_the_first_k(settings):
    board = ragstone.bench_retrievers(with_grid(settings, measure="hit", k=[3, 1])).leaderboard
    assert board.measure == "hit@3"
    assert board.ks == [3, 1]


def test_k_counts_the_chunks_that_an_application_is_given():
    # The first two chunks for wheat are of one document, so the document that is relevant is the second
    # document but the third chunk: an application that takes two chunks does not get it.
    items = [RankingItem(document_id=name, score=1 / n) for n, name in enumerate(("a", "a", "wheat"), 1)]
    ranking = Ranking(question_id="q-wheat", retriever="r", items=items)
    assert measure_cut([ranking], questions()[:1], 2, {}, {}).values["recall@2"] == {"q-wheat": 0.0}
    assert measure_cut([ranking], questions()[:1], 3, {}, {}).values["recall@3"] == {"q-wheat": 1.0}


def test_k_larger_than_the_corpus_measures_what_there_is(settings):
    board = ragstone.bench_retrievers(with_grid(settings, chunkers=None, k=[50])).leaderboard
    assert board.measure == "ndcg@50"
    assert board.standings[0].measures["50"]["recall@50"].value == 1.0


def test_limit_seed_and_other_settings_ask_for_force(settings):
    ragstone.bench_retrievers(settings)
    other = msgspec.structs.replace(settings, run=RunSection(seed=5))
    with pytest.raises(DataError, match=r"other settings \(\[run\]\).*--force"):
        ragstone.bench_retrievers(other)
    assert ragstone.bench_retrievers(other, force=True).leaderboard.n_questions == 8
    judged = msgspec.structs.replace(other, judge=msgspec.structs.replace(other.judge, model="openai/other"))
    ragstone.bench_retrievers(judged)  # judges decide nothing here


def test_reranker_of_the_grid_is_measured_beside_the_retriever_alone(settings, fake_openai):
    grid = with_grid(settings, chunkers=None, rerankers=["none", "openai/fake"])
    board = ragstone.bench_retrievers(grid).leaderboard
    assert {row.configuration.reranker for row in board.standings} == {None, "openai/fake"}
    n_requests = fake_openai.n_requests
    assert n_requests > 0
    reranked = next(row for row in board.standings if row.configuration.reranker)
    assert reranked.timing.questions_per_s is None  # the ledger would answer
    again = ragstone.bench_retrievers(grid)
    assert fake_openai.n_requests == n_requests
    assert again.calls.made == 0


def test_time_of_a_reranker_is_what_the_ledger_recorded_of_its_calls(settings, fake_openai):
    fake_openai.latency_s = 0.2
    grid = with_grid(settings, chunkers=None, rerankers=["openai/fake"])
    for _ in ("asked now", "from the ledger"):
        [row] = ragstone.bench_retrievers(grid).leaderboard.standings
        assert 0.2 <= row.timing.p50_s < 2.0


def test_model_that_nobody_answers_for_is_shown_with_its_reason(settings, fake_openai):
    fake_openai.script = always(fail(401, "no such key"))
    grid = with_grid(settings, chunkers=None, rerankers=["none", "openai/fake"])
    board = ragstone.bench_retrievers(grid).leaderboard
    assert [row.configuration.name for row in board.standings] == ["bm25"]
    assert board.failed[0].configuration.name == "bm25 · openai/fake"
    assert "no such key" in board.failed[0].reason


def test_budget_of_a_reranker_is_kept_and_said(settings, fake_openai, says):
    grid = with_grid(settings, chunkers=None, rerankers=["openai/fake"])
    summary = ragstone.bench_retrievers(grid, budget="2calls")
    assert fake_openai.n_requests == 2
    says("\n".join(summary.notes))


def test_forecast_counts_a_rerankers_calls_for_vectors_that_are_not_there_yet(settings, fake_openai):
    """BM25 stands in for dense search, whose passages and so whose calls will be others."""
    grid = with_grid(
        settings,
        chunkers=None,
        retrievers=["bm25", "dense"],
        embedders=["openai/fake"],
        rerankers=["openai/fake"],
    )
    asked = {model.model: model.calls for model in forecast_bench(grid).models if model.output}
    assert asked == {"openai/fake": 2 * 8}
    assert fake_openai.n_requests == 0
    ragstone.bench_retrievers(grid)
    assert forecast_bench(grid).calls == 0


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda s: with_grid(s, retrievers=[]), ConfigError, "retrievers is empty"),
        (lambda s: with_grid(s, measure="span_recal"), ConfigError, "Did you mean 'span_recall'"),
        (lambda s: with_grid(s, chunkers=[ChunkSection(method="hole")]), ConfigError, "unknown .*'hole'"),
        (
            lambda s: msgspec.structs.replace(s, documents=DocumentsSection()),
            ConfigError,
            "needs questions and",
        ),
    ],
)
def test_bench_that_cannot_be_is_refused_before_a_folder_is_made(settings, change, error, says):
    with pytest.raises(error, match=says):
        ragstone.bench_retrievers(change(settings))


def test_questions_without_documents_and_spans_without_evidence_are_refused(settings, tmp_path, says):
    bare = [Question(id="q", question="When?")]
    write_rows(tmp_path / "questions.jsonl", bare, Question, force=True)
    with pytest.raises(DataError) as error:
        ragstone.bench_retrievers(settings)
    says(error.value)
    write_rows(tmp_path / "questions.jsonl", questions(evidence=False), Question, force=True)
    with pytest.raises(DataError) as error:
        ragstone.bench_retrievers(with_grid(settings, measure="span_recall"))
    says(error.value)


def test_copies_of_a_document_are_as_relevant_as_it(settings, tmp_path):
    copies = [
        Document(id=f"{each.id}-copy", text=each.text, metadata={"group": each.id}) for each in documents()
    ]
    write_rows(tmp_path / "documents.jsonl", copies, Document, force=True)
    asked = [
        msgspec.structs.replace(q, document_ids=[f"{q.document_ids[0]}-copy"], evidence=None)
        for q in questions()
    ]
    write_rows(tmp_path / "questions.jsonl", asked, Question, force=True)
    twins = [*copies, Document(id="wheat-twin", text=copies[0].text, metadata={"group": "wheat"})]
    twins.insert(0, twins.pop())  # the twin comes first where scores are equal
    write_rows(tmp_path / "documents.jsonl", twins, Document, force=True)
    plain = with_grid(settings, chunkers=None)
    assert ragstone.bench_retrievers(plain).leaderboard.standings[0].measures["1"]["recall@1"].value == 7 / 8
    same = msgspec.structs.replace(plain, documents=msgspec.structs.replace(plain.documents, copies="group"))
    board = ragstone.bench_retrievers(same, force=True).leaderboard
    assert board.standings[0].measures["1"]["recall@1"].value == 1.0


def chunks():
    return [
        Chunk(id=f"{d.id}#0", document_id=d.id, text=d.text, start=0, end=len(d.text)) for d in documents()
    ]


async def test_an_index_is_built_once_and_counts_for_each_retriever_that_is_made_from_it(monkeypatch):
    built = []

    async def counted(name, *args):
        built.append(name)
        return await build_search(name, *args)

    monkeypatch.setattr("ragstone.features.bench.retrievers.timing.build_search", counted)
    declared = {
        "both": ragstone.kernel.config.HybridSettings(of=["bm25", "again"]),
        "again": ragstone.kernel.config.Bm25Settings(),
    }
    indexes = Indexes(chunks(), {**RETRIEVERS, **declared}, Watch(RetrieverDeps()))
    alone = await indexes.build("bm25", None, declared)
    both = await indexes.build("both", None, declared)
    assert built[1:] == ["bm25", "again", "both"]  # the first of all is to warm up
    assert both.index_s >= alone.index_s
    assert await indexes.build("bm25", None, declared) is alone
    [ranking] = await both.search(questions()[:1], 3)
    assert ranking.items[0].document_id == "wheat"


async def test_questions_are_timed_one_by_one_with_their_embedding():
    fresh = []

    async def search(asked, k):
        fresh.append((len(asked), watch.fresh))
        return [Ranking(question_id=q.id, retriever="x", items=[]) for q in asked]

    watch = Watch(RetrieverDeps())
    built = BuiltSearch(search=search, index_s=0.5, n_embedded=7, n_cached=0)
    _, found = await search_timed(built, questions(), 3, watch, [])
    assert fresh[0] == (8, False)
    assert fresh[1:] == [(1, True)] * 8
    assert (found.n_timed, found.index_s, found.n_embedded) == (8, 0.5, 7)
    assert 0 <= found.p50_s <= found.p95_s
    assert found.questions_per_s > 0


class CountingEmbedder:
    """Embeds any text alike, and counts the passages that it has not stored."""

    def __init__(self, *, stores):
        self.n_embedded = self.n_cached = 0
        self.stores = stores
        self.stored = set()

    def __call__(self, texts, role):
        new = [text for text in texts if text not in self.stored]
        if role == "passage":
            self.n_embedded += len(new)
        if self.stores:
            self.stored.update(new)
        return np.ones((len(texts), 1), dtype=np.float32)


async def test_a_question_to_a_shortlist_is_timed_with_the_embedding_of_its_passages(monkeypatch):
    stored, unstored = CountingEmbedder(stores=True), CountingEmbedder(stores=False)
    monkeypatch.setattr(
        "ragstone.features.bench.retrievers.timing.open_embedder", lambda _name, settings: unstored
    )
    session = SimpleNamespace(embedder=lambda _name: stored, settings=None)
    watch = Watch(RetrieverDeps(open_embedder=lambda _name: stored), session)
    found = await build_search("shortlist", chunks(), watch.deps())
    at_once = []

    async def search(asked, k):
        at_once.append(len(asked))
        return await found(asked, k)

    built = BuiltSearch(search=search, index_s=0.5, n_embedded=0, n_cached=0)
    for n_at_once in (2, 1):  # what it embeds is in no throughput, so the first time it searches again
        at_once.clear()
        unstored.n_embedded = 0
        await search_timed(built, questions(), 3, watch, ["packaged"])
        assert at_once == [8] * n_at_once + [1] * 8
        assert stored.n_embedded == 8
        assert unstored.n_embedded == 8 * 8  # each question shares a word with each of eight documents


@pytest.mark.model
def test_what_the_time_of_a_shortlist_holds_is_said(settings, says):
    declared = msgspec.structs.replace(
        settings, retrievers={"far": ShortlistSettings(embedder="openai/fake")}
    )
    grid = with_grid(declared, chunkers=None, retrievers=["bm25", "shortlist", "far"])
    about = [note for note in ragstone.bench_retrievers(grid).notes if "median" in note]
    says("\n".join(about))
    assert len(about) == 2


@pytest.mark.model
def test_dense_and_hybrid_share_vectors_and_are_measured(settings):
    grid = with_grid(settings, chunkers=None, retrievers=["bm25", "dense", "hybrid"])
    board = ragstone.bench_retrievers(grid).leaderboard
    rows = {row.configuration.retriever: row for row in board.standings}
    assert set(rows) == {"bm25", "dense", "hybrid"}
    assert rows["dense"].timing.n_embedded == 8
    assert rows["hybrid"].timing.n_embedded == 8  # with what the index that it is made from took
    assert rows["dense"].timing.p50_s > rows["bm25"].timing.p50_s
    again = ragstone.bench_retrievers(grid)
    assert msgspec.structs.replace(again.leaderboard, standings=[]) == msgspec.structs.replace(
        board, standings=[]
    )
    [dense] = [row for row in again.leaderboard.standings if row.configuration.retriever == "dense"]
    assert (dense.timing.n_embedded, dense.timing.n_cached) == (0, 8)
