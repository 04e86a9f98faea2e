"""How well sentences answer that are found without a model, beside language models, on the development packs.

`python -m benchmarks.extractive [N] [MODEL ...]`: the questions are those of the documents that
`retrieval/extracting.py` was not fitted on, every pack's evenly spaced N of them (default all; a model on two
cores takes seconds for each). BM25 brings five passages; models are given the prompt `strict`.

`coverage` is that of the judge: the mean over all answerable questions, a refusal counting 0. Refusals are
scored against the questions that have no answer: those of squad2 are written to look answerable from their
paragraph, those of clapnq are what people asked whose page did not say, and `elsewhere` are the answerable
questions of each pack asked of another pack's documents.
"""

import json
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import ragstone
from ragstone.config import Settings
from ragstone.judging.lexical import coverage, no_refusal
from ragstone.records import Answer, Chunk, Document, Question
from ragstone.tables import read_rows

PACKS = Path("../shared/data")
NAMES = ("agxqa", "squad2", "clapnq")
ELSEWHERE = {"agxqa": "squad2", "squad2": "agxqa", "clapnq": "squad2"}
K = 5


def held_out(name: str, n: int | None) -> list[Question]:
    """Return the questions of the documents that nothing was fitted on, n of them evenly spaced."""
    with (PACKS / name / "questions.jsonl").open(encoding="utf-8") as lines:
        every = map(json.loads, lines)
        rows = [
            Question(
                id=row["id"],
                question=row["question"],
                reference=row["references"] or None,
                document_ids=[row["document_id"]],
                answerable=row["answerable"],
            )
            for row in every
            if zlib.crc32(row["document_id"].encode()) % 2
        ]
    return rows if n is None else rows[:: max(1, len(rows) // n)][:n]


def chunks_of(name: str) -> list[Chunk]:
    """Return the documents of a pack, a chunk each; they are paragraphs."""
    return [
        Chunk(
            id=row.id,
            document_id=row.id,
            text=row.text,
            start=0,
            end=len(row.text),
            metadata={"title": row.title},
        )
        for row in read_rows(PACKS / name / "documents.jsonl", Document)
    ]


def answered(
    model: str | None, questions: Sequence[Question], chunks: Sequence[Chunk], folder: str
) -> tuple[list[Answer], float]:
    """Return the answers and the seconds of CPU that they took; by the extractive system without a model."""
    settings = Settings(root=folder)
    rankings = ragstone.retrieve(questions, chunks, k=K, settings=settings)
    began = time.process_time()
    if model is None:
        rows = ragstone.answer(questions, rankings, chunks, system="extractive", settings=settings)
    else:
        rows = ragstone.answer(questions, rankings, chunks, model=model, prompt="strict", settings=settings)
    failed = [row.error for row in rows if row.error]
    if failed:
        raise SystemExit(f"{model}: {len(failed)} answers failed: {failed[0]}")
    return list(rows), time.process_time() - began


def mean_coverage(rows: Iterable[Answer]) -> float:
    """Return the mean of the judge's score over answerable rows, of each the best reference."""
    scores = []
    for row in rows:
        given = row.reference if isinstance(row.reference, list) else [row.reference or ""]
        scores.append(max(coverage(row.answer, text, row.question or "") for text in given))
    return sum(scores) / len(scores)


def refusal_scores(refused: Sequence[bool], answerable: Sequence[bool]) -> str:
    """Return precision, recall and F1 of refusals as the detection of unanswerable questions."""
    right = sum(said and not can for said, can in zip(refused, answerable, strict=True))
    said, wanted = sum(refused), len(answerable) - sum(answerable)
    precision = right / said if said else 0.0
    recall = right / wanted
    f1 = 2 * right / (said + wanted)
    always = 2 * wanted / (len(answerable) + wanted)
    return f"precision {precision:.2f}  recall {recall:.2f}  F1 {f1:.2f}  (of always refusing {always:.2f})"


def show_pack(name: str, model: str | None, n: int | None, folder: str) -> None:
    """Print the figures of one pack."""
    questions = held_out(name, n)
    rows, seconds = answered(model, questions, chunks_of(name), folder)
    can = [row.answerable is not False for row in rows]
    refused = [no_refusal(row.answer) == 0 for row in rows]
    right = [row for row, it in zip(rows, can, strict=True) if it]
    wrongly = sum(said and it for said, it in zip(refused, can, strict=True))
    print(
        f"{name:7} {model or 'extractive'}: coverage {mean_coverage(right):.3f} of {len(right)} answerable, "
        f"{wrongly} of them refused; {1000 * seconds / len(rows):.0f} ms of CPU a question",
        flush=True,
    )
    if not all(can):
        print(f"        refusal, own documents: {refusal_scores(refused, can)}")
    asked = [row for row in questions if row.answerable is not False]
    strange, _seconds = answered(model, asked, chunks_of(ELSEWHERE[name]), folder)
    refused = [said for said, it in zip(refused, can, strict=True) if it]
    refused += [no_refusal(row.answer) == 0 for row in strange]
    can = [True] * len(right) + [False] * len(strange)
    print(f"        refusal, elsewhere:     {refusal_scores(refused, can)}", flush=True)


def main() -> None:
    """Print a table for the extractive system and each model that is named."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as folder:
        for model in (None, *sys.argv[2:]):
            for name in NAMES:
                show_pack(name, model, n, folder)


if __name__ == "__main__":
    main()
