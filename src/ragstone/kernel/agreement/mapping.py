"""What a label stands for on a judge's scale: `1=0,5=100`, by the same rule wherever it is said.

A label that is named has the score that is given. One between two that are named has its place on the line
between them. One outside of them has none, and is refused.
"""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Label
from ragstone.kernel.tables.columns import as_number

DIGITS = 9  # places on a line that are meant to be one differ by rounding
FORM = "write LABEL=SCORE, with a score on the judge's scale, e.g. 1=0,5=100"
_NUMBER = re.compile(r"[-+]?(?:\d+(?:[.,]\d+)?|\.\d+)")


def parse_mapping(texts: Sequence[str], option: str = "--map") -> tuple[dict[str, float], dict[float, float]]:
    """Return word -> score, and number -> score, of texts such as `good=1,bad=0`, `0,9=1;0,1=0`, `50%=50`.

    Several are parted by commas or semicolons; a comma may also be that of a decimal. Raises ConfigError for
    what is none, and for a text that can be read in two ways.
    """
    by_word: dict[str, float] = {}
    numbers: dict[float, float] = {}
    for text in texts:
        for label, score in _pairs(text, option):
            number = _label_number(label)
            if number is None:
                by_word[label] = score
            else:
                numbers[number] = score
    return by_word, numbers


def read_mapping(
    texts: Sequence[str], option: str = "--map"
) -> tuple[dict[str, float], dict[float, float] | None]:
    """Return word -> score, and the mapping for `place_labels`, of texts as `parse_mapping` reads them."""
    return _with_words(*parse_mapping(texts, option))


def mapping_of(table: Mapping[str, float]) -> tuple[dict[str, float], dict[float, float] | None]:
    """Return what `read_mapping` returns, of a table: label as it is written -> score."""
    by_word, numbers = {}, {}
    for label, score in table.items():
        number = _label_number(label)
        if number is None:
            by_word[label] = score
        else:
            numbers[number] = score
    return _with_words(by_word, numbers)


def _with_words(
    by_word: dict[str, float], numbers: dict[float, float]
) -> tuple[dict[str, float], dict[float, float] | None]:
    """Return words, and a mapping in which their scores stay what they are."""
    # What words stand for is on the judge's scale already; only 0 and 1 may be wrong and right on any scale.
    own = {score: score for score in by_word.values()} if numbers or {*by_word.values()} - {0.0, 1.0} else {}
    return by_word, {**own, **numbers} or None


def place_labels(labels: Sequence[Label], mapping: Mapping[float, float] | None) -> list[float]:
    """Return what each label is on the judge's scale; without a mapping its own score.

    Raises DataError for a mapping that is not finite, and for a label outside of it.
    """
    if not mapping:
        return [label.score for label in labels]
    for value, score in mapping.items():
        if not (math.isfinite(value) and math.isfinite(score)):
            raise DataError(
                f"mapping of label {value:g} to {score:g}: both must be finite numbers. Give the score on "
                "the judge's scale that the label means."
            )
    known = sorted(mapping)
    outside = next((label for label in labels if not known[0] <= label.score <= known[-1]), None)
    if outside is not None:
        raise DataError(
            f"question {outside.question_id!r}: label {outside.score:g} is not in the mapping (it has "
            f"{', '.join(f'{value:g}' for value in known)}). Add its score; a label between two mapped ones "
            "is interpolated."
        )
    placed = np.interp([label.score for label in labels], known, [mapping[value] for value in known])
    return [float(value) for value in np.round(placed, DIGITS)]


def _pairs(text: str, option: str) -> list[tuple[str, float]]:
    parts = [part.strip() for part in text.split(";") if part.strip()]
    readings = [reading for part in parts if (reading := _readings(part, option))]
    several = next((reading for reading in readings if len(reading) > 1), None)
    if several:
        ways = ", or ".join(
            " and ".join(f"{label} = {score:g}" for label, score in reading) for reading in several[:2]
        )
        raise ConfigError(
            f"{option} {text!r} can be read in two ways: {ways}. Put a semicolon between the labels, or "
            "write decimals with a point."
        )
    return [pair for [reading] in readings for pair in reading]


def _readings(text: str, option: str) -> list[list[tuple[str, float]]]:
    """Return every way to read a text: between two equals signs is a score, a comma and the next label."""
    label, *middle = text.split("=")
    wrong = ConfigError(f"{option} {text!r}: {FORM}.")
    if not middle or not label.strip() or ("," in label and _label_number(label) is None):
        raise wrong
    *between, last = middle
    cuts = [_cuts(part) for part in between]
    score = last.strip()
    if not all(cuts) or not _NUMBER.fullmatch(score):
        raise wrong
    readings = []
    for cut in product(*cuts):
        labels = [label.strip(), *(after for _, after in cut)]
        scores = [*(before for before, _ in cut), score]
        readings.append(
            [
                (label_read, float(number.replace(",", ".")))
                for label_read, number in zip(labels, scores, strict=True)
            ]
        )
    return readings


def _cuts(part: str) -> list[tuple[str, str]]:
    """Return the ways to cut at a comma into a score and a label."""
    commas = [at for at, sign in enumerate(part) if sign == ","]
    cuts = [(part[:at].strip(), part[at + 1 :].strip()) for at in commas]
    return [
        (score, label)
        for score, label in cuts
        if _NUMBER.fullmatch(score) and label and ("," not in label or _label_number(label) is not None)
    ]


def _label_number(label: str) -> float | None:
    """Return the number that a label is, as files are read: `0,5` and `50%` too; None for a word."""
    text = label.strip()
    if not any(sign.isdigit() for sign in text):
        return None
    try:
        return as_number(text)
    except ValueError:
        return None
