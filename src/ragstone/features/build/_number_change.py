"""A statement with one number changed: plausibly, in its own digits, without a model."""

import random
import re
import sys
import unicodedata
from collections.abc import Iterable
from itertools import islice

import msgspec

from ragstone.kernel.corpus.numbers import NUMBER, numbers_in

YEARS = range(1500, 2100)
YEAR_SHIFT = 15
LONG = 7  # digits from which on a number is a telephone's, a card's: one digit of it is changed
REACH = 200  # characters around a number that are looked at
MOST_DIGITS = 40
MOST_NUMBERS = 200  # of one statement that are looked at
NEAREST, FURTHEST = 0.2, 0.6  # of the number: how far it is moved
TRIES = 100

_GROUPS = r"\d{1,3}([.,٬'’\u00a0\u202f])(?:\d{2,3}\1)*\d{3}"
_SEPARATED = re.compile(rf"{_GROUPS}(?:(?!\1)[.,٫]\d+)?|\d+[.,٫]\d+")
# What may stand at a number without a space: a range's other end, a unit. The rest makes it a date, a time,
# a version, an address.
_RUN_BEFORE = re.compile(r"(?<![A-Za-z0-9./:@\\+#–-])[A-Za-z0-9./:@\\+#–-]*+$")
_RUN_AFTER = re.compile(r"[A-Za-z0-9./:@\\+#–-]*")
_FREE_BEFORE, _FREE_AFTER = re.compile(r"(?:\d+[-–])?"), re.compile(r"(?:[-–]\d+)?(?:-?[A-Za-z]+)?")
_CURRENCY = re.compile(r"(?:[$€£¥₹₽₩]|\b(?:rs|inr|usd|eur|gbp))\.?\s*$", re.IGNORECASE)
_MONTHS = (
    "jan feb mar apr may jun jul aug sep oct nov dec jän mär mai okt dez fév avr jui aoû déc ene abr ago dic "
    "fev set out gen mag giu lug ott янв фев мар апр мая июн июл авг сен окт ноя дек"
)
_MONTH = re.compile(rf"(?:{'|'.join(_MONTHS.split())})\w*", re.IGNORECASE)
_WORD_BEFORE, _WORD_AFTER = re.compile(r"(?<!\w)(\w++)\W*+$"), re.compile(r"\W*+(\w++)")
# What a number that stands behind these is moved to, so that the statement does not follow from the true one:
# whoever is at least 18 is at least 16 too, and what takes less than 5 days takes less than 9.
UP = """at least|no less than|not less than|more than|over|above|exceeds|exceeding|minimum of|up to|upto
|mindestens|mehr als|über|bis zu|minstens|meer dan|ruim|au moins|plus de|jusqu'à|al menos|por lo menos|más de
|hasta|pelo menos|mais de|até|almeno|più di|oltre|fino a|не менее|более|свыше|до|не менше|більше|понад
|co najmniej|ponad|więcej niż|至少|超过|超過"""
DOWN = """within|under|below|less than|fewer than|at most|no more than|not more than|innerhalb von|unter
|weniger als|höchstens|binnen|onder|minder dan|hoogstens|moins de|au plus|dentro de|menos de|como máximo
|no máximo|entro|meno di|al massimo|в течение|не более|менее|протягом|не більше|менше|najwyżej|mniej niż
|w ciągu|不超过|不超過|最多|少于"""


def _bound(phrases: str) -> re.Pattern[str]:
    joined = "|".join(sorted(phrases.replace("\n", "").split("|"), key=len, reverse=True))
    return re.compile(rf"(?:(?<!\w)(?:{joined})\s+(?:\S+\s+)?|(?:{joined}))(?:[^\w\s]*\s?)$", re.IGNORECASE)


_UP, _DOWN = _bound(UP), _bound(DOWN)


class NumberChange(msgspec.Struct, frozen=True):
    """A changed statement, and the number as it was and is now."""

    statement: str
    before: str
    after: str


def change_number(statement: str, seed: str, beside: Iterable[str] = ()) -> NumberChange | None:
    """Return the statement with one number changed; None if it has none that can be.

    The number is drawn from those of the statement, and so is its new value: a fifth to three fifths away,
    as round as it was; a year up to 15 years; of a long one (a telephone's) one digit. Digits of its script,
    separators, decimals and English ordinals stay right; a percentage stays below 100, a day a day. Behind
    words such as "at least" it is moved so that the statement does not follow from the true one, and such a
    number is taken only where there is no other. Dates,
    times and versions are left alone, and so are 0 and 1, on which the form of other words depends. A number
    that `beside` (the document) holds is not chosen. The same seed gives the same change.
    """
    draw = random.Random(seed)
    taken = {number for text in (statement, *beside) for number in numbers_in(text)}
    first = islice(NUMBER.finditer(statement), MOST_NUMBERS)
    numbers = [number for number in first if _stands_alone(statement, number)]
    draw.shuffle(numbers)
    # In a condition a bound turns round ("who has more than 5 pays" tells of 9 as well): others come first.
    numbers.sort(key=lambda number: _sign(_before(statement, number)) is not None)
    for number in numbers:
        for _ in range(TRIES):
            after = _drawn(statement, number, draw)
            if after is not None and not taken.intersection(numbers_in(after)):
                if number[2]:  # the ending of an English ordinal number
                    last, teen = int(after[-1]), after[-2:-1] == "1"
                    after += "th" if teen or last > 3 or last == 0 else ("st", "nd", "rd")[last - 1]
                text = statement[: number.start()] + after + statement[number.end() :]
                return NumberChange(text, number[0], after)
    return None


def _before(text: str, number: re.Match[str]) -> str:
    return text[max(0, number.start() - REACH) : number.start()]


def _stands_alone(text: str, number: re.Match[str]) -> bool:
    """Say whether a number is no part of a date, a time, a version or an address."""
    before, after = _before(text, number), text[number.end() : number.end() + REACH]
    run, behind = _RUN_BEFORE.search(before), _RUN_AFTER.match(after)
    left = "" if _CURRENCY.search(before) or not run else run[0]
    right = behind[0].rstrip("./:-–") if behind else ""
    if left and right[:1] in tuple("-–") and right[1:2].isdecimal():
        return False
    return bool(_FREE_BEFORE.fullmatch(left) and _FREE_AFTER.fullmatch(right))


def _drawn(text: str, match: re.Match[str], draw: random.Random) -> str | None:
    """Return a number in place of the one found, written as it is; None if this draw gives none."""
    number = match[1]
    if sum(map(str.isdecimal, number)) > MOST_DIGITS:
        return None
    digits = [str(unicodedata.decimal(character)) for character in number if character.isdecimal()]
    value, separated = int("".join(digits)), len(digits) < len(number)
    if not separated and (len(digits) >= LONG or (digits[0] == "0" and len(digits) > 1)):
        at = draw.randrange(1, len(number))
        old = unicodedata.decimal(number[at])
        return number[:at] + _digit((old + draw.randint(1, 9)) % 10, number) + number[at + 1 :]
    if value <= 1 or (separated and not _SEPARATED.fullmatch(number)):
        return None
    before, after = _before(text, match), text[match.end() : match.end() + REACH]
    sign = _sign(before) or draw.choice((-1, 1))
    is_year = value in YEARS and not _CURRENCY.search(before) and after.lstrip()[:1] not in tuple("%€$£₹")
    if is_year and not separated:
        new = value + sign * draw.randint(2, YEAR_SHIFT)
    else:
        new = value + sign * _distance(value, draw)
    most = _most(value, before, after)
    if new > most > value and _sign(before):  # up to 85 %: there is little room above
        new = draw.randint(value + 1, most)
    return _written(new, number) if 1 < new <= most else None


def _distance(value: int, draw: random.Random) -> int:
    """Return how far a number is moved, so that it stays as round as it is."""
    step = 5 if value % 5 == 0 and value % 10 else 1
    while value % (step * 10) == 0:
        step *= 10
    if value < 4 * step:
        step = max(1, step // 10)
    fewest, most = -int(-value * NEAREST // step), int(value * FURTHEST // step)
    return step * draw.randint(fewest, max(fewest, most))


def _sign(before: str) -> int | None:
    """Return the way in which a number behind these words must be moved, None for any."""
    down, up = _DOWN.search(before), _UP.search(before)
    if down and up:  # "no more than" holds "more than"
        return -1 if down.start() < up.start() else 1
    return -1 if down else 1 if up else None


def _most(value: int, before: str, after: str) -> int:
    """Return the highest value that a number of this kind can have."""
    behind = after.lstrip()
    if behind[:1] in tuple("%٪％") and value <= 100:
        return 100
    if behind[:1] in tuple("月時时시") and value <= 24:
        return 12
    near = [match[1] for match in (_WORD_BEFORE.search(before), _WORD_AFTER.match(after)) if match]
    if value <= 31 and (behind[:1] in tuple("日号號일") or any(_MONTH.fullmatch(word) for word in near)):
        return 28
    if value <= 12 and re.match(r"[ap]\.?m\b", behind, re.IGNORECASE):
        return 12
    return sys.maxsize


def _written(value: int, like: str) -> str | None:
    """Return a number with the digits and the separators of another; None if that takes more digits."""
    n_digits = sum(character.isdecimal() for character in like)
    digits = str(value).rjust(n_digits if n_digits < len(like) else 1, "0")
    if n_digits == len(like):
        return "".join(_digit(int(character), like) for character in digits)
    starts_with_zero = like[0].isdecimal() and unicodedata.decimal(like[0]) == 0
    if len(digits) != n_digits or (digits[0] == "0" and not starts_with_zero):
        return None
    rest = iter(digits)
    return "".join(
        _digit(int(next(rest)), like) if character.isdecimal() else character for character in like
    )


def _digit(value: int, like: str) -> str:
    """Return a digit of the script that a number is written in."""
    return chr(ord(like[0]) - unicodedata.decimal(like[0]) + value)
