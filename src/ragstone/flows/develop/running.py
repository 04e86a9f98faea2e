"""A draft and the version before on the dev part; a look at the test part; and what either would ask."""

from collections.abc import Mapping, Sequence

import msgspec

from ragstone.stages.judge_context import judge_context
from ragstone.agreement.card import ReportCard
from ragstone.agreement.developing import (
    Development,
    Judged,
    Look,
    Moved,
    Node,
    Part,
    Scale,
    Version,
    changes_between,
    compare_versions,
    humans_of,
    judged_version,
    look_notes,
    looks_at,
)
from ragstone.agreement.grading import report_cards
from ragstone.agreement.pairing import Human, Key
from ragstone.config import Settings
from ragstone.engine.session import Session, forecast_of
from ragstone.errors import DataError
from ragstone.flows.develop.judge_files import digest_of
from ragstone.flows.develop.labelled import LabelledSet
from ragstone.flows.develop.store import DevelopmentStore, now
from ragstone.judging import Judge, load_judge, question_digest
from ragstone.judging.judge import every_key
from ragstone.llm.forecast import Forecast, Forecaster
from ragstone.records import Answer, Judgement
from ragstone.stages.judge import judge_rows
from ragstone.stages.notes import BASELINES
from ragstone.statistics import Estimate

CLOSED_ROWS = "Which answers the judge and people differ on is not shown: they stay closed."
SAMPLE = 500  # answers that a forecast looks at; each stands for as many as were passed over
DEV_NOTE = (
    "The dev part is what the judge is fitted to: agreement there reads too good. What it is worth shows the "
    "test part, once, at the end."
)
CLOSED = "{labels}: no question of it is in the {part} part yet. Label answers to more questions."


class Task(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What is to be developed: the draft, the version before if there is one, the set, how scores meet it."""

    draft: Judge
    before: Judge | None
    labelled: LabelledSet
    parts: Mapping[Node, Part]
    scale: Scale = Scale()
    model: str | None = None

    def part(self, part: Part) -> LabelledSet:
        """Return one part of the set. Raises DataError if it is empty."""
        found = self.labelled.of(self.parts, part)
        if part != "neither" and not found.answers:
            raise DataError(CLOSED.format(labels=self.labelled.name, part=part))
        return found


class TestLook(msgspec.Struct, frozen=True, kw_only=True):
    """A look at the test part: its number, from 1, the card that it showed, and all looks so far.

    place: in the log of looks at all test parts, from 1.
    """

    number: int
    place: int
    card: ReportCard
    looks: list[Look]
    __test__ = False  # no test of pytest's


def untuned(judge: Judge) -> Judge:
    """Return the judge as it is run on the dev part, whose questions are there to tune it on."""
    return msgspec.structs.replace(judge, tuned_on=[])


def digest_of_judge(judge: Judge) -> str:
    """Return what a judge is told by in a log: by all that its file says, but version and `tuned_on`."""
    same = msgspec.structs.replace(judge, version=1, tuned_on=[])
    return digest_of(msgspec.json.encode(every_key(same)).decode())


async def develop(task: Task, session: Session) -> Development:
    """Return what the draft changes against the version before, on the dev part.

    Calls that are in the ledger are not made again. Raises DataError for labels that do not speak of the
    judge's metric, ModelError when no call can succeed.
    """
    rows = await _judged(task, task.part("dev").answers, session)
    return developed(task, rows, session.settings.run.seed)


async def _judged(task: Task, answers: Sequence[Answer], session: Session) -> list[list[Judgement]]:
    """Return the rows of the draft, then those of the version before."""
    found = []
    for judge in (task.draft, task.before):
        if judge is not None:
            means = await judge_context(session, [judge], task.model)
            made = judge_rows(lambda: answers, [untuned(judge)], session, len(answers), means=means)
            found.append([row async for row in made])
    return found


def developed(task: Task, rows: Sequence[Sequence[Judgement]], seed: int) -> Development:
    """Return the development from the judgements of the draft and, if there is one, the version before."""
    dev, test = task.part("dev"), task.labelled.of(task.parts, "test")
    humans = humans_of(dev.labels, task.draft.measures, task.scale)
    judges = [one for one in (task.draft, task.before) if one is not None]
    judged = [
        judged_version(mine, judge.measures, humans, task.scale, seed=seed)
        for judge, mine in zip(judges, rows, strict=True)
    ]
    moved = compare_versions(judged[1], judged[0], seed=seed) if len(judged) > 1 else Moved()
    versions = [
        _version(judge, one, value)
        for judge, one, value in zip(judges, judged, moved.values[::-1], strict=False)
    ]
    texts = {(row.question_id, row.system): row for row in dev.answers}
    return Development(
        labels=task.labelled.name,
        n_answers=len(dev.answers),
        n_questions=len(dev.questions),
        n_test=len(test.answers),
        n_neither=len(task.labelled.of(task.parts, "neither").answers),
        before=versions[1] if len(versions) > 1 else None,
        after=versions[0],
        n=moved.n,
        measure=moved.measure,
        test=moved.test,
        changes=changes_between(judged[1], judged[0], humans, texts) if len(judged) > 1 else [],
        notes=[*moved.notes, *_notes(judged, humans), DEV_NOTE],
        tuned_on=sorted({question_digest(row.question_id, row.question) for row in dev.answers}),
    )


def _version(judge: Judge, one: Judged, value: Estimate | None) -> Version:
    return Version(
        judge=judge.name,
        version=judge.version,
        digest=digest_of_judge(judge),
        card=one.card,
        value=value,
    )


def _notes(judged: Sequence[Judged], humans: Mapping[Key, Human]) -> list[str]:
    """Return what keeps answers out of the comparison."""
    notes = []
    if not any(one.measured.pairs.keys for one in judged):
        notes.append("No labelled answer of the dev part has a score by either: see the statuses.")
    over = [one for one in judged if one.measured.pairs.statuses.get("over_budget")]
    if over:
        n = sum(one.measured.pairs.statuses["over_budget"] for one in over)
        notes.append(
            f"The budget was spent before {n} judgements were made; they are in no number here. Run again "
            "with a larger one: finished calls are in the ledger and cost nothing."
        )
    n_tied = sum(human.score is None for human in humans.values())
    if n_tied:
        notes.append(f"{n_tied} answers on which annotators tie are left out.")
    return notes


async def look_at_part(task: Task, session: Session, store: DevelopmentStore, who: str) -> TestLook:
    """Return the report card of the draft on the test part, with the number of this look.

    The judge that asks no model and measures the same, where there is one, stands beside it. The card shows
    no answer, so that none becomes the next draft's example. The look is on the disk before its card is
    given. What could not be judged is no look: raises ModelError when no call can succeed, DataError where
    the budget was spent before the end, or labels do not fit the judge.
    """
    test = task.part("test")
    judge = task.draft
    humans_of(test.labels, judge.measures, task.scale)
    baseline = BASELINES.get(judge.measures)
    judges = [judge, load_judge(baseline)] if baseline and judge.needs_model else [judge]
    rows = []
    for one in judges:
        means = await judge_context(session, [one], task.model)
        made = judge_rows(lambda: test.answers, [one], session, len(test.answers), means=means)
        rows += [row async for row in made]
    _check_whole(rows, judge)
    card = _card(judge, rows, test, task.scale, session.settings.run.seed)
    look = Look(
        at=now(),
        who=who,
        labels=test.name,
        judge=judge.name,
        version=judge.version,
        digest=digest_of_judge(judge),
        model=card.model,
        questions=_named(test),
    )
    everything = store.add_look(look)
    looks = looks_at(everything, look.questions)
    notes = [*look_notes(len(looks), looks, len(test.answers)), CLOSED_ROWS, *card.notes]
    # Which answers it gets wrong would be the next draft's examples: the numbers are shown, the rows are not.
    card = msgspec.structs.replace(card, notes=notes, disagreements=[])
    shown = TestLook(number=len(looks), place=len(everything), card=card, looks=looks)
    store.put_card(shown.place, msgspec.json.encode(shown))
    return shown


def _check_whole(rows: Sequence[Judgement], judge: Judge) -> None:
    """Raise DataError where the budget cut the test part off: half a look would be a look all the same."""
    n_over = sum(row.status == "over_budget" for row in rows)
    if n_over:
        raise DataError(
            f"the budget was spent before {n_over} of {len(rows)} judgements of {judge.name} on the test "
            "part were made. Nothing is shown, and no look was counted. Run again with a larger budget: "
            "finished calls are in the ledger and cost nothing."
        )


def _named(test: LabelledSet) -> list[Node]:
    """Return the questions of a part; an id alone is a name within its own set only."""
    return [f"{test.name} {node}" if node.startswith("id ") else node for node in test.questions]


def _card(judge: Judge, rows: Sequence[Judgement], test: LabelledSet, scale: Scale, seed: int) -> ReportCard:
    threshold = {judge.name: scale.threshold} if scale.threshold is not None else None
    cards = report_cards(rows, test.labels, mapping=scale.mapping, threshold=threshold, seed=seed)
    return next(card for card in cards if (card.judge, card.metric) == (judge.name, judge.measures))


def looks_so_far(labelled: LabelledSet, parts: Mapping[Node, Part], store: DevelopmentStore) -> list[Look]:
    """Return the looks at the test part of a set so far."""
    return looks_at(store.looks(), _named(labelled.of(parts, "test")))


def forecast_development(task: Task, settings: Settings, part: Part = "dev") -> Forecast:
    """Return what a run on one part would ask; nobody is asked. Raises what the run raises before it asks."""
    answers = task.part(part).answers
    step = max(1, -(-len(answers) // SAMPLE))
    sampled = answers[::step]
    judged = task if part == "dev" else msgspec.structs.replace(task, before=None)

    async def work(session: Session, forecaster: Forecaster) -> None:
        forecaster.weight = len(answers) / len(sampled)
        judges = [judge for judge in (judged.draft, judged.before) if judge]
        forecaster.assumptions |= dict.fromkeys(judge.assumption for judge in judges if judge.assumption)
        await _judged(judged, sampled, session)

    return forecast_of(settings, work)
