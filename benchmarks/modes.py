"""Which planted failure modes are found, how often a clean run names one, and whether stated counts hold.

    python -m benchmarks.modes [DRAWS] [DRAWS WITH A MODEL]

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

Draws are those of seeds from 7000 on, which nothing was developed on: how a model's modes are confirmed was
chosen on seeds 3000 to 4100, how signs are on seeds below 1100. With a model the code of the command runs as
it does for users, on the files of a run, with a model that is a function (see Reader) in place of a
connection; what it names by signs is counted apart.

The judge that calls answers wrong errs: it calls 90 % of the planted ones wrong and 6 % of the others. A mode
is found where one named mode holds at least half of the planted answers, and at least half of the wrong
answers that it holds are planted ones. A clean run has the same answers, with 15 % called wrong by chance.
"""

import asyncio
import random
import re
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
from tests.support.judged_runs import write_run
from tests.support.scripts import fenced

import ragstone
from ragstone.features.modes import finding
from ragstone.features.modes._counting import ModeRows, draw_rows, queue_name, with_counts
from ragstone.features.modes._plan import ModesPlan, plan_modes
from ragstone.features.modes.proposing import propose_signs
from ragstone.kernel.engine.session import Session
from ragstone.kernel.judging import Judge, summarise
from ragstone.kernel.judging.signs import SignsJudge
from ragstone.kernel.llm import Prompt
from ragstone.kernel.records import NO_MODEL, Answer, Context, Judgement, Label
from ragstone.kernel.runs.modes import Mode
from ragstone.kernel.runs.summary import Calls, RunSummary
from ragstone.kernel.statistics.intervals import wilson_interval

DATA = Path(__file__).parents[2] / "shared" / "data"
if not DATA.is_dir():
    DATA = Path("/work/shared/data")
ANSWERS, DRAWS, PLANTED, LABELS, QUEUES = 400, 50, 4, 60, 5
FIRST, FIRST_CLEAN = 7000, 17_000  # seeds
NOTHING = (
    "vague",
    "too formal",
    "badly ordered",
)  # what a model says of an answer that nothing is wrong with
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


def counted(draw: Draw, mode: Planted, named: set[str], seed: int) -> Mode:
    """Return the counts of a mode after people have looked at 60 answers of its queue; they never err.

    named: the answers that have it by its judge.
    """
    keys = [(row.question_id, row.system) for row in draw.answers]
    has_it = {key: key[0] in named for key in keys}
    rows = ModeRows(keys=keys, has_it=has_it, wrong=dict(zip(keys, draw.wrong, strict=True)))
    empty = Mode(name="mode", title="", question="", digest="q", judge_digest="j" * 8, kind="signs")
    drawn_rows = draw_rows(rows, LABELS, seed)
    labels = [
        Label(
            question_id=row.key[0],
            system=row.key[1],
            score=float(row.key[0] in mode.ids),
            metadata={"inclusion": row.inclusion, "queue": queue_name(empty, drawn_rows), "policy": "q"},
        )
        for row in drawn_rows
    ]
    return with_counts(empty, rows, labels, seed=seed)


class Reader:
    """A model that reads rows and errs: it misses a mistake, names another one, or invents a quote.

    Of a wrong answer that was planted it names the mode in 80 % of cases, another mistake in 10 %, none in
    10 %; of one that was not, something of three things that mean nothing. 15 % of its quotes are invented.
    Asked whether an answer has a mode it errs in 10 % of those that have it and 5 % of the others; of what
    means nothing it says yes in 20 %, whatever the answer.
    """

    def __init__(self, draw: Draw, seed: int) -> None:
        self.of = {
            row.question: mode.what
            for mode in draw.modes
            for row in draw.answers
            if row.question_id in mode.ids
        }
        self.seed = seed
        self.asked: set[tuple[str, ...]] = set()

    def chance(self, *about: object) -> float:
        return random.Random(f"{self.seed} {about}").random()

    def reply(self, prompt: str) -> dict[str, object]:
        """Return the reply to a call that shows rows, or remarks on them."""
        if "You read answers" in prompt:
            texts = [(n, fenced(f"row_{n}", prompt)) for n in range(1, 6)]
            rows = (self.remark(n, text) for n, text in texts if text)
            return {"rows": [row for row in rows if row]}
        groups: dict[str, list[int]] = {}
        for number, what in re.findall(r"^(\d+)\. (.+)$", fenced("notes", prompt), re.MULTILINE):
            groups.setdefault(what, []).append(int(number))
        most = sorted(groups, key=lambda what: -len(groups[what]))[:8]
        named = [{"name": what, "statement": f"It is: {what}.", "notes": groups[what]} for what in most]
        return {"groups": named}

    def judgement(self, judge: Judge, row: Answer) -> Judgement:
        """Return the verdict on a row: of signs as they are, of a statement with the errors of the model."""
        if isinstance(judge, SignsJudge):
            score = float(judge.score(row) >= judge.threshold)
        else:
            statement = judge.own_texts["statement"]
            what = statement.removeprefix("It is: ").removesuffix(".")
            rate = 0.2 if what in NOTHING else 0.9 if self.of.get(row.question) == what else 0.05
            self.asked.add((statement, row.question_id))
            score = float(self.chance("asked", what, row.question, row.answer) < rate)
        return Judgement(
            question_id=row.question_id,
            system=row.system,
            judge=judge.name,
            metric=judge.name,
            status="scored",
            score=score,
            scale=(0, 1),
            model=NO_MODEL,
            prompt_version=1,
        )

    def remark(self, number: int, text: str) -> dict[str, object] | None:
        question = next(iter(re.findall(r"^question: (.*)$", text, re.MULTILINE)), "")
        answer = next(iter(re.findall(r"^answer: (.*)$", text, re.MULTILINE)), "")
        chance, what = self.chance("read", question), self.of.get(question)
        others = [name for name in [*WAYS, KIND] if name != what]
        if what is not None and chance > 0.8:
            what = others[int(1000 * chance) % len(others)] if chance > 0.9 else None
        elif what is None:
            what = NOTHING[int(1000 * chance) % len(NOTHING)]
        quote = "invented words" if self.chance("quote", question) < 0.15 else answer[:40]
        return {"row": number, "what": what, "quote": quote} if what else None


def read_by_model(draw: Draw, seed: int) -> tuple[dict[str, list[set[str]]], int]:
    """Return the rows of each mode that is named with a model, by the kind of its judge; and its calls."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = folder / "run"
        judgements = [
            Judgement(
                question_id=row.question_id,
                system=row.system,
                judge="planted",
                metric="correctness",
                status="scored",
                score=float(not bad),
                scale=(0, 1),
                model=NO_MODEL,
                prompt_version=1,
            )
            for row, bad in zip(draw.answers, draw.wrong, strict=True)
        ]
        write_run(run, judgements, said=draw.answers)
        metrics = summarise(judgements)
        (run / "summary.json").write_bytes(
            msgspec.json.encode(
                RunSummary(
                    name="run",
                    version="0",
                    models={},
                    counts={},
                    retrieval=[],
                    metrics=metrics,
                    cards=[],
                    calls=Calls(),
                    notes=[],
                )
            )
        )
        (folder / "ragstone.toml").write_text("")
        settings = ragstone.load_settings(folder / "ragstone.toml")
        plan = plan_modes(run, settings, model="scripted/reader", judge=None, labels=())
        reader = Reader(draw, seed)
        session = ScriptedSession(reader)

        async def judged(
            _plan: ModesPlan, judge: Judge, answers: Sequence[Answer], _session: object
        ) -> list[Judgement]:
            return [reader.judgement(judge, row) for row in answers]

        vars(finding)["_judged"] = judged
        found = asyncio.run(finding.find_modes(plan, cast(Session, session), propose=True))
        held: dict[str, list[set[str]]] = {"signs": [], "boolean": []}
        for draft in found.drafts:
            rows = found.judgements[draft.judge.name]
            held[draft.judge.kind].append({row.question_id for row in rows if row.score})
        return held, len(reader.asked)


class ScriptedSession:
    """What reading a run takes of a session: a model that is a function, and calls one after the other."""

    def __init__(self, reader: "Reader") -> None:
        self.reader = reader
        self.models = self

    async def ask(self, _model: str) -> Callable[[Prompt], Awaitable[SimpleNamespace]]:
        """Return how the model is asked."""

        async def ask(prompt: Prompt) -> SimpleNamespace:
            text = "\n\n".join(message.content for message in prompt.messages)
            self.reader.asked.add((text,))
            return SimpleNamespace(value=msgspec.convert(self.reader.reply(text), prompt.reply))

        return ask

    def secret(self) -> bytes:
        """Return what nonces are made with."""
        return b"benchmark"

    async def each(self, _what: str, do: Callable[[Any], Awaitable[Any]], items: Sequence[Any]) -> list[Any]:
        """Return what is done of each item."""
        return [await do(item) for item in items]


class Tally:
    """What a way to find modes found over all draws."""

    def __init__(self, way: str) -> None:
        self.way = way
        self.found: Counter[str] = Counter()
        self.planted: Counter[str] = Counter()
        self.spare = self.draws = self.clean = self.clean_draws = 0
        self.inside: list[bool] = []
        self.widths: list[float] = []

    def add(self, draw: Draw, held: list[set[str]], seed: int) -> None:
        """Count what was found in a draw; held: the rows of each mode that was named."""
        if not draw.modes:
            self.clean_draws, self.clean = self.clean_draws + 1, self.clean + bool(held)
            return
        wrong = {row.question_id for row, bad in zip(draw.answers, draw.wrong, strict=True) if bad}
        self.draws += 1
        for mode in draw.modes:
            rows = next((rows for rows in held if holds(mode, rows, wrong)), None)
            self.planted[mode.what] += 1
            self.found[mode.what] += rows is not None
            truth = len(mode.ids) / len(draw.answers)
            for queue in range(QUEUES if rows is not None else 0):
                share = counted(draw, mode, rows or set(), 1000 * seed + queue).prevalence
                assert share is not None
                self.inside.append(share.low - 1e-9 <= truth <= share.high + 1e-9)
                self.widths.append(share.high - share.low)
            if "-v" in sys.argv and rows is None:
                print("missed", self.way, seed, mode.what, len(mode.ids), file=sys.stderr)
        self.spare += sum(not any(holds(mode, rows, wrong) for mode in draw.modes) for rows in held)

    def show(self) -> None:
        """Print the figures."""
        found, planted = self.found.total(), self.planted.total()
        low, high = wilson_interval(found, planted)
        print(f"{self.way}: found {found} of {planted}: {found / planted:.1%} ({low:.1%} to {high:.1%})")
        each = ", ".join(f"{what} {self.found[what]} of {n}" for what, n in sorted(self.planted.items()))
        print(f"    {each}")
        print(f"    named besides: {self.spare / self.draws:.2f} a draw")
        print(
            f"    stated prevalence holds the truth in {sum(self.inside) / len(self.inside):.1%} of "
            f"{len(self.inside)} queues of {LABELS}; mean width "
            f"{100 * sum(self.widths) / len(self.widths):.1f} points"
        )
        low, high = wilson_interval(self.clean, self.clean_draws)
        print(
            f"    clean runs that name a mode: {self.clean} of {self.clean_draws} ({low:.1%} to {high:.1%})",
            flush=True,
        )


def by_signs(n: int) -> None:
    """Print what is found without a model."""
    tally = Tally("without a model")
    start = time.perf_counter()
    seeds = [*range(FIRST, FIRST + n), *range(FIRST_CLEAN, FIRST_CLEAN + 2 * n)]
    for seed in seeds:
        draw = drawn(seed, planted=0 if seed >= FIRST_CLEAN else PLANTED)
        judges = named_in(draw, seed)
        held = [
            {row.question_id for row in draw.answers if judge.score(row) >= judge.threshold}
            for judge in judges
        ]
        tally.add(draw, held, seed)
    tally.show()
    print(f"    {(time.perf_counter() - start) / len(seeds):.2f} s a draw")


def by_model(n: int) -> None:
    """Print what is found with a model, and how much of it the model or signs alone."""
    every, alone, signs = (Tally(f"with a model, {what}") for what in ("all", "its own", "by signs"))
    calls: list[int] = []
    start = time.perf_counter()
    for seed in (*range(FIRST, FIRST + n), *range(FIRST_CLEAN, FIRST_CLEAN + 3 * n)):
        draw = drawn(seed, planted=0 if seed >= FIRST_CLEAN else PLANTED)
        held, n_calls = read_by_model(draw, seed)
        calls += [n_calls] if draw.modes else []
        every.add(draw, [*held["signs"], *held["boolean"]], seed)
        alone.add(draw, held["boolean"], seed)
        signs.add(draw, held["signs"], seed)
    for tally in (every, alone, signs):
        tally.show()
    took = f"{time.perf_counter() - start:.0f} s"
    print(f"    calls a run with modes, the same ones once: {sum(calls) / n:,.0f}; {took}")


def main() -> None:
    given = [int(text) for text in sys.argv[1:] if text.isdigit()]
    n_signs, n_model = (*given, *(DRAWS, DRAWS)[len(given) :])
    if n_signs:
        by_signs(n_signs)
    if n_model:
        by_model(n_model)


if __name__ == "__main__":
    main()
