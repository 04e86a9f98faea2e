"""Exchanges of the monitor's store that are due, and canaries, -> judgements, in the store as they come."""

import asyncio
import datetime
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from ragstone.features.watch._alarms import Alarm, JudgeEvidence
from ragstone.features.watch._canaries import (
    Canaries,
    CanaryScore,
    JudgedAnswer,
    anew,
    due,
    freeze,
    judge_again,
)
from ragstone.features.watch._judged import Due, StoredScore, best_of, judge_of, scored_of
from ragstone.features.watch.store import MonitorStore
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.engine.mapping import on_cluster
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import Stopped
from ragstone.kernel.judging import Judge, JudgeContext, judge_answer
from ragstone.kernel.judging.classify import ClassifyJudge
from ragstone.kernel.llm import Caps
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.stages.judge import judge_context, judge_rows

CHUNK = 256  # exchanges that are judged and kept together, one judge after the other
ON_WORKERS = 8192  # which are started for each chunk
CAPPED_CHUNK = 32  # with a budget: few are then left without the last judges when it ends
COUNTED = 20  # judgements after which what was spent is counted to the day
OFFLINE = "offline, and the ledger lacks this call"


class Judging(msgspec.Struct, frozen=True, kw_only=True):
    """What came of judging: how many exchanges all judges have judged. cut_off: the budget ended.

    tried: exchanges that a judge could not judge, to be left alone until another run.
    """

    finished: int = 0
    tried: set[int] = set()
    cut_off: bool = False


async def judge_due(
    store: MonitorStore,
    judges: Sequence[Judge],
    session: Session,
    *,
    today: datetime.date,
    leave: Collection[int] = (),
    tell: Callable[[Sequence[Judgement]], object] = lambda _rows: None,
) -> Judging:
    """Judge what is due, the newest first, and keep it. leave: exchanges that are passed over.

    tell: is given the judgements that were kept.

    What the budget or `--offline` did not allow stays due. Cancelled, what is finished is kept, and Stopped
    is raised. Raises ModelError where no call can succeed.
    """
    work = _DueWork(store, judges, session, await judge_context(session, judges), today, tell=tell)
    names = [judge.name for judge in judges]
    tried = set(leave)
    size = CHUNK if session.budget.caps == Caps() else CAPPED_CHUNK
    size = ON_WORKERS if on_cluster(session) else size
    while listed := store.due(names, leave=tried):
        for some in _chunks(listed, size):
            still = await work.judge(some)
            if work.cut_off:
                return Judging(finished=work.finished, tried=tried, cut_off=True)
            tried |= still
    work.spend()
    return Judging(finished=work.finished, tried=tried)


def _chunks(listed: Sequence[Due], size: int) -> Iterator[list[Due]]:
    """Yield exchanges that lack the same judges together, at most so many."""
    for _, group in groupby(listed, key=lambda due: due.judges):
        same = list(group)
        yield from (same[at : at + size] for at in range(0, len(same), size))


class _DueWork:
    """Judges chunks and keeps them; what was spent is counted on the way."""

    def __init__(
        self,
        store: MonitorStore,
        judges: Sequence[Judge],
        session: Session,
        context: JudgeContext,
        today: datetime.date,
        *,
        tell: Callable[[Sequence[Judgement]], object],
    ) -> None:
        self._tell = tell
        self.finished = 0
        self.cut_off = False
        self._store, self._session, self._context, self._today = store, session, context, today
        self._judges = {judge.name: judge for judge in judges}
        self._best = best_of(list(judges))
        self._modes = store.watched_modes()
        self._spending = DaySpending(store, session, today)
        self._declared: set[tuple[str, str]] = set()

    async def judge(self, some: Sequence[Due]) -> set[int]:
        """Judge exchanges by the judges that they lack; return those that are still due."""
        answers = list(self._store.answers(due.n for due in some).values())
        lacking = [self._judges[name] for name in some[0].judges]
        rows: list[Judgement] = []
        try:
            async for row in judge_rows(
                lambda: answers, lacking, self._session, len(answers), context=self._context
            ):
                if row.status == "over_budget":
                    self.cut_off = True
                elif not (row.error or "").startswith(OFFLINE):  # it says something of its exchange
                    rows.append(row)
                    if len(rows) % COUNTED == 0:
                        self._spending.count()
        except asyncio.CancelledError:
            self._keep(rows, answers)
            raise Stopped(
                "stopped. What was judged is kept: run the same command again to continue."
            ) from None
        return self._keep(rows, answers)

    def _keep(self, rows: Sequence[Judgement], answers: Sequence[Answer]) -> set[int]:
        scores = [(int(row.question_id), scored_of(row, self._modes)) for row in rows]
        self._declare(scores)
        self._spending.count()
        numbers = [int(answer.question_id) for answer in answers]
        names = list(self._judges)
        done = self._store.keep(scores, best=self._best, judges=names, finished=numbers, on=self._today)
        self.finished += len(done)
        self._tell(rows)
        return set(numbers) - done

    def _declare(self, scores: Iterable[tuple[int, StoredScore]]) -> None:
        """Make the labels known that a judge can give, once for each judge and model."""
        for _, score in scores:
            judge = self._judges.get(score.judge)
            if isinstance(judge, ClassifyJudge) and (score.judge, score.model) not in self._declared:
                self._declared.add((score.judge, score.model))
                self._store.declare_labels(score, judge.labels, self._best)

    def spend(self) -> None:
        """Count to the day what was spent since the last time, in all of the session."""
        self._spending.count()


class DaySpending:
    """Counts to a day what a session spends: calls, tokens and USD, None where a price is unknown."""

    def __init__(self, store: MonitorStore, session: Session, today: datetime.date) -> None:
        self._store, self._session, self._today = store, session, today
        self._counted: tuple[int, int, float | None] = (0, 0, 0.0)

    def count(self) -> None:
        """Count what was spent since the last time."""
        calls, tokens, usd = self._counted
        budget = self._session.budget
        now = budget.made, budget.spent_tokens, budget.spent_usd
        if now[:2] != (calls, tokens) or (now[2] is not None and now[2] != usd):
            # Once a call has no price, what was spent since is not known, whatever the others cost.
            more = None if now[2] is None or usd is None else now[2] - usd
            self._store.spend(self._today, now[0] - calls, now[1] - tokens, more)
            self._counted = now


CANARIES_NOTE = "canaries"  # under which the store keeps them
SEED = 0
MOST_DRAWN_FROM = 5000  # exchanges, the first that were read


def load_canaries(store: MonitorStore) -> Canaries | None:
    """Return the canaries of a store, None before they are frozen."""
    note = store.note(CANARIES_NOTE)
    return None if note is None else msgspec.json.decode(note, type=Canaries)


def freeze_canaries(
    store: MonitorStore, judges: Sequence[Judge], section: MonitorSection, today: datetime.date
) -> None:
    """Freeze canaries, once as many exchanges as the settings want have scores of judges that ask a model.

    Scores that were made elsewhere are not frozen: nobody knows how old they are.
    """
    if not section.canaries or store.note(CANARIES_NOTE) is not None:
        return
    asking, judged_on = {judge.name for judge in judges if judge.needs_model}, store.judged_on()
    judged = []
    for answer, day, rows in store.judged_answers(store.done_numbers(MOST_DRAWN_FROM)):
        scores = {
            row.metric: score
            for row in rows
            if row.judge in asking
            and (score := _canary_score(row)) is not None
            and (day is None or judged_on.get((row.metric, score.judge), {}).get(day, True))
        }
        if scores:
            judged.append(JudgedAnswer(answer=answer, scores=scores))
    if len(judged) >= section.canaries:
        frozen = freeze(judged, section.canaries, SEED, today)
        store.keep_note(CANARIES_NOTE, msgspec.json.encode(frozen))


def canaries_wait(
    store: MonitorStore, section: MonitorSection, today: datetime.date, alarms: Sequence[Alarm]
) -> bool:
    """Return whether canaries are due: by their schedule, or for an alarm whose cause is not known."""
    canaries = load_canaries(store)
    if canaries is None or not section.canaries:
        return False
    unknown = [
        alarm.raised for alarm in alarms if alarm.raised and alarm.cause == "unknown" and alarm.over is None
    ]
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
    context, modes = await judge_context(session, judges), store.watched_modes()
    asking = [judge for judge in judges if judge.needs_model]
    cut_off: list[Judgement] = []

    async def judge(answer: Answer, number: int) -> dict[str, CanaryScore]:
        again = context.wrapped(lambda ask: anew(ask, number))
        rows = [row for asked_judge in asking for row in await judge_answer(asked_judge, answer, again)]
        cut_off.extend(row for row in rows if row.status == "over_budget")
        return {
            row.metric: score for row in rows if (score := _canary_score(scored_of(row, modes))) is not None
        }

    later = await judge_again(canaries, judge, today)
    if later == canaries or cut_off:
        return False
    store.keep_note(CANARIES_NOTE, msgspec.json.encode(later))
    return True


def _canary_score(stored: StoredScore) -> CanaryScore | None:
    if stored.score is None:
        return None
    return CanaryScore(score=stored.score, judge=judge_of(stored.judge, stored.version, stored.model))


def judge_evidence(store: MonitorStore) -> JudgeEvidence:
    """Return what a store knows of its judges beside their scores."""
    return JudgeEvidence(canaries=load_canaries(store), judged_on=store.judged_on())
