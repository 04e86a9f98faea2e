"""Sentences of a model's answer -> those that may be said, with marks of the passages that say them."""

import re

from ragstone.kernel.corpus.numbers import stated_values
from ragstone.kernel.judging.lexical import no_refusal
from ragstone_assistant._domain import SensitiveTerms
from ragstone_assistant.answering.prompting import NO_ANSWER, Rendered
from ragstone_assistant.answering.sentences import Sentence, marks_in, with_marks, without_marks
from ragstone_assistant.answering.support import Support, content_words
from ragstone_assistant.conversation import Citation
from ragstone_assistant.guards import speaks_to_model, without_contacts
from ragstone_assistant.languages import phrase

_BLANK = re.compile(r"[^\S\n]{2,}")
COLONS = (":", "：")
_ITEM = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)]|[०-९٠-٩]{1,2}[.)])\s")
_FENCE_LINE = re.compile(r"^\s*```")
MOST_HELD = 3  # lines that introduce others and wait for a sentence that may be said
SAME = 0.9  # of the words of a sentence that stand in one that was said: it says nothing new
_GAPS = ("", " ", "\n", "\n\n")


class Checker:
    """Checks sentence after sentence. A class: which passages have been cited, and what waits, outlives one.

    A sentence is said if a passage says it (see Support); its marks are then those of the passages that do,
    numbered from 1 in order of first use. A question is no answer, the question's words without a mark are
    none, and what was said is not said again. A line that ends in a colon, in words of the passages alone,
    waits for what it introduces: the next sentence, or an item of its list. All else is withheld. `refused`:
    the answer began by saying that there is none, so that nothing of it is said. `about_sensitive`: whether a
    sentence that mentions sensitive terms was withheld. `cautions`: whether one was said.
    """

    def __init__(self, rendered: Rendered, support: Support, lang: str, sensitive: SensitiveTerms) -> None:
        self._rendered = rendered
        self._support = support
        self._lang = lang
        self._sensitive = sensitive
        self._cited: list[int] = []
        self._waiting: list[Sentence] = []
        self._withheld = False  # something, since the last line began to wait
        self._gap = ""
        self._said = False
        self._said_words: list[tuple[set[str], list[frozenset[float]]]] = []
        self.refused = False
        self.about_sensitive = False
        self.cautions = False

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The passages that have been cited, in order of their numbers."""
        passages = self._rendered.passages
        return tuple(Citation(number=n, passage=passages[at]) for n, at in enumerate(self._cited, 1))

    async def check(self, sentence: Sentence) -> str:
        """Return what may be said of a sentence, with what waited for it: "" for nothing."""
        self._gap = max(self._gap, sentence.gap, key=_GAPS.index)
        text = self._cleaned(sentence.text)
        if self.refused or not any(map(str.isalnum, text)):
            return ""
        declines = text.casefold().startswith(NO_ANSWER.casefold())
        if not self._cited and (declines or (no_refusal(text) == 0 and self._support.adds_nothing(text))):
            self.refused = True
            return ""
        leaks = self._rendered.nonce in text or speaks_to_model(text)
        # A question: small models repeat the user's.
        if leaks or text.endswith(("?", "؟")) or self._repeats(text):
            return self._withhold(text)
        n_passages = len(self._rendered.passages)
        marked = [number - 1 for number in marks_in(sentence.text) if 0 < number <= n_passages]
        if not marked and self._support.echoes(text):
            return self._withhold(text)
        numbers = await self._support.of(text.replace(phrase("see_source", self._lang), ""), marked)
        if text.rstrip("*_ ").endswith(COLONS):
            return self._wait(text) if numbers or self._support.knows_words(text) else self._withhold(text)
        if not numbers:
            return self._withhold(text)
        self._cited += [n for n in numbers if n not in self._cited]
        self.cautions = self.cautions or self._sensitive.mentioned(text)
        self._support.follows(text)
        self._said_words.append((set(content_words(text)), stated_values(text)))
        marked_text = with_marks(text, sorted(self._cited.index(n) + 1 for n in numbers))
        return self._release(marked_text)

    def _cleaned(self, text: str) -> str:
        if _FENCE_LINE.match(text):
            return ""
        text = without_marks(_without_cut_mark(without_marks(text)))
        approved = [passage.source for passage in self._rendered.passages]
        return _BLANK.sub(" ", without_contacts(text, self._lang, approved)).strip()

    def _repeats(self, text: str) -> bool:
        """Say whether nearly all its words stand in one sentence that was said, and its numbers too."""
        content, values = set(content_words(text)), stated_values(text)
        return bool(content) and any(
            len(content & earlier) >= SAME * len(content) and all(value in before for value in values)
            for earlier, before in self._said_words
        )

    def _wait(self, text: str) -> str:
        if self._sensitive.mentioned(text):
            return self._withhold(text)
        self._waiting = [*self._waiting, Sentence(self._gap, text)][-MOST_HELD:]
        self._gap, self._withheld = "", False
        return ""

    def _withhold(self, text: str) -> str:
        self.about_sensitive = self.about_sensitive or self._sensitive.mentioned(text)
        self._withheld = True
        return ""

    def _release(self, text: str) -> str:
        introduced = _ITEM.match(text) or not self._withheld
        gap = (
            self._gap
            if introduced
            else max([self._gap, *(held.gap for held in self._waiting)], key=_GAPS.index)
        )
        pieces = [*(self._waiting if introduced else ()), Sentence(gap, text)]
        released = "".join(piece.gap + piece.text for piece in pieces)
        released = released if self._said else released.lstrip()
        self._waiting, self._gap, self._said = [], "", True
        return released


def _without_cut_mark(text: str) -> str:
    """Return the text up to a bracket at its end that nothing closes."""
    closed = max(map(text.rfind, "]】")) + 1
    opened = min((at for sign in "[【" if (at := text.find(sign, closed)) >= 0), default=None)
    return text if opened is None else text[:opened].rstrip()
