"""Which planted failure modes are found, how often a clean run names one, and whether stated counts hold.

    python -m benchmarks.modes [DRAWS]

400 answers a draw, of real questions, passages and references from ../shared/data (squad2, xquad, agxqa,
clapnq): right answers are the references, as a sentence of the passage or as they are. In a draw four modes
of seven are planted, each in 3 to 15 % of the answers:

- refusals: one of 40 refusals in eight languages, without a word of the question;
- another question's answer: the answer to another question of the pack, from another document;
- cut off: a sentence of the passage that ends in its middle;
- another number: a number of the answer is changed to one that is near it;
- without contexts: the contexts are empty, and the answer is another one of the pack;
- another language: the answer of the parallel row of xquad in a language that is not the question's;
- a kind of question: the questions with one word or one beginning, wrong in no way that can be seen.

The judge that calls answers wrong errs: it calls 90 % of the planted ones wrong and 6 % of the others. A mode
is found where one named mode holds at least half of the planted answers, and at least half of the wrong
answers that it holds are planted ones. A clean run has the same answers, with 15 % called wrong by chance.
"""

import random
import re
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from ragstone.features.modes._proposing import propose_signs
from ragstone.kernel.judging.signs import SignsJudge
from ragstone.kernel.records import Answer, Context

DATA = Path(__file__).parents[2] / "shared" / "data"
if not DATA.is_dir():
    DATA = Path("/work/shared/data")
ANSWERS, DRAWS, PLANTED = 400, 50, 4
CAUGHT, FALSE_ALARMS, CLEAN = 0.9, 0.06, 0.15
REFUSALS = """The documents do not say.
I do not know.
I'm sorry, but I could not find that.
There is no information about this in the passages.
Unfortunately I can't help with that one.
The provided context doesn't contain the answer.
I was unable to find any mention of it.
That is not covered here.
Sorry, nothing in the sources tells.
I cannot answer based on the given text.
No lo sé.
Lo siento, no encuentro esa información.
Los documentos no lo dicen.
Das steht nicht in den Dokumenten.
Das weiß ich leider nicht.
Dazu finde ich keine Angaben.
Je ne sais pas.
Les documents ne le disent pas.
Je n'ai pas trouvé cette information.
Non lo so.""".splitlines()
LONGEST = 400  # characters of a sentence that is an answer
SENTENCE = re.compile(r"[^.!?]+[.!?]")
NUMBER = re.compile(r"\d+")


class Planted(msgspec.Struct, frozen=True):
    """A mode: the ids of its rows. what: how it was planted."""

    what: str
    ids: frozenset[str]


class Draw(msgspec.Struct, frozen=True):
    """A run: its answers, which of them a judge calls wrong, and what was planted."""

    answers: list[Answer]
    wrong: list[bool]
    modes: list[Planted]


def rows_of(pack: str, name: str) -> list[dict[str, Any]]:
    with (DATA / pack / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [msgspec.json.decode(line) for line in lines]


@cache
def pool() -> dict[str, list[Answer]]:
    """Return right answers by pack. metadata: the document, and of xquad what is parallel."""
    made: dict[str, list[Answer]] = {}
    for pack in ("squad2", "agxqa", "clapnq", "xquad"):
        documents = {row["id"]: str(row["text"]) for row in rows_of(pack, "documents")}
        made[pack] = []
        for row in rows_of(pack, "questions"):
            reference, document = str(row.get("reference_answer") or ""), documents.get(row["document_id"])
            if not reference or not document or (pack == "xquad" and row["lang"] not in ("en", "de", "es")):
                continue
            holding = (one[0].strip() for one in SENTENCE.finditer(document) if reference in one[0])
            sentence = next(holding, reference)
            is_long = zlib.crc32(str(row["id"]).encode()) % 2 and len(sentence) < LONGEST
            made[pack].append(
                Answer(
                    question_id=f"{pack}:{row['id']}",
                    system="rag",
                    question=str(row["question"]),
                    answer=sentence if is_long else reference,
                    reference=reference,
                    contexts=[Context(text=document, document_id=str(row["document_id"]))],
                    metadata={"sentence": sentence, "same": row.get("parallel_id"), "lang": row["lang"]},
                )
            )
    return made


def _told(row: Answer, answer: str) -> Answer:
    return msgspec.structs.replace(row, answer=answer)


def _document(row: Answer) -> str:
    return str(row.contexts[0].document_id) if row.contexts else ""


def refused(row: Answer, rng: random.Random, _rows: Sequence[Answer]) -> Answer | None:
    return _told(row, rng.choice(REFUSALS))


def of_another(row: Answer, rng: random.Random, rows: Sequence[Answer]) -> Answer | None:
    other = rng.choice(rows)
    return _told(row, other.answer) if _document(other) != _document(row) else None


def cut_off(row: Answer, rng: random.Random, _rows: Sequence[Answer]) -> Answer | None:
    words = str((row.metadata or {})["sentence"]).split()
    return _told(row, " ".join(words[: rng.randint(9, len(words) - 2)])) if len(words) > 12 else None


def other_number(row: Answer, rng: random.Random, _rows: Sequence[Answer]) -> Answer | None:
    numbers = [one for one in NUMBER.finditer(row.answer) if one[0] in str(row.reference)]
    if not numbers:
        return None
    place = rng.choice(numbers)
    changed = str(int(place[0]) + rng.choice([-7, -3, -2, -1, 1, 2, 3, 7, 10])).lstrip("-")
    return _told(row, row.answer[: place.start()] + changed + row.answer[place.end() :])


def without_contexts(row: Answer, rng: random.Random, rows: Sequence[Answer]) -> Answer | None:
    return msgspec.structs.replace(row, contexts=[], answer=rng.choice(rows).answer)


def other_language(row: Answer, rng: random.Random, _rows: Sequence[Answer]) -> Answer | None:
    own = row.metadata or {}
    others = [
        other for other in parallel().get(own["same"], []) if (other.metadata or {})["lang"] != own["lang"]
    ]
    return _told(row, str((rng.choice(others).metadata or {})["sentence"])) if others else None


@cache
def parallel() -> dict[object, list[Answer]]:
    """Return what xquad has in several languages: the id of a question -> its rows."""
    by_id: dict[object, list[Answer]] = {}
    for row in pool()["xquad"]:
        by_id.setdefault((row.metadata or {})["same"], []).append(row)
    return by_id


WAYS: dict[str, Callable[[Answer, random.Random, Sequence[Answer]], Answer | None]] = {
    "refusals": refused,
    "another question's answer": of_another,
    "cut off": cut_off,
    "another number": other_number,
    "without contexts": without_contexts,
    "another language": other_language,
}
KIND = "a kind of question"


def drawn(seed: int, n: int = ANSWERS, planted: int = PLANTED) -> Draw:
    """Return a run with modes planted in it; planted=0: a clean one."""
    rng = random.Random(seed)
    packs = pool()
    chosen = rng.sample([*WAYS, KIND], planted)
    main = [*packs["squad2"], *packs["agxqa"], *packs["clapnq"]]
    english = [row for row in packs["xquad"] if (row.metadata or {})["lang"] == "en"]
    rows = rng.sample(main, n - n // 4) + rng.sample(english, n // 4)
    rng.shuffle(rows)
    at = {row.question_id: number for number, row in enumerate(rows)}
    free, modes = set(at), []
    for what in sorted(chosen, key=[KIND, *WAYS].index):
        size = round(rng.uniform(0.03, 0.15) * n)
        ids: list[str] = []
        if what == KIND:
            ids = _kind(rows, rng, n)
        for number in rng.sample(range(n), n) if what != KIND else ():
            row = rows[number]
            changed = WAYS[what](row, rng, rows) if row.question_id in free else None
            if changed is not None and len(ids) < size:
                rows[number] = changed
                ids.append(row.question_id)
        free -= set(ids)
        modes.append(Planted(what, frozenset(ids)))
    bad = {name for mode in modes for name in mode.ids}
    share = (CAUGHT, FALSE_ALARMS) if planted else (CLEAN, CLEAN)
    wrong = [rng.random() < share[row.question_id not in bad] for row in rows]
    return Draw([msgspec.structs.replace(row, metadata=None) for row in rows], wrong, modes)


def _kind(rows: Sequence[Answer], rng: random.Random, n: int) -> list[str]:
    """Return the ids of the questions that have a word, drawn from those that 3 to 15 % have."""
    having: dict[str, list[str]] = {}
    for row in rows:
        for word in set((row.question or "").casefold().strip("?").split()):
            having.setdefault(word, []).append(row.question_id)
    fitting = sorted(word for word, ids in having.items() if 0.03 * n <= len(ids) <= 0.15 * n)
    return having[rng.choice(fitting)]


def named_in(draw: Draw, seed: int) -> list[SignsJudge]:
    """Return the modes that are named in a run, as judges."""
    clusters = [_document(row) or row.question_id for row in draw.answers]
    found = propose_signs(draw.answers, draw.wrong, clusters, seed=seed)
    return [
        SignsJudge(
            name="mode",
            version=1,
            inputs=["answer"],
            scale=(0, 1),
            source="",
            signs=[one.sign],
            unless=one.unless,
        )
        for one in found.signs
    ]


def holds(mode: Planted, rows: set[str], wrong: set[str]) -> bool:
    """Return whether rows that are named are those that were planted."""
    hits = rows & mode.ids
    return 2 * len(hits) >= len(mode.ids) and 2 * len(hits & wrong) >= len(rows & wrong)


def main() -> None:
    n = int(sys.argv[1]) if sys.argv[1:] else DRAWS
    found: Counter[str] = Counter()
    planted: Counter[str] = Counter()
    spare = 0
    start = time.perf_counter()
    for seed in range(n):
        draw = drawn(seed)
        wrong = {row.question_id for row, bad in zip(draw.answers, draw.wrong, strict=True) if bad}
        held = [
            {row.question_id for row in draw.answers if judge.score(row) >= judge.threshold}
            for judge in named_in(draw, seed)
        ]
        for mode in draw.modes:
            planted[mode.what] += 1
            found[mode.what] += any(holds(mode, rows, wrong) for rows in held)
            if "-v" in sys.argv and not any(holds(mode, rows, wrong) for rows in held):
                print(
                    "missed",
                    seed,
                    mode.what,
                    len(mode.ids),
                    [(len(r), len(r & mode.ids), len(r & wrong)) for r in held],
                    [j.signs[0].clause for j in named_in(draw, seed)],
                )
        spare += sum(not any(holds(mode, rows, wrong) for mode in draw.modes) for rows in held)
    print(f"{'planted':28} found of  ({(time.perf_counter() - start) / n:.2f} s a draw)")
    for what in planted:
        print(f"{what:28} {found[what]:5} {planted[what]:3}")
    share = found.total() / planted.total()
    print(f"all {found.total()} of {planted.total()}: {share:.1%}; named besides: {spare / n:.2f} a draw")
    clean = sum(bool(named_in(drawn(seed, planted=0), seed)) for seed in range(1000, 1000 + 4 * n))
    print(f"clean runs that name a mode: {clean} of {4 * n}")


if __name__ == "__main__":
    main()
