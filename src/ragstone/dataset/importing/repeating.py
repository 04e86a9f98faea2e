"""Which imported questions repeat an earlier one, in bounded memory."""

from collections import defaultdict

import msgspec

from ragstone.dataset.repeats import find_repeats
from ragstone.dataset.wording import exact_form
from ragstone.records import Question

MOST_NEAR = 100_000  # questions; all words of all of them are held to compare (1.5 KB each)


class RepeatedQuestion(msgspec.Struct, frozen=True):
    """A question, and the earlier one of its language that it repeats. exact: in the same words."""

    id: str
    of: str
    exact: bool


class Asked:
    """The questions so far: their texts, or of more than MOST_NEAR what tells whether one comes again."""

    def __init__(self) -> None:
        self._texts: dict[str | None, list[tuple[str, str]]] = defaultdict(list)
        self._n = 0
        self._first: dict[int, str] = {}
        self._exact: list[RepeatedQuestion] = []

    def add(self, question: Question) -> None:
        """Take a question."""
        self._n += 1
        if self._n <= MOST_NEAR:
            self._texts[question.lang].append((question.id, question.question))
            return
        for lang, texts in self._texts.items():
            for name, text in texts:
                self._compare(lang, name, text)
        self._texts.clear()
        self._compare(question.lang, question.id, question.question)

    def exactly(self) -> bool:
        """Say whether only repetitions in the same words are found, since there are too many questions."""
        return self._n > MOST_NEAR

    def repeats(self) -> list[RepeatedQuestion]:
        """Return the questions that repeat an earlier one of their language."""
        if self.exactly():
            return self._exact
        return [
            RepeatedQuestion(texts[one.number][0], texts[one.of][0], one.exact)
            for texts in self._texts.values()
            for one in find_repeats([text for _, text in texts])
        ]

    def _compare(self, lang: str | None, name: str, text: str) -> None:
        first = self._first.setdefault(hash((lang, exact_form(text))), name)
        if first != name:
            self._exact.append(RepeatedQuestion(name, first, exact=True))
