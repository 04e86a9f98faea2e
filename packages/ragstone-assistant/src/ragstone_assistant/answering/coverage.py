"""A question about a dose or a treatment of what no document is about -> a refusal with what they cover."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from ragstone.kernel.corpus.tags import Tag, match_tags
from ragstone.kernel.corpus.tokens import tokenize, without_article
from ragstone_assistant._domain import SensitiveTerms
from ragstone_assistant.conversation import Emit, Said, TextPiece
from ragstone_assistant.guards import said
from ragstone_assistant.languages import phrase

MOST_NAMED = 12  # values that a refusal names


class Coverage(msgspec.Struct, frozen=True):
    """What the documents cover. held: gives the values of each tag that documents have.

    Only the tags in `covered` of the application's sensitive.toml are looked at, and of these none that no
    document has.
    """

    tags: Sequence[Tag]
    held: Callable[[], Mapping[str, Sequence[str]]]
    sensitive: SensitiveTerms

    def lacking(self, texts: Sequence[str], wanted: Mapping[str, str]) -> dict[str, list[str]]:
        """Return tag -> the values that a question is about and no document has; nothing for a question of
        which a wrong answer does no harm.

        texts: the question as the planner puts it, and as the user does. What these name counts; where they
        name nothing, what the conversation or a filter does (wanted).
        """
        if not any(map(self.sensitive.asks_advice, texts)):
            return {}
        there = self.held()
        lacking: dict[str, list[str]] = {}
        for tag in self.tags:
            if tag.key not in self.sensitive.covered or not there.get(tag.key):
                continue
            named = [value for text in texts for value in match_tags(text, [tag]).get(tag.key, [])]
            if not named and (value := wanted.get(tag.key)):
                named = match_tags(value, [tag]).get(tag.key) or value.split(", ")
            missing = [value for value in tag.specific(named) if value not in there[tag.key]]
            if missing:
                lacking[tag.key] = missing
        return lacking

    def refusal(
        self, lacking: Mapping[str, Sequence[str]], texts: Sequence[str], lang: str, emit: Emit
    ) -> Said:
        """Return the refusal, after it was heard. What is lacking is the tag `not_covered` of the reply.

        It names what is lacking as the question does. Where a text mentions a sensitive term, what is always
        said of these follows.
        """
        there = self.held()
        asked = [self._as_named(key, value, texts) for key, values in lacking.items() for value in values]
        covered = [value for key in lacking for value in there[key]]
        listed = ", ".join(covered[:MOST_NAMED]) + (", …" if len(covered) > MOST_NAMED else "")
        text = phrase("not_covered", lang, asked=", ".join(asked), covered=listed)
        if any(map(self.sensitive.mentioned, texts)):
            text += "\n\n" + self.sensitive.refusal(lang)
        emit(TextPiece(text))
        return Said(text=text, kind="refusal", lang=lang, tags={"not_covered": ", ".join(lacking)})

    def _as_named(self, key: str, value: str, texts: Sequence[str]) -> str:
        """Return the listed name or the word by which a text names a value; the value where none does."""
        for tag in self.tags:
            if tag.key != key:
                continue
            plain = [said(text) for text in texts]
            names = (tag.values or {}).get(value, ())
            if listed := [name for name in names if any(said(name) in text for text in plain)]:
                return listed[0]
            words = (word for text in plain for word in text.split())
            word = next((word for word in words if value in match_tags(word, [tag]).get(key, [])), value)
            # Arabic writes "for the" onto a word: the listed name is without it.
            bare = without_article(word)
            return next((name for name in names if bare != word and tokenize(name) == [bare]), word)
        return value
