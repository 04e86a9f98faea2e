"""Telephone numbers in running text, and numbers of accounts that are called so.

The words beside a number often say what it is.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate, islice
from typing import NamedTuple

from ragstone.kernel.privacy.span import BEGINS, BLANK, ENDS, Span, load_words

BEFORE, AFTER = 40, 25  # characters that are looked at

_MINE = (
    r"(?:my|your|me at|us at|his|her|on) (?:number|no)\b|mi número|mon numéro|meine nummer|mein(?:e)? nr"
    r"|il mio numero|meu número|mijn nummer"
)


class _NumberPatterns(NamedTuple):
    """What says that a number is a telephone's, and what says that it is something else."""

    phone: re.Pattern[str]
    other: re.Pattern[str]


@cache
def _patterns() -> _NumberPatterns:
    alternatives = {
        key: "|".join(map(re.escape, listed)) for key, listed in load_words("numbers.toml").items()
    }
    whole = r"(?<![\w\[])(?:{})(?!\w)"
    phone, other = whole.format(alternatives["phone"]), whole.format(alternatives["other"])
    return _NumberPatterns(
        re.compile(rf"{phone}|{alternatives['phone_within']}|{_MINE}", re.IGNORECASE),
        re.compile(rf"{other}|{alternatives['other_within']}", re.IGNORECASE),
    )


REACH = 400  # characters in which those are found, claimed ones among them
_CLAIMED = re.compile(f"{BLANK}+")
_HAN = re.compile("[\u4e00-\u9fff]")
_LETTER = re.compile(r"[^\W\d_]")
_INDIC = re.compile("[\u0900-\u0dff]")


def says_phone(text: str, start: int, end: int) -> bool:
    """Return whether a word beside text[start:end] says that it is a telephone number."""
    after = _CLAIMED.sub(BLANK, text[end : end + REACH])[:AFTER]
    return _last(_patterns().phone, text, start) >= 0 or bool(_patterns().phone.search(after))


def says_other(text: str, start: int) -> bool:
    """Return whether the nearest telling word before text[start] says that a number is something else."""
    other = _last(_patterns().other, text, start)
    return other >= 0 and other > _last(_patterns().phone, text, start)


def _last(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Return where the last such word in the BEFORE characters ends, -1 without one.

    What was claimed counts as one character: a text that is masked once more has the same words beside a
    number, however long its placeholders are.
    """
    before = _CLAIMED.sub(BLANK, text[max(0, start - REACH) : start])[-BEFORE:]
    return _last_in(pattern, before) if _LETTER.search(before) else -1


@lru_cache(maxsize=1024)  # several readings of one number ask in turn
def _last_in(pattern: re.Pattern[str], before: str) -> int:
    ends = [match.end() for match in pattern.finditer(before)]
    return ends[-1] if ends else -1


def has_han(text: str) -> bool:
    """Return whether a text holds Chinese characters."""
    return _HAN.search(text) is not None


def has_indic(text: str) -> bool:
    """Return whether a text holds letters of a script of India."""
    return _INDIC.search(text) is not None


_ENOUGH = re.compile(r"\d(?:[\s().\-/]{0,3}\d){6}")
_SEPARATOR = r"(?:\)[ ]?[-.]?[ ]?|[ ]?[-./][ ]?|[ ]?\([ ]?|[ ]{1,2})"
_RUN = re.compile(
    rf"{BEGINS}(?<![+€$£₹#.,:=-])(?<![€$£₹]\s)(?:\+ ?|\()?\(?\d+(?:{_SEPARATOR}\d+)*{ENDS}(?![%€°]|[,:]\d)"
)
_GROUP = re.compile(r"\d+")
MOST_GROUPS = 10
MOST_IN_RUN = 300  # groups without a word between them: further ones are a table
MOST_SINGLE = 3  # groups of one digit: more are a list of numbers

# The calling codes of ITU-T E.164.
_CODES = re.compile(
    r"(?:1|7|20|21[1-368]|22\d|23\d|24\d|25\d|26\d|27|29[01789]|3[0-469]|35\d|37\d|38[0-35-79]|4[013-9]"
    r"|42[013]"
    r"|5[1-8]|50\d|59\d|6[0-6]|67[02-9]|68\d|69[012]|8[1246]|80[08]|85[02356]|88[0-368]|9[0-58]|96\d"
    r"|97\d|99[2-68])"
)
_YEARS = r"(?:19|20)\d\d"
# What looks like a number to call and says when, how much or which book: blanked before the search.
_OTHERS = re.compile(
    rf"(?<![\d.-])(?:{_YEARS}[-./](?:0?[1-9]|1[0-2])[-./](?:3[01]|[12]\d|0?[1-9])"
    rf"|(?:3[01]|[12]\d|0?[1-9])([-./])(?:3[01]|[12]\d|0?[1-9])\1(?:{_YEARS}|\d\d(?![-./ ]?\d)))(?!\d)"
    rf"|(?<!\d){_YEARS} ?[-/] ?(?:{_YEARS}|\d\d)(?![-./ ]?\d)"
    rf"|(?<!\d)\d{{1,4}}-\d{{1,4}} ?[(/]{_YEARS}[a-z]?[)/]"  # pages of a journal
    rf"|(?<!\d)\d{{1,4}}(?:[./-]\d{{1,4}}){{2,5}}/{_YEARS}(?![-./ ]?\d)"  # a circular's number
    r"|(?<!\d)97[89][- ]?(?:\d[- ]?){9}\d(?!\d)"
    r"|(?<![\w.-])\d{1,5}-\d{1,7}-\d{1,6}-[\dXx](?![\w-])"
    r"|(?<!\d)\d{1,3}(?:,\d{2,3})+(?:\.\d+)?(?!\d)"
    r"|(?<![\d+])\d{1,2}:\d\d(?::\d\d)?(?!\d)"
    r"|(?<!\S)\d+\.\d+(?![\d.\-/ ]*\d)"
)
_ACCOUNT = re.compile(
    r"(?<![^\W_])(?:account|acct|a/c|konto|kontonummer|cuenta|compte|conto|conta|rekening|счет|счёт"
    r"|hesap|hesabım"
    r"|खाता|खाते|حساب|账号|账户|帐号|口座番号|계좌번호|passport|reisepass|pasaporte|passeport|passaporto"
    r"|паспорт"
    r"|पासपोर्ट|护照号?|driving licen[cs]e|driver'?s licen[cs]e|aadhaar|aadhar|ssn|social security|cpf"
    r"|imei|ktp|nik)"
    r"(?![^\W\d_])(?:[ .]*+(?:number|nummer|número|numero|numarası|num[ée]ro|num|no|nr|card|संख्या|नंबर"
    r"|رقم|номер|号码"
    r"|#))*+\.?+\s*+(?:ist|is|was|est|es|è|é|है|:|=|-|—|#|是|は)*+\s*+"
    r"(?P<value>[A-Z]{0,3}\d(?:[ -]?\d){5,19})(?!\w)",
    re.IGNORECASE,
)


def find_accounts(text: str) -> Iterator[Span]:
    """Yield numbers that the words before them call an account, a passport, a licence or a national id."""
    for match in _ACCOUNT.finditer(text):
        kind = (
            "account"
            if re.match(
                r"a/c|ac+(?:oun)?t|kont|cu|com|cont|rek|с[чc]|hes|खात|حس|[账帐口계]", match[0], re.IGNORECASE
            )
            else "id"
        )
        yield Span(*match.span("value"), kind, re.sub(r"[ -]", "", match["value"]).upper())


def find_phones(text: str) -> Iterator[Span]:
    """Yield telephone numbers of 7 to 15 digits, in international and national forms.

    Taken for one, wherever they stand: `+` or `00` with a calling code of E.164; an area code in brackets; a
    leading 0 with groups, or with 10 or 11 digits in one; groups as in North America (3-3-4), India (5-5),
    China (3-4-4), Russia (8 3-3-2-2) and Brazil (2-5-4). Any other number of 7 to 13 digits, ten in one too,
    only beside a word such as "call" or "WhatsApp". One that a nearer word calls an order, an account or a
    book is none. Dates, times, amounts with separators, ranges of years and ISBN are none.
    """
    if not _ENOUGH.search(text):
        return
    text = _OTHERS.sub(lambda match: BLANK * len(match[0]), text)
    for run in _RUN.finditer(text):
        yield from _in_run(text, run)


def _in_run(text: str, run: re.Match[str]) -> Iterator[Span]:
    """Yield the numbers in a run of groups of digits: the longest that is one, from the left."""
    matches = islice(_GROUP.finditer(text, *run.span()), MOST_IN_RUN)
    groups = [match.span() for match in matches]
    ends = [0, *accumulate(end - start for start, end in groups)]
    first = 0
    while first < len(groups):
        for last in range(min(len(groups), first + MOST_GROUPS), first, -1):
            if not 7 <= ends[last] - ends[first] <= 17:
                continue
            start = run.start() if first == 0 else groups[first][0]
            while first and start and text[start - 1] in "(+":
                start -= 1
            end = groups[last - 1][1]
            if _is_phone(text, start, end, groups[first:last], run.span()):
                # "(0800 678 1602 free)": the bracket is the sentence's.
                start += text[start] == "(" and ")" not in text[start:end]
                yield Span(start, end, "phone", "".join(_GROUP.findall(text[start:end])))
                first = last
                break
        else:
            first += 1


def _is_phone(
    text: str, start: int, end: int, groups: Sequence[tuple[int, int]], run: tuple[int, int]
) -> bool:
    inside = start - run[0] >= BEFORE and run[1] - end >= AFTER  # of a long run: no word is near
    written = text[start:end]
    digits = "".join(text[a:b] for a, b in groups)
    sizes = tuple(b - a for a, b in groups)
    if sizes.count(1) > MOST_SINGLE:
        return False
    if written.lstrip("(").startswith("+"):
        return _is_international(digits, sizes)
    if start - run[0] < BEFORE and says_other(text, start):
        return False
    if digits.startswith("00") and _is_international(digits[2:], sizes) and len(digits) > 10:
        return True
    return (
        _is_national(written, digits, sizes)
        or (len(sizes) == 1 and _is_mobile_in_one(text, digits))
        or (len(digits) <= 13 and not inside and says_phone(text, start, end))
    )


def _is_international(digits: str, sizes: Sequence[int]) -> bool:
    if not _CODES.match(digits) or not 8 <= len(digits) <= 15:
        return False
    if digits[0] in "17":
        return len(digits) == 11
    return len(sizes) > 1 or len(digits) > 8


def _is_national(written: str, digits: str, sizes: tuple[int, ...]) -> bool:
    n = len(digits)
    if written.startswith("("):
        inside = written[1:].partition(")")[0]
        return (
            8 <= n <= 12
            and len(sizes) > 1
            and 2 <= len(inside.strip()) <= 5
            and not re.fullmatch(_YEARS, inside.strip())
        )
    if digits[0] == "0" and digits[1] != "0":
        if len(sizes) == 1:
            return n in (10, 11)
        return 9 <= n <= 12 and sizes[0] >= 2 and min(sizes) >= 2 and "." not in written.partition(" ")[0][:2]
    return any(
        (
            sizes[-3:] == (3, 3, 4)
            and (n == 10 or digits[0] == "1")
            and digits[-10] in "23456789"
            and n <= 11,
            sizes == (5, 5) and digits[0] in "6789",
            sizes == (3, 4, 4) and digits[0] == "1" and digits[1] in "3456789",
            sizes[:2] == (1, 3) and digits[0] == "8" and digits[1] in "3489" and n == 11,
            sizes == (2, 5, 4) and digits[2] == "9",
        )
    )


def _is_mobile_in_one(text: str, digits: str) -> bool:
    """Return whether the digits are a mobile number where a text in that script is written."""
    if len(digits) == 10 and digits[0] in "6789":
        return has_indic(text)
    return len(digits) == 11 and digits[0] == "1" and digits[1] in "3456789" and has_han(text)
