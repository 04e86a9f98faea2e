"""Writes the rows of the touchstone suite: some of the data that may be shipped, and rows of our own.

    python benchmarks/suite.py

Reads ../shared/data and benchmarks/suite.toml, writes src/ragstone/features/bench/suite/rows.jsonl; the same
bytes each time. Cards of other rows are not shown: measure those of suite.json beside it again.
"""

import json
import random
import re
import tomllib
from collections.abc import Iterable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import msgspec

from ragstone.features.attack._rows import base_rows, neutral_text
from ragstone.features.bench.suite._rows import SuiteRow

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
ROWS = ROOT / "src" / "ragstone" / "features" / "bench" / "suite" / "rows.jsonl"
OWN = tomllib.loads((Path(__file__).parent / "suite.toml").read_text(encoding="utf-8"))
SEED = "touchstone suite 1"
N = {"evouna": 80, "saf": 50, "agxqa": 30, "clapnq": 30}  # questions; of saf answers in each language
LONGEST = 1200  # characters of a row of saf
NEUTRAL = 160  # characters of the shortest text that says nothing
Unit = list[SuiteRow]
Found = dict[str, Any]


def load(path: str) -> list[Found]:
    """Return the rows of a pack in an order drawn at random."""
    rows = [json.loads(line) for line in (DATA / path).read_text(encoding="utf-8").splitlines()]
    random.Random(f"{SEED} {path}").shuffle(rows)
    return rows


def evouna() -> Iterable[Unit]:
    """Two systems' answers to each question, one of which people called right and the other wrong."""
    by_question: dict[str, list[Found]] = {}
    for row in load("evouna/tq600.jsonl"):
        if len(row["answer"]) <= 300 and row["reference"].count("/") < 8 and "/" not in row["answer"]:
            by_question.setdefault(row["question"], []).append(row)
    both = (
        [next((row for row in rows if row["human_label"] is label), None) for label in (True, False)]
        for rows in by_question.values()
    )
    for n, (right, wrong) in enumerate(pair for pair in both if None not in pair):
        pair = [right, wrong] if n % 2 else [wrong, right]
        yield [
            SuiteRow(
                question_id="evouna-" + row["id"].split("-")[1],
                system=row["system"],
                kind="evouna",
                by="people",
                question=row["question"],
                reference=row["reference"].split("/"),
                answer=row["answer"],
                labels={"correctness": float(row["human_label"])},
                lang="en",
            )
            for row in pair
            if row
        ]


def saf(lang: str) -> Iterable[Unit]:
    """Students' answers in a language: in turn one that is right, one with some points, and one with none."""
    rows = [
        row
        for row in load("saf/saf.jsonl")
        if row["lang"] == lang and len(row["question"] + row["reference"] + row["answer"]) <= LONGEST
    ]
    graded = [
        [row for row in rows if row["human_label"] == 1],
        [row for row in rows if 0 < row["human_label"] < 1],
        [row for row in rows if row["human_label"] == 0],
    ]
    for grade in cycle(graded):
        if not grade:
            return
        row = grade.pop()
        yield [
            SuiteRow(
                question_id=row["id"],
                system="student",
                kind=f"saf-{lang}",
                by="people",
                question=row["question"],
                reference=row["reference"],
                answer=row["answer"],
                labels={"correctness": row["human_label"]},
                lang=lang,
            )
        ]


def agxqa() -> Iterable[Unit]:
    """Of a question the reference or a quote with it, and another question's reference."""
    texts = {row["id"]: row["text"] for row in load("agxqa/documents.jsonl")}
    rows = [row for row in load("agxqa/questions.jsonl") if 12 <= len(row["reference_answer"]) <= 120]
    first = {row["document_id"]: row for row in rows}  # one question for each passage
    for n, row in enumerate(first.values()):
        text, own = texts[row["document_id"]], row["reference_answer"].strip(" .")
        other = next((each for each in rows if _is_other(each["reference_answer"], text, own)), None)
        quotes = [part for part in re.split(r"(?<=[.!?])\s+", text) if own in part and len(part) <= 300]
        if other is None or (n % 2 and not quotes):
            continue
        lead_in = OWN["lead_ins"][n % len(OWN["lead_ins"])]
        right = quotes[0].strip() if n % 2 else lead_in.format(answer=own)
        wrong = lead_in.format(answer=other["reference_answer"].strip(" ."))
        rows.remove(other)
        yield _changed(
            [
                SuiteRow(
                    question_id=row["id"],
                    system=system,
                    kind="agxqa",
                    by="construction",
                    question=row["question"],
                    reference=row["reference_answer"],
                    answer=answer,
                    contexts=[text],
                    labels={"correctness": label, "faithfulness": label},
                    lang="en",
                )
                for system, answer, label in (("right", right, 1.0), ("wrong", wrong, 0.0))
            ],
            n,
        )


def _is_other(answer: str, text: str, own: str) -> bool:
    """Return whether an answer has next to nothing of a passage and of its question's answer."""
    words, known = ({*re.findall(r"\w+", part.lower())} for part in (answer, f"{text} {own}"))
    return len(words) >= 3 and len(words & known) <= len(words) / 3


def clapnq() -> Iterable[Unit]:
    """Of a question a second annotator's answer (the first one's is the reference) and another question's."""
    rows = [row for row in load("clapnq/questions.jsonl") if len(row.get("references") or ()) > 1]
    rows = [row for row in rows if all(len(text) <= 500 for text in row["references"][:2])]
    for row, other in zip(rows, [*rows[1:], rows[0]], strict=True):
        reference, second = row["references"][:2]
        for_both = (("second annotator", second, 1.0), ("another question", other["references"][1], 0.0))
        yield [
            SuiteRow(
                question_id="clapnq-" + row["id"],
                system=system,
                kind="clapnq",
                by="construction",
                question=row["question"],
                reference=reference,
                answer=answer,
                labels={"correctness": label},
                lang="en",
            )
            for system, answer, label in for_both
        ]


def own() -> Iterable[Unit]:
    """The rows that `ragstone attack` ships, in seven languages: one right and one wrong answer."""
    for n, row in enumerate(base_rows()):
        yield _changed(
            [
                SuiteRow(
                    question_id=f"own-{row.id}",
                    system=system,
                    kind="own",
                    by="construction",
                    question=row.question,
                    reference=row.reference,
                    answer=answer,
                    contexts=row.contexts,
                    labels={"correctness": label, "faithfulness": label},
                    lang=row.lang,
                )
                for system, answer, label in (("right", row.right, 1.0), ("wrong", row.wrong, 0.0))
            ],
            n,
        )


def refusals() -> Iterable[Unit]:
    """A refusal and an answer to each of four questions in ten languages."""
    for at in range(4):
        for lang, rows in OWN["refusals"].items():
            question, answer, refusal = rows[at]
            both = [("refused", refusal, 0.0), ("answered", answer, 1.0)]
            yield [
                SuiteRow(
                    question_id=f"refusal-{lang}-{at + 1}",
                    system=system,
                    kind="refusals",
                    by="construction",
                    question=question,
                    answer=said,
                    labels={"answered": label},
                    lang=lang,
                )
                for system, said, label in both
            ]


def _changed(pair: Unit, n: int) -> Unit:
    """Return a right and a wrong answer, and one of them longer, turned round, and with an order."""
    plain, wrong = pair[n % 2], pair[1]
    empty = neutral_text(plain.lang, max(NEUTRAL, 2 * len(plain.answer)))
    order = OWN["orders"][n % len(OWN["orders"])]

    def changed(row: SuiteRow, change: str, answer: str, of: str) -> SuiteRow:
        return msgspec.structs.replace(
            row,
            system=f"{row.system}, {change}",
            answer=answer,
            contexts=[],
            labels={"correctness": row.labels["correctness"]},
            change=change,
            of=of,
        )

    longer = changed(plain, "length", f"{plain.answer} {empty}", plain.system)
    turned = changed(plain, "position", f"{empty} {plain.answer}", longer.system)
    return [*pair, longer, turned, changed(wrong, "injection", f"{wrong.answer}\n{order}", wrong.system)]


def mixed(kinds: Sequence[Sequence[Unit]]) -> list[SuiteRow]:
    """Return the rows of all kinds, each spread evenly over the whole."""
    placed = [((at + 0.5) / len(units), unit) for units in kinds for at, unit in enumerate(units)]
    return [row for _, unit in sorted(placed, key=lambda one: one[0]) for row in unit]


def first(units: Iterable[Unit], n: int) -> list[Unit]:
    """Return the first n."""
    return [unit for unit, _ in zip(units, range(n), strict=False)]


def main() -> None:
    """Write the rows, and say how many there are of each kind."""
    kinds = [
        first(evouna(), N["evouna"]),
        first(saf("en"), N["saf"]),
        first(saf("de"), N["saf"]),
        first(agxqa(), N["agxqa"]),
        first(clapnq(), N["clapnq"]),
        [*own()],
        [*refusals()],
    ]
    for units in kinds:
        print(f"{units[0][0].kind}: {len(units)} questions, {sum(map(len, units))} rows")
    rows = mixed(kinds)
    ROWS.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    print(f"{len(rows)} rows, {ROWS.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
