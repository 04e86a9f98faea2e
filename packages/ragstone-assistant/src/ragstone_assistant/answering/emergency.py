"""A question that tells of a person who has come to harm -> whom to call, and nothing else."""

from ragstone_assistant._domain import SensitiveTerms
from ragstone_assistant.conversation import Said


def emergency_reply(question: str, lang: str, sensitive: SensitiveTerms, before: str = "") -> Said | None:
    """Return whom to call, where a question tells that a person has swallowed or inhaled what harms.

    None for any other question. No document, tool or model is asked: minutes count. before: the user's turn
    before it, which may have named what it was.
    """
    text = sensitive.emergency(lang)
    if not text or not sensitive.harms_person(question, before):
        return None
    return Said(text=text, kind="declined", lang=lang, cost_usd=0.0)
