"""The questions that a judge was made with, its examples among them.

They can say nothing about how good it is.
"""

import hashlib

from ragstone.kernel.errors import plural
from ragstone.kernel.records import Metadata

TUNED: Metadata = {"tuned": True}
"""What the metadata of a judgement says of a question that the judge was tuned on."""
DIGITS = 16


def made_with(who: str = "the judge") -> str:
    """Return which answers do not count, in words that follow their number."""
    return f"to questions that {who} was made with"


def left_out_text(n: int) -> str:
    """Return the sentence on n labelled answers that do not count; "" for none."""
    if not n:
        return ""
    return f"{plural(n, 'labelled answer')} {made_with('a judge')} {'is' if n == 1 else 'are'} left out."


def question_digest(question_id: str, question: str | None = None) -> str:
    """Return what `tuned_on` of a judge calls a question: 64 bits of its text's SHA-256, else of its id's.

    The text is preferred, for it stays the same where a file is renumbered. Neither letter case nor spaces
    matter.
    """
    text = " ".join((question or question_id).casefold().split())
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
