"""A text that comes in pieces -> its sentences, each as soon as it is whole, with its citations."""

import re

import msgspec

from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.judging.citation_marks import NUMBERED_MARK, counted

MARK = re.compile(rf"(?:(?<!\s)\s++)?+(?!\[\d{{4}}\])(?:{NUMBERED_MARK})")  # a year in brackets is none
_END = re.compile(r"(?<![.!?…।۔؟:;])[.!?…।۔؟:;]++[\"'”’»)\]*_]*+\s*+$")
_MISPLACED = re.compile(
    rf"(?P<end>(?<![.!?…।۔؟])[.!?…।۔؟]++[\"'”’»)*_]*+)(?P<marks>(?:{MARK.pattern})+)(?P<after>\s|$)"
)


def marks_in(text: str) -> list[int]:
    """Return the numbers of the marks in a text, each once, in order of first use; digits of any script."""
    marks = MARK.finditer(text)
    return list(
        dict.fromkeys(number for mark in marks for number in counted(mark["square"] or mark["round"]))
    )


def without_marks(text: str) -> str:
    """Return the text without its marks."""
    return MARK.sub("", text)


def with_marks(text: str, numbers: list[int]) -> str:
    """Return a sentence without marks with these, in front of the mark that ends it."""
    marks = " " + "".join(f"[{number}]" for number in numbers)
    end = _END.search(text)
    at = end.start() if end else len(text.rstrip())
    return text[:at].rstrip() + marks + text[at:]


def marks_before_ends(text: str, *, whole: bool = True) -> str:
    """Return the text with marks that stand behind the end of a sentence in front of it: `so.[1]`, `so. [1]`.

    They belong to the sentence before them; a splitter of sentences would give them to the next. whole: no
    more text follows, so that the end of the text is the end of its last word.
    """

    def moved(match: re.Match[str]) -> str:
        if not match["after"] and not whole:
            return match[0]
        return f"{match['marks'].rstrip()}{match['end']}{match['after']}"

    return _MISPLACED.sub(moved, text)


_THINK = re.compile(r"<think(?:ing)?>")
_THOUGHT = re.compile(r"</think(?:ing)?>")
_THINKS = re.compile(r"\s*<(?:t(?:h(?:i(?:n(?:k(?:ing)?)?)?)?)?)?$|\s*<think(?:ing)?>", re.IGNORECASE)
# After a sentence a whole word of the next has come: neither a mark of this one nor an abbreviation is cut.
_GOES_ON = re.compile(r"\s*[^\s\[【]\S*\s")

_ENDS = re.compile(r"[.!?…।۔؟:][\"'”’»)*_]*+$")

LONGEST = 1000  # characters of a sentence


class Sentence(msgspec.Struct, frozen=True):
    """A sentence, and what goes before it: "" for the first, a space, or line ends."""

    gap: str
    text: str


class Sentences:
    """Cuts a text that is still being written. A class: it holds what has no end yet.

    A line end ends a sentence: models do not wrap lines, they write lists. Marks of citations belong to the
    sentence before them. What a reasoning model writes between `<think>` tags at its beginning is left out.
    """

    def __init__(self, lang: str) -> None:
        self._lang = lang
        self._held = ""
        self._gap = ""
        self._begun = False

    def feed(self, piece: str) -> list[Sentence]:
        """Return the sentences that are whole with this piece."""
        self._held += piece
        if not self._begun:
            self._held = _without_thought(self._held) if "</think" in self._held else self._held
            if not self._held.strip() or _THINKS.match(self._held):
                return []
            self._begun = True
        sentences: list[Sentence] = []
        while "\n" in self._held:
            line, self._held = self._held.split("\n", 1)
            sentences += self._cut(line, whole=True)
            self._gap = "\n\n" if self._gap == "\n" else "\n"
        return sentences + self._cut(self._held, whole=False)

    def end(self, *, whole: bool = True) -> list[Sentence]:
        """Return what is left when the text is at its end; if it was cut off, without a broken sentence."""
        held, self._held = self._held, ""
        if not self._begun and _THINKS.match(held):
            return []
        sentences = self._cut(held, whole=True)
        return sentences if whole or not sentences or _ENDS.search(sentences[-1].text) else sentences[:-1]

    def _cut(self, line: str, *, whole: bool) -> list[Sentence]:
        """Return the sentences of a line; of an unfinished one those that are whole, and hold the rest."""
        text = marks_before_ends(line, whole=whole)
        sentences: list[Sentence] = []
        taken = 0
        for start, end in sentence_spans(text, self._lang):
            if not whole and not _GOES_ON.match(text, end):
                break
            sentences.append(Sentence(self._gap, text[start:end]))
            self._gap = " "
            taken = end
        if not whole:
            self._held = text[taken:]
            if len(self._held) > LONGEST:
                return sentences + self._broken()
        return sentences

    def _broken(self) -> list[Sentence]:
        """Return what is held up to its last blank: no sentence is that long."""
        held = self._held
        at = held.rfind(" ") + 1 or len(held)
        self._held = held[at:]
        sentence = Sentence(self._gap, held[:at].strip())
        self._gap = " "
        return [sentence] if sentence.text else []


def _without_thought(text: str) -> str:
    """Return the text without its first whole block between `<think>` tags."""
    opened = _THINK.search(text)
    closed = _THOUGHT.search(text, opened.end()) if opened else None
    return text[: opened.start()].rstrip() + text[closed.end() :] if opened and closed else text
