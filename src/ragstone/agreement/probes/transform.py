"""An answer -> the same answer in another dress, without asking a model: nothing that it says has changed."""

import functools
import re
from collections.abc import Callable, Sequence

import msgspec

from ragstone.agreement.attacks.neutral import DEFAULT, language_of, neutral_text
from ragstone.config import read_library
from ragstone.records import Answer

SHORTEST_PADDING = 160
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？।])\s*")
CAPITAL = re.compile(r"\b[^\W\d_a-zß-öø-ÿ]\w+|\d[\d.,]*\d|\d")


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """A row in two dresses; the effect is the score of `changed` minus that of `plain`."""

    plain: Answer
    changed: Answer


class Transform(msgspec.Struct, frozen=True, kw_only=True):
    """A probe: what is compared, in words, and the text of both sides."""

    compared: str
    plain: Callable[[Answer], str]
    changed: Callable[[Answer], str]


def _as_it_is(row: Answer) -> str:
    return row.answer


def _padded(row: Answer) -> str:
    length = max(SHORTEST_PADDING, 2 * len(row.answer))
    return f"{row.answer} {neutral_text(language_of(row), length)}"


def _question_first(row: Answer) -> str:
    return f"{row.question or ''} {row.answer}".strip()


def marked_up(text: str) -> str:
    """Return the text as markdown: a heading without words of its own, a bullet a sentence, bold names."""
    sentences = [part for part in SENTENCE_END.split(text.strip()) if part]
    bold = [CAPITAL.sub(lambda found: f"**{found[0]}**", part) for part in sentences]
    return "\n".join(["## 1", "", *(f"- {part}" for part in bold)])


def _toned(tone: str, row: Answer) -> str:
    spoken = _tones()
    words = spoken.get(language_of(row)) or spoken[DEFAULT]
    return words[tone].replace("{answer}", row.answer)


@functools.cache
def _tones() -> dict[str, dict[str, str]]:
    """Return language -> tone -> the sentence around an answer."""
    return read_library("ragstone.agreement.probes", "tone.toml")


TRANSFORMS: dict[str, Transform] = {
    "length": Transform(
        compared="the answer with correct but empty sentences after it, against the answer alone",
        plain=_as_it_is,
        changed=_padded,
    ),
    "repetition": Transform(
        compared="the answer with the question repeated before it, against the answer alone",
        plain=_as_it_is,
        changed=_question_first,
    ),
    "markdown": Transform(
        compared="the same words with a heading, bullets and bold type, against plain text",
        plain=_as_it_is,
        changed=lambda row: marked_up(row.answer),
    ),
    "tone": Transform(
        compared="the answer said without any doubt, against the same answer hedged",
        plain=functools.partial(_toned, "hedged"),
        changed=functools.partial(_toned, "assertive"),
    ),
}


def probed_rows(name: str, rows: Sequence[Answer]) -> list[Probed]:
    """Return each row in both dresses of a probe; empty answers are left out, for they have none to wear."""
    transform = TRANSFORMS[name]
    return [
        Probed(
            plain=_dressed(row, transform.plain(row), f"{name} plain"),
            changed=_dressed(row, transform.changed(row), f"{name} changed"),
        )
        for row in rows
        if row.answer.strip()
    ]


def _dressed(row: Answer, text: str, name: str) -> Answer:
    return msgspec.structs.replace(row, answer=text, system=f"{row.system} · {name}")
