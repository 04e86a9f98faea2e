"""Which questions outside of its documents an assistant without a model declines, and what that costs.

`python -m benchmarks.outside [--curve] [--folder FOLDER]`

The assistants of examples/ are built as they ship, and asked through their search; no model is asked.

near: questions about the documents' own subject that they do not answer, written by hand before any was asked
(outside.jsonl): other programs and crops, prices, dates, options that do not exist. far: questions of packs
of ../shared/data about something else. inside: questions that the documents answer, of the manual by hand, of
the farm a third of AgXQA's; right is a quote that contains what the row expects, or a reference of AgXQA.

Two parts: by the guide that a question is near to, the document of AgXQA, the pack of far ones. The weights
are fitted on the part `fit` by `python -m benchmarks.declining --fit`; `test` was set aside. `seen` are the
questions that ship with the examples, at which people looked while they chose what is weighed.

--curve: declined beside right, threshold by threshold. Intervals are Wilson's, 95 %.
"""

import argparse
import asyncio
import json
import shutil
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ragstone.kernel.config import load_settings
from ragstone.kernel.embedding.opening import open_embedder
from ragstone.kernel.statistics import wilson_interval
from ragstone.kernel.systems.declining import (
    AnswerSignals,
    answer_signals,
    answer_weights,
    names_in,
    probability_of,
)
from ragstone_assistant.answering._quoting import SECOND, ranked
from ragstone_assistant.assistant import open_assistant
from ragstone_assistant.building import build_knowledge

ROOT = Path(__file__).parents[1]
PACKS = Path("../shared/data")
EXAMPLES = ("manual-assistant", "assistant")
FAR = {"squad2": "fit", "bankfaq": "fit", "clapnq": "test", "xquad": "test"}
N_FAR = 30  # of a pack
INSIDE = "inside"
PARTS = ("fit", "test", "seen")
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class Asked(NamedTuple):
    """A question. kind: near, far or inside; part: one of PARTS; near: the document it is near to, or pack;
    expects: one of these makes it right."""

    example: str
    kind: str
    part: str
    near: str
    question: str
    expects: tuple[str, ...] = ()


class Signalled(NamedTuple):
    """A question with the signals of what would be quoted, None where nothing can be. is_unnamed: it names
    what no document does."""

    asked: Asked
    signals: AnswerSignals | None
    is_right: bool
    is_unnamed: bool


def part_of(name: str) -> str:
    """Return the part that the questions near to a document belong to."""
    return "test" if zlib.crc32(f"decline {name}".encode()) % 2 else "fit"


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def asked_of(example: str) -> Iterator[Asked]:
    """Yield the questions to an example."""
    for row in read(ROOT / "benchmarks" / "outside.jsonl"):
        if row["example"] == example:
            expects = tuple(row.get("expect", {}).get("contains_any", ()))
            yield Asked(
                example,
                INSIDE if row["answerable"] else "near",
                part_of(row["near"]),
                row["near"],
                row["question"],
                expects,
            )
    for pack, part in FAR.items():
        rows = [
            row for row in read(PACKS / pack / "questions.jsonl") if row["answerable"] and row["lang"] == "en"
        ]
        for row in rows[:: len(rows) // N_FAR][:N_FAR]:
            yield Asked(example, "far", part, pack, row["question"])
    if example == "assistant":
        for row in read(PACKS / "agxqa" / "questions.jsonl"):
            if zlib.crc32(row["id"].encode()) % 3 == 0:
                yield Asked(
                    example,
                    INSIDE,
                    part_of(row["document_id"]),
                    row["document_id"],
                    row["question"],
                    tuple(row["references"]),
                )
    else:
        for row in read(ROOT / "examples" / example / "questions.jsonl"):
            expects = tuple(row.get("expect", {}).get("contains_any", ()))
            yield Asked(
                example, INSIDE if row["answerable"] else "near", "seen", row["id"], row["question"], expects
            )


async def signalled(example: str, folder: Path, k: int = 5) -> list[Signalled]:
    """Return the questions to an example with their signals; folder: keeps its knowledge base and vectors."""
    copy = folder / example
    shutil.copytree(
        ROOT / "examples" / example,
        copy,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns(".ragstone", "logs"),
    )
    settings = load_settings(copy / "ragstone.toml")
    build_knowledge(settings=settings)
    embed = open_embedder("packaged", folder)
    rows: list[Signalled] = []
    async with open_assistant(settings) as assistant:
        unheld = assistant.knowledge.unheld
        for asked in asked_of(example):
            question = asked.question
            passages = await assistant.knowledge.search(question, k, {})
            texts, titles = [passage.text for passage in passages], [passage.title for passage in passages]
            best = ranked(question, texts, titles)
            quote = "\n".join(sentence.text for sentence, score in best if score >= SECOND * best[0][1])
            rows.append(
                Signalled(
                    asked,
                    answer_signals(
                        question, best[0][0], texts, embed, titles=titles, lang="en", unheld=unheld
                    )
                    if best
                    else None,
                    any(part.casefold().strip(". ") in quote.casefold() for part in asked.expects),
                    bool(unheld(names_in(question, "en"))),
                )
            )
    return rows


def share(flags: Sequence[bool]) -> str:
    """Return a share with its interval."""
    low, high = wilson_interval(sum(flags), len(flags))
    return f"{sum(flags)} of {len(flags)} = {sum(flags) / len(flags):.2f} ({low:.2f} to {high:.2f})"


def is_quoted(row: Signalled, threshold: float) -> bool:
    """Say whether a question is answered with a quote."""
    return row.signals is not None and not row.is_unnamed and probability_of(row.signals) >= threshold


def declined(rows: Sequence[Signalled], kind: str, threshold: float) -> str:
    """Return how many of a kind are declined."""
    return share([not is_quoted(row, threshold) for row in rows if row.asked.kind == kind])


def quoted(rows: Sequence[Signalled], threshold: float, *, is_right: bool) -> str:
    """Return how many of those inside get a right quote, or a useless one."""
    inside = [row for row in rows if row.asked.kind == INSIDE]
    return share([is_quoted(row, threshold) and row.is_right is is_right for row in inside])


def show(rows: Sequence[Signalled], threshold: float) -> None:
    """Print the figures of each kind and part."""
    for examples in (*((example,) for example in EXAMPLES), EXAMPLES):
        for part in PARTS:
            of = [row for row in rows if row.asked.part == part and row.asked.example in examples]
            head = f"{' and '.join(examples):28} {part:5}"
            for kind in dict.fromkeys(row.asked.kind for row in of):
                if kind != INSIDE:
                    print(f"{head}{kind:7} declined {declined(of, kind, threshold)}")
                    continue
                right, useless = (quoted(of, threshold, is_right=it) for it in (True, False))
                print(f"{head}{kind:7} right {right}, useless {useless}")


def show_curve(rows: Sequence[Signalled]) -> None:
    """Print for each threshold what is declined, right and useless, of the part that was set aside."""
    test = [row for row in rows if row.asked.part == "test"]
    for threshold in sorted({*THRESHOLDS, answer_weights().threshold}):
        figures = [declined(test, kind, threshold) for kind in ("near", "far")]
        figures += [quoted(test, threshold, is_right=it) for it in (True, False)]
        print(f"| {threshold:.2f} | " + " | ".join(figures) + " |")


def main() -> None:
    """Print the figures, and the curve."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--curve", action="store_true", help="threshold by threshold")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / ".ragstone" / "outside", help="keeps the vectors"
    )
    chosen = parser.parse_args()
    rows = [row for example in EXAMPLES for row in asyncio.run(signalled(example, chosen.folder))]
    show(rows, answer_weights().threshold)
    if chosen.curve:
        show_curve(rows)


if __name__ == "__main__":
    main()
