"""What blame may say of lost points whose questions are stale."""

from ragstone.kernel.document.numbers import count
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.causes import SystemBlame
from ragstone.kernel.sentences import Sentence


def _of(row: SystemBlame) -> dict[str, str]:
    n = row.causes["stale evidence"]
    return {"n": count(n), "lost": plural(row.n_lost, "lost point"), "is": "is" if n == 1 else "are"}


STALE_LOST = Sentence[SystemBlame](
    code="points-stale",
    text="{n} of the {lost} {is} on stale questions, whose evidence has changed or was not found: neither "
    "retriever nor model is charged with them. `ragstone build refresh` lists what to mend.",
    when="the evidence of at least one lost point's question has changed or was not found, or no "
    "document has the id that the question names",
    holds=lambda row: bool(row.causes.get("stale evidence")),
    needs={
        "n": "lost points whose cause is stale evidence",
        "lost": "points scored below the middle of the scale",
        "is": "a verb",
    },
    fills=_of,
    never_beside=("points-none-lost", "points-none-counted"),
)
SENTENCES = (STALE_LOST,)
