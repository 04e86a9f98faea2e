"""Cells judged on the same answers -> which agrees best with people, and which cannot be told apart."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import msgspec
import numpy as np

from ragstone.features.bench._board import LeftOutCell, reasons_text
from ragstone.features.bench._detection import detection_of
from ragstone.features.bench.judges._orders import JudgedSheet, order_systems
from ragstone.features.bench.judges._use_cases import UseCase, compare_use_cases
from ragstone.features.bench.judges.planning import JudgeGrid
from ragstone.features.bench.judges.values import (
    Aside,
    CellComparison,
    JudgeBoard,
    JudgeCell,
    JudgeStanding,
    JudgingSpent,
    SpreadOfRuns,
)
from ragstone.kernel.agreement.card import grade_name
from ragstone.kernel.agreement.comparison import GradeComparison, choose_measure, compare, worths
from ragstone.kernel.agreement.estimates import agreement_estimates
from ragstone.kernel.agreement.mapping import DIGITS, mapping_of
from ragstone.kernel.agreement.pairing import Human, Key, human_scores, is_tuned
from ragstone.kernel.agreement.probabilities import probability_estimates
from ragstone.kernel.config import AgreementMeasure, JudgesBench
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging.summary import is_category
from ragstone.kernel.records import NO_MODEL, Judgement, Label, Status, count_statuses, status_counts
from ragstone.kernel.statistics import RESAMPLES, Estimate, Floats, is_yes_no, mean_estimate
from ragstone.kernel.statistics.paired import paired_tests, place_of
from ragstone.kernel.tables.labels import in_percent


class Basis(msgspec.Struct, frozen=True, kw_only=True):
    """How scores meet labels in a whole bench.

    mapped: labels are places on every judge's scale, 0 to 1, and scores are moved there too. mixed: the
    judges' scales differ, labels fit several of them, and nobody has said which one they are of: then only
    the order of the answers is compared.
    """

    mapped: bool
    mixed: bool


def choose_basis(cells: Iterable[JudgeCell], human: Floats, *, mapped: bool) -> Basis:
    """Return the basis on which these cells meet the labels."""
    yes_no = is_yes_no(human)
    fitting = {cell.scale for cell in cells if cell.scale[0] <= human.min() and human.max() <= cell.scale[1]}
    return Basis(mapped=mapped, mixed=len(fitting) > 1 and not yes_no and not mapped)


def basis_notes(basis: Basis, rows: Mapping[str, GradeComparison], measure: AgreementMeasure) -> list[str]:
    """Return what keeps more than the order from being compared, and what to do.

    rows: by the names of their cells, at least one.
    """
    human = next(iter(rows.values())).human
    if not basis.mixed:
        unlike: dict[str, list[str]] = {}
        for name, row in rows.items():
            if row.notes and not row.same_unit:
                unlike.setdefault(row.notes[0], []).append(name)
        notes = [f"{', '.join(names)}: {note}" for note, names in unlike.items()]
        hint = "In [bench.judges] that is `thresholds` for labels of 0 and 1, else `mapping`."
        return [*notes, hint] if notes and measure == "Spearman" else []
    return [
        "The judges' scales differ, and the labels may be on any of them, so only the order of the answers "
        f"is compared. Say what the labels mean in [bench.judges], e.g. `mapping = {{ {human.min():g} = 0, "
        f"{human.max():g} = 1 }}`."
    ]


def compare_cell(cell: JudgeCell, scores: Floats, human: Floats, basis: Basis) -> GradeComparison:
    """Return a cell's scores beside people's, answer by answer."""
    low, high = cell.scale
    if basis.mapped:
        moved = np.round((scores - low) / (high - low), DIGITS)
        compared = compare(human, moved, (0.0, 1.0), mapped=True, threshold=None)
        # Grades of several scales meet on a line: that two of them are equal there is chance.
        return msgspec.structs.replace(compared, categories=[])
    compared = compare(human, scores, cell.scale, mapped=False, threshold=cell.threshold)
    yes_no = is_yes_no(human)
    # Few labels, such as 0, 50 and 100, are of a wide scale if they reach its highest score.
    if not compared.same_unit and not yes_no and low <= human.min() and float(human.max()) == high:
        return msgspec.structs.replace(compared, same_unit=True, notes=[])
    return msgspec.structs.replace(compared, categories=[], same_unit=False) if basis.mixed else compared


class JudgedRuns(msgspec.Struct, frozen=True, kw_only=True):
    """A cell, its judgements run by run, and what they took. file: that holds the first run.

    A board is made of judgements in the bench's metric alone.
    """

    cell: JudgeCell
    runs: list[list[Judgement]]
    spent: JudgingSpent
    file: str = ""


def scores_of(rows: Sequence[Judgement]) -> dict[Key, float]:
    """Return the score of each answer that has one."""
    return {(row.question_id, row.system): row.score for row in rows if row.score is not None}


def statuses_of(judged: JudgedRuns, keys: set[Key]) -> dict[Status, int]:
    """Return how many of these answers ended in each status, in the first run."""
    return count_statuses([row for row in judged.runs[0] if (row.question_id, row.system) in keys])


def spread_of(values: Sequence[float], changed: Estimate | None, n: int) -> SpreadOfRuns | None:
    """Return the spread of a measure over runs; None for fewer than two of them."""
    if len(values) < 2 or changed is None:
        return None
    return SpreadOfRuns(values=list(values), sd=float(np.std(values, ddof=1)), changed=changed, n=n)


def no_scores(statuses: Mapping[Status, int], rows: Sequence[Judgement]) -> str:
    """Return what kept a cell from being compared: its statuses, and the first error."""
    reasons = (row.error or row.rationale for row in rows if row.score is None)
    error = next((reason for reason in reasons if reason), None)
    return status_counts(statuses) + (f"; the first: {error}" if error else "")


UNPAIRED = "The systems were not asked the same questions, so the judges' orders of them are not compared."
LEAST_SCORED = 0.5  # a cell with fewer of the answers scored would take too many from all others


class Answers(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The answers that all cells are compared on, and how that is done."""

    keys: list[Key]
    clusters: list[str]
    human: Floats
    basis: Basis
    measure: AgreementMeasure
    seed: int
    resamples: int


class RankedCell(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A cell that can be placed. worth: of each answer, see agreement.comparison.worths."""

    cell: JudgeCell
    worth: Floats
    value: Estimate
    agreement: dict[str, Estimate]
    statuses: dict[Status, int]
    spent: JudgingSpent
    spread: SpreadOfRuns | None = None
    file: str | None = None


def make_board(
    judged: Sequence[JudgedRuns],
    failed: Sequence[LeftOutCell],
    labels: Sequence[Label],
    grid: JudgeGrid,
    declared: JudgesBench,
    *,
    use_cases: Sequence[UseCase] = (),
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> JudgeBoard:
    """Return the board of judged cells, with the constant baseline among them where there is one.

    A cell with a score for fewer than half of the labelled answers joins those that failed, with the reason.
    use_cases: other benches, whose orders stand beside its own. Raises DataError if no label is for the
    metric, or no answer has a score of all cells.
    """
    humans = humans_of(labels, grid.metric, declared.mapping)
    labelled = {key for key, human in humans.items() if human.score is not None}
    # What any of the judges was tuned on tests none of them.
    tuned = (row for each in judged for row in each.runs[0] if is_tuned(row))
    wanted = labelled - {(row.question_id, row.system) for row in tuned}
    able, failed = _able(judged, wanted, failed)
    answers, rows, why = _compare(able, humans, wanted, declared, seed, resamples)
    candidates = [_candidate(each, row, answers, wanted) for each, row in zip(able, rows, strict=True)]
    placed = [each for each in candidates if isinstance(each, RankedCell)]
    constant = _constant(answers, grid.metric, rows, placed)
    standings, comparisons = _order([*placed, *constant], answers)
    sheet = JudgedSheet(
        judged={each.cell.name: each.runs[0] for each in able if not each.cell.added}, humans=humans
    )
    # Where scores number labels, none of which is better, systems have no order.
    ordered = not any(is_category(row) for each in able for row in each.runs[0])
    orders = order_systems(sheet, seed=seed, resamples=resamples) if ordered else None
    unpaired = [UNPAIRED] if ordered and orders is None and len(sheet.systems()) > 1 else []
    board = JudgeBoard(
        metric=grid.metric,
        measure=answers.measure,
        why=why,
        mapped=answers.basis.mapped,
        n=len(answers.keys),
        n_questions=len(set(answers.clusters)),
        n_tuned=len(labelled) - len(wanted),
        n_tied=len(humans) - len(labelled),
        n_unscored=len(wanted) - len(answers.keys),
        standings=standings,
        comparisons=comparisons,
        aside=[each for each in candidates if isinstance(each, Aside)],
        failed=failed,
        left_out=grid.left_out,
        notes=basis_notes(answers.basis, _asked(able, rows) or _named(able, rows), answers.measure)
        + unpaired,
        orders=orders,
    )
    beside = compare_use_cases(board, sheet, use_cases, seed=seed, resamples=resamples)
    return msgspec.structs.replace(board, elsewhere=beside)


def _compare(
    able: Sequence[JudgedRuns],
    humans: Mapping[Key, Human],
    wanted: set[Key],
    declared: JudgesBench,
    seed: int,
    resamples: int,
) -> tuple[Answers, list[GradeComparison], str]:
    """Return the answers to compare on, each cell's scores beside people's, and why by this measure."""
    common = wanted.intersection(*(scores_of(each.runs[0]) for each in able))
    if not common:
        raise DataError("no labelled answer has a score from every cell: leave out cells that often fail.")
    keys = [key for key in scores_of(able[0].runs[0]) if key in common]
    human = np.array([humans[key].score for key in keys], dtype=np.float64)
    # People's grades are places on a scale, 0 to 1, by a mapping, or as percent.
    grades = [label for person in humans.values() for label in person.labels]
    mapped = bool(declared.mapping) or (not declared.thresholds and in_percent(grades))
    basis = choose_basis([each.cell for each in able], human, mapped=mapped)
    rows = [compare_cell(each.cell, _column(each, 0, keys), human, basis) for each in able]
    # Where no judge that was asked for is left, a baseline without a threshold decides nothing either.
    deciding = [*_asked(able, rows).values()] or [row for row in rows if row.categories] or rows
    measure, why = choose_measure(deciding, declared.measure)
    answers = Answers(
        keys=keys,
        clusters=[humans[key].cluster for key in keys],
        human=human,
        basis=basis,
        measure=measure,
        seed=seed,
        resamples=resamples,
    )
    return answers, rows, why


def _named(able: Sequence[JudgedRuns], rows: Sequence[GradeComparison]) -> dict[str, GradeComparison]:
    return {each.cell.name: row for row, each in zip(rows, able, strict=True)}


def _asked(able: Sequence[JudgedRuns], rows: Sequence[GradeComparison]) -> dict[str, GradeComparison]:
    """Return the rows of cells that somebody asked for, by name."""
    wanted = {each.cell.name for each in able if not each.cell.added}
    return {name: row for name, row in _named(able, rows).items() if name in wanted}


def humans_of(labels: Sequence[Label], metric: str, mapping: Mapping[str, float]) -> dict[Key, Human]:
    """Return what people say of each answer. Raises DataError if no label is for the metric."""
    mine = [label for label in labels if label.metric in (None, metric)]
    if not mine:
        known = ", ".join(sorted({str(label.metric) for label in labels}))
        raise DataError(
            f"no label is for {metric!r}: the labels are for {known}. Set metric in [bench.judges]."
        )
    return human_scores(mine, metric, _places(mapping))


def _places(mapping: Mapping[str, float]) -> dict[float, float] | None:
    """Return label -> place on a judge's scale, 0 to 1. Raises DataError for a mapping that is none."""
    if not mapping:
        return None
    words, places = mapping_of(mapping)
    if words and len(words) < len(mapping):
        raise DataError(f"[bench.judges] mapping has {', '.join(mapping)}: labels are words or numbers.")
    if len({*words.values(), *(places or ())}) < 2:
        raise DataError("[bench.judges] mapping needs at least the lowest and the highest label.")
    return places


def _able(
    judged: Sequence[JudgedRuns], wanted: set[Key], failed: Sequence[LeftOutCell]
) -> tuple[list[JudgedRuns], list[LeftOutCell]]:
    """Return the cells that can be compared, and all others with their reasons. Raises DataError.

    A baseline that nobody asked for, and that no answer is for, is passed over in silence.
    """
    able, unable = [], list(failed)
    for each in judged:
        n_scored = len(wanted & scores_of(each.runs[0]).keys())
        if n_scored and n_scored >= LEAST_SCORED * len(wanted):
            able.append(each)
        elif not each.cell.added or set(statuses_of(each, wanted)) != {"not_applicable"}:
            statuses = no_scores(statuses_of(each, wanted), each.runs[0])
            reason = f"only {n_scored} of {len(wanted)} labelled answers have a score ({statuses})"
            unable.append(LeftOutCell(name=each.cell.name, reason=reason))
    if not able:
        raise DataError(f"no cell could be measured. {reasons_text(unable)}")
    return able, unable


def _column(judged: JudgedRuns, run: int, keys: Sequence[Key]) -> Floats:
    scores = scores_of(judged.runs[run])
    return np.array([scores[key] for key in keys], dtype=np.float64)


def _candidate(
    judged: JudgedRuns, row: GradeComparison, answers: Answers, wanted: set[Key]
) -> RankedCell | Aside:
    """Return a cell's measures, or why it has no place."""
    worth = worths(row, answers.measure)
    agreement = _agreement(judged, row, answers)
    if worth is None or (answers.measure == "Spearman" and "Spearman" not in agreement):
        same = "it gave the same score every time"
        reason = same if answers.measure == "Spearman" else " ".join(row.notes) or "it is on another scale"
        return Aside(cell=judged.cell, reason=reason, agreement=agreement, file=judged.file)
    return RankedCell(
        cell=judged.cell,
        worth=worth,
        value=agreement[answers.measure],
        agreement=agreement,
        statuses=statuses_of(judged, wanted),
        spent=judged.spent,
        spread=_spread(judged, answers),
        file=judged.file,
    )


def _agreement(judged: JudgedRuns, row: GradeComparison, answers: Answers) -> dict[str, Estimate]:
    """Return the measures that mean something, the bench's first."""
    clusters, seed, resamples = answers.clusters, answers.seed, answers.resamples
    lead = answers.measure
    estimates = agreement_estimates(row, clusters, seed=seed, resamples=resamples)
    if lead == "Spearman" and row.threshold is not None:
        ranked = msgspec.structs.replace(row, judge=row.raw, categories=[], same_unit=False)
        of_scores = agreement_estimates(ranked, clusters, only={lead}, seed=seed, resamples=resamples)
        estimates = {name: value for name, value in estimates.items() if name != lead} | of_scores
    # Of two grades it is what exact agreement lacks to 1.
    yes_no = len(row.categories) == 2
    if row.same_unit and (not yes_no or lead == "difference"):
        apart = np.abs(row.judge - row.human)
        difference = mean_estimate(apart, clusters, seed=seed, resamples=resamples, proportion=yes_no)
        estimates |= {"difference": difference} if difference else {}
    estimates |= detection_of(judged.runs[0][0].metric, row, clusters, seed=seed, resamples=resamples)
    if not answers.basis.mapped:
        estimates |= probability_estimates(
            row, judged.runs[0], judged.cell.scale, clusters, seed=seed, resamples=resamples
        )
    return ({lead: estimates[lead]} if lead in estimates else {}) | estimates


def _spread(judged: JudgedRuns, answers: Answers) -> SpreadOfRuns | None:
    """Return how far the runs of a cell differ; None for one run, or where a run has no measure."""
    scores = [scores_of(rows) for rows in judged.runs]
    keys = [key for key in answers.keys if all(key in of_run for of_run in scores)]
    if len(scores) < 2 or not keys:
        return None
    human_score = dict(zip(answers.keys, answers.human.tolist(), strict=True))
    human = np.array([human_score[key] for key in keys])
    values = []
    for run in range(len(scores)):
        worth = worths(
            compare_cell(judged.cell, _column(judged, run, keys), human, answers.basis), answers.measure
        )
        if worth is None:
            return None
        values.append(float(abs(worth.mean()) if answers.measure == "difference" else worth.mean()))
    changed = [float(len({of_run.get(key) for of_run in scores}) > 1) for key in answers.keys]
    share = mean_estimate(changed, answers.clusters, seed=answers.seed, resamples=answers.resamples)
    return spread_of(values, share, len(keys))


def _constant(
    answers: Answers, metric: str, rows: Sequence[GradeComparison], placed: Sequence[RankedCell]
) -> list[RankedCell]:
    """Return the rival that always gives the same: the most frequent label, or for differences the median.

    It is taken from the same labels, which favours it a little. None where only the order is compared.
    """
    if answers.measure == "Spearman" or not placed:
        return []
    grades, counts = np.unique(answers.human, return_counts=True)
    exact = answers.measure == "exact agreement"
    grade = float(grades[counts.argmax()] if exact else np.median(answers.human))
    like = next(row for row in rows if worths(row, answers.measure) is not None)
    row = msgspec.structs.replace(like, judge=np.full_like(answers.human, grade), threshold=None)
    worth = worths(row, answers.measure)
    if worth is None:
        return []
    value = mean_estimate(
        np.abs(worth),
        answers.clusters,
        seed=answers.seed,
        resamples=answers.resamples,
        proportion=exact or len(row.categories) == 2,
    )
    if value is None:
        return []
    name = f"always '{grade_name(metric, grade, like.categories)}'" if exact else f"always {grade:.3g}"
    n = len(answers.keys)
    return [
        RankedCell(
            cell=JudgeCell(
                name=name, judge=name, base=name, model=NO_MODEL, scale=placed[0].cell.scale, added=True
            ),
            worth=worth,
            value=value,
            agreement={answers.measure: value},
            statuses={"scored": n},
            spent=JudgingSpent(n_judged=n, n_calls=0, input=0, output=0, seconds=0.0, cost_usd=0.0),
        )
    ]


def _order(
    candidates: Sequence[RankedCell], answers: Answers
) -> tuple[list[JudgeStanding], list[CellComparison]]:
    """Return the cells best first, and every pair of them compared; of equal ones the first is the best."""
    best_first = sorted(candidates, key=lambda cell: -float(cell.worth.mean()))
    pairs = list(combinations(range(len(best_first)), 2))
    columns = np.stack([cell.worth for cell in best_first], axis=1) if best_first else np.zeros((1, 0))
    tests = paired_tests(columns, pairs, answers.clusters, seed=answers.seed) if pairs else []
    comparisons = [
        CellComparison(
            first=best_first[a].cell.name, second=best_first[b].cell.name, **msgspec.structs.asdict(test)
        )
        for (a, b), test in zip(pairs, tests, strict=True)
    ]
    against_best = [None, *comparisons[: max(0, len(best_first) - 1)]]
    standings = [
        JudgeStanding(
            place=number,
            verdict=place_of(comparison.verdict if comparison else None),
            comparison=comparison,
            **{name: getattr(cell, name) for name in RankedCell.__struct_fields__ if name != "worth"},
        )
        for number, (cell, comparison) in enumerate(zip(best_first, against_best, strict=False), 1)
    ]
    return standings, comparisons
