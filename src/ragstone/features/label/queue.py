"""A queue: which answers are to be labelled, in what order, by whom, on what scale. A file, written once."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from ragstone.features.label._choosing import NO_SAMPLE, AnswerDraw, DrawnAnswer, choose, choose_left
from ragstone.features.label._pairs import ComparedSide, both_answers, choose_pairs, compared_sides
from ragstone.features.label._policies import keep_policy, policy_digest, tidied
from ragstone.kernel.agreement.card import grade_name
from ragstone.kernel.agreement.comparison import by_judge
from ragstone.kernel.agreement.pairing import ADJUDICATOR, Key
from ragstone.kernel.errors import DataError, nearest
from ragstone.kernel.judging.classify import ClassifyJudge
from ragstone.kernel.judging.conversation import reply_notes
from ragstone.kernel.judging.examples import of_criterion
from ragstone.kernel.judging.fields import Example as JudgeExample
from ragstone.kernel.judging.fields import PromptedJudge
from ragstone.kernel.judging.judge import Judge
from ragstone.kernel.judging.rubric import RubricJudge
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.records import NO_MODEL, Answer, Judgement, Label, Question, alternatives, references
from ragstone.kernel.tables import read_rows, write_rows

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
MOST_KEYS = 10  # whole grades from 0 to 9 have a key each; on other scales a number is typed

Reference = Literal["shown", "folded", "hidden"]


class QueueItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """An answer of a queue. inclusion: its chance, where not all had the same. annotators: [] for anybody."""

    question_id: str
    system: str
    inclusion: float | None = None
    annotators: list[str] = []


class RubricExample(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row with the grade that it should get, as the judge's file has it, in words."""

    texts: dict[str, str]
    expected: str
    reason: str


class Rubric(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a judge is told. grades: what each means, by its value as text."""

    text: str | None = None
    grades: dict[str, str] = {}
    examples: list[RubricExample] = []


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    """What annotators work through. The texts of its answers stand beside it, so a run may change or go.

    source: the run or the file that the judgements came from. metric and scale: of the labels. annotators:
    who gets items, [] for everybody who may label. overlap: the share of the items that `each` of them get,
    so that people can be compared. reference: whether the right answer is shown. instructions: the owner's
    own. again_of, again_policy: the queue whose answers are labelled again, and the policy of its labels.
    """

    name: str
    source: str
    judge: str
    metric: str
    scale: tuple[float, float]
    choice: AnswerDraw
    annotators: list[str] = []
    overlap: float = 0.0
    each: int = 2
    reference: Reference = "folded"
    instructions: str | None = None
    rubric: Rubric | None = None
    items: list[QueueItem]
    again_of: str | None = None
    again_policy: str | None = None

    @property
    def is_sample(self) -> bool:
        """Whether its answers were drawn by chance, so that their labels speak for others."""
        return self.choice.by not in NO_SAMPLE and not self.choice.where

    @property
    def policy(self) -> str | None:
        """The digest of the instructions; None without any."""
        return policy_digest(self.instructions) if self.instructions else None

    @property
    def grades(self) -> list[float]:
        """The grades that have a key each; empty where any number of the scale may be typed."""
        low, high = self.scale
        keyed = low.is_integer() and high.is_integer() and 0 <= low < high < MOST_KEYS
        return [float(grade) for grade in range(int(low), int(high) + 1)] if keyed else []

    def grade_words(self) -> list[str]:
        """Return what each grade means: in the rubric, else of the metric, else yes and no, else its
        number."""
        numbers = [f"{grade:g}" for grade in self.grades]
        named = [grade_name(self.metric, grade, self.grades) for grade in self.grades]
        if named == numbers and self.scale == (0.0, 1.0):
            named = ["no", "yes"]
        meanings = self.rubric.grades if self.rubric else {}
        return [meanings.get(f"{grade:g}", name) for grade, name in zip(self.grades, named, strict=True)]

    def places_of(self, person: str) -> list[int]:
        """Return the places of the items that a person is to label, in their order."""
        return [at for at, item in enumerate(self.items) if not item.annotators or person in item.annotators]


def deal(keys: Sequence[QueueItem], annotators: Sequence[str], overlap: float, each: int) -> list[QueueItem]:
    """Return the items with who gets which: a share of them `each` annotators, in turn, the others one.

    The items that several get are spread evenly over the queue, so agreement shows from its beginning.
    Everybody gets as many as anybody else, give or take one round. Raises DataError for an overlap that
    cannot be.
    """
    names = list(dict.fromkeys(annotators))
    if not 0 <= overlap <= 1:
        raise DataError(f"an overlap of {overlap:g}: give a share of the answers, from 0 to 1.")
    if not names:
        if overlap:
            raise DataError("An overlap needs the names of at least two annotators to share answers.")
        return [*keys]
    if overlap and not 2 <= each <= len(names):
        raise DataError(
            f"{each} annotators for a shared answer, but {len(names)} are named: give a number from "
            f"2 to {len(names)}."
        )
    dealt, load, n_shared = [], dict.fromkeys(names, 0), 0
    for at, item in enumerate(keys):
        if int((at + 1) * overlap + 1e-9) > int(at * overlap + 1e-9):
            step = 1 + n_shared // len(names) % (len(names) - 1)
            # Neighbours share in the first round, then each with the next but one, and so on.
            order = [names[(n_shared + step * turn) % len(names)] for turn in range(len(names))]
            rest = [names[(n_shared + turn) % len(names)] for turn in range(len(names))]
            own = list(dict.fromkeys([*order, *rest]))[:each]
            n_shared += 1
        else:
            own = [min(names, key=lambda name: load[name])]
        for name in own:
            load[name] += 1
        dealt.append(msgspec.structs.replace(item, annotators=own))
    return dealt


def write_queue(folder: Path, queue: Queue, texts: Sequence[Answer]) -> Path:
    """Write a queue and its texts, in the order of its items; return its path.

    Raises DataError for a name that is none, and for one that is taken: a queue never changes.
    """
    path = queue_path(folder, queue.name)
    make_folder(folder)
    taken = f"{path} exists, and a queue never changes: its labels would no longer be of a known draw."
    if path.exists():
        raise DataError(f"{taken} Give the new one another name.")
    write_rows(path.with_suffix(".texts.jsonl"), texts, Answer, force=True)
    if queue.instructions:
        keep_policy(folder.parent / "policies", queue.instructions)
    made = path.with_name(f".{path.name}.{os.getpid()}")
    made.write_bytes(msgspec.json.format(msgspec.json.encode(queue), indent=1))
    try:
        os.link(made, path)  # unlike a rename it never replaces one that another process has made since
    except FileExistsError:
        raise DataError(f"{taken} Give the new one another name.") from None
    finally:
        made.unlink()
    return path


def read_queue(folder: Path, name: str) -> Queue:
    """Return a queue. Raises DataError naming the queues that there are, or what is wrong with the file."""
    path = queue_path(folder, name)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Queue)
    except FileNotFoundError:
        raise DataError(f"There is no queue {name!r}. {nearest(name, queue_names(folder))}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, OSError) as mistake:
        raise DataError(f"{path}: cannot be read as a queue ({mistake}). Restore it from a backup.") from None


def read_texts(folder: Path, queue: Queue) -> list[Answer]:
    """Return the answers of a queue with question, reference and contexts, in the order of its items.

    Raises DataError where they are not those of the queue.
    """
    path = queue_path(folder, queue.name).with_suffix(".texts.jsonl")
    texts = list(read_rows(path, Answer))
    if [(row.question_id, row.system) for row in texts] != [(i.question_id, i.system) for i in queue.items]:
        raise DataError(f"{path}: these are not the texts of queue {queue.name!r}. Restore both files.")
    return texts


def read_queued(folder: Path, name: str) -> list[Answer]:
    """Return the answers of the queue of this name. Raises DataError as read_queue and read_texts do."""
    return read_texts(folder, read_queue(folder, name))


def queue_names(folder: Path) -> list[str]:
    """Return the names of the queues in a folder, sorted; none where there is no folder."""
    return sorted(path.stem for path in folder.glob("*.json") if NAME.fullmatch(path.stem))


def queue_path(folder: Path, name: str) -> Path:
    """Return where a queue stands. Raises DataError for what cannot be its name."""
    check_name(name)
    return folder / f"{name}.json"


def check_name(name: str) -> None:
    """Check that a queue can have a name. Raises DataError."""
    if not NAME.fullmatch(name):
        raise DataError(
            f"{name!r} cannot be the name of a queue: use letters, digits, - and _, at most 60, "
            "such as harvest-2."
        )


EVIDENCE = "evidence"
"""The field of a text's metadata that holds the passages with the answer to the question."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What the owner of a queue decides; see Queue and Choice for the fields.

    scale: of the labels, None for the judge's.
    """

    name: str
    choice: AnswerDraw
    scale: tuple[float, float] | None = None
    annotators: list[str] = []
    overlap: float = 0.0
    each: int = 2
    reference: Reference = "folded"
    instructions: str | None = None


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that a queue is made from.

    labels: that are there already. evidence: question id -> passages that hold the answer.
    judge: the judge of the choice, for its rubric; None where its file is not to be had. left: the answers
    that the filter of a choice leaves.
    """

    source: str
    judgements: Sequence[Judgement]
    answers: Sequence[Answer]
    questions: Mapping[str, Question] = {}
    labels: Sequence[Label] = ()
    evidence: Mapping[str, Sequence[str]] = {}
    judge: Judge | None = None
    left: Collection[Key] = ()


def make_queue(plan: Plan, material: Material, picked: Sequence[Key] = ()) -> tuple[Queue, list[Answer]]:
    """Return a queue and its texts: the same for the same plan and rows.

    picked: the answers themselves, where nothing is drawn (`picked` of AnswerDraw). Raises DataError for a
    plan that cannot be carried out: as `choose` and `deal` do, for a name or a scale that is none, for
    instructions that nobody could read, and where an answer to label is not among the answers.
    """
    check_name(plan.name)
    taken = next((name for name in plan.annotators if name.startswith(ADJUDICATOR)), None)
    if taken is not None:
        raise DataError(
            f"{taken!r} is not allowed as an annotator: labels under this name settle differences between "
            "others."
        )
    texts = {(row.question_id, row.system): row for row in material.answers}
    tags = {key: row_tags for key, row in texts.items() if (row_tags := _tags(row, material.questions))}
    compares = plan.choice.by == "difference"
    if compares:
        chosen = _pairs(plan.choice, material, texts)
    elif plan.choice.by == "chosen":
        chosen = choose_left(material.judgements, material.labels, plan.choice, material.left)
    elif picked:
        chosen = _picked(picked, material.judgements, material.source)
    else:
        chosen = choose(material.judgements, material.labels, plan.choice, tags)
    missing = [drawn.row for drawn in chosen if (drawn.row.question_id, drawn.row.system) not in texts]
    if missing:
        raise DataError(
            f"{len(missing)} of the {len(chosen)} answers to label are not among the answers of "
            f"{material.source}. The first is of question {missing[0].question_id!r}, system "
            f"{missing[0].system!r}. Choose a run that has its answers, or name their file."
        )
    first = chosen[0].row
    keys = [QueueItem(drawn.row.question_id, drawn.row.system, drawn.inclusion) for drawn in chosen]
    dealt = deal(keys[::2] if compares else keys, plan.annotators, plan.overlap, plan.each)
    if compares:  # both answers to a question go to the same people
        people = [item.annotators for item in dealt for _ in range(2)]
        dealt = [msgspec.structs.replace(key, annotators=own) for key, own in zip(keys, people, strict=True)]
    queue = Queue(
        name=plan.name,
        source=material.source,
        judge=first.judge,
        metric=first.metric,
        scale=_scale(plan, first),
        choice=plan.choice,
        annotators=list(dict.fromkeys(plan.annotators)),
        overlap=plan.overlap,
        each=plan.each,
        reference=plan.reference,
        instructions=tidied(plan.instructions) if plan.instructions else None,
        rubric=rubric_of(material.judge, first.metric) if material.judge else None,
        items=dealt,
    )
    return queue, [_text(texts[item.question_id, item.system], material) for item in dealt]


def queue_again(
    queue: Queue,
    name: str,
    keys: Sequence[Key],
    labels: Sequence[Label],
    instructions: str,
    policy: str | None,
) -> Queue:
    """Return a queue of answers of another one, each for the people who labelled it first.

    labels: the first ones, given under policy. Raises DataError for a name or instructions that are none.
    """
    check_name(name)
    people: dict[Key, list[str]] = {}
    for row in labels:
        if row.annotator and not row.annotator.startswith(ADJUDICATOR):
            people.setdefault((row.question_id, row.system), []).append(row.annotator)
    items = [QueueItem(key[0], key[1], annotators=people.get(key, [])) for key in keys]
    return msgspec.structs.replace(
        queue,
        name=name,
        choice=AnswerDraw(by="gaps", n=len(items), metric=queue.metric, judge=queue.judge),
        annotators=list(dict.fromkeys(person for item in items for person in item.annotators)),
        overlap=0.0,
        instructions=tidied(instructions),
        items=items,
        again_of=queue.name,
        again_policy=policy,
    )


def _picked(keys: Sequence[Key], judgements: Sequence[Judgement], source: str) -> list[DrawnAnswer]:
    """Return the answers picked by hand, by their first judge that asks a model, or the first.

    Raises DataError for one that no judge has judged.
    """
    rows_of = by_judge(row for row in judgements if (row.question_id, row.system) in set(keys))
    judge = next((each for each in rows_of if each.model != NO_MODEL), next(iter(rows_of), None))
    rows = {(row.question_id, row.system): row for row in rows_of[judge]} if judge else {}
    missing = next((key for key in keys if key not in rows), None)
    if missing:
        raise DataError(
            f"no judge has judged the answer of {missing[1]!r} to {missing[0]!r} in {source}, so there is no "
            "scale to label it on. Judge the run first."
        )
    return [DrawnAnswer(rows[key]) for key in keys]


def _pairs(choice: AnswerDraw, material: Material, texts: Mapping[Key, Answer]) -> list[DrawnAnswer]:
    named = (None, None) if isinstance(choice.systems, msgspec.UnsetType) else choice.systems
    sides = [
        ComparedSide(system=system, judgements=material.judgements, answers=texts)
        for system in compared_sides(material.judgements, None, *named)
    ]
    pairs = choose_pairs(sides[0], sides[1], material.labels, choice)
    return [answer for answer, _ in both_answers(pairs, choice.seed)]


def judges_in(judgements: Sequence[Judgement]) -> list[tuple[str, str, tuple[float, float]]]:
    """Return judge, metric and scale of what a queue could be made for, in the order of the judgements."""
    scale_of = {
        (judge.judge, judge.metric): next((row.scale for row in rows if row.scale), (0.0, 1.0))
        for judge, rows in by_judge(judgements).items()
    }
    return [(judge, metric, scale) for (judge, metric), scale in scale_of.items()]


def rubric_of(judge: Judge, metric: str) -> Rubric | None:
    """Return what the judge is told of this metric, None where it is told nothing."""
    every = judge.asked if isinstance(judge, RubricJudge) else []
    chosen = next((criterion for criterion in every if criterion.name == metric), None)
    criteria = [chosen] if chosen else every
    parts = [f"{criterion.name}: {criterion.description}" for criterion in criteria]
    text = "\n\n".join([*([judge.prompt.strip()] if isinstance(judge, PromptedJudge) else []), *parts])
    rubric = Rubric(
        text=text or None,
        grades=_grades(judge, criteria[0].grades if len(criteria) == 1 else []),
        examples=[_example(example, chosen.name if chosen else None) for example in judge.shown],
    )
    return None if rubric == Rubric() else rubric


def _grades(judge: Judge, names: Sequence[str]) -> dict[str, str]:
    """Return what each grade means, where the labels of a closed set or the names of grades say so."""
    if isinstance(judge, ClassifyJudge):
        return {f"{score:g}": label for label, score in judge.labels.items()}
    if not names:
        return {}
    low, high = judge.scale
    step = (high - low) / (len(names) - 1)
    return {f"{low + step * rank:g}": word for rank, word in enumerate(names)}


def _example(example: JudgeExample, criterion: str | None) -> RubricExample:
    expected: object = example.expected
    reason: object = example.reason
    if criterion:
        expected, reason = of_criterion(expected, criterion), of_criterion(reason, criterion)
    fields = {
        "question": example.question,
        "reference": " / ".join(alternatives(example.reference)),
        "answer": example.answer,
        "contexts": "\n\n".join(example.contexts or []),
    }
    return RubricExample(
        texts={name: text for name, text in fields.items() if text},
        expected=_said(expected),
        reason=_said(reason),
    )


def _said(value: object) -> str:
    """Return a grade or a reason in words; of several criteria each by its name."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_said(part)}" for name, part in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _scale(plan: Plan, row: Judgement) -> tuple[float, float]:
    low, high = plan.scale or row.scale or (0.0, 1.0)
    if not low < high:
        raise DataError(
            f"a scale of {low:g} to {high:g}: give the lowest score, then a higher one, e.g. 1-5."
        )
    return (float(low), float(high))


def _tags(row: Answer, questions: Mapping[str, Question]) -> dict[str, str] | None:
    question = questions.get(row.question_id)
    return row.tags or (question.tags if question else None)


def _text(row: Answer, material: Material) -> Answer:
    """Return an answer with all that its annotator reads, and nothing else."""
    question = material.questions.get(row.question_id)
    passages = [*material.evidence.get(row.question_id, ())]
    notes = ({EVIDENCE: passages} if passages else {}) | reply_notes(row)
    reference = references(row) or (references(question) if question else [])
    return Answer(
        question_id=row.question_id,
        system=row.system,
        question=row.question or (question.question if question else None),
        answer=row.answer,
        error=row.error,
        reference=reference[0] if len(reference) == 1 else reference or None,
        contexts=row.contexts,
        tags=_tags(row, material.questions),
        turns=row.turns,
        metadata=notes or None,
    )
