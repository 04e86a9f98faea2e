"""What the report of a bench of answerers says in sentences."""

import math
from collections.abc import Sequence

from ragstone.features.bench.answerers.values import (
    AnswerBoard,
    AnswerSpent,
    AnswerStanding,
    Contrast,
    ContrastKind,
    Quantiles,
    RaceReport,
    Role,
    StoppedConfiguration,
    TagTable,
    short_model,
)
from ragstone.kernel.config import Condition
from ragstone.kernel.document.blocks import Block, Heading, Listing, Paragraph
from ragstone.kernel.document.numbers import count, interval, number, seconds, usd, with_ends
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.runs.wording import plural, statuses
from ragstone.kernel.statistics import Estimate, negated

MEASURES = (
    "answered",
    "faithful",
    "relevant",
    "answered × faithful",
    "answered × relevant",
    "unanswered",
    "refused",
    "precision on false",
    "recall on false",
    "neither",
)
HEADS = {"refused": "refused, unanswerable"}
CONDITIONS: dict[Condition, str] = {
    "retrieved": "what the retriever brings",
    "shuffled": "what the retriever brings, in another order",
    "gold": "the reference document alone",
    "gold+distractors": "the reference document, then passages of other documents",
    "distractors": "passages of other documents alone",
    "none": "nothing: closed book",
}
QUESTIONS: dict[ContrastKind, str] = {
    "retrieval": "What does retrieval lose?",
    "distractors": "What do distractors cost?",
    "passages": "What do the passages add to what the model knows by itself?",
    "order": "Does the order of the passages matter?",
    "misled": "Do wrong passages mislead it?",
}
# First and second condition of a contrast in a sentence.
GIVEN: dict[Condition, str] = {
    "retrieved": "from what was retrieved",
    "shuffled": "in another order",
    "gold": "from the reference document",
    "gold+distractors": "with distractors beside it",
    "distractors": "from passages of other documents",
    "none": "by itself",
}
RESULTS: dict[ContrastKind, dict[str, str]] = {
    "retrieval": {"better": "retrieval loses {d}", "worse": "what was retrieved is better by {d}"},
    "distractors": {"better": "distractors cost {d}", "worse": "distractors help by {d}"},
    "passages": {"better": "the passages add {d}", "worse": "the passages take away {d}"},
    "order": {"better": "another order costs {d}", "worse": "another order is better by {d}"},
    "misled": {"better": "wrong passages take away {d}", "worse": "passages of other documents add {d}"},
}


def percent(value: float) -> str:
    """Return a share as `72 %`."""
    return f"{100 * value:.0f} %"


def percent_interval(estimate: Estimate) -> str:
    """Return the ends of a share's interval, as `58 to 83 %`."""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return f"{100 * estimate.low:.0f} to {100 * estimate.high:.0f} %"


def measure_told(board: AnswerBoard) -> str:
    """Return what the board is ordered by, with its scale where that is not 0 to 1."""
    scale = "" if tuple(board.scale) == (0, 1) else f", {board.scale[0]:g} to {board.scale[1]:g}"
    return f"{board.measure}{scale}"


def columns(board: AnswerBoard) -> list[str]:
    """Return the measures beside the score that any cell has, in order."""
    known = {name for row in board.standings for name in row.measures}
    return [name for name in MEASURES if name in known]


def by_condition(board: AnswerBoard) -> list[tuple[Condition, list[AnswerStanding]]]:
    """Return the standings of each condition that has any."""
    groups = {
        each: [row for row in board.standings if row.cell.condition == each] for each in board.conditions
    }
    return [(condition, rows) for condition, rows in groups.items() if rows]


def missing_told(condition: Condition, board: AnswerBoard) -> str:
    """Return the questions that a condition does not exist for; empty where it exists for all."""
    missing = board.missing.get(condition)
    if not missing:
        return ""
    asked = board.n_questions - sum(missing.values())
    reasons = ", ".join(f"{count(n)} {reason}" for reason, n in missing.items())
    return f"asked {plural(asked, 'question')}; left out: {reasons}"


def kinds_told(board: AnswerBoard) -> list[str]:
    """Return what conditions cost, a sentence each."""
    return [_kind_told(question, rows) for question, rows in contrasts_by_kind(board).items()]


def _kind_told(question: str, rows: Sequence[Contrast]) -> str:
    """Return what all models and prompts say to one question about conditions, in one sentence."""
    if len(rows) == 1:
        return f"{question} {contrast_told(rows[0])}."
    shown = [one for one in rows if one.test.verdict != "cannot tell"]
    told = [f"{_who(one)}: {_result(one, number(abs(one.test.difference.value)))}" for one in shown]
    n_open = len(rows) - len(shown)
    if n_open:
        others = f"for {plural(n_open, 'other')} " if shown else ""
        told.append(f"{others}no difference is shown")
    said = "; ".join(told)
    return f"{question} {said[0].upper() if not shown else said[0]}{said[1:]}."


def bests(board: AnswerBoard) -> list[str]:
    """Return the best cell of each condition, a sentence each."""
    return [_best(condition, rows, board) for condition, rows in by_condition(board)]


def _best(condition: Condition, rows: Sequence[AnswerStanding], board: AnswerBoard) -> str:
    first = rows[0]
    if first.score is None:
        return f"{condition}: no answer has a score of {board.measure}."
    value = f"{board.measure} {number(first.score.mean.value)} ({interval(first.score.mean)})"
    if len(rows) == 1:
        own = "" if first.cell.label == condition else f"{first.cell.label} has "
        return f"{condition}: {own}{value}."
    n_worse = sum(row.verdict == "worse" for row in rows)
    n_stopped = sum(row.verdict == "stopped" for row in rows)
    means = [row.score.mean for row in rows if row.score]
    if not n_worse and not n_stopped and len(means) > 1 and _same(means):
        return f"{condition}: {_who_all(len(means), len(rows))} the same {board.measure} {_shared(means)}."
    alike = [row.cell.label for row in rows if row.verdict == "not distinguishable"]
    said = f"{condition}: {first.cell.label} has the highest {value}"
    if not alike and n_worse == len(rows) - 1:
        return f"{said}; {'the other is' if n_worse == 1 else 'all others are'} worse."
    told = f"; no clear difference from {', '.join(alike)}" if alike else ""
    worse = f"; {plural(n_worse, 'cell')} clearly worse" if n_worse else ""
    stopped = f"; {plural(n_stopped, 'cell')} stopped early" if n_stopped else ""
    return f"{said}{told}{worse}{stopped}."


def _same(means: Sequence[Estimate]) -> bool:
    return all(math.isclose(one.value, means[0].value, rel_tol=1e-9, abs_tol=1e-12) for one in means)


def _who_all(n_scored: int, n: int) -> str:
    """Return the subject of what all cells of a condition share, and `have`."""
    every = "both cells" if n_scored == 2 else f"all {count(n_scored)} cells"
    return f"{every} {'have' if n_scored == n else 'with a score have'}"


def _shared(means: Sequence[Estimate]) -> str:
    """Return a mean that several cells have, with the interval where they share that too."""
    ends = {interval(one) for one in means}
    return number(means[0].value) + (f" ({ends.pop()})" if len(ends) == 1 else "")


def contrasts_by_kind(board: AnswerBoard) -> dict[str, list[Contrast]]:
    """Return question -> its contrasts, those that are shown to differ first."""
    found: dict[str, list[Contrast]] = {}
    for one in board.contrasts:
        found.setdefault(QUESTIONS[one.kind], []).append(one)
    return {
        question: sorted(rows, key=lambda one: one.test.verdict == "cannot tell")
        for question, rows in found.items()
    }


def contrast_told(one: Contrast) -> str:
    """Return what two conditions make of a difference, with both means and the interval."""
    first, second = (number(mean) for mean in one.test.means)
    means = f"{first} {GIVEN[one.conditions[0]]}, {second} {GIVEN[one.conditions[1]]}"
    difference = one.test.difference
    if difference.value == 0 and difference.low is None:
        return f"{_who(one)}: the same on every question; {means}"
    if one.test.verdict == "cannot tell":
        gap = f"difference {number(difference.value)}, {interval(difference)}"
        return f"{_who(one)}: cannot tell; {means} ({gap})"
    size = with_ends(difference if difference.value >= 0 else negated(difference))
    return f"{_who(one)}: {_result(one, size)}; {means}"


def _result(one: Contrast, size: str) -> str:
    return RESULTS[one.kind][one.test.verdict].format(d=size)


def _who(one: Contrast) -> str:
    return f"{short_model(one.model)} with {one.prompt}"


def short_of_best(row: AnswerStanding) -> str:
    """Return how far a cell is below the best of its condition, with the interval; empty for the best."""
    if row.comparison is None:
        return ""
    return with_ends(row.comparison.difference)


def ordered_by(board: AnswerBoard) -> str:
    """Return what decided for the order, and what the verdicts rest on."""
    asked = plural(board.n_questions, "question")
    unanswerable = f", {count(board.n_unanswerable)} of them unanswerable" if board.n_unanswerable else ""
    said = f"Ordered by {measure_told(board)} within each condition; {asked}{unanswerable}."
    return " ".join([said, *_families(board)])


def _families(board: AnswerBoard) -> list[str]:
    said = []
    for tests, what in (
        (board.comparisons, "of cells of one condition"),
        ([one.test for one in board.contrasts], "that answer one question on conditions"),
    ):
        if tests:
            kinds = " or ".join(sorted({test.test for test in tests}))
            most = max(test.family for test in tests)
            corrected = (
                "One comparison" if most == 1 else f"Holm's correction over the {count(most)} comparisons"
            )
            said.append(f"{corrected} {what} ({kinds} test).")
    return said


def role_told(role: Role) -> str:
    """Return which judge says a thing, and what that judge is worth."""
    name = role.judge if role.judge == role.metric else f"{role.judge} ({role.metric})"
    if role.model == NO_MODEL:
        beaten = (
            f"; it replaces {' and '.join(role.instead_of)}, no better than a baseline"
            if role.instead_of
            else ""
        )
        return f"{name}, which asks no language model{beaten}"
    if not role.measured:
        return f"{name} by {role.model}, which nobody has measured against people here"
    worth = "better than its baseline" if role.better_than_baseline else "not shown to be better than it"
    return f"{name} by {role.model}, measured against people: {worth}"


def roles_told(board: AnswerBoard) -> str:
    """Return the judge of each thing in one line."""
    return ". ".join(f"{role.role.capitalize()}: {role_told(role)}" for role in board.roles) + "."


def failures(row: AnswerStanding) -> str:
    """Return what became of rows that should have a score and have none; empty where there is no such."""
    told = {
        role: statuses({status: n for status, n in counts.items() if status != "not_applicable"})
        for role, counts in row.statuses.items()
    }
    return "; ".join(f"{role}: {others}" for role, others in told.items() if others)


def without_score(row: AnswerStanding) -> str:
    """Return what became of rows without a score, by what was judged; empty where all have one."""
    told = {role: statuses(counts) for role, counts in row.statuses.items()}
    return "; ".join(f"{role}: {others}" for role, others in told.items() if others)


def tokens_each(spent: AnswerSpent) -> str:
    """Return the tokens of an answer, in and out."""
    n = spent.n_answers
    return f"{count(round(spent.input / n))} in, {count(round(spent.output / n))} out"


def cost_each(spent: AnswerSpent) -> str:
    """Return what a thousand answers cost; an unknown price is said to be unknown."""
    return "unknown" if spent.usd_each is None else f"{usd(1000 * spent.usd_each)} for 1,000"


def usd_for_1000(spent: AnswerSpent) -> str:
    """Return what a thousand answers cost, for a narrow column."""
    if spent.usd_each is None:
        return "?"
    return f"{1000 * spent.usd_each:.2f}"


def time_told(times: Quantiles | None) -> str:
    """Return the median time of an answer; empty where none was timed."""
    return seconds(times.p50) if times else ""


def tag_name(table: TagTable) -> str:
    """Return what questions are grouped by."""
    return "language" if table.tag == "lang" else table.tag


def tag_measures(table: TagTable) -> list[str]:
    """Return the measures that any group of a tag has."""
    known = {name for group in table.groups for means in group.cells.values() for name in means}
    return [name for name in MEASURES if name in known and name != "unanswered"]


STOPPED = (
    "Stopped cells show the numbers of the questions that they got. These numbers are biased low, because "
    "low scores are why the cells stopped. They are left out of the comparisons below."
)


def race_blocks(race: RaceReport) -> list[Block]:
    """Return how a race went, who was stopped and what that saved."""
    return [
        Heading("The race", anchor="race"),
        Paragraph(race_told(race), tone="strong"),
        Listing([stopped_told(one) for one in race.stopped]),
        Paragraph(saved_told(race)),
        Paragraph(STOPPED, tone="muted", where="page"),
    ]


def race_told(race: RaceReport) -> str:
    """Return how a race ended: who stands, after how many questions, and how sure that is."""
    given = f"{count(race.n_given)} of {plural(race.n_questions, 'question')}"
    rounds = plural(len(race.rounds), "round")
    sure = f"{100 * race.confidence:g} %"
    if not race.standing:
        return f"Race under {race.condition}: nobody could be asked."
    if len(race.standing) == 1:
        alone = (
            f"Race under {race.condition}, by {race.measure}: {race.standing[0]} is the only one left after "
            f"{given}"
        )
        lost = f"{', '.join(race.failed)} could not be asked, which says nothing about quality."
        if not race.stopped:
            return f"{alone}. {lost}"
        other = "other that could be asked" if race.failed else "other"
        return f"{alone}, in {rounds}. With {sure} confidence no {other} is better." + (
            f" {lost}" if race.failed else ""
        )
    names = ", ".join(race.standing)
    return (
        f"Race under {race.condition}, by {race.measure}: after {given}, in {rounds}, "
        f"{len(race.standing)} cannot be told apart: {names}. With {sure} confidence the best is among them."
    )


def stopped_told(one: StoppedConfiguration) -> str:
    """Return when a configuration stopped, against whom, and beyond what doubt."""
    left_out = f", {count(one.n_left_out)} without a score of both left out" if one.n_left_out else ""
    return (
        f"{one.configuration} stopped after {plural(one.after, 'question')}: worse than {one.against} by "
        f"{number(-one.difference)} ({number(-one.high)} to {number(-one.low)}) on "
        f"{plural(one.n_pairs, 'question')}{left_out}. {doubt_told(one.doubt)}"
    )


def doubt_told(doubt: float) -> str:
    """Return the chance of as much evidence against the best of all, as one time in so many."""
    often = "less than once in 1,000,000" if doubt < 1e-6 else f"at most once in {count(int(1 / doubt))}"
    return f"The best would be stopped by such evidence {often} races."


def saved_told(race: RaceReport) -> str:
    """Return the calls and the money that were spent, and about what the whole grid would have taken."""
    made = sum(one.calls for one in race.saved)
    spared = sum(one.calls_spared for one in race.saved)
    costs = [(one.usd, one.usd_spared) for one in race.saved]
    known = [(spent, saved) for spent, saved in costs if spent is not None and saved is not None]
    n_rows = sum(one.n_given for one in race.saved)
    n_all = sum(one.n_questions for one in race.saved)
    share = 1 - n_rows / n_all if n_all else 0.0
    said = (
        f"Given out: {count(n_rows)} of the {plural(n_all, 'question')} of all cells together, "
        f"{100 * share:.0f} % saved; "
        f"{plural(made, 'call')} of models, of answers and judgements, instead of about "
        f"{count(round(made + spared))}"
    )
    if len(known) < len(costs):
        return f"{said}. What that saved in money is unknown: a model has no price."
    spent = sum(money for money, _ in known)
    return f"{said}, and {usd(spent)} instead of about {usd(spent + sum(money for _, money in known))}."
