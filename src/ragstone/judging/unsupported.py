"""Verdicts on their way past -> how many statements there are, how many lack support, the first of them."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from ragstone.records import Verdict

FIRST = 3  # unsupported statements that are kept, of each text


class Unsupported(msgspec.Struct, frozen=True, kw_only=True):
    """The statements of one kind of text that a judge gave verdicts on.

    of: what they were taken from: the answers, the references (a judge of claims), or the contexts, where
    each context is what gets the verdict, of use or not. n: all of them; n_rows: the judgements that have
    some. first: (question id, statement) of the first that are not supported.
    """

    of: Literal["answer", "reference", "contexts"]
    n: int = 0
    n_unsupported: int = 0
    n_rows: int = 0
    first: tuple[tuple[str, str], ...] = ()


def count_verdicts(
    counted: Sequence[Unsupported], question_id: str, verdicts: Sequence[Verdict]
) -> list[Unsupported]:
    """Return the counts with the verdicts of one more judgement, in order of first appearance."""
    found = {one.of: one for one in counted}
    for of in dict.fromkeys(verdict.of or "answer" for verdict in verdicts):
        before = found.get(of, Unsupported(of=of))
        own = [verdict for verdict in verdicts if (verdict.of or "answer") == of]
        open_ = [(question_id, verdict.statement) for verdict in own if not verdict.supported]
        found[of] = Unsupported(
            of=of,
            n=before.n + len(own),
            n_unsupported=before.n_unsupported + len(open_),
            n_rows=before.n_rows + 1,
            first=(*before.first, *open_)[:FIRST],
        )
    return list(found.values())
