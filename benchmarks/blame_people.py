"""Which component an annotator blames for an answer, and which one blame does, on rows of real pipelines.

    python -m benchmarks.blame_people [-v]

blame_people.jsonl has a row per answer: what was asked, retrieved and answered, and two labels: whether the
answer is right and, if it is not, the first component that failed. Both labels are by one annotator, a
language model, on one day; the second was given in another order, without the first in sight, and neither
with what blame says. Answers: sentences that the extractive application quotes, and two small models'.
The rows were drawn from the points that `right` or `containment` takes, and from questions that the documents
do not answer. Half of the questions, by their digest, are `held-out`: blame was changed by the others alone.

Beside it, on data of ../shared that people labelled (skipped where it is missing): EVOUNA, whether a point
lost is called the judge's where people say that the answer is right; RAGTruth, whether an answer that says
more than its contexts is seen to. Not to be had here: RAGEC's table of annotations (MIT; its repository's
snapshot lacks it), TRAIL (no snapshot). Who&When (MIT) names agents and steps, not components.

blame_people_agents.jsonl: the 29 failed runs of tau-bench's retail agent whose root cause people named for
AgentRx (github.com/microsoft/AgentRx f228165, MIT, (c) Microsoft; arXiv 2602.02475), as calls, errors and
the expected calls; results are left out.
Some 20 s on one core. -v prints each row that differs.
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from tests.support.fake_openai import serving
from tests.support.scripts import Body, prompt_of

import ragstone
from ragstone.features.blame._causes import KnownAnswer, PointFacts, find_cause
from ragstone.features.blame._points import CountedPoint
from ragstone.features.blame._steps import read_steps
from ragstone.kernel.judging.lexical import grounding
from ragstone.kernel.records import Answer, Context, Evidence, Judgement, Question, Step
from ragstone.kernel.runs.blamed import read_causes
from ragstone.kernel.runs.breakdown import found_relevant
from ragstone.kernel.runs.causes import Caused
from ragstone.kernel.statistics import mean_estimates, wilson_interval
from ragstone.kernel.tables import read_rows, write_rows

HERE = Path(__file__).parent
ROWS, DOCUMENTS = HERE / "blame_people.jsonl", HERE / "blame_people_documents.jsonl"
AGENTS = HERE / "blame_people_agents.jsonl"
SHARED = HERE.parents[1] / "shared" / "data"
COMPONENTS = ("dataset", "retriever", "model + prompt", "judge", "none")
PUBLISHED = (
    "published: RAGEC 57.8 % (arXiv 2510.13975, 4 stages), TRAIL 11 to 18 % (2505.08638, agents' errors)"
)
LEAD, SECOND = "right", "containment"
TOML = f"""[run]
name = "people"
[documents]
paths = ["documents.jsonl"]
[questions]
path = "questions.jsonl"
[answer]
sheet = "answers.jsonl"
[judge]
judges = ["{LEAD}", "{SECOND}", "grounding", "no_refusal"]
[blame]
judge = "{LEAD}"
second = "{SECOND}"
"""
TOML_EVOUNA = f"""[run]
name = "evouna"
[questions]
path = "questions.jsonl"
[answer]
sheet = "sheet.jsonl"
[judge]
judges = ["{SECOND}"]
[blame]
second = "match"
"""


class StageLabel(msgspec.Struct, frozen=True, kw_only=True):
    """What the annotator, a language model, says of an answer. stage: the first component that failed; None
    where none did.
    """

    right: bool
    stage: Literal["dataset", "retriever", "model + prompt"] | None = None
    reason: str = ""


class LabelledRow(msgspec.Struct, frozen=True, kw_only=True):
    """An answer with its labels. with_documents, without: what the model said when blame asked it again."""

    id: str
    pack: str
    half: Literal["development", "held-out"]
    system: str
    question: str
    document_ids: list[str]
    contexts: list[Context]
    answer: str
    labels: list[StageLabel]
    reference: str | None = None
    evidence: list[Evidence] | None = None
    answerable: bool | None = None
    with_documents: str | None = None
    without: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.id, self.system


def labelled_rows() -> list[LabelledRow]:
    return [msgspec.json.decode(line, type=LabelledRow) for line in ROWS.read_bytes().splitlines()]


class Blamed(msgspec.Struct, frozen=True):
    """What the run's judge and blame say. lost: answers without their point; causes: by answer."""

    lost: frozenset[tuple[str, str]]
    causes: Mapping[tuple[str, str], Caused]

    def component(self, row: LabelledRow) -> str:
        return self.causes[row.key].component if row.key in self.causes else "none"

    def wanted(self, row: LabelledRow, label: StageLabel) -> str:
        """Return the component by a label: the judge where its verdict is not the annotator's."""
        lost = row.key in self.lost
        if row.answerable is False or label.right != lost:
            return label.stage or "none"
        return label.stage if label.right and label.stage else "judge"


def blame_rows(rows: Sequence[LabelledRow]) -> Blamed:
    """Return what blame says of these rows, a model asked again where its replies are known."""
    asked = [row for row in rows if row.with_documents is not None]
    alone = _blame([row for row in rows if row.with_documents is None], "")
    if not asked:
        return alone
    with serving() as fake:
        fake.script = lambda body: _again(asked, body)
        again = _blame(asked, f'model = "openai/fake"\n{fake.toml()}')
    return Blamed(alone.lost | again.lost, {**alone.causes, **again.causes})


def _again(rows: Iterable[LabelledRow], body: Body) -> str:
    prompt = prompt_of(body)
    row = max((row for row in rows if row.question in prompt), key=lambda row: len(row.question))
    return (row.without if "no passages to read" in prompt else row.with_documents) or "I do not know."


def _blame(rows: Sequence[LabelledRow], more: str) -> Blamed:
    lost: set[tuple[str, str]] = set()
    causes: dict[tuple[str, str], Caused] = {}
    for system in dict.fromkeys(row.system for row in rows):
        mine = [row for row in rows if row.system == system]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            questions = [msgspec.convert(msgspec.to_builtins(row), Question, strict=False) for row in mine]
            answers = [
                Answer(question_id=row.id, system=row.system, answer=row.answer, contexts=row.contexts)
                for row in mine
            ]
            write_rows(folder / "questions.jsonl", questions, Question)
            write_rows(folder / "answers.jsonl", answers, Answer)
            (folder / "documents.jsonl").write_bytes(DOCUMENTS.read_bytes())
            (folder / "ragstone.toml").write_text(TOML + more)
            settings = ragstone.load_settings(folder / "ragstone.toml")
            ragstone.run(settings)
            run = folder / "runs" / "people"
            ragstone.blame(run, settings=settings)
            lost |= {
                (row.question_id, row.system)
                for row in read_rows(run / "judgements.jsonl", Judgement)
                if row.judge == LEAD and row.score is not None and row.score < 0.5
            }
            causes |= {(row.question_id, row.system): row for of in read_causes(run).values() for row in of}
    return Blamed(frozenset(lost), causes)


def by_documents(row: LabelledRow) -> str:
    """Return the component by one rule: the retriever's where no relevant document is among the contexts."""
    question = Question(id=row.id, question=row.question, document_ids=row.document_ids)
    answer = Answer(question_id=row.id, system=row.system, answer=row.answer, contexts=row.contexts)
    missed = row.answerable is not False and found_relevant(answer, question) is False
    return "retriever" if missed else "model + prompt"


def share(hits: Sequence[bool], rows: Sequence[LabelledRow]) -> str:
    """Return a share with its interval; rows of one document count as one piece of evidence."""
    estimate = mean_estimates({"hit": [float(hit) for hit in hits]}, [row.document_ids[0] for row in rows])[
        "hit"
    ]
    low, high = estimate.low or 0.0, estimate.high or 0.0
    return f"{estimate.value:6.1%}  ({low:.0%} to {high:.0%})  {sum(hits)} of {len(hits)}"


def show(rows: Sequence[LabelledRow], blamed: Blamed) -> None:
    """Print the agreement of one half, of all rows and of what both call wrong, and that of simpler rules."""
    wanted = [blamed.wanted(row, row.labels[0]) for row in rows]
    hits = [blamed.component(row) == want for row, want in zip(rows, wanted, strict=True)]
    print(f"  component, all rows                  {share(hits, rows)}")
    wrong = [
        row for row in rows if not row.labels[0].right and (row.key in blamed.lost or row.answerable is False)
    ]
    stages = [row.labels[0].stage for row in wrong]
    first = [blamed.component(row) == stage for row, stage in zip(wrong, stages, strict=True)]
    print(f"  stage, where both call it wrong      {share(first, wrong)}")
    naive = [by_documents(row) == stage for row, stage in zip(wrong, stages, strict=True)]
    print(f"    by the retrieved document alone    {share(naive, wrong)}")
    print(f"    model + prompt every time          {share([s == 'model + prompt' for s in stages], wrong)}")
    print(f"  {'label / blame':17}" + "".join(f"{name:>16}" for name in (*COMPONENTS, "cannot tell")))
    pairs = Counter(zip(wanted, map(blamed.component, rows), strict=True))
    for want in COMPONENTS:
        counts = "".join(f"{pairs[want, name]:16}" for name in (*COMPONENTS, "cannot tell"))
        print(f"  {want:17}{counts}")


def differing(rows: Iterable[LabelledRow], blamed: Blamed) -> Iterator[str]:
    for row in rows:
        want, got = blamed.wanted(row, row.labels[0]), blamed.component(row)
        if want != got:
            because = blamed.causes[row.key].because if row.key in blamed.causes else "no point lost"
            yield f"{row.half} {row.system} {row.id}: {row.question}"
            yield f"    {want} ({row.labels[0].reason}) / {got}: {because}"


def evouna() -> None:
    """Print how often blame calls a lost point the judge's, by what people say of the answer."""
    path = SHARED / "evouna" / "tq600.jsonl"
    if not path.is_file():
        print(f"EVOUNA: skipped, {path} is missing")
        return
    rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, keys in (("questions", ("id", "question", "reference")), ("sheet", ("id", "answer"))):
            lines = (json.dumps({key: row[key] for key in keys}) for row in rows)
            (folder / f"{file}.jsonl").write_text("\n".join(lines))
        (folder / "ragstone.toml").write_text(TOML_EVOUNA)
        settings = ragstone.load_settings(folder / "ragstone.toml")
        ragstone.run(settings)
        ragstone.blame(folder / "runs" / "evouna", settings=settings)
        read = read_causes(folder / "runs" / "evouna")
        lost = {
            row.question_id
            for row in read_rows(folder / "runs" / "evouna" / "judgements.jsonl", Judgement)
            if row.judge == SECOND and row.score == 0
        }
    right = {row["id"]: bool(row["human_label"]) for row in rows}
    for told, words in ((True, "give"), (False, "take, too")):
        names = [name for name in lost if right[name] is told]
        n = sum(any(cause.component == "judge" for cause in read.get(name, [])) for name in names)
        print(
            f"EVOUNA, points that {SECOND} takes and people {words}: "
            f"with `match` as second opinion the judge is blamed for {n} of {len(names)}"
        )


class AgentRow(msgspec.Struct, frozen=True, kw_only=True):
    """A failed run of an agent. category: of AgentRx, what its root cause is."""

    id: str
    category: str
    steps: list[Step]
    expected_steps: list[dict[str, Any]]


OF_CATEGORY = {
    "System Failure": "tools",
    "Underspecified User Intent": "the user",
    "Intent Not Supported": "the user",
}  # all others: the agent, which is model + prompt


def agents() -> None:
    """Print which component the steps of an agent name, beside what AgentRx's people say."""
    pairs: Counter[tuple[str, str]] = Counter()
    for line in AGENTS.read_bytes().splitlines():
        row = msgspec.json.decode(line, type=AgentRow)
        answer = Answer(
            question_id=row.id,
            system="agent",
            answer="",
            steps=row.steps,
            metadata={"expected_steps": row.expected_steps},
        )
        facts = PointFacts(
            point=CountedPoint(question_id=row.id, lost=True),
            answer=KnownAnswer(text=""),
            steps=read_steps(answer),
        )
        pairs[OF_CATEGORY.get(row.category, "model + prompt"), find_cause(facts, "agent").component] += 1
    n, hits = sum(pairs.values()), sum(n for (want, got), n in pairs.items() if want == got)
    low, high = wilson_interval(hits, n)
    print(f"AgentRx, component: {hits / n:.1%}  ({low:.0%} to {high:.0%})  {hits} of {n}")
    for (want, got), count in sorted(pairs.items()):
        print(f"  people: {want}, blame: {got}: {count}")


def ragtruth() -> None:
    """Print how often answers with marked spans, and others, are called unsupported by `grounding`."""
    path = SHARED / "ragtruth" / "qa.jsonl"
    if not path.is_file():
        print(f"RAGTruth: skipped, {path} is missing")
        return
    rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    of = {told: [row for row in rows if bool(row["human_label"]) is told] for told in (False, True)}
    seen = {told: sum(grounding(row["answer"], row["context"]) < 0.5 for row in of[told]) for told in of}
    print(
        f"RAGTruth, {len(rows)} answers: unsupported, of {len(of[False])} with a marked span {seen[False]}, "
        f"of {len(of[True])} without {seen[True]}"
    )


def main() -> None:
    rows = labelled_rows()
    blamed = blame_rows(rows)
    twice = [row for row in rows if len(row.labels) > 1]
    print(f"{len(rows)} rows: {dict(Counter(row.system for row in rows))}")
    print(f"labels: by one annotator, a language model\n{PUBLISHED}")
    if twice:
        same = [
            row.labels[0].right == row.labels[1].right and row.labels[0].stage == row.labels[1].stage
            for row in twice
        ]
        print(f"the annotator with itself: {share(same, twice)}")
    for half in ("development", "held-out"):
        print(half)
        show([row for row in rows if row.half == half], blamed)
    if "-v" in sys.argv:
        print(*differing(rows, blamed), sep="\n")
    agents()
    evouna()
    ragtruth()


if __name__ == "__main__":
    main()
