"""`ragstone blame`: a finished run -> where its lost points went, as files and as a part of its report."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.bench import benched_changes
from ragstone.features.blame._causes import PointFacts, find_cause
from ragstone.features.blame._desk import BlameCoordinator
from ragstone.features.blame._plan import BlamePlan, plan_blame
from ragstone.features.blame._points import Points, answerable, points_of, second_by_people, share_out
from ragstone.features.blame._second import telling_verdicts, untelling_note
from ragstone.features.blame._what_if import ask_again, failed_note, prices
from ragstone.features.blame.words import ASKED_AGAIN
from ragstone.features.report import write_reports
from ragstone.kernel.config import Settings, choose, load_settings
from ragstone.kernel.config.systems import ExtractiveSystem
from ragstone.kernel.document.numbers import number
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, SessionOptions, forecast_of, open_session
from ragstone.kernel.errors import checks_arguments, plural
from ragstone.kernel.judging import MetricSummary, question_clusters
from ragstone.kernel.judging.trajectory import EXPECTED_STEPS
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.persistence.journal import held
from ragstone.kernel.records import NO_MODEL, Answer, Judgement, split_repeat
from ragstone.kernel.runs.blamed import BLAME, CAUSES, BlameSummary, digests
from ragstone.kernel.runs.breakdown import found_relevant
from ragstone.kernel.runs.causes import Caused, Returned, SystemBlame
from ragstone.kernel.systems.chosen import named_systems
from ragstone.kernel.tables import write_rows
from ragstone.kernel.tables.storage import put_bytes
from ragstone.kernel.version import __version__

NOT_RETRIEVED = (
    "No row says both which documents are relevant (column document_ids) and which document each context "
    "comes from, so the retriever's share is not measured."
)
NO_SECOND = (
    "There is no second opinion, so the judge's share is not measured: name another judge as second, or "
    "people's labels, in [blame] of ragstone.toml."
)
NOT_ASKED = (
    "No model was asked again, because {why}, so it is unknown what the right documents would change, and "
    "whether an answer is from memory or invented. To find out, {how} a model as [blame] model."
)
QUOTED = "{} quotes the documents and asks no model"
MADE_ELSEWHERE = "another application made these answers"


def notes_of_run(plan: BlamePlan) -> list[str]:
    """Return the notes that hold for all systems."""
    notes = [*plan.notes]
    n_further = sum(split_repeat(row.system)[1] > 1 for row in plan.run.answers)
    if n_further:
        left_out = "1 further one is" if n_further == 1 else f"{n_further:,} further ones are"
        notes.append(f"Only the first answer to each question is used: {left_out} left out.")
    if plan.second is None and plan.labels is None:
        notes += [NO_SECOND, *_card_note(plan)]
    declared = plan.settings.blame.model
    if plan.model is None:
        how = "give sheet and documents to `ragstone run`, and name" if plan.run.of_sheet else "name"
        answer = plan.settings.answer
        quotes = not answer.sheet and isinstance(
            named_systems(plan.settings).get(answer.system or ""), ExtractiveSystem
        )
        notes.append(
            NOT_ASKED.format(why=QUOTED.format(answer.system) if quotes else MADE_ELSEWHERE, how=how)
        )
    elif declared and declared != plan.maker:
        notes.append(
            f"{declared} was asked again, but it did not make the answers of this run, so what it does with "
            "the right documents may differ."
        )
    if plan.run.of_sheet:
        notes.append("The run holds no documents, so no reference is doubted.")
    elif not plan.reads_reference:
        notes.append(f"{plan.judge.name} reads no reference, so no reference is doubted.")
    elif not plan.support.needs_model:
        notes.append(
            f"{plan.support.name} decides whether passages support an answer or a reference. It compares "
            "words, so a paraphrase counts as unsupported. A faithfulness judge that asks a model can see "
            "through one."
        )
    return notes


def _card_note(plan: BlamePlan) -> list[str]:
    """Return how often the judge was seen to be wrong elsewhere, where it has a report card."""
    lead = plan.leads[0]
    for card in plan.run.summary.cards:
        exact = card.agreement.get("exact agreement")
        if (card.judge, card.metric, card.model) == (lead.judge, lead.metric, lead.model) and exact:
            return [
                f"By its report card, {card.judge} agrees with people on {number(exact.value)} of "
                f"{plural(card.n, 'labelled answer')}; where it does not, the error is the judge's."
            ]
    return []


def notes_of_system(
    plan: BlamePlan, points: Points, facts: Sequence[PointFacts], refused: Mapping[str, bool]
) -> list[str]:
    """Return the notes on one system, each with its count. refused: question id -> whether it refuses."""
    notes = [] if "retriever" in points.components else [NOT_RETRIEVED]
    counted = points.counted
    n_second = sum(point.second is not None for point in counted)
    n_lost_alone = sum(point.lost and point.second is None and point.answerable for point in counted)
    if not n_second and (plan.second is not None or plan.labels is not None):
        notes.append(
            "The second opinion has no verdict on these answers, so the judge's share is not measured."
        )
    if n_second and n_lost_alone:
        notes.append(
            f"The judge's share is of the {plural(n_second, 'question')} with a second opinion. "
            f"{plural(n_lost_alone, 'lost point')} without one {'is' if n_lost_alone == 1 else 'are'} blamed "
            "on other components as if the judge were right."
        )
    stubborn = [fact for fact in facts if fact.point.lost and fact.found is False and fact.gold]
    n_stubborn = sum(one.gold is not None and one.gold.right is False for one in stubborn)
    if n_stubborn:
        notes.append(
            f"{plural(n_stubborn, 'lost point')} had no relevant document among the contexts and stayed "
            "wrong when given it: a better retriever alone would bring nothing back there."
        )
    if plan.model is not None:
        n_failed = sum(
            fact.point.lost
            and fact.point.answerable
            and bool(fact.relevant)
            and fact.gold is None
            and not fact.stale
            for fact in facts
        )
        if n_failed:
            notes.append(
                f"{plural(n_failed, 'lost point')} could not be asked again: the call failed, or the corpus "
                "lacks the documents that the question names."
            )
    granted = [point for point in points.counted if not point.lost and point.answerable]
    n_refusing = sum(refused.get(point.question_id, False) for point in granted)
    if n_refusing:
        notes.append(
            f"The judge gives {plural(n_refusing, 'point')} to answers that refuse, though the question can "
            "be answered: there, either the judge or the refusal test is wrong."
        )
    return [*notes, *_steps_note(facts), *_luck_note(plan, points)]


def _steps_note(facts: Sequence[PointFacts]) -> list[str]:
    n_untold = sum(fact.steps is not None and not fact.steps.expected for fact in facts)
    if not n_untold:
        return []
    return [
        f"The rows of {plural(n_untold, 'lost point')} of an agent do not say which steps are expected "
        f"(column {EXPECTED_STEPS[0]}), so a wrong tool cannot be detected there, and wrong "
        "arguments only by an error that says so."
    ]


def _luck_note(plan: BlamePlan, points: Points) -> list[str]:
    granted = {point.question_id for point in points.counted if not point.lost and point.answerable}
    is_found = _found(plan, points.lead.system)
    n_luck = sum(found_it is False for name, found_it in is_found.items() if name in granted)
    if not n_luck:
        return []
    return [
        f"{plural(n_luck, 'right answer')} had no relevant document among the contexts: the model answered "
        "from memory or was lucky, or the question does not name all documents that answer it."
    ]


def _found(plan: BlamePlan, system: str) -> dict[str, bool | None]:
    """Return question id -> whether a relevant document is among the contexts of a system's answer."""
    run = plan.run
    return {
        row.question_id: found_relevant(row, run.questions.get(row.question_id), run.same)
        for row in run.answers
        if row.system == system
    }


ANSWERS, JUDGEMENTS = "blame_answers.jsonl", "blame_judgements.jsonl"
AT_MOST = "This is a maximum: what is asked depends on the answers, and most lost points need less."
PEOPLE = "people"


class Blamed(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it: the tables, the causes, and the rows that were made for them."""

    systems: list[SystemBlame]
    causes: list[Caused]
    answers: list[Answer]
    judgements: list[Judgement]


@checks_arguments
def blame(
    run: os.PathLike[str] | str,
    *,
    model: str | None = None,
    judge: str | None = None,
    second: str | None = None,
    second_model: str | None = None,
    labels: Path | str | None = None,
    what_if: int | None = None,
    reader: str | None = None,
    settings: Settings | None = None,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> BlameSummary:
    """Return where the lost points of a finished run went; write files and a new report.html to its folder.

    run: a folder that `ragstone run` or `ragstone judge` wrote, or what `read_run` returns. model, judge,
    second, second_model, labels, what_if, reader: in place of those of `[blame]`. settings: `[blame]` and the
    tables of the models (default: ragstone.toml); judges and prompts are those of the run. Beside the second
    opinion, models are asked about lost points alone, and about `what_if` right answers, and as many lost
    ones, for the prices of changes. Run again, no finished call is made twice and every file is the same.
    budget: e.g. `100calls` or `2usd`; deadline: e.g. `30m`. Raises ConfigError and DataError as plan_blame
    does, ModelError when no call can succeed.
    """
    chosen = choose_blame(
        settings or load_settings(),
        model=model,
        judge=judge,
        second=second,
        second_model=second_model,
        labels=labels,
        what_if=what_if,
        reader=reader,
    )
    how = SessionOptions(parse_caps(budget, deadline), offline, progress=progress)
    return run_sync(_blame(plan_blame(Path(run), chosen), how))


def choose_blame(
    settings: Settings,
    *,
    second: str | None = None,
    labels: Path | str | None = None,
    **chosen: str | int | None,
) -> Settings:
    """Return the settings with what a caller gave in place of `[blame]`; paths are the caller's own.

    A second judge that is given takes the place of labels that are declared, and the other way round.
    """
    if second and not labels:
        settings = _without(settings, "labels")
    if labels and not second:
        settings = _without(settings, "second")
    if second and second.endswith(".toml"):
        second = str(Path(second).absolute())
    path = None if labels is None else str(Path(labels).absolute())
    return choose(settings, "blame", second=second, labels=path, **chosen)


def _without(settings: Settings, key: str) -> Settings:
    return msgspec.structs.replace(settings, blame=msgspec.structs.replace(settings.blame, **{key: None}))


def forecast_blame(run: Path | str, settings: Settings) -> Forecast:
    """Return the most that blame would ask. Raises what `blame` raises before it makes a call."""
    plan = plan_blame(Path(run), settings)

    async def at_most(session: Session) -> None:
        session.forecaster.assume(AT_MOST, plan.support.assumption)
        await lay_blame(plan, session, everything=True)

    # What is asked depends on replies: only where the ledger has them all is it known.
    known = forecast_of(plan.settings, lambda session: lay_blame(plan, session))
    return forecast_of(plan.settings, at_most) if known.calls else known


async def _blame(plan: BlamePlan, how: SessionOptions) -> BlameSummary:
    folder = plan.run.folder
    with held(folder):
        async with open_session(plan.settings, how) as session:
            blamed = await lay_blame(plan, session)
        named = [row.system for row in blamed.systems]
        look = plan.settings.blame.what_if and len(named) == 1
        benched, of_benches = benched_changes(folder, named[0]) if look else ([], [])
        summary = BlameSummary(
            name=plan.run.summary.name,
            version=__version__,
            systems=blamed.systems,
            models=_models(plan),
            made_from=digests(folder),
            notes=[*notes_of_run(plan), *of_benches],
            benched=benched,
        )
        write_rows(folder / ANSWERS, blamed.answers, Answer, force=True)
        write_rows(folder / JUDGEMENTS, blamed.judgements, Judgement, force=True)
        put_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in blamed.causes), folder / CAUSES)
        put_bytes(msgspec.json.format(msgspec.json.encode(summary), indent=2), folder / BLAME)
        write_reports(folder)
    return msgspec.structs.replace(summary, calls=session.calls())


async def lay_blame(plan: BlamePlan, session: Session, *, everything: bool = False) -> Blamed:
    """Return the blame of every system of a run. everything: ask all that could decide, for a forecast."""
    answers: list[Answer] = []
    judgements: list[Judgement] = []
    desk = BlameCoordinator(plan, session, answers=answers, judgements=judgements, everything=everything)
    run = plan.run
    refusals = await desk.told(plan.refusal, [row for row in run.answers if row.error is None])
    refused = {
        lead.system: {
            name: not answered for (name, system), answered in refusals.items() if system == lead.system
        }
        for lead in plan.leads
    }
    verdicts = await _seconds(plan, desk)
    seconds = telling_verdicts(plan.second, verdicts, run.questions)
    points = {
        lead.system: _points(
            plan,
            lead,
            refused[lead.system],
            {name: right for (name, system), right in seconds.items() if system == lead.system},
        )
        for lead in plan.leads
    }
    second = second_name(plan)
    facts = await desk.facts(points, second or "")
    causes = {
        system: [find_cause(fact, system) for fact in _in_order(points[system], of_system)]
        for system, of_system in facts.items()
    }
    clusters = question_clusters(run.questions.values(), run.judgements)
    replies = await ask_again(plan, desk, points)
    return Blamed(
        systems=[
            share_out(
                points[system],
                cause,
                clusters,
                second=second,
                returned=_returned(facts[system]),
                notes=[
                    *notes_of_system(plan, points[system], facts[system], refused[system]),
                    *untelling_note(
                        second,
                        sum(of == system for _, of in verdicts) - sum(of == system for _, of in seconds),
                    ),
                    *(failed_note(replies[system]) if plan.settings.blame.what_if else []),
                ],
                prices=prices(
                    points[system],
                    replies[system],
                    facts[system],
                    cause,
                    clusters,
                    reader=plan.reader,
                    by_people=plan.labels is not None,
                ),
                seed=plan.settings.run.seed,
            )
            for system, cause in causes.items()
        ],
        causes=[row for cause in causes.values() for row in cause],
        answers=answers,
        judgements=judgements,
    )


def _points(
    plan: BlamePlan, lead: MetricSummary, refused: Mapping[str, bool], seconds: Mapping[str, bool]
) -> Points:
    """Return a system's points; of a run without documents, with the components that may answer for some."""
    run = plan.run
    points = points_of(lead, run.answers, run.judgements, run.questions, refused, seconds)
    if not run.of_sheet:
        return points
    is_found = _found(plan, points.lead.system)
    unseen = (
        {"dataset"}
        if any(found_it is not None for found_it in is_found.values())
        else {"dataset", "retriever"}
    )
    seen = [component for component in points.components if component not in unseen]
    return msgspec.structs.replace(points, components=seen)


async def _seconds(plan: BlamePlan, desk: BlameCoordinator) -> dict[tuple[str, str], bool]:
    """Return (question id, system) -> whether the second opinion gives the answer its point."""
    if plan.labels is not None:
        return {
            (name, lead.system): right
            for lead in plan.leads
            for name, right in second_by_people(plan.labels, plan.run.judgements, lead).items()
        }
    if plan.second is None:
        return {}
    systems = {lead.system for lead in plan.leads}
    rows = [
        row
        for row in plan.run.answers
        if row.system in systems and answerable(row, plan.run.questions.get(row.question_id))
    ]
    return await desk.told(plan.second, rows, model=plan.second_model)


def second_name(plan: BlamePlan) -> str | None:
    """Return whose the second opinion is, in words."""
    if plan.labels is not None:
        return PEOPLE
    if plan.second is None:
        return None
    return f"{plan.second.name} ({plan.second_model})" if plan.second_model else plan.second.name


def _in_order(points: Points, facts: Sequence[PointFacts]) -> list[PointFacts]:
    rank = {point.question_id: at for at, point in enumerate(points.counted)}
    return sorted(facts, key=lambda fact: rank[fact.point.question_id])


def _returned(facts: Sequence[PointFacts]) -> Returned | None:
    """Return how many lost points come back with the right passages in hand; None where nobody asked."""
    questions = [
        fact.gold.right for fact in facts if fact.point.lost and fact.gold and fact.gold.right is not None
    ]
    return Returned(n=len(questions), n_right=sum(questions)) if questions else None


def _models(plan: BlamePlan) -> dict[str, str]:
    """Return role -> model, of those that may be asked."""
    roles: Mapping[str, str | None] = {
        ASKED_AGAIN: plan.model,
        "judge": plan.leads[0].model,
        "second judge": plan.second_model,
        "priced": plan.reader,
    }
    return {role: name for role, name in roles.items() if name and name != NO_MODEL}
