"""What a command would ask of models: its stages, run on a sample of its rows, and nobody is asked."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TypeVar

from ragstone.kernel.engine.session import Session
from ragstone.kernel.judging import Judge
from ragstone.kernel.records import Answer
from ragstone.kernel.stages.judge import judge_rows

# Rows of each file that are looked at, of questions evenly spaced; each stands for those passed over.
SAMPLE = 2000

Rows = Callable[[], Iterable[Answer]]
RowT = TypeVar("RowT")


async def hear_judging(rows: Rows, judges: Sequence[Judge], session: Session) -> None:
    """Let a forecast hear what judges would ask of rows, of which a sample is judged."""
    if not any(judge.needs_model for judge in judges):
        return
    n_of: dict[str, int] = {}  # by question: a judge that compares systems needs all answers to one
    for row in rows():
        n_of[row.question_id] = n_of.get(row.question_id, 0) + 1
    n_rows = sum(n_of.values())
    wanted = set(islice(n_of, 0, None, max(1, -(-n_rows // SAMPLE))))
    sampled = [row for row in rows() if row.question_id in wanted]
    await hear_judged(sampled, judges, session, n_rows=n_rows)


async def hear_judged(
    answers: Sequence[Answer], judges: Sequence[Judge], session: Session, *, n_rows: int | None = None
) -> None:
    """Let a forecast hear what judges would ask of these answers. n_rows: of which they are a sample."""
    if n_rows is not None:
        _stand_for(n_rows, len(answers), session)
    asking = [judge for judge in judges if judge.needs_model]
    session.forecaster.assume(*(judge.assumption for judge in asking))
    async for _judgement in judge_rows(lambda: answers, asking, session, len(answers)):
        pass


def sample_of(rows: Sequence[RowT], session: Session, most: int = SAMPLE) -> Sequence[RowT]:
    """Return at most so many rows, evenly spaced, and tell the forecast how many each stands for."""
    sampled = rows[:: max(1, -(-len(rows) // most))]
    _stand_for(len(rows), len(sampled), session)
    return sampled


def _stand_for(n_rows: int, n_sampled: int, session: Session) -> None:
    """Tell the forecast how many rows each sampled one stands for."""
    session.forecaster.weight = n_rows / n_sampled if n_sampled else 1.0
    if n_sampled < n_rows:
        session.forecaster.assume(f"Scaled up from a sample of {n_sampled:,} of {n_rows:,} rows.")
