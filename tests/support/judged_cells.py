"""Short ways to write the cells of a bench for these tests."""

from collections.abc import Sequence

import msgspec
from tests.support.label_rows import judgement, label

from ragstone.features.bench.judges.board import JudgedRuns, make_board
from ragstone.features.bench.judges.planning import JudgeGrid
from ragstone.features.bench.judges.values import JudgeBoard, JudgeCell, JudgingSpent
from ragstone.kernel.config import JudgesBench
from ragstone.kernel.judging.tuned import TUNED
from ragstone.kernel.records import Judgement, Status

FREE = JudgingSpent(n_judged=10, n_calls=0, input=0, output=0, seconds=0.0, cost_usd=0.0)


def spent(usd: float | None = 1.0, seconds: float | None = 1.0, tokens: int = 100) -> JudgingSpent:
    """Return what ten judgements took."""
    return JudgingSpent(n_judged=10, n_calls=10, input=tokens, output=0, seconds=seconds, cost_usd=usd)


def cell(name: str, **changes: object) -> JudgeCell:
    model = str(changes.pop("model", "openai/m"))
    return JudgeCell(
        **{"name": name, "judge": name, "base": name, "model": model, "scale": (0, 1), **changes}  # type: ignore[arg-type]
    )


def judged(
    of: JudgeCell, *runs: Sequence[float | None], took: JudgingSpent | None = None, tuned: Sequence[int] = ()
) -> JudgedRuns:
    """Return a cell with the scores of questions q0, q1, ... in each run; None for a failure."""

    def row(at: int, score: float | None) -> Judgement:
        status: Status = "unparsable" if score is None else "scored"
        made = judgement(f"q{at}", score, judge=of.judge, model=of.model, scale=of.scale, status=status)
        return msgspec.structs.replace(made, metadata=TUNED if at in tuned else None)

    rows = [[row(at, score) for at, score in enumerate(scores)] for scores in runs]
    took = took or (FREE if of.model == "none" else spent())
    return JudgedRuns(cell=of, runs=rows, spent=took, file=f"{of.name}.jsonl")


def board_of(
    human: Sequence[float],
    *cells: JudgedRuns,
    metric: str = "correctness",
    text: str | None = None,
    **keys: object,
) -> JudgeBoard:
    """Return the board; keys: of [bench.judges]. text: of all questions, so that they belong together."""
    labels = [label(f"q{at}", score, text=text) for at, score in enumerate(human)]
    grid = JudgeGrid(metric=metric, cells=[one.cell for one in cells], left_out=[], judges={})
    return make_board(cells, [], labels, grid, JudgesBench(**keys), resamples=500)  # type: ignore[arg-type]
