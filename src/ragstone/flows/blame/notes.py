"""What a reader of blame has to know: what was not measured, and what the causes cannot tell."""

from collections.abc import Mapping, Sequence

from ragstone.experiments.blame import found_relevant
from ragstone.flows.blame.causes import Facts
from ragstone.flows.blame.plan import BlamePlan
from ragstone.flows.blame.points import Points
from ragstone.report.wording import number, plural

NO_SECOND = (
    "Nobody gave a second opinion, so the judge's own share is not measured: name another judge as second, "
    "or people's labels, in [blame] of ragstone.toml."
)
NOT_ASKED = (
    "No model was asked again, for another application made these answers: what would be right with the "
    "right documents in hand is not known, nor whether an answer is from memory or invented. Name a model as "
    "[blame] model to have that told."
)


def notes_of_run(plan: BlamePlan) -> list[str]:
    """Return the notes that hold for all systems."""
    notes = [*plan.notes]
    if plan.second is None and plan.labels is None:
        notes += [NO_SECOND, *_card(plan)]
    declared = plan.settings.blame.model
    if plan.model is None:
        notes.append(NOT_ASKED)
    elif declared and declared != plan.settings.answer.model:
        notes.append(
            f"{declared} was asked again, and it is not what made the answers of this run: what it makes of "
            "the right documents may be another thing."
        )
    if "reference" not in plan.judge.inputs:
        notes.append(f"{plan.judge.name} reads no reference, so no reference is doubted.")
    elif not plan.support.needs_model:
        notes.append(
            f"Whether passages support an answer or a reference is told by {plan.support.name}, which "
            "compares words: it takes other words for the same thing as unsupported. A judge of faithfulness "
            "that asks a model tells more."
        )
    return notes


def _card(plan: BlamePlan) -> list[str]:
    """Return how often the judge was seen to be wrong elsewhere, where it has a report card."""
    lead = plan.leads[0]
    for card in plan.run.summary.cards:
        exact = card.agreement.get("exact agreement")
        if (card.judge, card.metric, card.model) == (lead.judge, lead.metric, lead.model) and exact:
            return [
                f"By its report card {card.judge} agrees with people on {number(exact.value)} of "
                f"{plural(card.n, 'labelled answer')}; where it does not, the error is its own."
            ]
    return []


def notes_of_system(
    plan: BlamePlan, points: Points, facts: Sequence[Facts], refused: Mapping[str, bool]
) -> list[str]:
    """Return the notes on one system, each with its count. refused: question id -> whether it refuses."""
    notes = []
    counted = points.counted
    n_second = sum(point.second is not None for point in counted)
    n_lost_alone = sum(point.lost and point.second is None and point.answerable for point in counted)
    if not n_second and (plan.second is not None or plan.labels is not None):
        notes.append(
            "The second opinion has no verdict on these answers, so the judge's own share is not measured."
        )
    if n_second and n_lost_alone:
        notes.append(
            f"The judge's share is of the {plural(n_second, 'question')} with a second opinion. "
            f"{plural(n_lost_alone, 'lost point')} have none, and are blamed on others as the judge has it."
        )
    stubborn = [one for one in facts if one.point.lost and one.found is False and one.gold]
    n_stubborn = sum(one.gold is not None and one.gold.right is False for one in stubborn)
    if n_stubborn:
        notes.append(
            f"{plural(n_stubborn, 'lost point')} had no relevant document among the contexts, and stayed "
            "wrong with it in hand: a better retriever alone brings nothing back there."
        )
    if plan.model is not None:
        n_failed = sum(
            one.point.lost and one.point.answerable and bool(one.relevant) and one.gold is None
            for one in facts
        )
        if n_failed:
            notes.append(
                f"{plural(n_failed, 'lost point')} could not be asked again: the call failed, or the corpus "
                "lacks the documents that the question names."
            )
    given = [point for point in points.counted if not point.lost and point.answerable]
    n_refusing = sum(refused.get(point.question_id, False) for point in given)
    if n_refusing:
        notes.append(
            f"The judge gives {plural(n_refusing, 'point')} to answers that refuse, though the question "
            "can be answered: there the judge, or the test of refusal, is wrong."
        )
    return [*notes, *_luck(plan, points)]


def _luck(plan: BlamePlan, points: Points) -> list[str]:
    kept = {point.question_id for point in points.counted if not point.lost and point.answerable}
    rows = [row for row in plan.run.answers if row.system == points.lead.system and row.question_id in kept]
    n_luck = sum(
        found_relevant(row, plan.run.questions.get(row.question_id), plan.run.same) is False for row in rows
    )
    if not n_luck:
        return []
    return [
        f"{plural(n_luck, 'right answer')} had no relevant document among the contexts: known without the "
        "corpus, lucky, or the question does not name all the documents that answer it."
    ]
