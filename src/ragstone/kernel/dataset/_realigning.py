"""A passage and the document that it was in -> where its evidence is now, and what of it has changed.

Words are aligned, not characters: shared triples of words say where to look (a seed, as in BLAST, Altschul et
al. 1990), and the longest common blocks (Ratcliff and Obershelp 1988, as `difflib` has them) say which word
became which.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache, cached_property
from typing import Literal, NamedTuple

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.numbers import held_values, holds_numbers, stated_values
from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.corpus.tokens import function_words, token_spans, tokenize
from ragstone.kernel.dataset._spans import EvidenceWords
from ragstone.kernel.files.language import detect_language

SEED = 3  # words that stand in a row in both
MOST_PLACES = 40  # of a seed; one that stands everywhere says nothing
SLACK = 12  # words that may have been put in on either side
SIMILAR = 0.6  # share of the sentence's words that must still be there
ALIKE = 0.75  # below it the evidence is in other words, and whether they say the same is for a person,
FEW = 2  # unless only so many words differ
SHORTEST = 4  # words of a sentence, from which on its own words tell
STRAY = 6  # words: a word that stands so far from all others that match is another one
LONG = 400  # words of a passage, from which on those that are everywhere begin no common block
TYPO = 4  # letters, from which on a word may differ in one
LONGEST = 4000  # characters of a passage that is looked for by its letters
SHOWN = 90  # characters of a passage within a reason

What = Literal["number", "negation", "answer", "words"]
_MARKED = "\u0300-\u036f\u0900-\u0dff"
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

_UNPRINTED = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")  # soft hyphens, spaces of no width
_BROKEN = re.compile(r"(?<=[^\W\d_])-[^\S\n]*\n\s*(?=[^\W\d_])")  # a word, at the end of a line


class Realigned(NamedTuple):
    """Where evidence is in a text now: `text[start:end]`.

    similarity: share of the words of its sentence that are there. what: changed so that the answer, or what
    the evidence says, may be another one; None where nothing of the kind has. was, now: the sentences.
    """

    start: int
    end: int
    similarity: float
    what: What | None
    was: str
    now: str


class Asked(NamedTuple):
    """What a question asks and what is right, to tell whether a change matters."""

    question: str
    references: Sequence[str]
    lang: str | None


class TextWords:
    """The words of a text, with an index of what stands in a row; read when they are first needed."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def spans(self) -> list[tuple[int, int, str]]:
        """Where each word begins and ends, and the word, folded."""
        return token_spans(self.text)

    @cached_property
    def tokens(self) -> list[str]:
        """The words, folded."""
        return [token for _, _, token in self.spans]

    @cached_property
    def seeds(self) -> Mapping[tuple[str, ...], list[int]]:
        """Each SEED words in a row with their places."""
        places: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for at, seed in enumerate(_in_a_row(self.tokens)):
            places[seed].append(at)
        return places

    @cached_property
    def letters(self) -> str:
        """The text without what depends on how it is set."""
        return _letters(self.text)

    def raw(self, first: int, last: int) -> str:
        """Return the text from one word to another."""
        return self.text[self.spans[first][0] : self.spans[last][1]] if first <= last else ""


def rough_seeds(text: str) -> set[tuple[str, ...]]:
    """Return SEED words in a row, to tell which of many texts is worth aligning: cut at white space alone.

    Of a text in a script without spaces, words as `tokenize` has them too.
    """
    text = unicodedata.normalize("NFC", _UNPRINTED.sub("", text))
    seeds = set(_in_a_row(text.casefold().split()))
    return seeds | set(_in_a_row([t for _, _, t in token_spans(text)])) if _UNSPACED.search(text) else seeds


def _in_a_row(tokens: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return zip(*(tokens[at:] for at in range(SEED)), strict=False)


def passage_of(known: EvidenceWords) -> tuple[str, int]:
    """Return the longest that is known of evidence and what stood around it, and where in it it begins."""
    beside = f"{known.before}{known.words}{known.after}"
    if len(known.sentence) > len(beside):
        return known.sentence, known.offset
    return beside, len(known.before)


def realign(known: EvidenceWords, words: TextWords, asked: Asked) -> Realigned | None:
    """Return where evidence is now; None where too little of its sentence is in the text."""
    passage, begin = passage_of(known)
    end = begin + len(known.words)
    at = words.text.find(passage)
    if at >= 0 and at == words.text.rfind(passage):
        return Realigned(at + begin, at + end, 1.0, None, known.words, known.words)
    # On a side where more is remembered than stood beside the evidence, that is where its sentence ends.
    is_sentence = passage == known.sentence
    ends = (
        is_sentence and begin > len(known.before),
        is_sentence and len(passage) - end > len(known.after),
    )
    aligned = _by_words(passage, (begin, end), words, asked, ends)
    if aligned is not None and aligned.what is None:
        return aligned
    again = _by_letters((passage[:begin], passage[begin:end], passage[end:]), words)
    return Realigned(*again, 1.0, None, known.words, known.words) if again else aligned


def _by_letters(parts: tuple[str, str, str], words: TextWords) -> tuple[int, int] | None:
    """Return where the middle part is, if the three are in a row, once, but for how they are set.

    That is: white space, words broken at the ends of lines, what is not printed, accents apart from letters.
    """
    if sum(map(len, parts)) > LONGEST or _letters("".join(parts)) not in words.letters:
        return None
    pattern = re.compile("".join(f"({_set_otherwise(part)})" for part in parts))
    first = pattern.search(words.text)
    if first is None or not first[2] or pattern.search(words.text, first.start() + 1):
        return None
    return first.span(2)


def _letters(text: str) -> str:
    shown = unicodedata.normalize("NFC", _UNPRINTED.sub("", text))
    return "".join(shown.replace("-", "").split())


def _set_otherwise(text: str) -> str:
    """Return a pattern of a text, however it is set."""
    clean = unicodedata.normalize("NFC", _UNPRINTED.sub("", _BROKEN.sub("", text)))
    pieces: list[str] = []
    last = ""
    for char in clean:
        if char.isspace():
            if not last.isspace():
                pieces.append(rf"(?:\s|{_UNPRINTED.pattern})+")
        else:
            if _UNSPACED.match(last) and _UNSPACED.match(char):
                pieces.append(r"\s*")
            elif last.isalpha() and char.isalpha():
                pieces.append(rf"(?:{_UNPRINTED.pattern}|-[^\S\n]*\n\s*)*")
            forms = dict.fromkeys((char, unicodedata.normalize("NFD", char)))
            pieces.append(f"(?:{'|'.join(map(re.escape, forms))})")
        last = char
    return "".join(pieces)


def _by_words(
    passage: str, span: tuple[int, int], words: TextWords, asked: Asked, ends: tuple[bool, bool]
) -> Realigned | None:
    """Return where evidence is by the words of its passage; None where too few of them are in the text.

    ends: whether the passage begins, and ends, where the sentence of the evidence does; else it is cut.
    """
    begin, end = span
    old = TextWords(passage)
    inside = [at for at, (a, b, _) in enumerate(old.spans) if b > begin and a < end]
    if not inside:
        return None
    first, last = _sentence(old, inside[0], inside[-1], asked.lang)
    first, last = 0 if ends[0] else first, len(old.tokens) - 1 if ends[1] else last
    window = _window(old.tokens, words)
    if window is None:
        return None
    low, high = window
    to = _mapping(old.tokens, words.tokens[low:high], low)
    # What is remembered may begin or end within a word.
    first += first == 0 < inside[0] and 0 not in to
    last -= last == len(old.tokens) - 1 > inside[-1] and last not in to
    core = range(first, last + 1)
    counted = core if len(core) >= SHORTEST else range(len(old.tokens))
    similarity = sum(at in to for at in counted) / len(counted)
    now = _image(to, first, last)
    exact = _image(to, inside[0], inside[-1])
    if similarity < SIMILAR or now is None or exact is None:
        return None
    start, stop = _edges(old, words, (inside[0], inside[-1]), exact, (begin, end))
    was_core, now_core = old.raw(first, last), words.raw(*now)
    what = _what(
        _Evidence(
            old.raw(inside[0], inside[-1]),
            words.raw(*exact),
            was_core,
            now_core,
        ),
        asked,
    )
    if what is None and (1 - similarity) * len(counted) > max(FEW, (1 - ALIKE) * len(counted)):
        what = "words"
    return Realigned(start, stop, similarity, what, was_core, now_core)


def _sentence(old: TextWords, first: int, last: int, lang: str | None) -> tuple[int, int]:
    """Return the first and the last word of the sentences that words of a passage are in."""
    start, end = old.spans[first][0], old.spans[last][1]
    spans = [(a, b) for a, b in sentence_spans(old.text, lang) if a < end and start < b]
    if not spans:
        return first, last
    inside = [at for at, (a, b, _) in enumerate(old.spans) if a >= spans[0][0] and b <= spans[-1][1]]
    return (min(first, inside[0]), max(last, inside[-1])) if inside else (first, last)


def _window(tokens: list[str], words: TextWords) -> tuple[int, int] | None:
    """Return the words of a text among which most seeds of a passage stand in the same order."""
    if len(tokens) < SEED:
        starts = range(len(words.tokens) - len(tokens) + 1)
        found = next((at for at in starts if words.tokens[at : at + len(tokens)] == tokens), None)
        return None if found is None else (found, found + len(tokens))
    seeds, votes = words.seeds, Counter[int]()
    for at, seed in enumerate(_in_a_row(tokens)):
        places = seeds.get(seed, ())
        for place in places if len(places) <= MOST_PLACES else ():
            votes[(place - at) // SLACK] += 1
    if not votes:
        return None
    best = max(votes, key=lambda bucket: (votes[bucket] + votes[bucket + 1], -bucket))
    low = best * SLACK - SLACK
    return max(0, low), min(len(words.tokens), low + len(tokens) + 4 * SLACK)


def _mapping(old: Sequence[str], new: Sequence[str], low: int) -> dict[int, int]:
    """Return word of the passage -> word of the text, of those that stand in both in the same order."""
    # Of long passages the pairs of frequent words are many: a page took minutes.
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) >= LONG)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    to: dict[int, int] = {}
    for n, block in enumerate(blocks):
        if block.size == 1 and len(old) > SEED:
            before = blocks[n - 1] if n else None
            after = blocks[n + 1] if n + 1 < len(blocks) else None
            gaps = [block.b - (before.b + before.size)] if before else []
            gaps += [after.b - block.b - 1] if after else []
            if gaps and min(gaps) > STRAY:
                continue
        to |= {block.a + i: low + block.b + i for i in range(block.size)}
    return to


def _image(to: Mapping[int, int], first: int, last: int) -> tuple[int, int] | None:
    """Return the words that the words from `first` to `last` became; None if they are gone."""
    start, end = to.get(first), to.get(last)
    if start is None:
        before = max((at for at in to if at < first), default=None)
        within = min((to[at] for at in to if at >= first), default=None)
        start = within if before is None else to[before] + 1
    if end is None:
        after = min((at for at in to if at > last), default=None)
        within = max((to[at] for at in to if at <= last), default=None)
        end = within if after is None else to[after] - 1
    return (start, end) if start is not None and end is not None and start <= end else None


def _edges(
    old: TextWords, words: TextWords, was: tuple[int, int], now: tuple[int, int], span: tuple[int, int]
) -> tuple[int, int]:
    """Return the characters of the evidence now, with the marks at its ends where they are still there."""
    start, end = words.spans[now[0]][0], words.spans[now[1]][1]
    before, after = old.spans[was[0]][0] - span[0], span[1] - old.spans[was[1]][1]
    if before > 0 and words.text[max(0, start - before) : start] == old.text[span[0] : span[0] + before]:
        start -= before
    if after > 0 and words.text[end : end + after] == old.text[span[1] - after : span[1]]:
        end += after
    if before < 0 and words.tokens[now[0]] == old.tokens[was[0]]:
        start -= before
    if after < 0 and words.tokens[now[1]] == old.tokens[was[1]]:
        end += after
    return start, end


class _Evidence(NamedTuple):
    """Evidence and its sentence, then and now."""

    was_text: str
    now_text: str
    was_core: str
    now_core: str


def _what(change: _Evidence, asked: Asked) -> What | None:
    """Return what has changed that matters; None where the evidence says what it said."""
    if tokenize(change.was_core) == tokenize(change.now_core):
        return None
    pattern = negations(asked.lang or detect_language(change.was_core))
    if pattern is not None and _negations(pattern, change.was_core) != _negations(pattern, change.now_core):
        return "negation"
    if _another_number(change.was_text, change.now_text):
        return "number"
    wanted = [*(value for text in (asked.question, *asked.references) for value in stated_values(text))]
    around = held_values(change.now_core)
    if any(
        not values & around and any(values & other for other in wanted)
        for values in stated_values(change.was_core)
    ):
        return "number"
    was_tokens, now_tokens = tokenize(change.was_core), tokenize(change.now_core)
    gained = [token for token in now_tokens if token not in set(was_tokens)]
    spelled = {token: _spelled(token, gained) for token in set(was_tokens)}
    renewed = [spelled[token] or token for token in was_tokens]
    sought = [text for text in map(tokenize, asked.references) if text]
    held = [text for text in sought if _holds(was_tokens, text)]
    within = [text for text in held if _holds(tokenize(change.was_text), text)]
    after = [[spelled.get(token) or token for token in text] for text in within or held]
    if held and not any(
        _holds(tokenize(change.now_text) if within else now_tokens, text)
        for text in (*(within or held), *after)
    ):
        return "answer"
    lost = Counter(spelled.get(token) or token for token in tokenize(change.was_text)) - Counter(now_tokens)
    content = [token for token in lost if token not in function_words()]
    if not held:
        return "words" if content else None
    names = _names(change.was_core) & {*tokenize(asked.question)}
    gone = [token for token in renewed if token in names and token not in now_tokens]
    return "words" if gone else None


def _another_number(was: str, now: str) -> bool:
    """Say whether a number is gone; one of several that are alike only where another has come."""
    if not holds_numbers(now, was):
        return True
    stated, stated_now = stated_values(was), stated_values(now)
    fewer = any(
        sum(bool(values & other) for other in stated_now) < sum(bool(values & other) for other in stated)
        for values in stated
    )
    return fewer and not holds_numbers(was, now)


def _holds(tokens: Sequence[str], sought: Sequence[str]) -> bool:
    n, wanted = len(sought), list(sought)
    return any(list(tokens[at : at + n]) == wanted for at in range(len(tokens) - n + 1))


def _names(text: str) -> set[str]:
    """Return the words that begin with a capital, or whose script has none, but for the first one."""
    spans = token_spans(text)
    return {
        token
        for n, (at, _, token) in enumerate(spans)
        if token not in function_words()
        and token.isalpha()
        and ((n and text[at].isupper()) or text[at].isupper() == text[at].islower())
    }


def _spelled(token: str, gained: Sequence[str]) -> str | None:
    """Return the new word that a word differs from in one letter, as a corrected slip does."""
    if len(token) < TYPO or any(map(str.isdigit, token)):
        return None
    return next((other for other in gained if other[:1] == token[:1] and _one_apart(token, other)), None)


def _one_apart(one: str, other: str) -> bool:
    """Say whether two words differ by one letter: put in, changed, or swapped with the next."""
    if one == other or abs(len(one) - len(other)) > 1 or any(map(str.isdigit, other)):
        return False
    head = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    a, b = one[head:], other[head:]
    swapped = len(a) > 1 and len(b) > 1 and a[0] == b[1] and a[1] == b[0] and a[2:] == b[2:]
    return swapped or a[1:] == b or a == b[1:] or a[1:] == b[1:]


@cache
def negations(lang: str | None) -> re.Pattern[str] | None:
    """Return a pattern of the words that deny in a language; None for one that is not in the lists."""
    tables = read_library("ragstone.kernel.judging", "words/truth.toml")
    table = tables.get((lang or "")[:2])
    if table is None:
        return None
    listed = table["not"].split("|") + (["no"] if table is tables["en"] else [])
    spaced = [re.escape(word) for word in listed if not _UNSPACED.search(word)]
    joined = [re.escape(word) for word in sorted(listed, key=len, reverse=True) if _UNSPACED.search(word)]
    whole = rf"(?<![\w{_MARKED}])(?:{'|'.join(spaced)})(?![\w{_MARKED}])" if spaced else ""
    return re.compile("|".join(filter(None, (whole, *joined))))


def _negations(pattern: re.Pattern[str], text: str) -> int:
    return len(pattern.findall(text.casefold().replace("’", "'")))
