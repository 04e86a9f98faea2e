"""Cells that were answered and judged -> the board: places within conditions, and what conditions cost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import msgspec
import numpy as np

from ragstone.features.bench.answerers.conditions import Missing, Passages, missing_under
from ragstone.features.bench.answerers.measuring import (
    FAITHFUL_AND_ANSWERED,
    CellValues,
    Values,
    choose_roles,
    means_of,
    quantiles_of,
    shared_documents,
    values_of,
)
from ragstone.features.bench.answerers.planning import AnswerGrid, AnswerRows
from ragstone.features.bench.answerers.values import (
    AnswerBoard,
    AnswerPlace,
    AnswerStanding,
    CellTest,
    Contrast,
    ContrastKind,
    TagGroup,
    TagTable,
)
from ragstone.features.bench.judges.values import LeftOutCell
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.config import Condition
from ragstone.kernel.errors import ConfigError, DataError, nearest
from ragstone.kernel.judging.judging import CUT_OFF
from ragstone.kernel.records import Question
from ragstone.kernel.retrieval.summary import MOST_VALUES
from ragstone.kernel.runs.breakdown import FEWEST
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.statistics.families import as_family, exchanged
from ragstone.kernel.statistics.paired import PairedTest, paired_tests

# What is asked of two conditions; the first that is there of several stands for what was given.
CONTRASTS: tuple[tuple[ContrastKind, tuple[Condition, ...], Condition], ...] = (
    ("retrieval", ("gold",), "retrieved"),
    ("distractors", ("gold",), "gold+distractors"),
    ("passages", ("retrieved", "gold+distractors", "gold"), "none"),
    ("order", ("retrieved",), "shuffled"),
    ("misled", ("none",), "distractors"),
)


class BoardInput(msgspec.Struct, frozen=True, kw_only=True):
    """What a board is made from. rows: cell -> what it said and what judges say of it."""

    grid: AnswerGrid
    rows: Mapping[str, AnswerRows]
    failed: Sequence[LeftOutCell]
    questions: Sequence[Question]
    passages: Passages
    cards: Sequence[ReportCard] = ()
    tags: Sequence[str] | None = None
    files: Mapping[str, str]


def make_board(given: BoardInput, *, seed: int = 0) -> AnswerBoard:
    """Return the board. Raises DataError, with the reasons, if no cell gave an answer.

    A cell none of whose answers came, or that had no question to answer, joins those that failed; one that
    the budget or the deadline cut off is there without a score.
    """
    rows, lost = _answered(given)
    failed = [*given.failed, *lost]
    if not rows:
        told = "; ".join(f"{one.name}: {one.reason}" for one in failed)
        raise DataError(f"no cell could be measured. {told}")
    every = [row for name in rows for row in rows[name].judgements]
    roles = choose_roles(every, given.cards)
    lead = next((role for role in roles if role.role == "correct"), None)
    by_id = {question.id: question for question in given.questions}
    cells = [values_of(cell, rows[cell.name], roles, by_id) for cell in given.grid.cells if cell.name in rows]
    clusters = shared_documents(given.questions, given.passages.same)
    proportion = lead is None or lead.scale == (0, 1)
    making = _Making(clusters=clusters, files=given.files, seed=seed, proportion=proportion)
    standings, comparisons = _standings(cells, given.grid.conditions, making)
    return AnswerBoard(
        measure=lead.metric if lead else FAITHFUL_AND_ANSWERED,
        scale=lead.scale if lead else (0, 1),
        roles=roles,
        conditions=given.grid.conditions,
        n_questions=len(given.questions),
        n_unanswerable=sum(question.answerable is False for question in given.questions),
        missing={
            condition: missing
            for condition in given.grid.conditions
            if (missing := _missing(condition, given))
        },
        standings=standings,
        comparisons=comparisons,
        contrasts=_contrasts(cells, clusters, seed),
        by_tag=tag_tables(cells, given.questions, given.tags, clusters, seed=seed, proportion=proportion),
        failed=failed,
    )


def _is_cut_off(error: str) -> bool:
    """Whether the budget or the deadline of the run kept an answer from being asked for."""
    return error.startswith(tuple(CUT_OFF))


def _missing(condition: Condition, given: BoardInput) -> dict[Missing, int]:
    """Return the questions that no model was asked under a condition; systems are asked all."""
    if all(cell.is_system for cell in given.grid.cells if cell.condition == condition):
        return {}
    return missing_under(condition, given.questions, given.passages)


def _reasons(name: str, given: BoardInput) -> str:
    condition = next(cell.condition for cell in given.grid.cells if cell.name == name)
    found = missing_under(condition, given.questions, given.passages)
    return ", ".join(f"{n:,} {reason}" for reason, n in found.items())


def _answered(given: BoardInput) -> tuple[dict[str, AnswerRows], list[LeftOutCell]]:
    """Return the cells with an answer, and why the others have none."""
    rows, lost = {}, []
    for name, said in given.rows.items():
        errors = [answer.error for answer in said.answers if answer.error is not None]
        if not said.answers:
            reason = f"no question has what this condition needs: {_reasons(name, given)}"
            lost.append(LeftOutCell(name=name, reason=reason))
        elif len(errors) == len(said.answers) and not all(map(_is_cut_off, errors)):
            lost.append(
                LeftOutCell(name=name, reason=f"all {len(errors)} answers failed; the first: {errors[0]}")
            )
        else:
            rows[name] = said
    return rows, lost


class _Making(msgspec.Struct, frozen=True, kw_only=True):
    """What every standing is made with."""

    clusters: Mapping[str, str]
    files: Mapping[str, str]
    seed: int
    proportion: bool


def _standings(
    cells: Sequence[CellValues], conditions: Sequence[Condition], making: _Making
) -> tuple[list[AnswerStanding], list[CellTest]]:
    """Return the places, and every pair within a condition, the one that stands before the other first."""
    groups = [_by_mean([cell for cell in cells if cell.cell.condition == each]) for each in conditions]
    scores = {cell.cell.name: cell.score for cell in cells}
    tests: dict[tuple[str, str], CellTest] = {}
    standings: list[AnswerStanding] = []
    for group in groups:
        scored = [cell.cell.name for cell in group if cell.score]
        for test in compare_cells(scores, list(combinations(scored, 2)), making.clusters, seed=making.seed):
            tests[test.first, test.second] = test
        ordered = _best_first(group, tests)
        for cell in ordered:
            against = _between(ordered[0].cell.name, cell.cell.name, tests)
            standings.append(_standing(len(standings) + 1, cell, ordered, against, making))
    place = {row.cell.name: row.place for row in standings}
    every = [test if place[test.first] < place[test.second] else turned(test) for test in tests.values()]
    return standings, every


def _standing(
    place: int, cell: CellValues, group: Sequence[CellValues], against: CellTest | None, making: _Making
) -> AnswerStanding:
    clusters, seed = making.clusters, making.seed
    return AnswerStanding(
        place=place,
        cell=cell.cell,
        verdict=_verdict(cell, group, against),
        comparison=against,
        n_questions=cell.n_questions,
        score=quantiles_of(cell.score, clusters, seed=seed, proportion=making.proportion),
        seconds=quantiles_of(cell.seconds, clusters, seed=seed, proportion=False),
        measures=means_of(cell.measures, clusters, seed=seed),
        statuses=cell.statuses,
        spent=cell.spent,
        file=making.files[cell.cell.name],
    )


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
    return not cell.score or 2 * _share_scored(cell) < max(map(_share_scored, group))


def _share_scored(cell: CellValues) -> float:
    return len(cell.score) / cell.n_questions if cell.n_questions else 0.0


def _best_first(group: Sequence[CellValues], tests: Mapping[tuple[str, str], CellTest]) -> list[CellValues]:
    """Return the cells with one that is better on the same questions before the one with the highest mean.

    The two can only be at odds where scores are missing.
    """
    best = next(iter(group), None)
    for cell in group:
        test = _between(best.cell.name, cell.cell.name, tests) if best else None
        if test is not None and test.verdict == "worse" and not has_too_few(cell, group):
            best = cell
    return [*([best] if best else []), *(cell for cell in group if cell is not best)]


def _between(first: str, second: str, tests: Mapping[tuple[str, str], CellTest]) -> CellTest | None:
    if (first, second) in tests:
        return tests[first, second]
    return turned(tests[second, first]) if (second, first) in tests else None


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
        found = {
            (one.cell.name, other.cell.name): (one.cell, other.cell)
            for one, other in _paired([cell for cell in cells if cell.score], firsts, second)
        }
        for test in compare_cells(scores, list(found), clusters, seed=seed):
            one, other = found[test.first, test.second]
            contrasts.append(
                Contrast(
                    kind=kind,
                    model=one.model or "",
                    prompt=(other if one.condition == "none" else one).told,
                    conditions=(one.condition, other.condition),
                    test=test,
                )
            )
    return contrasts


def _paired(
    cells: Sequence[CellValues], firsts: Sequence[Condition], second: Condition
) -> Iterator[tuple[CellValues, CellValues]]:
    """Yield the cells of one model and prompt under the two conditions; `none` has a prompt of its own."""
    own = [cell for cell in cells if not cell.cell.is_system]
    there = {cell.cell.condition for cell in own}
    first = next((condition for condition in firsts if condition in there), None)
    for one in own:
        for other in own:
            if (one.cell.condition, other.cell.condition) != (first, second):
                continue
            same = one.cell.prompt == other.cell.prompt or "none" in (first, second)
            asked = [(cell.cell.model, cell.cell.temperature) for cell in (one, other)]
            if asked[0] == asked[1] and same:
                yield one, other


ALPHA = 0.05


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
    together: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for first, second in pairs:
        common = tuple(sorted(values[first].keys() & values[second].keys()))
        if common:
            together.setdefault(common, []).append((first, second))
    found: dict[tuple[str, str], CellTest] = {}
    for common, of_them in together.items():
        names = list(dict.fromkeys(name for pair in of_them for name in pair))
        columns = np.array([[values[name][question] for name in names] for question in common])
        at = [(names.index(first), names.index(second)) for first, second in of_them]
        groups = [clusters.get(question, question) for question in common]
        for pair, test in zip(of_them, paired_tests(columns, at, groups, seed=seed), strict=True):
            found[pair] = _cell_test(pair, test, values, columns[:, [names.index(name) for name in pair]])
    return as_family([found[pair] for pair in pairs if pair in found])


def turned(test: CellTest) -> CellTest:
    """Return the same test with the second cell first."""
    return msgspec.structs.replace(
        exchanged(test), first=test.second, second=test.first, means=test.means[::-1]
    )


def _cell_test(
    pair: tuple[str, str], test: PairedTest, values: Mapping[str, Values], columns: np.ndarray
) -> CellTest:
    first, second = pair
    either = len(values[first].keys() | values[second].keys())
    means = columns.mean(axis=0).tolist()
    return CellTest(
        first=first,
        second=second,
        n=len(columns),
        n_left_out=either - len(columns),
        means=(means[0], means[1]),
        **msgspec.structs.asdict(test),
    )


LANG = "lang"
MOST_SHOWN = 20  # values of a tag; further ones, the smallest, stand together
Read = Callable[[Question], str | None]


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
        read = _reader(tag)
        members: dict[str, list[str]] = {}
        for question in questions:
            value = read(question)
            if value is not None:
                members.setdefault(value, []).append(question.id)
        n_with = sum(map(len, members.values()))
        one = len(members) == 1 and n_with == len(questions)
        small = all(len(ids) < FEWEST for ids in members.values())
        if tags is None and (one or small or len(members) > MOST_VALUES):
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
    known = _known(questions)
    for tag in tags or ():
        if tag not in known:
            raise ConfigError(
                f"[bench.answerers] tags: no question has the tag {tag!r}. "
                + (nearest(tag, known) if known else "The questions have none.")
            )
    return known if tags is None else tags


def _known(questions: Sequence[Question]) -> list[str]:
    tags = sorted({tag for question in questions for tag in question.tags or ()})
    return ([LANG] if any(question.lang for question in questions) else []) + [
        tag for tag in tags if tag != LANG
    ]


def _reader(tag: str) -> Read:
    """Return what reads a tag; the language of a question goes before a tag of that name."""
    if tag == LANG:
        return lambda question: question.lang or (question.tags or {}).get(LANG)
    return lambda question: (question.tags or {}).get(tag)


def _folded(members: Mapping[str, list[str]]) -> list[tuple[str | None, int, list[str]]]:
    """Return (value, number of values, questions): large groups first, then the small ones together."""
    ordered = sorted(members, key=lambda value: (-len(members[value]), value))
    shown = [value for value in ordered if len(members[value]) >= FEWEST][:MOST_SHOWN]
    rest = [value for value in ordered if value not in shown]
    groups: list[tuple[str | None, int, list[str]]] = [(value, 1, members[value]) for value in shown]
    if rest:
        groups.append((None, len(rest), [name for value in rest for name in members[value]]))
    return groups


def _means(
    cells: Sequence[CellValues], ids: set[str], clusters: Mapping[str, str], seed: int, *, proportion: bool
) -> dict[str, dict[str, Estimate]]:
    """Return cell -> `score` and each measure of one group, those that have values there."""
    scores = {cell.cell.name: _of(cell.score, ids) for cell in cells}
    measures = {
        (cell.cell.name, name): _of(values, ids) for cell in cells for name, values in cell.measures.items()
    }
    found: dict[str, dict[str, Estimate]] = {cell.cell.name: {} for cell in cells}
    for cell_name, mean in means_of(scores, clusters, seed=seed, proportion=proportion).items():
        found[cell_name]["score"] = mean
    for (cell_name, name), mean in means_of(measures, clusters, seed=seed).items():
        found[cell_name][name] = mean
    return found


def _of(values: Mapping[str, float], ids: set[str]) -> dict[str, float]:
    return {name: value for name, value in values.items() if name in ids}
