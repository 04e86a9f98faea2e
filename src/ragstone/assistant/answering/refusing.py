"""What is said where the documents do not hold the answer."""

from collections.abc import Sequence

from ragstone.assistant.conversation import Passage
from ragstone.assistant.guards.contacts import without_contacts
from ragstone.assistant.guards.instructions import speaks_to_model
from ragstone.assistant.guards.pesticides import names_pesticide
from ragstone.assistant.languages import phrase
from ragstone.assistant.shortening import shortened

NEAREST = 3  # passages that are named
MOST_TITLE = 80


def refusal_words(question: str, passages: Sequence[Passage], lang: str, *, pesticides: bool = False) -> str:
    """Return a refusal that names the nearest passages, one a line, in a language.

    pesticides: the model wanted to advise on them; where it did, or where the question names one, the
    refusal points to the label and the extension service.
    """
    name = "pesticide_refusal" if pesticides or names_pesticide(question) else "refusal"
    titles = list(dict.fromkeys(_named(one, lang) for one in nearest_of(passages)))
    listed = [phrase("nearest", lang), *(f"- {title}" for title in titles)] if titles else []
    return " ".join([phrase(name, lang), "\n".join(listed)]).rstrip()


def nearest_of(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages that a refusal names, the nearest first: at most NEAREST, a title of each."""
    named: dict[str, Passage] = {}
    for one in passages:
        if title := _named(one, one.lang or "en"):
            named.setdefault(title, one)
    return list(named.values())[:NEAREST]


def _named(passage: Passage, lang: str) -> str:
    """Return a passage's title and page; a title that speaks to a model is nobody's."""
    title = " ".join(without_contacts(passage.title, lang).split()).rstrip(".।۔ ")
    if not title or speaks_to_model(title):
        return ""
    short = shortened(title, MOST_TITLE)
    return f"{short} ({phrase('page', lang, page=passage.page)})" if passage.page else short
