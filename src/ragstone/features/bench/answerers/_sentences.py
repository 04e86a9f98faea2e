"""What the report of a bench of answerers says in sentences."""

from collections.abc import Sequence

from ragstone.features.bench._words import all_of, measures_in, size
from ragstone.features.bench.answerers._basis import IN_ITS_EYES, best_by_labels
from ragstone.features.bench.answerers._values import (
    AnswerBoard,
    AnswerStanding,
    Contrast,
    ContrastKind,
    RaceReport,
    Role,
    StoppedConfiguration,
    short_model,
)
from ragstone.kernel.config import Condition
from ragstone.kernel.decimals import scale_text
from ragstone.kernel.document.blocks import Block, Heading, Listing, Paragraph
from ragstone.kernel.document.numbers import (
    count,
    interval,
    number,
    signed,
    signed_interval,
    size_with_ends,
    unsigned,
    usd,
)
from ragstone.kernel.errors import plural
from ragstone.kernel.records import NO_MODEL, Status
from ragstone.kernel.runs.wording import statuses
from ragstone.kernel.statistics import Estimate, is_same_mean

FEW = ("too few scores", "stopped")  # verdicts on cells whose means do not compare with those of others
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
    "passages": "What do the passages add to what the model knows?",
    "order": "Does the order of the passages matter?",
    "misled": "Do wrong passages mislead it?",
}
# First and second condition of a contrast in a sentence.
GIVEN: dict[Condition, str] = {
    "retrieved": "from what was retrieved",
    "shuffled": "in another order",
    "gold": "from the reference document",
    "gold+distractors": "with distractors added",
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


def measure_text(board: AnswerBoard) -> str:
    """Return what the board is ordered by, with its scale where that is not 0 to 1."""
    scale = "" if tuple(board.scale) == (0, 1) else f", {scale_text(*board.scale)}"
    return f"{board.measure}{scale}"


def columns(board: AnswerBoard) -> list[str]:
    """Return the measures beside the score that any cell has, in order."""
    return measures_in(MEASURES, (row.measures for row in board.standings))


def by_condition(board: AnswerBoard) -> list[tuple[Condition, list[AnswerStanding]]]:
    """Return the standings of each condition that has any."""
    groups = {
        each: [row for row in board.standings if row.cell.condition == each] for each in board.conditions
    }
    return [(condition, rows) for condition, rows in groups.items() if rows]


def kinds_text(board: AnswerBoard) -> list[str]:
    """Return what conditions cost: a sentence for each kind of contrast, on all models and prompts."""
    sentences = []
    for question, contrasts in contrasts_by_kind(board).items():
        if len(contrasts) == 1:
            sentences.append(f"{question} {contrast_text(contrasts[0])}.")
            continue
        clear = [contrast for contrast in contrasts if contrast.test.verdict != "cannot tell"]
        results = [
            f"{_who(contrast)}: {_result(contrast, unsigned(contrast.test.difference.value))}"
            for contrast in clear
        ]
        n_open = len(contrasts) - len(clear)
        if n_open:
            others = f"for {plural(n_open, 'other')} " if clear else ""
            results.append(f"{others}no difference is shown")
        text = "; ".join(results)
        sentences.append(f"{question} {text if clear else text[0].upper() + text[1:]}.")
    return sentences


def bests(board: AnswerBoard) -> list[str]:
    """Return the best cell of each condition, a sentence each."""
    return [f"{condition}: {_best(condition, rows, board)}." for condition, rows in by_condition(board)]


def _best(condition: Condition, rows: Sequence[AnswerStanding], board: AnswerBoard) -> str:
    first = rows[0]
    if board.labels and condition in board.labels.conditions and first.verdict != "stopped":
        return best_by_labels(rows)
    if first.score is None:
        return f"no answer has a score of {board.measure}"
    value = f"{board.measure} {number(first.score.mean.value)} ({interval(first.score.mean)})"
    if len(rows) == 1:
        return value if first.cell.label == condition else f"{first.cell.label} has {value}"
    n_worse = sum(row.verdict == "worse" for row in rows)
    n_stopped = sum(row.verdict == "stopped" for row in rows)
    if n_stopped == len(rows):
        every = "both" if n_stopped == 2 else f"all {count(n_stopped)}"
        return f"{every} cells stopped early, so none is said to be the best"
    means = [row.score.mean for row in rows if row.score]
    if (
        not n_worse
        and not n_stopped
        and len(means) > 1
        and all(is_same_mean(mean.value, means[0].value) for mean in means)
    ):
        every = "both cells" if len(means) == 2 else f"all {count(len(means))} cells"
        have = "have" if len(means) == len(rows) else "with a score have"
        return f"{every} {have} the same {board.measure} {_shared(means)}"
    best, named = _first_named(first, rows, board.measure)
    alike = [
        row.cell.label for row in rows if row.verdict == "not distinguishable" and row.cell.label not in named
    ]
    if not alike and n_worse == len(rows) - 1:
        return f"{best}; {'the other is' if n_worse == 1 else 'all others are'} worse {IN_ITS_EYES}"
    open_ = f"; no clear difference from {', '.join(alike)}" if alike else ""
    worse = f"; {plural(n_worse, 'cell')} clearly worse {IN_ITS_EYES}" if n_worse else ""
    stopped = f"; {plural(n_stopped, 'cell')} stopped early" if n_stopped else ""
    return f"{best}{open_}{worse}{stopped}"


def _first_named(
    first: AnswerStanding, rows: Sequence[AnswerStanding], measure: str
) -> tuple[str, list[str]]:
    """Return what puts a cell first, and the cells that this names.

    That is the highest mean, which several may share. Where scores are missing, a cell can come first with a
    lower mean, because it is better on the questions that both have; and a cell with few scores, or that
    stopped early, can have the highest mean, and does not come first.
    """
    own = first.score.mean if first.score else None
    scored = [(row, row.score.mean) for row in rows if row.score]
    enough = [(row, mean) for row, mean in scored if row.verdict not in FEW]
    higher = [row.cell.label for row, mean in enough if own and _is_above(mean, own)]
    if own and higher:
        is_are = "is" if len(higher) == 1 else "are"
        return (
            f"{first.cell.label} has {measure} {_shared([own])} and comes first, though the mean of "
            f"{', '.join(higher)} {is_are} higher: scores are missing, and only questions that both have "
            "count",
            [first.cell.label, *higher],
        )
    tied = [(row, mean) for row, mean in enough if own and is_same_mean(mean.value, own.value)]
    names, means = [row.cell.label for row, _ in tied], [mean for _, mean in tied]
    few = [mean for row, mean in scored if row.verdict in FEW]
    some = " of the cells with enough scores" if any(own and not _is_above(own, mean) for mean in few) else ""
    have = f"{all_of(names)} {'has' if len(names) == 1 else 'have'}"
    return f"{have} the highest {measure}{some} {_shared(means)}", names


def _is_above(mean: Estimate, other: Estimate) -> bool:
    return mean.value > other.value and not is_same_mean(mean.value, other.value)


def _shared(means: Sequence[Estimate]) -> str:
    """Return a mean that several have, with its interval where they share that too."""
    intervals = {interval(mean) for mean in means}
    return number(means[0].value) + (f" ({intervals.pop()})" if len(intervals) == 1 else "")


def contrasts_by_kind(board: AnswerBoard) -> dict[str, list[Contrast]]:
    """Return question -> its contrasts, those that are shown to differ first."""
    by_question: dict[str, list[Contrast]] = {}
    for contrast in board.contrasts:
        by_question.setdefault(QUESTIONS[contrast.kind], []).append(contrast)
    return {
        question: sorted(contrasts, key=lambda contrast: contrast.test.verdict == "cannot tell")
        for question, contrasts in by_question.items()
    }


def contrast_text(contrast: Contrast) -> str:
    """Return what two conditions make of a difference, with both means and the interval."""
    first, second = (
        f"{number(mean)} {GIVEN[condition]}"
        for mean, condition in zip(contrast.test.means, contrast.conditions, strict=True)
    )
    difference = contrast.test.difference
    if difference.value == 0 and difference.low is None and contrast.test.n_changed == 0:
        return f"{_who(contrast)}: the same on every question; {first}, {second}"
    if contrast.test.verdict == "cannot tell":
        gap = f"difference {signed(difference.value)}, {signed_interval(difference)}"
        return f"{_who(contrast)}: cannot tell; {first}, {second} ({gap})"
    return f"{_who(contrast)}: {_result(contrast, size(difference))}; {first}, {second}"


def _result(contrast: Contrast, difference: str) -> str:
    return RESULTS[contrast.kind][contrast.test.verdict].format(d=difference)


def _who(contrast: Contrast) -> str:
    return f"{short_model(contrast.model)} with {contrast.prompt}"


def ordered_by(board: AnswerBoard) -> str:
    """Return what decided for the order, and what the verdicts rest on."""
    questions = plural(board.n_questions, "question")
    unanswerable = f", {count(board.n_unanswerable)} of them unanswerable" if board.n_unanswerable else ""
    sentences = [f"Ordered by {measure_text(board)} within each condition; {questions}{unanswerable}."]
    for tests, what in (
        (board.comparisons, "of cells of one condition"),
        ([contrast.test for contrast in board.contrasts], "that answer one question on conditions"),
    ):
        if tests:
            kinds = " or ".join(sorted({test.test for test in tests}))
            most = max(test.family for test in tests)
            corrected = (
                "One comparison" if most == 1 else f"Holm's correction over the {count(most)} comparisons"
            )
            sentences.append(f"{corrected} {what} ({kinds} test).")
    return " ".join(sentences)


def role_text(role: Role) -> str:
    """Return which judge says a thing, and what that judge is worth."""
    name = role.name
    if role.model == NO_MODEL:
        beaten = (
            f"; it replaces {' and '.join(role.instead_of)}, no better than a baseline"
            if role.instead_of
            else ""
        )
        return f"{name}, which asks no language model{beaten}"
    if not role.measured:
        return f"{name} by {role.model}, not measured against people here"
    worth = "better than its baseline" if role.better_than_baseline else "not shown to be better than it"
    return f"{name} by {role.model}, measured against people: {worth}"


def without_score(row: AnswerStanding, besides: Status | None = None) -> str:
    """Return what became of rows without a score, by what was judged; empty where all have one.

    besides: a status that is not counted, for a score is not to be expected.
    """
    of_role = {
        role: statuses({status: n for status, n in counts.items() if status != besides})
        for role, counts in row.statuses.items()
    }
    return "; ".join(f"{role}: {others}" for role, others in of_role.items() if others)


STOPPED = (
    "Stopped cells show numbers for the questions that they were asked. These numbers are biased low, "
    "because cells stop for low scores. They are left out of the comparisons below."
)


def race_blocks(race: RaceReport) -> list[Block]:
    """Return how a race went, who was stopped and what that saved."""
    return [
        Heading("The race", anchor="race"),
        Paragraph(race_text(race), tone="strong"),
        Listing([stopped_text(cell) for cell in race.stopped]),
        Paragraph(saved_text(race)),
        Paragraph(STOPPED, tone="muted", where="page"),
    ]


def race_text(race: RaceReport) -> str:
    """Return how a race ended: who stands, after how many questions, and how sure that is."""
    questions = f"{count(race.n_given)} of {plural(race.n_questions, 'question')}"
    rounds = plural(len(race.rounds), "round")
    sure = f"{100 * race.confidence:g} %"
    if not race.standing:
        return f"Race under {race.condition}: no cell could be asked."
    if len(race.standing) == 1:
        alone = (
            f"Race under {race.condition}, by {race.measure} {IN_ITS_EYES}: {race.standing[0]} is the only "
            f"one left after {questions}"
        )
        lost = f"{', '.join(race.failed)} could not be asked, which says nothing about quality."
        if not race.stopped:
            return f"{alone}. {lost}"
        other = "other that could be asked" if race.failed else "other"
        return f"{alone}, in {rounds}. With {sure} confidence no {other} is better {IN_ITS_EYES}." + (
            f" {lost}" if race.failed else ""
        )
    names = ", ".join(race.standing)
    return (
        f"Race under {race.condition}, by {race.measure} {IN_ITS_EYES}: after {questions}, in {rounds}, "
        f"{len(race.standing)} cannot be told apart: {names}. With {sure} confidence the best {IN_ITS_EYES} "
        "is among them."
    )


RARELY = "less than once in 1,000,000"


def stopped_text(stopped: StoppedConfiguration) -> str:
    """Return when a configuration stopped, against whom, and beyond what doubt."""
    left_out = f", {count(stopped.n_left_out)} without a score of both left out" if stopped.n_left_out else ""
    often = f"at most once in {count(int(1 / stopped.doubt))}" if stopped.doubt >= 1e-6 else RARELY
    gap = size_with_ends(-stopped.difference, -stopped.high, -stopped.low)
    return (
        f"{stopped.configuration} stopped after {plural(stopped.after, 'question')}: worse than "
        f"{stopped.against} {IN_ITS_EYES}, by {gap} on "
        f"{plural(stopped.n_pairs, 'question')}{left_out}. Such evidence would stop the best {often} races."
    )


def saved_text(race: RaceReport) -> str:
    """Return the calls and the money that were spent, and about what the whole grid would have taken."""
    made = sum(cell.calls for cell in race.saved)
    spared = sum(cell.calls_spared for cell in race.saved)
    costs = [(cell.usd, cell.usd_spared) for cell in race.saved]
    known = [(spent, saved) for spent, saved in costs if spent is not None and saved is not None]
    n_rows = sum(cell.n_given for cell in race.saved)
    n_all = sum(cell.n_questions for cell in race.saved)
    share = 1 - n_rows / n_all if n_all else 0.0
    calls = (
        f"Asked: {count(n_rows)} of the {plural(n_all, 'question')} of all cells together "
        f"({100 * share:.0f} % saved), with {plural(made, 'call')} for answers and judgements instead of "
        f"about {count(round(made + spared))}"
    )
    if len(known) < len(costs):
        return f"{calls}. The money saved is unknown: a model has no price."
    spent = sum(money for money, _ in known)
    return f"{calls}, and {usd(spent)} instead of about {usd(spent + sum(money for _, money in known))}."
