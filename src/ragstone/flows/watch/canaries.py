"""The canaries of a monitor: frozen once enough was judged, and judged again when they are due."""

import datetime
from collections.abc import Sequence

import msgspec

from ragstone.config import MonitorSection
from ragstone.engine.session import Session
from ragstone.judging import Judge, JudgeContext, judge_answer
from ragstone.monitor.alarms import Alarm
from ragstone.monitor.canaries import Canaries, CanaryScore, JudgedAnswer, anew, due, freeze, judge_again
from ragstone.monitor.judged import judge_of, scored_of
from ragstone.monitor.store import MonitorStore
from ragstone.records import Answer, Judgement
from ragstone.stages.judge_context import judge_context

NOTE = "canaries"  # under which the store keeps them
SEED = 0
MOST_DRAWN_FROM = 5000  # exchanges, the first that were read


def load_canaries(store: MonitorStore) -> Canaries | None:
    """Return the canaries of a store, None before they are frozen."""
    kept = store.note(NOTE)
    return None if kept is None else msgspec.json.decode(kept, type=Canaries)


def freeze_canaries(
    store: MonitorStore, judges: Sequence[Judge], section: MonitorSection, today: datetime.date
) -> None:
    """Freeze canaries, once as many exchanges as the settings want have scores of judges that ask a model."""
    if not section.canaries or store.note(NOTE) is not None:
        return
    asking = {judge.name for judge in judges if judge.needs_model}
    drawn = store.judged_answers(most=MOST_DRAWN_FROM)
    judged = [
        JudgedAnswer(answer=answer, scores=scores)
        for answer, rows in drawn
        if (
            scores := {
                row.metric: CanaryScore(score=row.score, judge=judge_of(row.judge, row.version, row.model))
                for row in rows
                if row.score is not None and row.judge in asking
            }
        )
    ]
    if len(judged) >= section.canaries:
        frozen = freeze(judged, section.canaries, SEED, today)
        store.keep_note(NOTE, msgspec.json.encode(frozen))


def canaries_wait(
    store: MonitorStore, section: MonitorSection, today: datetime.date, alarms: Sequence[Alarm]
) -> bool:
    """Return whether canaries are due: by their schedule, or for an alarm whose cause is not known."""
    canaries = load_canaries(store)
    if canaries is None or not section.canaries:
        return False
    unknown = [one.raised for one in alarms if one.raised and one.cause == "unknown" and one.over is None]
    return due(canaries, today, section.canary_days, max(unknown, default=None))


async def judge_canaries(
    store: MonitorStore,
    judges: Sequence[Judge],
    session: Session,
    section: MonitorSection,
    *,
    today: datetime.date,
    alarms: Sequence[Alarm],
) -> bool:
    """Judge the canaries again if they are due, and keep the round; return whether they were.

    alarms: so far; one whose cause is not known makes them due at once. A round that the budget cut off is
    not kept: it goes on when they are next looked at, with what the ledger has of it.
    """
    canaries = load_canaries(store)
    if canaries is None or not canaries_wait(store, section, today, alarms):
        return False
    means = await judge_context(session, judges)
    asking = [judge for judge in judges if judge.needs_model]
    cut_off: list[Judgement] = []

    async def judge(answer: Answer, number: int) -> dict[str, CanaryScore]:
        again = _anew(means, number)
        rows = [row for one in asking for row in await judge_answer(one, answer, again)]
        cut_off.extend(row for row in rows if row.status == "over_budget")
        return _scores(rows)

    later = await judge_again(canaries, judge, today)
    if later == canaries or cut_off:
        return False
    store.keep_note(NOTE, msgspec.json.encode(later))
    return True


def _anew(means: JudgeContext, number: int) -> JudgeContext:
    """Return means whose asks the ledger does not know the replies of."""
    return means.wrapped(lambda ask: anew(ask, number))


def _scores(rows: Sequence[Judgement]) -> dict[str, CanaryScore]:
    kept = [scored_of(row) for row in rows]
    return {
        one.metric: CanaryScore(score=one.score, judge=judge_of(one.judge, one.version, one.model))
        for one in kept
        if one.score is not None
    }
