"""What a project's benches and attacks have found of a judge: read where those commands put it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.protocol import with_evidence
from ragstone.kernel.runs.folders import NOT_JSON
from ragstone.kernel.statistics import Estimate

MOST_BYTES = 50_000_000  # of a file that is read for this
MOST_LINE = 1_000_000
T = TypeVar("T")
ATTACKS, BENCHES = ("attack.json", "*/attack.json", "*/*/attack.json"), ("*/bench.json", "*/*/bench.json")


class _Rate(msgspec.Struct, frozen=True):
    flips: Estimate | None


class _AttackedJudge(msgspec.Struct, frozen=True):
    judge: str
    metric: str
    model: str
    prompt_version: int
    overall: _Rate | None


class _Attack(msgspec.Struct, frozen=True):
    judges: list[_AttackedJudge]


class _Cell(msgspec.Struct, frozen=True):
    judge: str
    model: str


class _BenchSpread(msgspec.Struct, frozen=True):
    changed: Estimate


class _Standing(msgspec.Struct, frozen=True):
    cell: _Cell
    spread: _BenchSpread | None = None
    file: str | None = None


class _Version(msgspec.Struct, frozen=True):
    prompt_version: int


class _Board(msgspec.Struct, frozen=True):
    metric: str
    standings: list[_Standing]


class _Bench(msgspec.Struct, frozen=True):
    board: _Board
    models: dict[str, str]


def with_findings(cards: Sequence[ReportCard], folder: Path) -> list[ReportCard]:
    """Return the cards with what the newest attack and bench below a folder found of their judges.

    Files that hold something else, or are of another version of the prompt, are passed over.
    """
    attacks = _read(folder, ATTACKS, _Attack)
    benches = _read(folder, BENCHES, _Bench)
    return [
        with_evidence(card, injection=_injection(card, attacks), retest=_retest(card, benches))
        for card in cards
    ]


def _read(folder: Path, patterns: Sequence[str], kind: type[T]) -> list[tuple[Path, T]]:
    """Return the files and what they hold, the newest first."""
    paths = sorted(
        (path for pattern in patterns for path in folder.glob(pattern) if path.is_file()),
        key=lambda path: (-path.stat().st_mtime, str(path)),
    )
    rows = []
    for path in paths:
        try:
            if path.stat().st_size <= MOST_BYTES:
                rows.append((path, msgspec.json.decode(path.read_bytes(), type=kind)))
        except (OSError, *NOT_JSON):
            continue
    return rows


def _injection(card: ReportCard, attacks: Sequence[tuple[Path, _Attack]]) -> Estimate | None:
    key = (card.judge, card.metric, card.model, card.prompt_version)
    for _, attack in attacks:
        for row in attack.judges:
            if (row.judge, row.metric, row.model, row.prompt_version) == key and row.overall:
                return row.overall.flips
    return None


def _retest(card: ReportCard, benches: Sequence[tuple[Path, _Bench]]) -> Estimate | None:
    for path, bench in benches:
        for row in bench.board.standings:
            names = row.cell.model, bench.models.get(row.cell.model)
            same = (row.cell.judge, bench.board.metric) == (card.judge, card.metric) and card.model in names
            if same and row.spread and row.file and _version(path.parent / row.file) == card.prompt_version:
                return row.spread.changed
    return None


def _version(judgements: Path) -> int | None:
    """Return the version of the prompt that judgements of a bench were made with; None if it is not said."""
    try:
        with judgements.open("rb") as file:
            return msgspec.json.decode(file.readline(MOST_LINE), type=_Version).prompt_version
    except (OSError, *NOT_JSON):
        return None
