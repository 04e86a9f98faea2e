"""Rows to attack, of our own making: clearly bad answers, each bad in the way that a judge looks for."""

import functools
import tomllib
from collections.abc import Callable
from itertools import accumulate, cycle
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.config import Section, convert_section, parse_toml, shipped
from ragstone.kernel.files.language import detect_language
from ragstone.kernel.judging import Judge
from ragstone.kernel.records import Answer, Context, Step, Turn

ROOM = "ragstone.features.attack"  # where the files that ship are
BAD, GOOD = "bad", "good"
TAG = "attack_base"  # of the rows that ship
ROLE = "You answer the questions of visitors."  # of the assistant in a conversation


class BaseRow(Section, frozen=True, kw_only=True):
    """A question with a good answer and several bad ones, all in one language."""

    id: str
    lang: str
    question: str
    reference: str
    right: str
    wrong: str
    refusal: str
    rude: str
    biased: str
    true_statement: str
    false_statement: str
    vague: str
    contexts: list[str]


class _Base(Section, frozen=True):
    row: list[BaseRow]


@functools.cache
def base_rows() -> list[BaseRow]:
    """Return the rows that ship."""
    text = shipped(ROOM, "base", "rows.toml").read_text("utf-8")
    file = Path("rows.toml")
    return convert_section(parse_toml(text, file), _Base, file, text).row


Change = dict[str, object]

# What is bad, as fields of the answer: from the row, the next one (about something else), and one half the
# list away (in another language).
Badness = Callable[[BaseRow, BaseRow, BaseRow], Change]
BADNESS: dict[str, Badness] = {
    "wrong": lambda row, _next, _far: {"answer": row.wrong},
    "off_topic": lambda _row, after, _far: {"answer": after.right},
    "refusal": lambda row, _next, _far: {"answer": row.refusal},
    "rude": lambda row, _next, _far: {"answer": row.rude},
    "biased": lambda row, _next, _far: {"answer": row.biased},
    "other_language": lambda _row, _next, far: {"answer": far.right},
    "false_statement": lambda row, _next, _far: {
        "question": row.false_statement,
        "answer": row.false_statement,
    },
    "vague": lambda row, _next, _far: {"question": row.vague},
    "other_contexts": lambda _row, after, _far: {"contexts": _contexts(after)},
    "other_steps": lambda _row, after, _far: {"answer": after.right, "steps": _steps(after)},
}

# The judges that ship, by what they measure; for others see _badness_for.
BAD_FOR = {
    "relevance": "off_topic",
    "answered": "refusal",
    "toxicity": "rude",
    "bias": "biased",
    "language_match": "other_language",
    "true_false": "false_statement",
    "prompt_clarity": "vague",
    "context_relevance": "other_contexts",
    "context_sufficiency": "other_contexts",
}


def attackable_rows(judge: Judge, limit: int | None = None) -> list[Answer]:
    """Return an answer sheet for an attack on this judge: of each base row a bad answer, then a good one.

    system: `bad` or `good`. What is bad depends on what the judge measures. limit: so many base rows.
    """
    rows = base_rows()
    badness = BADNESS[_badness_for(judge)]
    sheet = []
    for n, row in enumerate(rows[:limit]):
        after = rows[(n + 1) % len(rows)]
        good = _good(row, after, judge)
        bad = badness(row, after, rows[(n + len(rows) // 2) % len(rows)])
        sheet += [_made_bad(good, bad), good]
    return sheet


def _made_bad(good: Answer, bad: Change) -> Answer:
    row = msgspec.structs.replace(good, system=BAD, **bad)
    question, answer = row.question or "", row.answer
    return with_turn(with_turn(row, "user", lambda _: question), "assistant", lambda _: answer)


def with_turn(row: Answer, role: str, change: Callable[[str], str]) -> Answer:
    """Return the row with the last text of this role in its conversation changed, if it has one."""
    at = max(
        (n for n, turn in enumerate(row.turns or ()) if turn.role == role and turn.content), default=None
    )
    if row.turns is None or at is None:
        return row
    turn = msgspec.structs.replace(row.turns[at], content=change(row.turns[at].content))
    return msgspec.structs.replace(row, turns=[*row.turns[:at], turn, *row.turns[at + 1 :]])


def is_base(row: Answer) -> bool:
    """Return whether a row is one of those that ship."""
    return (row.tags or {}).get(TAG) is not None


def _good(row: BaseRow, before: BaseRow, judge: Judge) -> Answer:
    """Return a good answer. before: what a conversation was about before it."""
    stated = judge.measures == "true_false"
    turns = [
        Turn("system", ROLE),
        *(Turn("user", before.question), Turn("assistant", before.right)),
        *(Turn("user", row.question), Turn("assistant", row.right)),
    ]
    return Answer(
        question_id=row.id,
        system=GOOD,
        question=row.true_statement if stated else row.question,
        reference=row.reference,
        answer=row.true_statement if stated else row.right,
        contexts=_contexts(row),
        turns=turns if "conversation" in judge.inputs else None,
        steps=_steps(row) if "steps" in judge.inputs else None,
        tags={"lang": row.lang, TAG: "yes"},
    )


def _badness_for(judge: Judge) -> str:
    """Return what is bad in the eyes of a judge; of one that is not ours, by what it reads."""
    if judge.measures in BAD_FOR:
        return BAD_FOR[judge.measures]
    if "steps" in judge.inputs:
        return "other_steps"
    if not judge.reads_answer:
        return "other_contexts" if "contexts" in judge.inputs else "vague"
    return "wrong" if {"reference", "contexts"} & set(judge.inputs) else "off_topic"


def _contexts(row: BaseRow) -> list[Context]:
    return [Context(text=text) for text in row.contexts]


def _steps(row: BaseRow) -> list[Step]:
    return [Step(tool="search", arguments={"query": row.question}, result="\n".join(row.contexts))]


DEFAULT = "en"


def shipped_words(name: str) -> dict[str, Any]:
    """Return the tables of a TOML file in base/, by language."""
    return tomllib.loads(shipped(ROOM, "base", name).read_text("utf-8"))


@functools.cache
def neutral_sentences() -> dict[str, list[str]]:
    """Return language -> its sentences."""
    return shipped_words("neutral.toml")


def neutral_text(lang: str, length: int) -> str:
    """Return neutral sentences of at least `length` characters together, the fewest that are; never none.

    lang: English is taken where the language has none of its own.
    """
    sentences = neutral_sentences().get(lang) or neutral_sentences()[DEFAULT]
    joint = "" if lang == "zh" else " "
    grown = accumulate(cycle(sentences), lambda text, sentence: f"{text}{joint}{sentence}")
    return next(text for text in grown if len(text) >= length)


def language_of(row: Answer) -> str:
    """Return the language of a row: its tag `lang`, else that of its question or answer as detected."""
    tagged = (row.tags or {}).get("lang")
    return tagged or detect_language(row.question or row.answer) or DEFAULT
