"""What the report of a bench of answerers says of a race."""

from ragstone.experiments.answer_race import RaceReport
from ragstone.experiments.race import Stopped
from ragstone.report.document import Block, Heading, Listing, Paragraph
from ragstone.report.wording import count, number, plural, usd

STOPPED = (
    "Cells that stopped keep the numbers of the questions that they were given. These err on the low side, "
    "for low scores are why they stopped; they are compared with no other below."
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
            f"Race under {race.condition}, by {race.measure}: {race.standing[0]} stands alone after {given}"
        )
        lost = f"{', '.join(race.failed)} could not be asked, which says nothing of how good that is."
        if not race.stopped:
            return f"{alone}. {lost}"
        other = "other that could be asked" if race.failed else "other"
        return f"{alone}, in {rounds}. With {sure} confidence no {other} is better." + (
            f" {lost}" if race.failed else ""
        )
    names = ", ".join(race.standing)
    return (
        f"Race under {race.condition}, by {race.measure}: after {given}, in {rounds}, "
        f"{len(race.standing)} cannot be told apart: {names}. With {sure} confidence the best of all is "
        "among them."
    )


def stopped_told(one: Stopped) -> str:
    """Return when a configuration stopped, against whom, and beyond what doubt."""
    left_out = f", {count(one.n_left_out)} without a score of both left out" if one.n_left_out else ""
    return (
        f"{one.configuration} stopped after {plural(one.after, 'question')}: worse than {one.against} by "
        f"{number(-one.difference)} ({number(-one.high)} to {number(-one.low)}) on "
        f"{plural(one.n_pairs, 'question')}{left_out}. {doubt_told(one.doubt)}"
    )


def doubt_told(doubt: float) -> str:
    """Return the chance of as much evidence against the best of all, as one time in so many."""
    if doubt < 1e-6:
        return "The best would meet such evidence less than once in 1,000,000 races."
    return f"The best would meet such evidence at most once in {count(int(1 / doubt))} races."


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
