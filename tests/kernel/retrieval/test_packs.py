"""The figures that the search must reach on real questions, documents searched whole."""

from pathlib import Path

import msgspec
import pytest

from ragstone.kernel.corpus.chunking import chunk_documents
from ragstone.kernel.records import Document, Question
from ragstone.kernel.retrieval.evaluate import evaluate_rankings
from ragstone.kernel.retrieval.relevance import missing_documents
from ragstone.kernel.retrieval.search import build_search
from ragstone.kernel.tables import read_rows

PACKS = Path(__file__).parents[4] / "shared" / "data"

pytestmark = [
    pytest.mark.pack,
    pytest.mark.skipif(not PACKS.is_dir(), reason=f"the development packs are not at {PACKS}"),
]


async def recalls(folder: str, lang: str | None = None, method: str = "whole") -> dict[str, float]:
    documents = [
        document
        for document in read_rows(PACKS / folder / "documents.jsonl", Document)
        if lang in (None, document.lang)
    ]
    # Not read_rows: the evidence of clapnq is sentences, not spans.
    rows = [
        msgspec.json.decode(line) for line in (PACKS / folder / "questions.jsonl").read_bytes().splitlines()
    ]
    questions = [
        Question(
            id=row["id"],
            question=row["question"],
            document_ids=[row["document_id"]],
            answerable=row["answerable"],
        )
        for row in rows
        if lang in (None, row["lang"])
    ]
    assert missing_documents(questions, documents) == {}
    search = await build_search("bm25", list(chunk_documents(documents, method)))
    rankings = await search(questions, 10)
    summary = evaluate_rankings(rankings, questions)
    assert summary.n_questions == sum(row.answerable is True for row in questions)
    return {name: estimate.value for name, estimate in summary.measures.items()}


@pytest.mark.parametrize(
    ("folder", "first", "fifth"), [("squad2", 0.78, 0.93), ("clapnq", 0.89, 0.96), ("agxqa", 0.86, 0.97)]
)
@pytest.mark.parametrize("method", ["whole", "recursive"])
async def test_bm25_reaches_its_recall_in_english(folder, first, fifth, method):
    found = await recalls(folder, method=method)
    assert found["recall@1"] >= first
    assert found["recall@5"] >= fifth


@pytest.mark.parametrize(
    ("lang", "first"),
    [
        ("en", 0.92),
        ("es", 0.90),
        ("de", 0.85),
        ("ru", 0.81),
        ("ar", 0.82),
        ("tr", 0.83),
        ("vi", 0.92),
        ("hi", 0.89),
        ("zh", 0.92),
        ("th", 0.86),
    ],
)
async def test_bm25_reaches_its_recall_in_every_language(lang, first):
    assert (await recalls("xquad", lang))["recall@1"] >= first
