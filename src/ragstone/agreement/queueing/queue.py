"""A queue: which answers are to be labelled, in what order, by whom, on what scale. A file, written once."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from ragstone.agreement.card import grade_name
from ragstone.agreement.queueing.choosing import Choice
from ragstone.errors import DataError, nearest
from ragstone.records import Answer
from ragstone.tables import read_rows, write_rows
from ragstone.tables.private import make_folder

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
MOST_KEYS = 10  # whole grades from 0 to 9 have a key each; on other scales a number is typed

Reference = Literal["shown", "folded", "hidden"]


class Item(msgspec.Struct, frozen=True, omit_defaults=True):
    """An answer of a queue. inclusion: its chance, where not all had the same. annotators: [] for anybody."""

    question_id: str
    system: str
    inclusion: float | None = None
    annotators: list[str] = []


class Example(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row with the grade that it should get, as the judge's file has it, in words."""

    texts: dict[str, str]
    expected: str
    reason: str


class Rubric(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a judge is told. grades: what each means, by its value as text."""

    text: str | None = None
    grades: dict[str, str] = {}
    examples: list[Example] = []


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    """What annotators work through. The texts of its answers stand beside it, so a run may change or go.

    source: the run or the file that the judgements came from. metric and scale: of the labels. annotators:
    who gets items, [] for everybody who may label. overlap: the share of the items that `each` of them get,
    so that people can be compared. reference: whether the right answer is shown. instructions: the owner's
    own.
    """

    name: str
    source: str
    judge: str
    metric: str
    scale: tuple[float, float]
    choice: Choice
    annotators: list[str] = []
    overlap: float = 0.0
    each: int = 2
    reference: Reference = "folded"
    instructions: str | None = None
    rubric: Rubric | None = None
    items: list[Item]

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
        told = self.rubric.grades if self.rubric else {}
        return [told.get(f"{grade:g}", name) for grade, name in zip(self.grades, named, strict=True)]

    def places_of(self, person: str) -> list[int]:
        """Return the places of the items that a person is to label, in their order."""
        return [at for at, item in enumerate(self.items) if not item.annotators or person in item.annotators]


def deal(keys: Sequence[Item], annotators: Sequence[str], overlap: float, each: int) -> list[Item]:
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
            f"{each} annotators for a shared answer, and {len(names)} are named: give from 2 to that many."
        )
    dealt, load, n_shared = [], dict.fromkeys(names, 0), 0
    for at, item in enumerate(keys):
        if int((at + 1) * overlap + 1e-9) > int(at * overlap + 1e-9):
            own = _together(names, each, n_shared)
            n_shared += 1
        else:
            own = [min(names, key=lambda name: load[name])]
        for name in own:
            load[name] += 1
        dealt.append(msgspec.structs.replace(item, annotators=own))
    return dealt


def _together(names: Sequence[str], each: int, turn: int) -> list[str]:
    """Return who shares an item: neighbours in the first round, then each with the next but one, and so
    on."""
    step = 1 + turn // len(names) % (len(names) - 1)
    order = [names[(turn + step * place) % len(names)] for place in range(len(names))]
    rest = [names[(turn + place) % len(names)] for place in range(len(names))]
    return list(dict.fromkeys([*order, *rest]))[:each]


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
    except (msgspec.DecodeError, OSError) as mistake:
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


def queue_names(folder: Path) -> list[str]:
    """Return the names of the queues in a folder, sorted; none where there is no folder."""
    return sorted(path.stem for path in folder.glob("*.json") if NAME.fullmatch(path.stem))


def queue_path(folder: Path, name: str) -> Path:
    """Return where a queue stands. Raises DataError for what cannot be its name."""
    if not NAME.fullmatch(name):
        raise DataError(
            f"{name!r} cannot be the name of a queue: take letters, digits, - and _, at most 60, such as "
            "harvest-2."
        )
    return folder / f"{name}.json"
