"""Cells that were answered and judged -> the board: places within conditions, and what conditions cost."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import msgspec
import numpy as np

from ragstone.features.bench._board import LeftOutCell, both_ways, reasons_text, turned
from ragstone.features.bench.answerers._conditions import Missing, Passages, missing_under
from ragstone.features.bench.answerers._labels import (
    CellLabels,
    by_people,
    correct_tests,
    last_without,
    people_would_give,
)
from ragstone.features.bench.answerers._measuring import (
    FAITHFUL_AND_ANSWERED,
    CellValues,
    Values,
    choose_roles,
    means_of,
    quantiles_of,
    shared_documents,
    values_of,
)
from ragstone.features.bench.answerers._planning import AnswerGrid, AnswerRows
from ragstone.features.bench.answerers._values import (
    AnswerBoard,
    AnswerCell,
    AnswerPlace,
    AnswerStanding,
    CellTest,
    Contrast,
    ContrastKind,
    LabelBasis,
    TagGroup,
    TagTable,
)
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.config import Condition
from ragstone.kernel.errors import ConfigError, DataError, nearest
from ragstone.kernel.judging.judging import CUT_OFF
from ragstone.kernel.records import Judgement, Question
from ragstone.kernel.retrieval.summary import MOST_VALUES
from ragstone.kernel.runs.breakdown import FEWEST
from ragstone.kernel.runs.order_plots import ranks_of
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.statistics.families import as_family
from ragstone.kernel.statistics.paired import paired_tests
from ragstone.kernel.statistics.ranks import RankShares

# What is asked of two conditions; the first that is there of several stands for what was given.
CONTRASTS: tuple[tuple[ContrastKind, tuple[Condition, ...], Condition], ...] = (
    ("retrieval", ("gold",), "retrieved"),
    ("distractors", ("gold",), "gold+distractors"),
    ("passages", ("retrieved", "gold+distractors", "gold"), "none"),
    ("order", ("retrieved",), "shuffled"),
    ("misled", ("none",), "distractors"),
)


class BoardInput(msgspec.Struct, frozen=True, kw_only=True):
    """What a board is made from. rows: cell -> what it said and what judges say of it. labels: people's."""

    grid: AnswerGrid
    rows: Mapping[str, AnswerRows]
    failed: Sequence[LeftOutCell]
    questions: Sequence[Question]
    passages: Passages
    cards: Sequence[ReportCard] = ()
    tags: Sequence[str] | None = None
    files: Mapping[str, str]
    labels: CellLabels | None = None


def make_board(board: BoardInput, *, seed: int = 0) -> AnswerBoard:
    """Return the board. Raises DataError, with the reasons, if no cell gave an answer.

    A cell none of whose answers came, or that had no question to answer, joins those that failed; one that
    the budget or the deadline cut off is there without a score.
    """
    rows, lost = _answered(board)
    failed = [*board.failed, *lost]
    if not rows:
        raise DataError(f"no cell could be measured. {reasons_text(failed)}")
    roles = choose_roles([row for name in rows for row in rows[name].judgements], board.cards)
    lead = next((role for role in roles if role.role == "correct"), None)
    by_id = {question.id: question for question in board.questions}
    cells = [values_of(cell, rows[cell.name], roles, by_id) for cell in board.grid.cells if cell.name in rows]
    clusters = shared_documents(board.questions, board.passages.same)
    proportion = lead is None or lead.scale == (0, 1)
    judged = {
        cell.cell.name: [row for row in rows[cell.cell.name].judgements if lead and lead.is_of(row)]
        for cell in cells
    }
    standings, comparisons = _standings(cells, board, judged, clusters, seed, proportion=proportion)
    by_labels = {test.first for test in comparisons if test.n_labelled is not None}
    missing: dict[Condition, dict[Missing, int]] = {}
    for condition in board.grid.conditions:
        under = [cell for cell in board.grid.cells if cell.condition == condition]
        # Systems are asked all questions, whatever they need.
        if not all(cell.is_system for cell in under):
            missing[condition] = missing_under(condition, board.questions, board.passages)
    return AnswerBoard(
        measure=lead.metric if lead else FAITHFUL_AND_ANSWERED,
        scale=lead.scale if lead else (0, 1),
        roles=roles,
        conditions=board.grid.conditions,
        n_questions=len(board.questions),
        n_unanswerable=sum(question.answerable is False for question in board.questions),
        missing={condition: reasons for condition, reasons in missing.items() if reasons},
        standings=standings,
        comparisons=comparisons,
        contrasts=_contrasts(cells, clusters, seed),
        by_tag=tag_tables(cells, board.questions, board.tags, clusters, seed=seed, proportion=proportion),
        failed=failed,
        ranks=_ranks(cells, board.grid.conditions, clusters, seed) or msgspec.UNSET,
        labels=LabelBasis(
            file=board.labels.file,
            n=sum(map(len, board.labels.of_cell.values())),
            n_elsewhere=board.labels.n_elsewhere,
            conditions=list(
                dict.fromkeys(row.cell.condition for row in standings if row.cell.name in by_labels)
            ),
        )
        if board.labels
        else None,
    )


def _ranks(
    cells: Sequence[CellValues], conditions: Sequence[Condition], clusters: Mapping[str, str], seed: int
) -> dict[Condition, RankShares]:
    """Return how often each cell of a condition has each rank; of conditions with two scored cells."""
    found = {}
    for condition in conditions:
        scores = {
            cell.cell.name: cell.score for cell in cells if cell.cell.condition == condition and cell.score
        }
        if ranks := ranks_of(scores, clusters, seed=seed):
            found[condition] = ranks
    return found


def _answered(board: BoardInput) -> tuple[dict[str, AnswerRows], list[LeftOutCell]]:
    """Return the cells with an answer, and why the others have none."""
    rows, lost = {}, []
    for name, of_cell in board.rows.items():
        errors = [answer.error for answer in of_cell.answers if answer.error is not None]
        cut_off = all(error.startswith(tuple(CUT_OFF)) for error in errors)
        if not of_cell.answers:
            condition = next(cell.condition for cell in board.grid.cells if cell.name == name)
            missing = missing_under(condition, board.questions, board.passages)
            reasons = ", ".join(f"{n:,} {reason}" for reason, n in missing.items())
            reason = f"no question has what this condition needs: {reasons}"
            lost.append(LeftOutCell(name=name, reason=reason))
        elif len(errors) == len(of_cell.answers) and not cut_off:
            reason = f"all {len(errors)} answers failed; the first: {errors[0]}"
            lost.append(LeftOutCell(name=name, reason=reason))
        else:
            rows[name] = of_cell
    return rows, lost


def _standings(
    cells: Sequence[CellValues],
    board: BoardInput,
    judged: Mapping[str, Sequence[Judgement]],
    clusters: Mapping[str, str],
    seed: int,
    *,
    proportion: bool,
) -> tuple[list[AnswerStanding], list[CellTest]]:
    """Return the places, and every pair within a condition, the one that stands before the other first.

    judged: cell -> its judgements by the judge that leads; with labels of two cells of a condition its places
    are of the differences that people would see.
    """
    scores = {cell.cell.name: cell.score for cell in cells}
    tests: list[CellTest] = []
    standings: list[AnswerStanding] = []
    for condition in board.grid.conditions:
        group = _by_mean([cell for cell in cells if cell.cell.condition == condition])
        scored = [cell.cell.name for cell in group if cell.score]
        own = compare_cells(scores, list(combinations(scored, 2)), clusters, seed=seed)
        people = correct_tests(own, judged, board.labels, clusters) if board.labels else []
        own = people or own
        gains = by_people(scored, people)
        if people:
            group = sorted(
                group, key=lambda cell: (has_too_few(cell, group), last_without(gains.get(cell.cell.name)))
            )
        tests += own
        between = both_ways(own)
        ordered = _best_first(group, between)
        for cell in ordered:
            against = between.get((ordered[0].cell.name, cell.cell.name))
            standings.append(
                AnswerStanding(
                    place=len(standings) + 1,
                    cell=cell.cell,
                    verdict="no labels"
                    if people and gains.get(cell.cell.name) is None
                    else _verdict(cell, ordered, against),
                    comparison=against,
                    n_questions=cell.n_questions,
                    score=quantiles_of(cell.score, clusters, seed=seed, proportion=proportion),
                    seconds=quantiles_of(cell.seconds, clusters, seed=seed, proportion=False),
                    measures=means_of(cell.measures, clusters, seed=seed),
                    statuses=cell.statuses,
                    spent=cell.spent,
                    file=board.files[cell.cell.name],
                    people=people_would_give(
                        judged[cell.cell.name], board.labels, cell.cell.name, clusters, seed=seed
                    )
                    if people and board.labels
                    else None,
                )
            )
    place_of_name = {row.cell.name: row.place for row in standings}
    every = [
        test if place_of_name[test.first] < place_of_name[test.second] else turned(test) for test in tests
    ]
    return standings, every


def _by_mean(group: Sequence[CellValues]) -> list[CellValues]:
    """Return the cells by the mean of their scores; those with too few of them last, in the order given."""

    def order(cell: CellValues) -> tuple[bool, float]:
        mean = sum(cell.score.values()) / len(cell.score) if cell.score else 0.0
        return has_too_few(cell, group), -round(mean, 12)

    return sorted(group, key=order)


def has_too_few(cell: CellValues, group: Sequence[CellValues]) -> bool:
    """Whether so many more of a cell's answers have no score than of others that its mean says little.

    Its share of answers with a score is less than half of the largest share in the group.
    """
    shares = [len(each.score) / each.n_questions if each.n_questions else 0.0 for each in (cell, *group)]
    return not cell.score or 2 * shares[0] < max(shares[1:])


def _best_first(group: Sequence[CellValues], tests: Mapping[tuple[str, str], CellTest]) -> list[CellValues]:
    """Return the cells with one that is better on the same questions before the one with the highest mean.

    The two can only be at odds where scores are missing.
    """
    best = next(iter(group), None)
    for cell in group:
        test = tests.get((best.cell.name, cell.cell.name)) if best else None
        if test is not None and test.verdict == "worse" and not has_too_few(cell, group):
            best = cell
    return [*([best] if best else []), *(cell for cell in group if cell is not best)]


def _verdict(cell: CellValues, group: Sequence[CellValues], against: CellTest | None) -> AnswerPlace:
    if has_too_few(cell, group):
        return "too few scores"
    if len(group) == 1:
        return "alone"
    if cell is group[0]:
        return "best"
    return "worse" if against is not None and against.verdict == "better" else "not distinguishable"


def _contrasts(cells: Sequence[CellValues], clusters: Mapping[str, str], seed: int) -> list[Contrast]:
    """Return each model and prompt under two conditions, kind by kind; each kind is a family of tests."""
    scores = {cell.cell.name: cell.score for cell in cells}
    contrasts = []
    for kind, firsts, second in CONTRASTS:
        scored = [cell.cell for cell in cells if cell.score]
        pairs = {(left.name, right.name): (left, right) for left, right in _paired(scored, firsts, second)}
        for test in compare_cells(scores, list(pairs), clusters, seed=seed):
            left, right = pairs[test.first, test.second]
            contrasts.append(
                Contrast(
                    kind=kind,
                    model=left.model or "",
                    prompt=(right if left.condition == "none" else left).told,
                    conditions=(left.condition, right.condition),
                    test=test,
                )
            )
    return contrasts


def _paired(
    cells: Sequence[AnswerCell], firsts: Sequence[Condition], second: Condition
) -> Iterator[tuple[AnswerCell, AnswerCell]]:
    """Yield the cells of one model and prompt under the two conditions; `none` has a prompt of its own."""
    own = [cell for cell in cells if not cell.is_system]
    there = {cell.condition for cell in own}
    first = next((condition for condition in firsts if condition in there), None)
    for left in own:
        for right in own:
            if (left.condition, right.condition) != (first, second):
                continue
            same_prompt = left.prompt == right.prompt or "none" in (first, second)
            if (left.model, left.temperature) == (right.model, right.temperature) and same_prompt:
                yield left, right


def compare_cells(
    values: Mapping[str, Values],
    pairs: Sequence[tuple[str, str]],
    clusters: Mapping[str, str],
    *,
    seed: int = 0,
) -> list[CellTest]:
    """Return the test of each pair of cells, in the order of the pairs; none of those without a question.

    Each pair is compared on the questions that both have a value of, so that no cell takes questions from
    others. Holm's correction is over all pairs that come back. clusters: question id -> its document.
    """
    on_same: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for first, second in pairs:
        common = tuple(sorted(values[first].keys() & values[second].keys()))
        if common:
            on_same.setdefault(common, []).append((first, second))
    tests: dict[tuple[str, str], CellTest] = {}
    for common, their_pairs in on_same.items():
        names = list(dict.fromkeys(name for pair in their_pairs for name in pair))
        columns = np.array([[values[name][question] for name in names] for question in common])
        at = [(names.index(first), names.index(second)) for first, second in their_pairs]
        groups = [clusters.get(question, question) for question in common]
        for pair, test in zip(their_pairs, paired_tests(columns, at, groups, seed=seed), strict=True):
            first, second = pair
            means = columns[:, [names.index(first), names.index(second)]].mean(axis=0).tolist()
            tests[pair] = CellTest(
                first=first,
                second=second,
                n=len(columns),
                n_left_out=len(values[first].keys() | values[second].keys()) - len(columns),
                means=(means[0], means[1]),
                **msgspec.structs.asdict(test),
            )
    return as_family([tests[pair] for pair in pairs if pair in tests])


LANG = "lang"
MOST_SHOWN = 20  # values of a tag; further ones, the smallest, stand together


def tag_tables(
    cells: Sequence[CellValues],
    questions: Sequence[Question],
    tags: Sequence[str] | None,
    clusters: Mapping[str, str],
    *,
    seed: int,
    proportion: bool,
) -> list[TagTable]:
    """Return the means in groups by `lang` and every tag; tags: these alone, in their order.

    Groups with fewer than FEWEST questions, and those beyond MOST_SHOWN, stand together. Without `tags`, one
    that has more than MOST_VALUES values, none of FEWEST questions, or all questions in one is left out.
    Raises what chosen_tags raises.
    """
    tables = []
    for tag in chosen_tags(questions, tags):
        members: dict[str, list[str]] = {}
        for question in questions:
            value = (question.tags or {}).get(tag)
            if tag == LANG:  # that of the question goes before a tag of that name
                value = question.lang or value
            if value is not None:
                members.setdefault(value, []).append(question.id)
        n_with = sum(map(len, members.values()))
        only_value = len(members) == 1 and n_with == len(questions)
        small = all(len(ids) < FEWEST for ids in members.values())
        if tags is None and (only_value or small or len(members) > MOST_VALUES):
            continue
        groups = [
            TagGroup(
                value=value,
                n_values=n_values,
                n_questions=len(ids),
                cells=_means(cells, set(ids), clusters, seed, proportion=proportion),
            )
            for value, n_values, ids in _folded(members)
        ]
        tables.append(TagTable(tag=tag, groups=groups, n_without=len(questions) - n_with))
    return tables


def chosen_tags(questions: Sequence[Question], tags: Sequence[str] | None) -> Sequence[str]:
    """Return the tags to group by: `tags`, else all. Raises ConfigError for one that no question has."""
    named = sorted({tag for question in questions for tag in question.tags or ()} - {LANG})
    known = ([LANG] if any(question.lang for question in questions) else []) + named
    for tag in tags or ():
        if tag not in known:
            raise ConfigError(
                f"[bench.answerers] tags: no question has the tag {tag!r}. "
                + (nearest(tag, known) if known else "The questions have none.")
            )
    return known if tags is None else tags


def _folded(members: Mapping[str, list[str]]) -> list[tuple[str | None, int, list[str]]]:
    """Return (value, number of values, questions): large groups first, then the small ones together."""
    ordered = sorted(members, key=lambda value: (-len(members[value]), value))
    large = [value for value in ordered if len(members[value]) >= FEWEST][:MOST_SHOWN]
    rest = [value for value in ordered if value not in large]
    groups: list[tuple[str | None, int, list[str]]] = [(value, 1, members[value]) for value in large]
    if rest:
        groups.append((None, len(rest), [name for value in rest for name in members[value]]))
    return groups


def _means(
    cells: Sequence[CellValues], ids: set[str], clusters: Mapping[str, str], seed: int, *, proportion: bool
) -> dict[str, dict[str, Estimate]]:
    """Return cell -> `score` and each measure of one group, those that have values there."""

    def of_group(values: Values) -> Values:
        return {name: value for name, value in values.items() if name in ids}

    scores = {cell.cell.name: of_group(cell.score) for cell in cells}
    measures = {
        (cell.cell.name, name): of_group(values) for cell in cells for name, values in cell.measures.items()
    }
    means: dict[str, dict[str, Estimate]] = {cell.cell.name: {} for cell in cells}
    for cell_name, mean in means_of(scores, clusters, seed=seed, proportion=proportion).items():
        means[cell_name]["score"] = mean
    for (cell_name, name), mean in means_of(measures, clusters, seed=seed).items():
        means[cell_name][name] = mean
    return means
