"""An answer -> its statements, each with the contexts that its marks cite: `[1]`, `so.¹`, `[^2]`, a title."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.records import Context

FEWEST_WORDS = 3  # of a statement that needs a source: "Yes." and "Good question!" need none
MOST_RANGE = 100  # contexts that `[1-100]` cites
YEARS = range(1000, 3000)  # in brackets: no mark, unless there are so many contexts

_COUNT = r"\^?\d{1,4}+"
_AND = r"(?:\s{0,2}+[,;،、，；\-–—]\s{0,2}+(?:and\s)?+|\s{1,2}+(?:(?:and|y|et|und|e|और|na)\s|و)\s?+)"
_COUNTS = rf"{_COUNT}(?:{_AND}{_COUNT})*+"
_WORD = (
    r"(?i:doc(?:ument[eo]?)?|dokument|passage|pasaje|extrait|source|fuente|quelle|chanzo|kifungu|स्रोत|अंश"
    r"|(?:ال)?(?:مصدر|مقطع)|[ck]ontext[eo]?|ref(?:erence)?)s?[.:]?\s{0,2}#?"
)
NAMED_SOURCE = re.compile(rf"\b{_WORD}\b(?:{_COUNTS}\b)?")  # in a sentence: "passages 1 and 2 state"
NUMBERED_MARK = (
    rf"(?:\[(?=\[))?[\[［【〔]\s{{0,2}}+(?:{_WORD})?(?P<square>{_COUNTS})(?:†[^\]】\n]{{0,80}}+)?\s{{0,2}}+[\]］】〕]"
    r"\]?+(?:\([^\s()]{1,300}+\))?"
    rf"|[(（]\s{{0,2}}+{_WORD}(?P<round>{_COUNTS})\s{{0,2}}+[)）]"
)
_MARK = re.compile(
    rf"{NUMBERED_MARK}"
    r"|\[\^(?P<label>[^\]\s]{1,40}+)\]"
    r"|(?:(?<=[^\W\d_]{2})(?<!\b[kcdmnµμ]m)(?<!\bft)|(?<=[.!?,;。！？”»)\]]))(?P<raised>[⁰¹²³⁴-⁹]{1,3}+(?:[,˒][⁰¹²³⁴-⁹]{1,3}+)*+)"
    r"|[\[(（【［](?P<title>[^\[\]()（）【】［］\n¹²³⁰⁴-⁹]{1,200}+)[\])）】］]"
)
_TOLD = re.compile(rf"{_WORD}\s*", re.IGNORECASE)  # "Source: Clover guide"
_FENCED = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`[^`\n]{1,300}+`")
_DEFINED = re.compile(r"^ {0,3}\[\^?([^\]\s]{1,40}+)\]:([^\n]*)$", re.MULTILINE)
_ASSIGNED = re.compile(r" ?=|\.[a-z_]")  # behind an index: `a[1] = 2`, `rows[1].id`
_PARTED = re.compile(r" (?=[.,;:!?])")  # left where a mark stood: "so ."
_LISTED = re.compile(r"\A(?:[-*+•] |\d{1,3}[.)] )+")  # before an item of a list
_QUESTION = ("?", "？", "؟", "՞", "፧")
_LEADS = (":", "：", *_QUESTION)


class CitedStatement(NamedTuple):
    """A sentence without its marks. cited: contexts, from 1; dangling: marks to none; each once."""

    text: str
    cited: tuple[int, ...] = ()
    dangling: tuple[str, ...] = ()


class CitationMark(NamedTuple):
    """A mark in a text, from start to end, with the contexts that it cites and what of it points nowhere."""

    start: int
    end: int
    cited: list[int]
    dangling: list[str]


def cited_statements(text: str, contexts: Sequence[Context]) -> list[CitedStatement]:
    """Return the statements that cite something or should, in order, in time linear in the text.

    A sentence is a statement. Marks belong to the sentence that they stand in or behind. Questions, headings,
    lines that end in a colon, code, and what has fewer than three words need no source and are left out,
    unless they have a mark. A number is a context's position from 1, else its id; other marks are an id, the
    id of a document, or a context's first line. Marks in code, indexes (`a[1]`) and years are none.
    """
    text = _FENCED.sub("\n\n", text)
    names = _names(contexts)
    notes: dict[str, str] = dict(_DEFINED.findall(text))
    text = _DEFINED.sub("\n", text)
    marks = list(marks_of(text, names, notes, len(contexts)))
    bare, places = _without(text, marks)
    spans = sentence_spans(bare)
    owned: dict[int, list[CitationMark]] = {}
    for owner, mark in zip(_owners(bare, spans, places), marks, strict=True):
        owned.setdefault(owner, []).append(mark)
    statements: list[CitedStatement] = []
    for number, (start, end) in enumerate(spans):
        own = owned.get(number, [])
        sentence = _LISTED.sub("", _PARTED.sub("", " ".join(bare[start:end].split())))
        is_lead = sentence.startswith("#") or sentence.rstrip("*_ ").endswith(_LEADS)
        n_words = sum(any(map(str.isalpha, word)) for word in tokenize(sentence))
        if own or (not is_lead and n_words >= FEWEST_WORDS):
            cited = dict.fromkeys(n for mark in own for n in mark.cited)
            dangling = dict.fromkeys(name for mark in own for name in mark.dangling)
            statements.append(CitedStatement(sentence, tuple(cited), tuple(dangling)))
    return [statement for statement in statements if any(map(str.isalnum, statement.text))]


def marks_of(
    text: str, names: Mapping[str, list[int]], notes: Mapping[str, str], n_contexts: int
) -> Iterator[CitationMark]:
    """Yield the marks of a text, in order. names: see _names; notes: what footnotes say, by label."""
    code = [match.span() for match in _INLINE.finditer(text)]
    code_ends = [end for _, end in code]
    index_end = -1
    for match in _MARK.finditer(text):
        start, end = match.span()
        at = bisect_right(code_ends, start)
        if at < len(code) and code[at][0] < end:
            continue
        if match["square"] and (start == index_end or _is_index(text, start, end)):
            index_end = end
            continue
        cited, dangling = _meant(match, names, notes, n_contexts)
        if cited or dangling:
            yield CitationMark(start, end, cited, dangling)


def _names(contexts: Sequence[Context]) -> dict[str, list[int]]:
    """Return what contexts are called -> their positions from 1: ids, those of documents, first lines."""
    positions: dict[str, list[int]] = {}
    for number, context in enumerate(contexts, 1):
        head, line_end, _ = context.text.strip().partition("\n")
        called = {context.id, context.document_id, head.lstrip("# ") if line_end else None}
        for name in {_plain(name) for name in called if name}:
            positions.setdefault(name, []).append(number)
    return positions


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())


def _meant(
    match: re.Match[str], names: Mapping[str, list[int]], notes: Mapping[str, str], n_contexts: int
) -> tuple[list[int], list[str]]:
    """Return the contexts that a mark cites, and what of it points nowhere."""
    if match["title"]:
        title = _plain(match["title"])
        prefix = _TOLD.match(title)
        return names.get(title) or names.get(title[prefix.end() :] if prefix else title) or [], []
    if match["label"] and not match["label"].isdecimal():
        cited = names.get(_plain(notes.get(match["label"], match["label"])), [])
        return cited, [] if cited else [match["label"]]
    cited, dangling = [], []
    for number in _numbers(match):
        named = names.get(_plain(notes.get(str(number), "")) or str(number))
        if str(number) in notes and named:
            cited += named
        elif 1 <= number <= n_contexts:
            cited.append(number)
        elif named:
            cited += named
        elif number not in YEARS:
            dangling.append(str(number))
    return cited, dangling


def _numbers(match: re.Match[str]) -> Iterator[int]:
    """Yield the numbers of a mark; digits of any script."""
    if match["raised"]:
        for raised in match["raised"].replace("˒", ",").split(","):
            yield int("".join(str(unicodedata.digit(digit)) for digit in raised))
        return
    yield from counted(match["square"] or match["round"] or match["label"])


def counted(text: str) -> Iterator[int]:
    """Yield the numbers that stand between the brackets of a mark, those within a range too."""
    counts = list(re.finditer(r"\d+", text))
    yield int(counts[0][0])
    for before, after in pairwise(counts):
        low, high = int(before[0]), int(after[0])
        between = before.string[before.end() : after.start()].strip(" ^")
        if between in ("-", "–", "—") and 0 < high - low <= MOST_RANGE:
            yield from range(low + 1, high)
        yield high


def _is_index(text: str, start: int, end: int) -> bool:
    """Say whether brackets with a number are an index: `a[1]`, `row_ids[2]`, `rows[1] = 2`."""
    if not start or not (text[start - 1].isalnum() or text[start - 1] == "_"):
        return False
    if _ASSIGNED.match(text, end):
        return True
    word = re.split(r"\W", text[max(0, start - 40) : start])[-1]
    return "_" in word or (len(word) == 1 and "a" <= word <= "z")


def _without(text: str, marks: Sequence[CitationMark]) -> tuple[str, list[int]]:
    """Return the text without its marks, and where in it each stood."""
    pieces: list[str] = []
    places: list[int] = []
    length = last = 0
    for mark in marks:
        pieces.append(text[last : mark.start])
        length += mark.start - last
        places.append(length)
        last = mark.end
        if text[last : last + 1].isalnum():
            pieces.append(" ")
            length += 1
    return "".join([*pieces, text[last:]]), places


def _owners(bare: str, spans: Sequence[tuple[int, int]], places: Sequence[int]) -> Iterator[int]:
    """Yield the number of the sentence that each mark belongs to.

    That is the one that it stands in or behind; a mark that begins a line belongs to what follows there.
    """
    starts = [start for start, _ in spans]
    line_ends = [line_break.start() for line_break in re.finditer(r"\n", bare)]
    for at in places:
        following = bisect_left(starts, at)
        before = following - 1
        line = bisect_left(line_ends, at)
        line_start = line_ends[line - 1] if line else -1
        line_end = line_ends[line] if line < len(line_ends) else len(bare)
        begins = before < 0 or spans[before][1] <= line_start
        goes_on = following < len(spans) and starts[following] <= line_end
        yield following if begins and goes_on else max(before, 0)
