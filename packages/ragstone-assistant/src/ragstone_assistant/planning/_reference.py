"""What a turn points at: `it` and its like stand for what the same turn, or the one before it, has named."""

import re

from ragstone.kernel.corpus.tokens import tokenize
from ragstone_assistant._domain import Domain
from ragstone_assistant.answering.support import content_words
from ragstone_assistant.guards import said

_MARKS = re.compile(r"[,;:.!?()\n،؛؟।]+(?!\d)")


def stands_for_nothing(text: str, lang: str, domain: Domain, name: str) -> bool:
    """Say whether a text holds a word of this list that is no pronoun, or one without its noun before it.

    The noun is in a part of the text before that of the pronoun: in "What is fertigation and how does it
    work?", but not in "How much water does it need?".
    """
    named = False
    joins = domain.pattern(lang, "joins")  # words such as `and`
    for part in (part for marked in _MARKS.split(text) for part in joins.split(said(marked))):
        for match in domain.pattern(lang, name).finditer(said(part)) if domain.words(lang, name) else ():
            if not named or not domain.pattern(lang, "pronouns").search(f" {match[0].strip()} "):
                return True
        named = named or bool(_nouns(part, lang, domain))
    return False


def goes_on(text: str, lang: str, domain: Domain) -> bool:
    """Say whether a turn cannot be understood alone, because it refers to what an earlier one has named."""
    return stands_for_nothing(text, lang, domain, "referring")


def _nouns(part: str, lang: str, domain: Domain) -> list[str]:
    """Return the words that may name what is spoken of; no verb behind `I` or `to`, and no word of the domain
    for whatever it is about, e.g. `plant`."""
    general = {*tokenize(" ".join((*domain.words(lang, "things"), *domain.words(lang, "times"))))}
    tokens = tokenize(part)
    before = dict(zip(tokens[1:], tokens, strict=False))
    subjects = domain.words(lang, "subjects")
    return [word for word in content_words(part) if word not in general and before.get(word) not in subjects]
