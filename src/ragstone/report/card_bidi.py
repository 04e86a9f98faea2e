"""Texts from outside that turn the direction of writing -> ones that turn nothing beside themselves."""

import msgspec

from ragstone.agreement.card import ReportCard

EMBEDDINGS, END_EMBEDDING = "\u202a\u202b\u202d\u202e", "\u202c"
ISOLATES, END_ISOLATE = "\u2066\u2067\u2068", "\u2069"
CONTROLS = frozenset(EMBEDDINGS + END_EMBEDDING + ISOLATES + END_ISOLATE)
FIRST_STRONG = "\u2068"


def contained(card: ReportCard) -> ReportCard:
    """Return the card with every text closed in itself, the names inside its sentences too."""
    names = [card.judge, card.metric, card.model, *(row.name for row in card.by_system), *card.names]
    names += [rival.name for rival in (card.constant, card.no_model) if rival]
    names += [text for by, groups in card.by.items() for text in (by, *(group.name for group in groups))]
    turning = sorted({name for name in names if CONTROLS & set(name)}, key=len, reverse=True)
    plain = msgspec.to_builtins(card, str_keys=False)
    return msgspec.convert(_walked(plain, turning), ReportCard)


def _walked(value: object, turning: list[str]) -> object:
    if isinstance(value, str):
        return _isolated(value, turning)
    if isinstance(value, dict):
        return {_walked(key, turning): _walked(one, turning) for key, one in value.items()}
    return [_walked(one, turning) for one in value] if isinstance(value, list) else value


def _isolated(text: str, turning: list[str]) -> str:
    """Return a text whose directions end with it, and in it each of the names so."""
    if not CONTROLS & set(text):
        return text
    for name in turning:
        text = text.replace(name, f"{FIRST_STRONG}{_closed(name)}{END_ISOLATE}")
    return f"{FIRST_STRONG}{_closed(text)}{END_ISOLATE}"


def _closed(text: str) -> str:
    """Return the text without ends that have no beginning, and with the ends that it lacks."""
    kept, open_ = [], []
    for character in text:
        if character in EMBEDDINGS:
            open_.append(END_EMBEDDING)
        elif character in ISOLATES:
            open_.append(END_ISOLATE)
        elif character in (END_EMBEDDING, END_ISOLATE):
            if not open_ or open_[-1] != character:
                continue
            open_.pop()
        kept.append(character)
    return "".join(kept + open_[::-1])
