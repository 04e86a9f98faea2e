"""Other benches of judges, read again: do conclusions carry over to another use case?"""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import msgspec

from ragstone.features.bench._board import both_ways
from ragstone.features.bench.judges._orders import (
    JudgedSheet,
    OrderComparison,
    OrdersElsewhere,
    compare_orders,
    orders_elsewhere,
)
from ragstone.features.bench.judges.values import JudgeBoard
from ragstone.features.bench.judges.words import BENCH, read_judge_bench
from ragstone.kernel.agreement.pairing import human_scores
from ragstone.kernel.config import Settings
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Judgement, Label
from ragstone.kernel.statistics import Estimate, kendall_tau
from ragstone.kernel.tables import read_rows


class UseCase(msgspec.Struct, frozen=True, kw_only=True):
    """Another bench. name: of its folder."""

    name: str
    board: JudgeBoard
    sheet: JudgedSheet


def read_use_cases(settings: Settings, metric: str, own: Path) -> list[UseCase]:
    """Return the benches that `use_cases` of `[bench.judges]` names. own: the folder of this one.

    Raises DataError for a folder that holds no bench, ConfigError for this very bench and for one of another
    metric.
    """
    folders = {name: settings.path(name).resolve() for name in settings.bench.judges.use_cases}
    use_cases = []
    for name, folder in folders.items():
        if folder == own.resolve():
            raise ConfigError(
                f"[bench.judges] use_cases: {name} is the folder of this bench itself. Name benches of other "
                "data, or give this one another name in [run]."
            )
        if not (folder / BENCH).is_file():
            raise DataError(
                f"[bench.judges] use_cases: {name} holds no {BENCH}. Name the folder of a finished bench of "
                "judges, such as runs/other-judges."
            )
        board = read_judge_bench(folder).board
        if board.metric != metric:
            raise ConfigError(
                f"[bench.judges] use_cases: {name} measures {board.metric}, but this bench {metric}: they "
                "draw conclusions about different things. Leave it out, or set metric."
            )
        use_cases.append(UseCase(name=folder.name, board=board, sheet=_sheet(folder, board)))
    return use_cases


def _sheet(folder: Path, board: JudgeBoard) -> JudgedSheet:
    files = {row.cell.name: row.file for row in board.standings} | {
        row.cell.name: row.file for row in board.aside
    }
    return JudgedSheet(
        judged={
            name: [row for row in read_rows(folder / file, Judgement) if row.metric == board.metric]
            for name, file in files.items()
            if file
        },
        humans=human_scores(read_rows(folder / "labels.jsonl", Label), board.metric),
    )


def compare_use_cases(
    board: JudgeBoard, sheet: JudgedSheet, others: Sequence[UseCase], *, seed: int, resamples: int
) -> list[OrdersElsewhere]:
    """Return this bench beside each other one: the orders of the systems, and that of the judges."""
    return [
        orders_elsewhere(
            other.name,
            (sheet, other.sheet),
            compare_boards(board, other.board),
            seed=seed,
            resamples=resamples,
        )
        for other in others
    ]


def compare_boards(here: JudgeBoard, there: JudgeBoard) -> OrderComparison | None:
    """Return what becomes of the order of the judges; None where fewer than two are ranked in both.

    Only its point is known of tau: the rows of the other bench are not measured again.
    """
    # How well each cell agrees with people, the more the better.
    ranks = [
        {
            row.cell.name: -row.value.value if board.measure == "difference" else row.value.value
            for row in board.standings
            if row.file
        }
        for board in (here, there)
    ]
    names = [name for name in ranks[0] if name in ranks[1]]
    if len(names) < 2:
        return None
    pairs = list(combinations(names, 2))
    tests = [both_ways(board.comparisons) for board in (here, there)]
    tau = kendall_tau(*([rank[name] for name in names] for rank in ranks)) if len(names) > 2 else None
    n = min(here.n, there.n)
    return compare_orders(
        (here.metric, there.metric),
        pairs,
        ([tests[0][pair].verdict for pair in pairs], [tests[1][pair].verdict for pair in pairs]),
        None if tau is None else Estimate(value=tau, low=None, high=None, n=n, method="bootstrap"),
    )
