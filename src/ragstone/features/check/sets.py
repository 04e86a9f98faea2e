"""An evaluation set -> questions that repeat, within and between its parts, and how it asks beside a log."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from ragstone.features.check._types import type_of
from ragstone.kernel.corpus.question_types import TYPES, QuestionType
from ragstone.kernel.dataset.repeats import find_repeats
from ragstone.kernel.dataset.split import documents_of
from ragstone.kernel.dataset.standing import why_left_out
from ragstone.kernel.errors import ConfigError, DataError, checks_arguments, only_rows
from ragstone.kernel.files.language import detect_languages
from ragstone.kernel.records import Question, references
from ragstone.kernel.statistics import Estimate, Floats, mean_estimates
from ragstone.kernel.tables import read_rows
from ragstone.kernel.tables.logs.exchange import Columns, exchange_of, first_of
from ragstone.kernel.tables.logs.reading import Source, rows_of
from ragstone.kernel.tables.names import LOG_NAMES

FEWEST = (
    20  # questions of the set, and conversations of the log, of a known type: of fewer no shares are compared
)
LEVEL = 0.95


class SetRepeat(msgspec.Struct, frozen=True, kw_only=True):
    """A question that repeats an earlier one. exact: in the same words, else in nearly the same.

    part and of_part: the parts that the two are in. other_answer: their references differ, so that one of
    them is wrong, or the question has two answers.
    """

    id: str
    question: str
    part: str
    of_id: str
    of_question: str
    of_part: str
    exact: bool
    other_answer: bool


class PartPair(msgspec.Struct, frozen=True, kw_only=True):
    """What two parts share. n_repeats: questions of the later that repeat one of the earlier.

    n_documents: documents that questions of both rest on; n_questions: questions of the later that do.
    """

    first: str
    second: str
    n_repeats: int
    n_documents: int
    n_questions: int


class TypeShare(msgspec.Struct, frozen=True, kw_only=True):
    """How many questions ask in this way: the share of the set's and of the log's, with 95 % intervals.

    log: clustered by conversation; None without a log. differs: `fewer` or `more` in the set than in the log,
    by intervals of the difference that hold for all types together; None where that cannot be said.
    """

    type: QuestionType
    set: Estimate
    log: Estimate | None = None
    differs: Literal["fewer", "more"] | None = None


class SetCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to know of an evaluation set before it is used.

    parts: name -> questions. repeats: in the order of the questions. pairs: of parts. types: in fixed order,
    without those that neither side has; of the questions in a language whose question words are known;
    n_untyped: the others, of the set and of the log. n_log: questions of the log that can be asked alone,
    0 without a log; n_log_conversations: conversations that hold those of a known type.
    """

    parts: dict[str, int]
    repeats: list[SetRepeat]
    pairs: list[PartPair]
    types: list[TypeShare]
    n_untyped: int
    n_log: int = 0
    n_log_untyped: int = 0
    n_log_conversations: int = 0

    @property
    def compares(self) -> bool:
        """Whether both sides have enough questions of a known type to compare their shares."""
        n_typed = sum(self.parts.values()) - self.n_untyped
        return min(n_typed, self.n_log_conversations) >= FEWEST


class _Placed(NamedTuple):
    part: str
    question: Question
    lang: str | None


@checks_arguments
def check_set(
    parts: Mapping[str, Sequence[Question]] | Sequence[Question] | Path | str | Sequence[Path | str],
    *,
    log: Source | Path | str | None = None,
    seed: int = 0,
) -> SetCheck:
    """Return the repeats of a set, what its parts share, and how it asks beside a log.

    parts: questions, files of them, or name -> questions, such as those to develop and to test with. log:
    files, folders or rows of what people asked. Repeated are questions in the same words, or in nearly the
    same: politeness, articles, plurals and the order of phrases may differ. No model is asked. Raises
    DataError for files that cannot be read or hold no question, ConfigError for two parts of one name.
    """
    named = _parts(parts)
    if not any(named.values()):
        raise DataError("there are no questions to check.")
    questions = [(part, question) for part, some in named.items() for question in some]
    guessed = detect_languages([question.question for _, question in questions])
    placed = [
        _Placed(part, question, question.lang or lang)
        for (part, question), lang in zip(questions, guessed, strict=True)
    ]
    repeats = _repeats(placed)
    kinds = [type_of(place.question.question, place.lang) for place in placed]
    asked = _asked([log] if isinstance(log, str | Path) else log) if log is not None else []
    return SetCheck(
        parts={name: len(some) for name, some in named.items()},
        repeats=repeats,
        pairs=_pairs(named, repeats),
        types=_shares([kind for kind in kinds if kind], [pair for pair in asked if pair[0]], seed),
        n_untyped=kinds.count(None),
        n_log=len(asked),
        n_log_untyped=sum(kind is None for kind, _ in asked),
        n_log_conversations=len({thread for kind, thread in asked if kind}),
    )


def _parts(
    parts: Mapping[str, Sequence[Question]] | Sequence[Question] | Path | str | Sequence[Path | str],
) -> dict[str, list[Question]]:
    if isinstance(parts, Mapping):
        return {name: list(only_rows(name, some, Question)) for name, some in parts.items()}
    if isinstance(parts, str | Path):
        parts = [parts]
    if not isinstance(parts, Sequence) or not all(isinstance(each, str | Path) for each in parts):
        return {"questions": list(only_rows("parts", parts, Question))}
    names = [str(path) for path in parts]
    if twice := next((name for name, n in Counter(names).items() if n > 1), None):
        raise ConfigError(f"{twice} is named twice: name each file once.")
    known: dict[tuple[int, int], str] = {}
    for name in names:
        if not Path(name).exists():  # read_rows says so; of an address nothing is known
            continue
        place = Path(name).stat()
        other = known.setdefault((place.st_dev, place.st_ino), name)
        if other != name:
            raise ConfigError(f"{name} and {other} are the same file: name each file once.")
    return {name: list(read_rows(name, Question)) for name in names}


def _repeats(placed: Sequence[_Placed]) -> list[SetRepeat]:
    by_language: dict[str | None, list[_Placed]] = defaultdict(list)
    for place in placed:
        by_language[place.lang].append(place)
    order = {id(place): number for number, place in enumerate(placed)}
    pairs = [
        (some[repeat.number], some[repeat.of], repeat.exact)
        for some in by_language.values()
        for repeat in find_repeats([place.question.question for place in some])
    ]
    repeats = []
    for later, earlier, exact in sorted(pairs, key=lambda pair: order[id(pair[0])]):
        mine, other = (
            {" ".join(text.casefold().split()) for text in references(place.question)}
            for place in (later, earlier)
        )
        repeats.append(
            SetRepeat(
                id=later.question.id,
                question=later.question.question,
                part=later.part,
                of_id=earlier.question.id,
                of_question=earlier.question.question,
                of_part=earlier.part,
                exact=exact,
                other_answer=bool(mine and other) and not mine & other,
            )
        )
    return repeats


def _pairs(parts: Mapping[str, Sequence[Question]], repeats: Sequence[SetRepeat]) -> list[PartPair]:
    names = list(parts)
    crossing = Counter((repeat.of_part, repeat.part) for repeat in repeats)
    documents = {name: [documents_of(question) for question in some] for name, some in parts.items()}
    pairs = []
    for at, first in enumerate(names):
        known = set(chain.from_iterable(documents[first]))
        for second in names[at + 1 :]:
            shared = [rests & known for rests in documents[second] if rests & known]
            pairs.append(
                PartPair(
                    first=first,
                    second=second,
                    n_repeats=crossing[first, second],
                    n_documents=len(set().union(*shared)),
                    n_questions=len(shared),
                )
            )
    return pairs


def _asked(log: Source) -> list[tuple[QuestionType | None, object]]:
    """Return the type of each question of a log that can be asked alone, and its conversation."""
    texts: list[str] = []
    threads: list[object] = []
    for at, (_place, raw) in enumerate(rows_of(log)):
        exchange = None if isinstance(raw, str) else exchange_of(raw, Columns())
        if exchange is None or isinstance(raw, str) or why_left_out(exchange.question):
            continue
        thread = first_of(raw, LOG_NAMES.conversations)
        texts.append(exchange.question)
        threads.append(at if thread is None else str(thread))
    if not texts:
        raise DataError("the log has no question that can be asked on its own.")
    langs = detect_languages(texts)
    return [(type_of(text, lang), thread) for text, lang, thread in zip(texts, langs, threads, strict=True)]


def _shares(
    kinds: Sequence[QuestionType], asked: Sequence[tuple[QuestionType | None, object]], seed: int
) -> list[TypeShare]:
    shown = [kind for kind in TYPES if kind in kinds or any(other == kind for other, _ in asked)]
    if not kinds:
        return []
    mine: dict[str, Floats] = {kind: np.array([float(each == kind) for each in kinds]) for kind in shown}
    theirs: dict[str, Floats] = {kind: np.array([float(each == kind) for each, _ in asked]) for kind in shown}
    threads = [thread for _, thread in asked]
    level = 1 - (1 - LEVEL) / len(shown)
    whole, strict = (
        (mean_estimates(mine, seed=seed, level=at), mean_estimates(theirs, threads, seed=seed, level=at))
        for at in (LEVEL, level)
    )
    compares = min(len(kinds), len(set(threads))) >= FEWEST
    return [
        TypeShare(
            type=kind,
            set=whole[0][kind],
            log=whole[1].get(kind),
            differs=_differs([side[kind] for side in strict]) if compares else None,
        )
        for kind in shown
    ]


def _differs(sides: Iterable[Estimate]) -> Literal["fewer", "more"] | None:
    """Return how a share differs from the other, by the interval of their difference (Newcombe 1998)."""
    (mine, low, high), (other, other_low, other_high) = (
        (side.value, side.low if side.low is not None else side.value, side.high or side.value)
        for side in sides
    )
    difference = mine - other
    if difference + math.hypot(high - mine, other - other_low) < 0:
        return "fewer"
    return "more" if difference - math.hypot(mine - low, other_high - other) > 0 else None
