"""Which rows are translated from which language into which."""

from collections.abc import Sequence
from typing import Generic

import msgspec

from ragstone.corpus.language import detect_language
from ragstone.dataset.languages import NAMES
from ragstone.dataset.translation.made import RowT
from ragstone.errors import ConfigError, DataError, nearest
from ragstone.records import Question

SHOWN = 3


class Job(msgspec.Struct, Generic[RowT], frozen=True):
    """A row, its language, and the one wanted."""

    row: RowT
    source: str
    target: str


class Jobs(msgspec.Struct, Generic[RowT], frozen=True, kw_only=True):
    """What is to be done, language by language in the order of the rows.

    spoken: the rows that are translated at all, with their languages. n_other: rows in another language than
    the one that is to be translated. n_same: for how many rows and languages the row is in that one
    already.
    """

    spoken: list[tuple[RowT, str]]
    jobs: list[Job[RowT]]
    n_other: int
    n_same: int


def plan(rows: Sequence[RowT], to: Sequence[str], source: str | None = None) -> Jobs[RowT]:
    """Return the jobs of these rows.

    source: only rows in this language are translated, and a row that does not say its language is taken to be
    in it; without one, such a row's language is detected. Raises DataError where that cannot be told.
    """
    spoken = [(row, row.lang or source or detect_language(_text(row))) for row in rows]
    unknown = [row.id for row, lang in spoken if lang is None]
    if unknown:
        raise DataError(
            f"{len(unknown)} rows do not say their language, and it cannot be detected: "
            f"{', '.join(unknown[:SHOWN])}. Give them the field `lang`, or the language with --from."
        )
    chosen = [(row, lang) for row, lang in spoken if lang and (source is None or same(lang, source))]
    jobs = [Job(row, lang, target) for target in to for row, lang in chosen if not same(lang, target)]
    return Jobs(
        spoken=chosen,
        jobs=jobs,
        n_other=len(rows) - len(chosen),
        n_same=len(chosen) * len(to) - len(jobs),
    )


def same(lang: str, other: str) -> bool:
    """Say whether two codes are of one language; pt and pt-BR are, pt-PT and pt-BR are not."""
    one, two = lang.replace("_", "-").casefold(), other.replace("_", "-").casefold()
    return one == two or f"{one}-".startswith(f"{two}-") or f"{two}-".startswith(f"{one}-")


def check_langs(langs: Sequence[str]) -> None:
    """Raise ConfigError for a code that is no language's, and for one that is given twice."""
    for lang in langs:
        base = lang.replace("_", "-").partition("-")[0]
        if base not in NAMES and not (len(base) == 3 and base.isascii() and base.isalpha()):
            code = next((code for code, name in NAMES.items() if name.casefold() == lang.casefold()), None)
            hint = f"Did you mean {code!r}?" if code else nearest(base, NAMES)
            raise ConfigError(f"{lang!r} is no code of a language (ISO 639). {hint}")
        if list(langs).count(lang) > 1:
            raise ConfigError(f"{lang!r} is given twice. Name each language once.")


def _text(row: RowT) -> str:
    return row.question if isinstance(row, Question) else row.text
