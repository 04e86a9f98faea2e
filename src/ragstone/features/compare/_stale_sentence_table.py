"""What a comparison may say of questions whose evidence the documents no longer have as it was."""

from typing import NamedTuple

from ragstone.kernel.document.numbers import count
from ragstone.kernel.errors import plural
from ragstone.kernel.sentences import Sentence

SHOWN = 3


class StaleCompared(NamedTuple):
    """How many questions are compared, and the ids of those that are stale in either run."""

    n: int
    stale: list[str]


def _of(compared: StaleCompared) -> dict[str, str]:
    more = len(compared.stale) - SHOWN
    return {
        "n": count(len(compared.stale)),
        "questions": plural(compared.n, "question"),
        "are": "is" if len(compared.stale) == 1 else "are",
        "names": ", ".join(compared.stale[:SHOWN]) + (f" and {count(more)} more" if more > 0 else ""),
    }


STALE_COMPARED = Sentence[StaleCompared](
    code="stale-compared",
    text="{n} of the {questions} compared {are} stale in A or B: in the documents of that run the evidence "
    "has changed or was not found, so a correct answer may score as wrong: {names}.",
    when="summary.json of A or B names at least one of the compared questions as stale",
    holds=lambda compared: bool(compared.stale),
    needs={
        "n": "questions compared that are stale in A or B",
        "questions": "questions compared",
        "are": "a verb",
        "names": "the ids of the first of these",
    },
    fills=_of,
)
SENTENCES = (STALE_COMPARED,)
