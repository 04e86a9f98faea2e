"""Numbers that prove themselves by a checksum: bank accounts, payment cards, national ids."""

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import NamedTuple

from ragstone.privacy.span import BEGINS, ENDS, Span

# Length of an IBAN by country, from the SWIFT IBAN registry.
_IBAN_LENGTHS = {
    country: int(length)
    for length, countries in {
        "15": "NO",
        "16": "BE",
        "18": "DK FK FI FO GL NL SD",
        "19": "MK SI",
        "20": "AT BA EE KZ LT LU XK MN",
        "21": "CH HR LI LV",
        "22": "BG BH CR DE GB GE IE ME RS VA",
        "23": "AE GI IL IQ OM SO TL",
        "24": "AD CZ ES MD PK RO SA SE SK TN VG",
        "25": "LY PT ST",
        "26": "IS TR",
        "27": "BI DJ FR GR IT MC MR SM",
        "28": "AL AZ BY CY DO GT HU LB NI PL SV",
        "29": "BR EG PS QA UA",
        "30": "JO KW MU YE",
        "31": "MT SC",
        "33": "LC RU",
    }.items()
    for country in countries.split()
}
_IBAN = re.compile(r"(?<![^\W_])([A-Za-z]{2})\d{2}(?:[ -]?[A-Za-z0-9]){11,29}")
_CARD = re.compile(
    rf"{BEGINS}(?<![.-])(?:\d{{4}}([ -]?)\d{{4}}\1\d{{4}}\1\d{{4}}(?:\1\d{{1,3}})?|3[47]\d\d([ "
    rf"-]?)\d{{6}}\2\d{{5}}"
    rf"|3[0689]\d\d([ -]?)\d{{6}}\3\d{{4}}|4\d{{12}}){ENDS}(?!-|[ .]\d)"
)
_ISSUERS = re.compile(
    r"(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"
    r"|3[47]\d{13}"
    r"|3(?:0[0-5]|[689]\d)\d{11}|(?:6011|65\d\d|64[4-9]\d)\d{12,15}|35(?:2[89]|[3-8]\d)\d{12}"
    r"|62\d{14,17}|(?:60|81|82)\d{14}|(?:50|5[6-9]|6[0-9])\d{14})"
)
_VERHOEFF_D = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
    [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
    [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
    [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
    [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
    [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
    [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
    [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
    [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
]
_VERHOEFF_P = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
    [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
    [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
    [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
    [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
    [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
    [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
]


def find_ibans(text: str) -> Iterator[Span]:
    """Yield the bank accounts whose IBAN has the length of its country and the right check digits."""
    for match in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(match[1].upper())
        places = [at for at in range(match.start(), match.end()) if text[at].isalnum()]
        if length is None or len(places) < length:
            continue
        end = places[length - 1] + 1
        if end < len(text) and text[end].isalnum():
            continue
        value = "".join(text[at] for at in places[:length]).upper()
        if int("".join(str(int(one, 36)) for one in value[4:] + value[:4])) % 97 == 1:
            yield Span(match.start(), end, "iban", value)


def find_cards(text: str) -> Iterator[Span]:
    """Yield payment card numbers: an issuer's prefix and length, and Luhn's check digit."""
    for match in _CARD.finditer(text):
        value = re.sub(r"\D", "", match[0])
        if _ISSUERS.fullmatch(value) and _luhn(value):
            yield Span(*match.span(), "card", value)


def _luhn(digits: str) -> bool:
    doubled = (int(one) * (1 + at % 2) for at, one in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def _verhoeff(digits: str) -> bool:
    check = 0
    for at, one in enumerate(reversed(digits)):
        check = _VERHOEFF_D[check][_VERHOEFF_P[at % 8][int(one)]]
    return check == 0


def _weighted(digits: str, weights: str) -> int:
    """Return the sum of digits times weights, one character each."""
    return sum(int(one, 36) * int(weight, 36) for one, weight in zip(digits, weights, strict=False))


def _is_date(year: int, month: str, day: str) -> bool:
    try:
        date(year, int(month), int(day))
    except ValueError:
        return False
    return True


def _china(value: str) -> bool:
    check = "10X98765432"[_weighted(value[:17], "79a584216379a5842") % 11]
    return check == value[17].upper() and _is_date(int(value[6:10]), value[10:12], value[12:14])


def _brazil(value: str) -> bool:
    first = _weighted(value[:9], "a98765432") * 10 % 11 % 10
    second = _weighted(value[:10], "ba98765432") * 10 % 11 % 10
    return f"{first}{second}" == value[9:] and len(set(value)) > 1


def _spain(value: str) -> bool:
    number = value[:-1].upper().translate(str.maketrans("XYZ", "012"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == value[-1].upper()


_ODD_ITALIAN = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)


def _italy(value: str) -> bool:
    places = [int(one) if one.isdigit() else ord(one) - 65 for one in value.upper()]
    total = sum(_ODD_ITALIAN[one] if at % 2 == 0 else one for at, one in enumerate(places[:15]))
    return total % 26 == places[15]


def _france(value: str) -> bool:
    number = value[:13].upper().replace("2A", "19").replace("2B", "18")
    return number.isdecimal() and 97 - int(number) % 97 == int(value[13:])


def _poland(value: str) -> bool:
    month, century = int(value[2:4]) % 20, (1900, 2000, 2100, 2200, 1800)[int(value[2:4]) // 20]
    right = (10 - sum(int(a) * int(b) % 10 for a, b in zip(value, "1379137913", strict=False)) % 10) % 10
    return right == int(value[10]) and _is_date(century + int(value[:2]), str(month), value[4:6])


def _turkey(value: str) -> bool:
    odd, even = sum(map(int, value[0:9:2])), sum(map(int, value[1:8:2]))
    return (7 * odd - even) % 10 == int(value[9]) and sum(map(int, value[:10])) % 10 == int(value[10])


def _sweden(value: str) -> bool:
    short = value[-10:]
    return _luhn(short) and _is_date(2000 + int(short[:2]), short[2:4], str((int(short[4:6]) - 1) % 60 + 1))


def _finland(value: str) -> bool:
    check = "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(value[:6] + value[7:10]) % 31]
    return check == value[10].upper() and _is_date(2000 + int(value[4:6]), value[2:4], value[:2])


def _korea(value: str) -> bool:
    return _is_date(2000 + int(value[:2]), value[2:4], value[4:6])


def _russia(value: str) -> bool:
    return _weighted(value[:9], "987654321") % 101 % 100 == int(value[9:])


def _south_africa(value: str) -> bool:
    return _luhn(value) and _is_date(2000 + int(value[:2]), value[2:4], value[4:6])


def _form_is_enough(_value: str) -> bool:
    return True


_ENOUGH = re.compile(r"\d(?:[^\W\d]{0,6}[ .+-]{0,2}\d){5}")
_PAN = re.compile(rf"{BEGINS}[A-Z]{{3}}[ABCFGHJLPT][A-Z]\d{{4}}[A-Z]{ENDS}")  # India


class _Id(NamedTuple):
    """How a country writes the numbers of its people, and what a right one must fulfil."""

    pattern: re.Pattern[str]
    is_right: Callable[[str], bool]


def _id(pattern: str, is_right: Callable[[str], bool], flags: int = 0) -> _Id:
    return _Id(re.compile(rf"{BEGINS}(?<![.-])(?:{pattern}){ENDS}(?!-|[ .]\d)", flags), is_right)


_IDS = (
    _id(r"[1-9]\d{5}(?:19|20)\d{9}[\dXx]", _china),
    _id(r"[2-9]\d{3}([ -]?)\d{4}\1\d{4}", _verhoeff),  # India, Aadhaar
    _id(r"(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}", _form_is_enough),  # United States, SSN
    _id(r"(?![DFIQUV])[A-Z](?![DFIQUVO])[A-Z] ?\d\d ?\d\d ?\d\d ?[A-D]", _form_is_enough),  # Britain
    _id(r"\d{3}\.\d{3}\.\d{3}-\d\d", _brazil),
    _id(r"(?:\d{8}|[XYZ]\d{7})-?[A-HJ-NP-TV-Z]", _spain, re.IGNORECASE),
    _id(r"[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]", _italy, re.IGNORECASE),
    _id(r"[12] ?\d\d ?(?:0[1-9]|1[0-2]) ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d", _france, re.IGNORECASE),
    _id(r"\d\d[0-3]\d[0-3]\d{6}", _poland),
    _id(r"[1-9]\d{10}", _turkey),
    _id(r"(?:19|20)?\d{6}[-+]\d{4}", _sweden),
    _id(r"[0-3]\d[01]\d{3}[-+A]\d{3}[0-9A-FHJ-NPR-Y]", _finland, re.IGNORECASE),
    _id(r"\d{6}-[1-8]\d{6}", _korea),
    _id(r"\d{3}-\d{3}-\d{3}[ -]\d\d", _russia),
    _id(r"\d{6}[0-5]\d{3}[01][89]\d", _south_africa),
    _id(r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d", _form_is_enough),  # Mexico
)


def find_ids(text: str) -> Iterator[Span]:
    """Yield numbers of people: of 15 countries, by form, date of birth and checksum as far as there is "
    "one."""
    for match in _PAN.finditer(text):
        yield Span(*match.span(), "id", match[0])
    for known in _IDS if _ENOUGH.search(text) else ():
        for match in known.pattern.finditer(text):
            value = match[0].replace(" ", "")
            if known.is_right is not _finland:  # whose sign says the century
                value = re.sub(r"[-+.]", "", value)
            if known.is_right(value):
                yield Span(*match.span(), "id", value.upper())
