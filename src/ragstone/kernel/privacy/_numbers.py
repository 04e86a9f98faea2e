"""Numbers that prove themselves by a checksum: bank accounts, payment cards, national ids.

Where one may stand is looked for here; whether it is right, python-stdnum says.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from typing import NamedTuple

from stdnum import iban, luhn
from stdnum.br import cpf
from stdnum.cn import ric
from stdnum.es import dni, nie
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.in_ import aadhaar
from stdnum.it import codicefiscale
from stdnum.pl import pesel
from stdnum.tr import tckimlik
from stdnum.za import idnr

from ragstone.kernel.privacy.span import BEGINS, ENDS, Span

SHORTEST_IBAN = 15  # Norway's
_ENOUGH = re.compile(r"\d(?:[^\W\d]{0,6}[ .+-]{0,2}\d){5}")
_IBAN = re.compile(r"(?<![^\W_])[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,29}")
_COUNTRY = re.compile(r"\d\d(?<=[A-Za-z]{2}\d\d)")  # from the digits, which are rarer than letters
_CARD = re.compile(
    rf"{BEGINS}(?<![.-])(?:\d{{4}}([ .-]?)\d{{4}}\1\d{{4}}\1\d{{4}}(?:\1\d{{1,3}})?|3[47]\d\d([ "
    rf".-]?)\d{{6}}\2\d{{5}}"
    rf"|3[0689]\d\d([ .-]?)\d{{6}}\3\d{{4}}|4\d{{12}}){ENDS}(?!-|[ .]\d)"
)
_ISSUERS = re.compile(
    r"(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"
    r"|3[47]\d{13}"
    r"|3(?:0[0-5]|[689]\d)\d{11}|(?:6011|65\d\d|64[4-9]\d)\d{12,15}|35(?:2[89]|[3-8]\d)\d{12}"
    r"|62\d{14,17}|(?:60|81|82)\d{14}|(?:50|5[6-9]|6[0-9])\d{14})"
)


def find_ibans(text: str) -> Iterator[Span]:
    """Yield the bank accounts whose IBAN has the form of its country and the right check digits."""
    for match in _IBAN.finditer(text) if _COUNTRY.search(text) else ():
        # Words may follow it, which look like more of it: the longest part that is an IBAN is one.
        for end in range(match.end(), match.start() + SHORTEST_IBAN - 1, -1):
            whole = text[end - 1].isalnum() and not text[end : end + 1].isalnum()
            if whole and iban.is_valid(text[match.start() : end], check_country=False):
                yield Span(match.start(), end, "iban", iban.compact(text[match.start() : end]))
                break


def find_cards(text: str) -> Iterator[Span]:
    """Yield payment card numbers: an issuer's prefix and length, and Luhn's check digit."""
    for match in _CARD.finditer(text):
        value = re.sub(r"\D", "", match[0])
        if _ISSUERS.fullmatch(value) and luhn.is_valid(value):
            yield Span(*match.span(), "card", value)


def _is_date(year: int, month: str, day: str) -> bool:
    try:
        date(year, int(month), int(day))
    except ValueError:
        return False
    return True


def _sweden(value: str) -> bool:
    """Unlike python-stdnum, take coordination numbers too, in which 60 is added to the day."""
    short = re.sub(r"[-+]", "", value)[-10:]
    return luhn.is_valid(short) and _is_date(
        2000 + int(short[:2]), short[2:4], str((int(short[4:6]) - 1) % 60 + 1)
    )


def _korea(value: str) -> bool:
    """Those since 2020 have no check digit."""
    return _is_date(2000 + int(value[:2]), value[2:4], value[4:6])


def _russia(value: str) -> bool:
    digits = re.sub(r"\D", "", value)
    weighted = sum(int(digit) * weight for digit, weight in zip(digits, range(9, 0, -1), strict=False))
    return weighted % 101 % 100 == int(digits[9:])


def _form_is_enough(_value: str) -> bool:
    return True


_PAN = re.compile(rf"{BEGINS}[A-Z]{{3}}[ABCFGHJLPT][A-Z]\d{{4}}[A-Z]{ENDS}")  # India


_PAN_END = re.compile(r"\d{4}[A-Z]")


class _Id(NamedTuple):
    """How a country writes the numbers of its people, and what a right one must fulfil."""

    pattern: re.Pattern[str]
    is_right: Callable[[str], bool]


def _id(pattern: str, is_right: Callable[[str], bool], flags: int = 0) -> _Id:
    return _Id(re.compile(rf"{BEGINS}(?<![.-])(?:{pattern}){ENDS}(?!-|[ .]\d)", flags), is_right)


_IDS = (
    _id(r"[1-9]\d{5}(?:19|20)\d{9}[\dXx]", ric.is_valid),
    _id(r"[2-9]\d{3}([ -]?)\d{4}\1\d{4}", aadhaar.is_valid),  # India, Aadhaar
    _id(r"(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}", _form_is_enough),  # United States, SSN
    _id(  # with spaces: where a number is named or stands alone, not in a list of measures nor in a table
        r"(?:(?<![^\n])(?<!\d\n)|(?<=[:#=(\"'])|(?<=[:#=] )|(?<=\bis )|(?<=number )|(?i:(?<=ssn )))"
        r"(?!000|666|9)\d{3} (?!00)\d\d (?!0000)\d{4}(?=[ \t]*+(?:\Z|\n(?!\d)|[,.;)\]\"']|is\b))",
        _form_is_enough,
    ),
    _id(r"(?![DFIQUV])[A-Z](?![DFIQUVO])[A-Z] ?\d\d ?\d\d ?\d\d ?[A-D]", _form_is_enough),  # Britain
    _id(r"(?!(\d)\1\1\.\1{3}\.\1{3})\d{3}\.\d{3}\.\d{3}-\d\d", cpf.is_valid),  # none of one digit alone
    _id(r"\d{8}-?[A-HJ-NP-TV-Z]", dni.is_valid, re.IGNORECASE),
    _id(r"[XYZ]\d{7}-?[A-HJ-NP-TV-Z]", nie.is_valid, re.IGNORECASE),
    _id(r"[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]", codicefiscale.is_valid, re.IGNORECASE),
    _id(r"[12] ?\d\d ?(?:0[1-9]|1[0-2]) ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d", nir.is_valid, re.IGNORECASE),
    _id(r"\d\d[0-3]\d[0-3]\d{6}", pesel.is_valid),
    _id(r"[1-9]\d{10}", tckimlik.is_valid),
    _id(r"(?:19|20)?\d{6}[-+]\d{4}", _sweden),
    _id(
        r"[0-3]\d[01]\d{3}[-+A]\d{3}[0-9A-FHJ-NPR-Y]",
        partial(hetu.is_valid, allow_temporary=True),
        re.IGNORECASE,
    ),
    _id(r"\d{6}-[1-8]\d{6}", _korea),
    _id(r"\d{3}-\d{3}-\d{3}[ -]\d\d", _russia),
    _id(r"\d{6}[0-5]\d{3}[01][89]\d", idnr.is_valid),
    _id(r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d", _form_is_enough),  # Mexico
)


def find_ids(text: str) -> Iterator[Span]:
    """Yield numbers of people: of 15 countries, by form, date of birth and checksum where there is one."""
    for match in _PAN.finditer(text) if _PAN_END.search(text) else ():
        yield Span(*match.span(), "id", match[0])
    for known in _IDS if _ENOUGH.search(text) else ():
        for match in known.pattern.finditer(text):
            if known.is_right(match[0].replace(" ", "")):
                yield Span(*match.span(), "id", re.sub(r"[ .+-]", "", match[0]).upper())
