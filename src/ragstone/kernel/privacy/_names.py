"""Names of people, where the words around them say that they are names."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from ragstone.kernel.privacy.span import BLANK, Hints, Span, load_words

LONGEST = 4  # words of a name
SIGNATURE = 120  # characters at the end of a text

_WORD = re.compile(r"[^\W\d_]++(?:[\u0300-\u036f'\u0900-\u0dff-]++[^\W\d_]*+)*+")
_GAP = re.compile(r"[ \t]+|\.[ \t]?")
_END = re.compile(r"\s*(?:[,.;:!?()\n،؛؟।。、-]|$)")


_I = r"(?:i am|i'm|soy|je suis|ich bin|sono|eu sou|ik ben|я|ben|saya)"


class _NamePatterns(NamedTuple):
    """Where names begin, as the words of library/names.toml say, and the words that are no part of one."""

    introduced: re.Pattern[str]
    titled: re.Pattern[str]
    form: re.Pattern[str]
    greeted: re.Pattern[str]
    hello_i_am: re.Pattern[str]
    signed: re.Pattern[str]
    hints: dict[str, Hints]
    words: dict[str, frozenset[str]]


@cache
def _patterns() -> _NamePatterns:
    listed = load_words("names.toml")
    called, i_am, titles, greetings, closings, forms = (
        "|".join(map(re.escape, sorted(listed[key], key=len, reverse=True)))
        for key in ("called", "i_am", "titles", "greetings", "closings", "forms")
    )
    before, title = r"(?<![\w\[])", rf"(?:{titles})(?!\w)\.?\s+"
    return _NamePatterns(
        introduced=_compiled(rf"{before}(?:{called})(?!\w)\s*:?\s+"),
        titled=_compiled(rf"{before}(?:{i_am})\s+(?:el |la |le |o |a |der |die |il )?{title}"),
        form=_compiled(rf"(?<![\w\[-])(?:{forms})(?!\w)\s*[:：]\s*"),
        greeted=_compiled(rf"\W{{0,3}}(?:{greetings})(?!\w),?\s+(?:{title})?"),
        hello_i_am=_compiled(
            rf"\W{{0,3}}(?:(?:{greetings})(?: (?:there|all|team|sir|everyone))?[\s,.!]+(?:this is|{_I})|{_I})"
            rf"\s+(?:{title})?"
        ),
        signed=_compiled(rf"{before}(?:{closings})(?!\w)[ ]*+(?:[,.!][ ]*+)?[\n,][\s-]*"),
        hints={key: Hints.of(listed[key]) for key in ("called", "i_am", "closings", "forms")},
        words={key: frozenset(words) for key, words in listed.items()},
    )


def _words(key: str) -> frozenset[str]:
    return _patterns().words[key]


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_SPEAKING = re.compile(r"(?<!\w)this is\s+", re.IGNORECASE)
_SPEAKS = re.compile(r"\s+(?:speaking|calling|here|from)\b", re.IGNORECASE)

_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗高郑梁谢宋唐许邓冯韩曹曾彭萧蔡潘田董袁于余叶蒋杜苏魏程吕丁沈任"
    "姚卢傅钟姜崔谭廖范汪陆金石戴贾韦夏邱方侯邹"
    "熊孟秦白江阎薛尹段雷黎史龙陶贺顾毛郝龚邵万钱严赖覃洪武莫孔張劉陳楊黃趙吳孫馬羅鄭梁謝許鄧馮韓蕭葉蔣蘇"
    "呂盧鍾譚陸賈韋鄒閻龍賀顧龔萬錢嚴賴"
)
_OTHERS = re.compile(
    rf"(?:我叫|我的名字是|我的名字叫|我是(?=[{_SURNAMES}][\u4e00-\u9fff]{{1,2}}(?:先生|女士|,|,|。|$)))"
    rf"(?P<zh>[{_SURNAMES}](?:(?![我你他她是想要的了在和请請有,了])[\u4e00-\u9fff]){{1,2}})"
    r"|私の名前は(?P<ja>[^\s、。です\0]{1,12})(?=です|と)|(?P<ja2>[\u4e00-\u9fff\u30a0-\u30ff]{2,8})と申"
    r"します"
    r"|(?:제|내) 이름은 (?P<ko>[\uac00-\ud7a3]{2,4}?)(?=입니다|이에요|예요|이고|이라|이야|야|\s|[.,]|$)"
    r"|(?:ผม|ดิฉัน|ฉัน|หนู)ชื่อ\s?(?P<th>[\u0e00-\u0e7f]{2,20})"
)


def find_names(text: str) -> Iterator[Span]:
    """Yield names that people give as theirs, greet or sign with, in some twenty languages."""
    known, low = _patterns(), text.casefold()
    for begins, hints in ((known.introduced, "called"), (known.form, "forms"), (known.titled, "i_am")):
        for match in begins.finditer(text) if known.hints[hints].any_in(low) else ():
            for span in _name_at(text, match.end(), careful=hints != "called"):
                if hints != "forms" or _fills_its_field(text, span):
                    yield span
    yield from _at_the_beginning(text)
    if "this is" in low:
        yield from _speaking(text)
    if known.hints["closings"].any_in(text[-SIGNATURE - 1 :].casefold()):
        yield from _signed(text)
    if not text.isascii():
        for match in _OTHERS.finditer(text):
            start, end = match.span(match.lastgroup or 0)
            yield Span(start, end, "name", text[start:end])


_GOES_ON = re.compile(r"\.\w|::|\s+&")  # Hello.PubSub; Tesla Electric Light & Manufacturing


def _fills_its_field(text: str, span: Span) -> bool:
    """Return whether it is a form's "Customer: Ann Lee", and no talk: "Customer: Thank you"."""
    follows = _WORD.match(text, span.end + 1) if text[span.end : span.end + 1] == " " else None
    is_talk = follows is not None and follows[0].islower() and follows[0] not in _words("go_on")
    first = span.value.split()[0]
    return not (is_talk or _GOES_ON.match(text, span.end) or first in _words("spoken") | _words("greetings"))


def _at_the_beginning(text: str) -> Iterator[Span]:
    """Yield who is greeted at the beginning of a line, and who introduces themselves at that of the text."""
    known = _patterns()
    hello = known.hello_i_am.match(text)
    if hello:
        for span in _name_at(text, hello.end(), careful=True):
            parts = span.value.split()
            if parts[0] not in known.words["kinds_of_people"] and (
                _ends_here(text, span.end) or len(parts) > 1
            ):
                yield span
    begin = 0
    while begin >= 0:
        greeted = known.greeted.match(text, begin)
        if greeted:
            for span in _name_at(text, greeted.end(), careful=True):
                if _END.match(text, span.end):
                    yield span
        begin = text.find("\n", begin) + 1 or -1


def _speaking(text: str) -> Iterator[Span]:
    """Yield who says "this is NAME speaking"."""
    for match in _SPEAKING.finditer(text):
        for span in _name_at(text, match.end(), careful=True):
            if _SPEAKS.match(text, span.end) and not text[span.start : span.end].isupper():
                yield span


def _signed(text: str) -> Iterator[Span]:
    """Yield who signs at the end."""
    for match in _patterns().signed.finditer(text, max(0, len(text) - SIGNATURE)):
        for span in _name_at(text, match.end(), careful=True):
            if not text[span.end :].strip(" .,!\n-"):
                yield span


def _ends_here(text: str, at: int) -> bool:
    follows = _WORD.match(text, at + 1) if text[at : at + 1] == " " else None
    return bool(_END.match(text, at)) or (follows is not None and follows[0].casefold() in _words("go_on"))


def _name_at(text: str, at: int, *, careful: bool) -> Iterator[Span]:
    """Yield the name that begins here, if one does; careful: only where it is written with capitals."""
    first = _WORD.match(text, at)
    if first is None or BLANK in first[0]:
        return
    if first[0][0].isupper():
        end = _capitalised(text, at)
    elif careful:
        return
    elif first[0][0].islower():
        end = _in_small_letters(text, at)
    else:
        end = _without_case(text, at)
    if end > at:
        yield Span(at, end, "name", " ".join(text[at:end].casefold().replace(".", " ").split()))


def _capitalised(text: str, at: int) -> int:
    """Return where the words with capitals end, particles between them included; `at` where there is no "
    "name."""
    end, here = at, at
    for _ in range(LONGEST + 2):
        word = _WORD.match(text, here)
        if word is None:
            break
        plain = word[0].casefold()
        if (
            word[0][0].isupper()
            and plain not in _words("nobody")
            and (end > at or plain not in _words("no_names"))
        ):
            whole = word.end()
            if word[0].endswith(("'s", "'S")):
                return whole - 2
            end = whole
        elif plain not in _words("particles") or end == at:
            break
        gap = _GAP.match(text, word.end())
        if gap is None or ("." in gap[0] and len(word[0]) > 2):
            break
        here = gap.end()
    return end


def _in_small_letters(text: str, at: int) -> int:
    """Return where one or two words end that are a name, as what follows shows; `at` where they are "
    "none."""
    end, here = at, at
    for _ in range(2):
        word = _WORD.match(text, here)
        if word is None or word[0].casefold() in _words("no_names") or not word[0][0].islower():
            return at
        end = word.end()
        if _ends_here(text, end):
            return end
        here = end + 1
    return at


def _without_case(text: str, at: int) -> int:
    """Return where a name ends in a script without capitals: before a verb, or as Arabic joins names.

    Where nothing shows its end it is one word; `at` where a word says that there is no name.
    """
    here, before, first = at, "", at
    for n in range(3):
        word = _WORD.match(text, here)
        if word is None or word[0] in _words("no_names"):
            return at if word else first
        if word[0] in _words("verbs"):
            return here - 1 if n else at
        if "\u0600" <= word[0][0] <= "\u06ff" and n:
            joined = word[0].startswith("ال") or word[0] in _words("joined") or before in _words("joined")
            if not joined and not _closed(text, word.end()):
                return here - 1
        first = first if n else word.end()
        if _END.match(text, word.end()):
            return word.end()
        here, before = word.end() + 1, word[0]
    return first


def _closed(text: str, at: int) -> bool:
    follows = _WORD.match(text, at + 1)
    return bool(_END.match(text, at)) or (follows is not None and follows[0] in _words("verbs"))
