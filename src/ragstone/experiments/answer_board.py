"""What a bench of answerers found, as values: standings, what conditions cost, groups of questions."""

from typing import Literal

import msgspec

from ragstone.agreement.bench.grid import LeftOut
from ragstone.config import Condition
from ragstone.experiments.answer_grid import AnswerCell
from ragstone.experiments.answer_roles import Role, RoleName
from ragstone.experiments.answer_values import AnswerSpent, Quantiles
from ragstone.experiments.conditions import Missing
from ragstone.records import Status
from ragstone.statistics import Estimate
from ragstone.statistics.paired import Test, Verdict

AnswerPlace = Literal["best", "not distinguishable", "worse", "alone", "too few scores", "stopped"]
ContrastKind = Literal["retrieval", "distractors", "passages", "order", "misled"]


class CellTest(msgspec.Struct, frozen=True, kw_only=True):
    """Two cells on the same questions, by the score of the bench.

    n: questions that both have a score of; n_left_out: those that one alone has. means: of both on these n.
    difference: first minus second; the rest: see statistics.paired. p_holm: over the `family` of tests that
    answer the same question: every pair of cells of one condition, or all contrasts of one kind.
    """

    first: str
    second: str
    n: int
    n_left_out: int
    means: tuple[float, float]
    difference: Estimate
    test: Test
    p: float
    p_holm: float
    family: int
    verdict: Verdict


class AnswerStanding(msgspec.Struct, frozen=True, kw_only=True):
    """A cell's place within its condition.

    place: counted over the whole board, conditions in the order declared. verdict: `worse` only where the
    difference from the best of the condition is shown; `alone` where the condition has no other cell; `too
    few scores`: the share of its answers that have one is less than half of the largest of the condition;
    `stopped`: a race gave it no more questions. comparison: of the best with this one; None for the best,
    where no question has a score of both, and by a race.
    n_questions: that it was asked. score, seconds: None where no answer has one. measures: see CellValues.
    file: its judgements.
    """

    place: int
    cell: AnswerCell
    verdict: AnswerPlace
    comparison: CellTest | None
    n_questions: int
    score: Quantiles | None
    seconds: Quantiles | None
    measures: dict[str, Estimate]
    statuses: dict[RoleName, dict[Status, int]]
    spent: AnswerSpent
    file: str


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """One model and prompt under two conditions. retrieval: gold against retrieved. distractors: gold alone
    against gold with distractors. passages: the best of retrieved, gold+distractors and gold that is there
    against none. order: retrieved against shuffled. misled: none against distractors.
    """

    kind: ContrastKind
    model: str
    prompt: str
    conditions: tuple[Condition, Condition]
    test: CellTest


class TagGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Questions with one value of a tag. value: None for the small groups together, n_values of them.

    cells: cell -> `score` and the measures -> mean.
    """

    value: str | None
    n_values: int
    n_questions: int
    cells: dict[str, dict[str, Estimate]]


class TagTable(msgspec.Struct, frozen=True, kw_only=True):
    """The groups of one tag, the largest first, the small ones together last. n_without: without the tag."""

    tag: str
    groups: list[TagGroup]
    n_without: int


class AnswerBoard(msgspec.Struct, frozen=True, kw_only=True):
    """The grid, best first within each condition.

    measure, scale: what cells are ordered by: the metric of the judge of `correct`, else `answered ×
    faithful`. comparisons: every pair of cells of one condition, the better first. missing: condition -> how
    many questions it does not exist for, by reason. failed: cells without numbers.
    """

    measure: str
    scale: tuple[float, float]
    roles: list[Role]
    conditions: list[Condition]
    n_questions: int
    n_unanswerable: int
    missing: dict[Condition, dict[Missing, int]]
    standings: list[AnswerStanding]
    comparisons: list[CellTest]
    contrasts: list[Contrast]
    by_tag: list[TagTable]
    failed: list[LeftOut]
