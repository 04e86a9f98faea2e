"""Retrieval on the development packs: `python benchmarks/retrieval.py [--dense]`.

Prints, for each pack and retriever, recall@1 and recall@5 with 95 % intervals, MRR, nDCG@10 and the times to
index and to search. `want` is the recall that the project set itself. Whole documents are searched; only
answerable questions count. `--dense` adds the packaged embedder and the hybrid on the smaller packs (ten
minutes the first time on two cores; the vectors are kept in .ragstone/).
"""

import asyncio
import sys
import time
from pathlib import Path

import msgspec

from ragstone.corpus import chunk_documents
from ragstone.embedding import Embedder, open_embedder
from ragstone.records import Chunk, Document, Question
from ragstone.retrieval import (
    RetrievalSummary,
    SearchMeans,
    build_search,
    evaluate_rankings,
    missing_documents,
)
from ragstone.tables import read_rows

PACKS = Path(__file__).parents[2] / "shared" / "data"
WANTED: dict[str, tuple[float, float | None]] = {
    "squad2": (0.78, 0.93),
    "clapnq": (0.89, 0.96),
    "agxqa": (0.86, 0.97),
    "xquad/en": (0.92, None),
    "xquad/es": (0.90, None),
    "xquad/de": (0.85, None),
    "xquad/ru": (0.81, None),
    "xquad/ar": (0.82, None),
    "xquad/tr": (0.83, None),
    "xquad/vi": (0.92, None),
    "xquad/hi": (0.89, None),
    "xquad/zh": (0.92, None),
    "xquad/th": (0.86, None),
}
DENSE = ("agxqa", "clapnq", "xquad/en", "xquad/hi")
DEPTH = 10


class Row(msgspec.Struct):
    """What a pack's question must have; clapnq's `evidence` is of sentences and no row of ours."""

    id: str
    question: str
    document_id: str
    answerable: bool
    lang: str


def load_pack(name: str) -> tuple[list[Chunk], list[Question]]:
    """Return the chunks (whole documents) and the questions of a pack, or of one of its languages."""
    folder, _, lang = name.partition("/")
    documents = read_rows(PACKS / folder / "documents.jsonl", Document)
    kept = [document for document in documents if lang in ("", document.lang)]
    lines = (PACKS / folder / "questions.jsonl").read_bytes().splitlines()
    questions = [
        Question(id=row.id, question=row.question, document_ids=[row.document_id], answerable=row.answerable)
        for row in (msgspec.json.decode(line, type=Row) for line in lines)
        if lang in ("", row.lang)
    ]
    assert not missing_documents(questions, kept)
    return list(chunk_documents(kept, "whole")), questions


async def measure(
    name: str, retriever: str, embed: Embedder | None = None
) -> tuple[RetrievalSummary, float, float]:
    """Return the summary, the seconds to index and the seconds to search."""
    chunks, questions = load_pack(name)
    started = time.perf_counter()
    means = SearchMeans(open_embedder=lambda _name: embed) if embed else SearchMeans()
    search = await build_search(retriever, chunks, means)
    indexed = time.perf_counter()
    rankings = await search(questions, DEPTH)
    searched = time.perf_counter()
    return evaluate_rankings(rankings, questions), indexed - started, searched - indexed


def main() -> None:
    embed = open_embedder("packaged", Path(".ragstone")) if "--dense" in sys.argv else None
    print(
        f"{'pack':<10}{'retriever':<10}{'n':>6}  {'recall@1':<20}{'want':>5}  {'recall@5':<20}{'want':>5}"
        f"{'mrr':>7}{'ndcg@10':>9}{'index s':>9}{'search s':>10}"
    )
    for name, (want_1, want_5) in WANTED.items():
        for retriever in ("bm25", "dense", "hybrid") if embed and name in DENSE else ("bm25",):
            summary, index_s, search_s = asyncio.run(measure(name, retriever, embed))
            of = summary.measures
            cells = [
                f"{one.value:.3f} [{one.low:.3f} {one.high:.3f}]" for one in (of["recall@1"], of["recall@5"])
            ]
            print(
                f"{name:<10}{retriever:<10}{summary.n_questions:>6}  {cells[0]:<20}{want_1:>5}  "
                f"{cells[1]:<20}{want_5 or '-':>5}{of['mrr'].value:>7.3f}{of['ndcg@10'].value:>9.3f}"
                f"{index_s:>9.2f}{search_s:>10.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
