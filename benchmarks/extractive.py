"""How well sentences answer that are found without a model, beside language models, on the development packs.

`python -m benchmarks.extractive [--questions N] [--models llamacpp/FILE.gguf ...] [--project FOLDER]`: the
questions are those of the documents that `systems/extracting.py` was not fitted on, every pack's evenly
spaced N of them (default all; a model on two cores takes ten seconds for each). BM25 brings five passages;
models are given the prompt `strict`. The ledger stands in FOLDER: a run that was stopped goes on there.

`coverage` is that of the judge: the mean over all answerable questions, a refusal counting 0, with its 95 %
interval; beside a model's, the difference from the extractive system's on the same questions. Refusals are
scored against the questions that have no answer: those of squad2 are written to look answerable from their
paragraph, those of clapnq are what people asked whose page did not say, and `elsewhere` are the answerable
questions of each pack asked of another pack's documents, of the extractive system alone. It compares words
alone here; `python -m benchmarks.declining` prints that beside words and vectors.
"""

import argparse
import json
import zlib
from collections.abc import Sequence
from pathlib import Path

import ragstone
from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.judging.lexical import coverage, no_refusal
from ragstone.kernel.records import Answer, Chunk, Document, Question
from ragstone.kernel.statistics import Estimate, mean_estimate
from ragstone.kernel.tables import read_rows

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
) -> list[Answer]:
    """Return the answers of a model, or of the extractive system without one."""
    slow = {} if model is None else {model: ModelSettings(timeout_s=600)}
    settings = Settings(root=folder, models=slow)
    rankings = ragstone.retrieve(questions, chunks, k=K, settings=settings)
    if model is None:
        rows = ragstone.answer(questions, rankings, chunks, system="extractive", settings=settings)
    else:
        rows = ragstone.answer(questions, rankings, chunks, model=model, prompt="strict", settings=settings)
    failed = [row.error for row in rows if row.error]
    if failed:
        raise SystemExit(f"{model}: {len(failed)} answers failed: {failed[0]}")
    return list(rows)


def best_coverage(row: Answer) -> float:
    """Return the judge's score, of all references the best."""
    given = row.reference if isinstance(row.reference, list) else [row.reference or ""]
    return max(coverage(row.answer, text, row.question or "") for text in given)


def told(estimate: Estimate | None) -> str:
    """Return a mean with its interval."""
    if estimate is None:
        return "none"
    low, high = estimate.low, estimate.high
    return f"{estimate.value:.3f}" + ("" if low is None or high is None else f" ({low:.3f} to {high:.3f})")


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
    rows = answered(model, questions, chunks_of(name), folder)
    can = [row.answerable is not False for row in rows]
    refused = [no_refusal(row.answer) == 0 for row in rows]
    asked = [row for row in questions if row.answerable is not False]
    places = [row.document_ids[0] for row in asked if row.document_ids]
    scores = [best_coverage(row) for row, it in zip(rows, can, strict=True) if it]
    wrongly = sum(said and it for said, it in zip(refused, can, strict=True))
    print(
        f"{name:7} {model or 'extractive'}: coverage {told(mean_estimate(scores, places))} of {len(scores)} "
        f"answerable, {wrongly} of them refused",
        flush=True,
    )
    if model is not None:
        beside = [best_coverage(row) for row in answered(None, asked, chunks_of(name), folder)]
        differences = [one - other for one, other in zip(scores, beside, strict=True)]
        print(f"        less the extractive: {told(mean_estimate(differences, places))}")
    if not all(can):
        print(f"        refusal, own documents: {refusal_scores(refused, can)}", flush=True)
    if model is not None:  # it would take a model twice as long
        return
    strange = answered(None, asked, chunks_of(ELSEWHERE[name]), folder)
    refused = [said for said, it in zip(refused, can, strict=True) if it]
    refused += [no_refusal(row.answer) == 0 for row in strange]
    can = [True] * len(asked) + [False] * len(strange)
    print(f"        refusal, elsewhere:     {refusal_scores(refused, can)}", flush=True)


def main() -> None:
    """Print a table for the extractive system and each model that is named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, help="of each pack, default all")
    parser.add_argument("--models", nargs="*", default=[], help="e.g. llamacpp/FILE.gguf")
    parser.add_argument(
        "--project", type=Path, default=Path(), help="folder of the ledger (default: this one)"
    )
    chosen = parser.parse_args()
    for model in (None, *chosen.models):
        for name in NAMES:
            show_pack(name, model, chosen.questions, str(chosen.project))


if __name__ == "__main__":
    main()
