"""Text of any script -> its sentences, as spans.

The marks that end a sentence are Unicode's (Sentence_Terminal, UAX 29). UAX 29 alone breaks after "Dr." and
"J. K.", and knows nothing of wrapped lines; what is added here are those rules, and spaces for Thai and Lao,
which have no such marks.
"""

import re
import unicodedata
from collections.abc import Iterator

# ruff: noqa: SIM905 - one word a line would hide the lists

# Abbreviations after which a sentence mostly goes on, in small letters and without the full stop. Not in the
# lists: what ends a sentence as often as not ("etc.", "usw."); single letters and dotted ones ("e.g.",
# "z.B."), which rules recognise; and words that are words too, unless a number must follow.
TITLES = frozenset(
    # English
    "mr mrs ms dr prof rev hon gov sen rep gen col capt cpt cmdr lt sgt maj adm st ste mt ft messrs mmes vs "
    "viz cf al esp approx dept univ assn bros incl hwy "
    # German, Dutch, Scandinavian
    "hr fr frl dipl ing bzw ca vgl sog evtl ggf inkl exkl zzgl bspw geb gest hrsg str nr dhr mevr drs bijv "
    # French, Italian, Spanish, Portuguese, Catalan, Romanian
    "mme mlle mgr sig dott avv egr sr sra srta dra ud uds vd vds lic gral av avda dña exmo exma sto sta "
    "ee ff "
    # Russian, Ukrainian, Bulgarian, Serbian
    "им ул пр просп акад проф доц тов гр см ср напр "
    # Polish, Czech, Slovak, Croatian
    "tzw tzn św ul np mgr inż gen płk tj např tzv "
    # Turkish, Vietnamese, Indonesian
    "doç yrd öğr gör sn av bkz tp ts ths gs pgs drs "
    # Greek, Hindi, Urdu, Persian
    "δρ βλ πχ श्री पं डॉ प्रो मि ڈاکٹر دکتر".split()
)

# Abbreviations only where a number follows: "No. 5", "p. 12", "Sept. 3".
NUMBERED = frozenset(
    "no nos p pp pg par para art arts fig figs eq eqs vol vols ch chap sec sect tab ver ed app ex "
    "jan feb mar apr jun jul aug sep sept oct nov dec "
    "abs abb bd kap ziff anm seit pag pág págs núm n° cap tít "
    "стр рис табл гл п пп ст рп № σελ αρ εικ str rys tab poz sayfa sf".split()
)

# Languages that write ordinal numbers with a full stop: "am 3. Mai", "2. Dünya Savaşı".
ORDINAL_DOT = frozenset("cs da de et fi fo hr hu is lb lv nb nn no pl sk sl sr tr".split())

# After a dotted abbreviation ("U.S.", "a.m.") these begin a sentence; any other word goes on with it.
STARTERS = frozenset(
    "a after all also although an and as at but by during each for from he her his however i if in it its "
    "many most my no on one our she since so some that the their then there these they this those though to "
    "under we what when where while who why with you your".split()
)


Span = tuple[int, int]
"""Start and end in code points, as in `text[start:end]`."""

SPACED_LENGTH = 60  # characters of Thai or Lao from which on a space is taken for the end of a sentence
LONGEST = max(map(len, TITLES | NUMBERED))
NARROWEST = 25  # characters of the longest line of a paragraph that was wrapped
MOST_ABBREVIATED = 24  # characters looked at before a full stop

# They end a sentence whatever follows. Unicode's list, without the full stop, exclamation and question mark
# of the Latin script (below), which also stand elsewhere, and without Myanmar's comma.
_FULL = (
    "\u0589\u061d-\u061f\u06d4\u0700-\u0702\u07f9\u0964\u0965\u0f0d-\u0f11\u104b\u1362\u1367\u1368\u166e"
    "\u1735\u1736\u17d4\u17d5\u1803\u1809\u1944\u1945\u1aa8-\u1aab\u1b5a\u1b5b\u1b5e\u1b5f\u1c3b\u1c3c"
    "\u1c7e\u1c7f\u203c\u203d\u2047-\u2049\u2e2e\u2e3c\u3002\ua4ff\ua60e\ua60f\ua6f3\ua6f7\ua876\ua877"
    "\ua8ce\ua8cf\ua92f\ua9c8\ua9c9\uaa5d-\uaa5f\uaaf0\uaaf1\uabeb\ufe12\ufe15\ufe16\ufe52\ufe56\ufe57"
    "\uff01\uff0e\uff1f\uff61"
)
_CLOSERS = "\"'\u201d\u2019\u00bb\u203a)\\]}\uff09\uff3d\uff5d\u300d\u300f\u3011\u3009\u300b\u3015"
_SINGLE = "\u201c\u2018\u00ab\u2039"  # close a quotation in German and Danish; elsewhere they open one
_LINE_ENDS = "\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"

_NOTE = r"(?:\[[^\]\n]{1,20}\])*"  # a footnote's number, as in encyclopaedias: "so.[3] But"
_BREAK = re.compile(
    rf"(?P<full>[.!?\u2026]*[{_FULL}][.!?\u2026{_FULL}]*)(?P<closed>[{_CLOSERS}]*{_NOTE})"
    rf"|(?P<mark>[.!?\u2026]+|[;\u037e](?=\s))"
    rf"(?P<shut>(?:[{_CLOSERS}{_SINGLE}]|[ \u00a0\u202f]\u00bb(?!\S))*{_NOTE})"
    rf"|[{_LINE_ENDS}]\s*"
)
# One class alone is searched for several times faster than the alternatives.
_CANDIDATE = re.compile(rf"[.!?\u2026;\u037e{_FULL}{_LINE_ENDS}]")
_CONTINUES = frozenset(",;:.!?\u2026\u060c\u061b\u3001\uff0c\uff1b\uff1a-\u2013\u2014")
_OPENERS = "\"'\u201c\u2018\u201e\u201a\u00ab\u2039\u00bb(\\[{\u00bf\u00a1*_"
_NEXT_WORD = re.compile(rf"\s*+[{_OPENERS}]*+(\w*+)")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
_ROMAN = re.compile("[IVXLC]+")
# Han, kana, Hangul, Thai, Lao, Myanmar, Khmer: a word of one character is a word, no initial.
_SYLLABLES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LISTED = re.compile(r"(?:[-*+\u2022\u2013\u2014\u00b7\u25aa\u25e6\u2023#|>]|\(?(?:\d{1,3}|[A-Za-z])[.)])\s")
_PARAGRAPH_END = re.compile(r"[\n\r][^\S\n]*[\n\r]")
_SPACED_SCRIPT = re.compile("[\u0e01-\u0eff]")  # Thai and Lao
_CLAUSE_GAP = re.compile("(?<=[\u0e01-\u0e4e\u0e81-\u0ecd]) +(?=[\u0e01-\u0e4e\u0e81-\u0ecd])")


def sentence_spans(text: str, lang: str | None = None) -> list[Span]:
    """Return the sentences in order; white space between them belongs to none, everything else to one.

    lang: the text's language, if known: it tells whether "3." is an ordinal number (German "am 3. Mai").
    A full stop ends a sentence where white space and no small letter follows, unless it belongs to an
    abbreviation or an initial; other marks end one with the closing quotes and brackets behind them. A
    blank line ends one, and a line end does unless the line is wrapped. Thai and Lao end at a space between
    words after SPACED_LENGTH characters: a clause rather than a sentence, for these scripts mark no more.
    """
    ordinal = (lang or "")[:2].lower() in ORDINAL_DOT
    spans: list[Span] = []
    start, line_start, width, paragraph_end = 0, 0, 0, -1
    spaced = _SPACED_SCRIPT.search(text) is not None
    for match in _breaks(text):
        at, end = match.span()
        if match["full"] is not None:
            ends = _ends_after_full(text, end, match["closed"])
        elif match["mark"] is not None:
            ends = _ends_after_mark(text, match, start, ordinal)
        else:
            if at > paragraph_end:
                paragraph_end, width = _paragraph(text, line_start)
            ends = not _goes_on(text, line_start, at, end, width)
            line_start, end = end, at
        if ends and end > start:
            _add(spans, text, start, end)
            start = end
    _add(spans, text, start, len(text))
    return [clause for span in spans for clause in _clauses(text, *span)] if spaced else spans


def _breaks(text: str) -> Iterator[re.Match[str]]:
    """Yield the places where a sentence may end."""
    candidate = _CANDIDATE.search(text)
    while candidate:
        match = _BREAK.match(text, candidate.start())
        if match:
            yield match
        candidate = _CANDIDATE.search(text, match.end() if match else candidate.end())


def _add(spans: list[Span], text: str, start: int, end: int) -> None:
    """Add a span without the white space around it, unless nothing else is in it."""
    piece = text[start:end]
    bare = piece.lstrip()
    start += len(piece) - len(bare)
    bare = bare.rstrip()
    if bare:
        spans.append((start, start + len(bare)))


def _clauses(text: str, start: int, end: int) -> Iterator[Span]:
    for gap in _CLAUSE_GAP.finditer(text, start, end):
        if gap.start() - start >= SPACED_LENGTH <= end - gap.end():
            yield start, gap.start()
            start = gap.end()
    yield start, end


def _ends_after_full(text: str, end: int, closed: str) -> bool:
    """Say whether a mark of a script with marks of its own ends a sentence."""
    after = text[end : end + 1]
    if closed and after in ("\u3068", "\u3063"):  # Japanese: "...", he said
        return False
    return not after or after not in _CONTINUES


def _ends_after_mark(text: str, match: re.Match[str], start: int, ordinal: bool) -> bool:
    end, mark = match.end(), match["mark"]
    if end == len(text):
        return True
    if not text[end].isspace():  # Chinese with Western marks has no space either
        return mark[-1] in "!?" and bool(_SYLLABLES.match(text[end]))
    word = _NEXT_WORD.match(text, end)
    following = word[1] if word else ""
    if word and text[word.end(1) : word.end(1) + 1] in _CONTINUES and not following:
        return False
    if mark in ";\u037e":
        return "GREEK" in unicodedata.name(text[match.start() - 1], "") if match.start() else False
    if mark[-1] in "!?":
        return not (match["shut"] and following[:1].islower())
    if following[:1].islower():
        return False
    if mark != "." or match["shut"]:
        return True
    return not _abbreviated(text, match.start(), start, following, ordinal)


def _abbreviated(text: str, dot: int, start: int, following: str, ordinal: bool) -> bool:
    """Say whether the full stop belongs to the word before it."""
    before = text[max(start, dot - MOST_ABBREVIATED) : dot]
    word = before.rsplit(None, 1)[-1] if before.strip() else ""
    word = word.lstrip("\"'([{\u201c\u2018\u201e\u00ab\u00bf\u00a1*_").rpartition("-")[2]
    if not word or (len(word) > LONGEST and "." not in word):
        return False
    if ordinal and _ROMAN.fullmatch(word):
        return True
    if word.isdecimal():
        lead = text[start : dot - len(word)]
        first = len(lead) <= len("\n(**") and not lead.strip(" \t\n\r([*_")
        return first or (ordinal and len(word) <= 2)
    if "." in word and _DOTTED.fullmatch(word):
        return following.casefold() not in STARTERS
    if _is_initial(word):
        return True
    folded = word.casefold()
    return folded in TITLES or (folded in NUMBERED and following[:1].isdecimal())


def _is_initial(word: str) -> bool:
    """Say whether a word is one letter with its marks: Hindi writes the initial P as a letter and a sign."""
    if word.isascii():  # no mark is in ASCII; most words are
        return len(word) == 1 and word.isalpha()
    if len(word) > 4 or not word[0].isalpha() or _SYLLABLES.match(word):
        return False
    # Vietnamese has words of one small letter, which carry a diacritic.
    if word[0].islower() and len(unicodedata.normalize("NFD", word)) > 1:
        return False
    return all(unicodedata.category(mark)[0] == "M" for mark in word[1:])


def _paragraph(text: str, start: int) -> tuple[int, int]:
    """Return where the paragraph that begins at `start` ends, and the length of its longest line."""
    match = _PARAGRAPH_END.search(text, start)
    end = match.start() if match else len(text)
    return end, max(map(len, text[start:end].splitlines()), default=0)


def _goes_on(text: str, line_start: int, line_end: int, next_line: int, width: int) -> bool:
    """Say whether the sentence goes on in the next line, because the line was only wrapped.

    It was if the next word would not have fitted into the longest line of the paragraph. A next line in
    small letters is one that goes on, unless the line is short, as lines of a list are.
    """
    gap = text[line_end:next_line]
    if max(gap.count("\n"), gap.count("\r")) > 1 or "\u2029" in gap or next_line == len(text):
        return False
    line = text[line_start:line_end].strip()
    if width < NARROWEST or "|" in line or line.startswith("#") or _LISTED.match(text, next_line):
        return False
    if text[next_line].islower() and 2 * len(line) >= width:
        return True
    end = next_line
    while end < len(text) and end - next_line < width and not text[end].isspace():
        end += 1
    return len(line) + 1 + end - next_line > 0.9 * width
