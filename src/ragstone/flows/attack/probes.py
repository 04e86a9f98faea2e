"""The bias probes of an attack: rows in two dresses, judged like any others."""

from collections.abc import Awaitable, Callable, Iterable, Sequence

import msgspec

from ragstone.agreement.probes import (
    PROBES,
    TRANSFORMS,
    ProbeEffect,
    effect_of,
    own,
    own_model_effect,
    position,
    position_effect,
    probed_rows,
    unmeasured,
)
from ragstone.engine.session import Session
from ragstone.errors import ConfigError, nearest
from ragstone.judging import Judge
from ragstone.records import Answer, Judgement, Label
from ragstone.tables import parse_row
from ragstone.tables.columns import accepted_names

JudgeSome = Callable[[Sequence[Answer]], Awaitable[list[Judgement]]]


class ProbePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Which probes are made. fitting: only those that suit the judge and the rows, the others unmentioned."""

    names: list[str]
    fitting: bool = False


def plan_probes(names: Iterable[str] | None, *, everything: bool) -> ProbePlan:
    """Return the plan of these probes; `everything`: of all that fit. Raises ConfigError for a name."""
    if everything:
        return ProbePlan(names=list(PROBES), fitting=True)
    chosen = list(dict.fromkeys(names or ()))
    for name in chosen:
        if name not in PROBES:
            raise ConfigError(f"unknown probe {name!r}. {nearest(name, PROBES)}")
    return ProbePlan(names=chosen)


async def probe_judge(
    judge: Judge,
    plan: ProbePlan,
    rows: Sequence[Answer],
    plain: Sequence[Judgement],
    session: Session,
    judge_some: JudgeSome,
) -> list[ProbeEffect]:
    """Return the effect of each probe. rows, plain: the plain rows and their judgements."""
    seed = session.settings.run.seed
    effects = []
    for name in plan.names:
        why = _why_not(name, judge)
        if why is not None:
            if not plan.fitting:
                effects.append(unmeasured(name, _compared(name), why))
            continue
        if name == position.NAME:
            effects.append(position_effect(judge, await judge_some(rows), seed))
        elif name == own.NAME:
            labels = [label for row in rows if (label := label_of(row, judge.measures))]
            effect = own_model_effect(plain, labels, session.settings.judge.model or "", seed)
            effects += [] if plan.fitting and effect.why else [effect]
        else:
            dressed = probed_rows(name, rows)
            n = len(dressed)
            judged = await judge_some([one.plain for one in dressed] + [one.changed for one in dressed])
            pairs = zip(judged[:n], judged[n:], strict=True)
            effects.append(effect_of(name, _compared(name), pairs, seed))
    return effects


def _why_not(name: str, judge: Judge) -> str | None:
    """Return why a probe cannot be made of this judge, None where it can."""
    if (name == position.NAME) != (judge.compares_two):
        return (
            "is for judges that compare two answers (kind pairwise)"
            if name == position.NAME
            else "is for judges of one answer; of this one, position is measured"
        )
    if name != position.NAME and "answer" not in judge.inputs:
        return "the judge does not read the answer"
    return None


def _compared(name: str) -> str:
    if name in TRANSFORMS:
        return TRANSFORMS[name].compared
    return position.COMPARED if name == position.NAME else own.COMPARED


def label_of(row: Answer, metric: str) -> Label | None:
    """Return the label of this metric that a row of a sheet carries, in the columns that `agree` reads."""
    carried = row.metadata or {}
    if not any(name in carried for name in accepted_names(Label, "score")):
        return None
    label = parse_row({"question_id": row.question_id, "system": row.system, **carried}, Label)
    return label if label.metric in (None, metric) else None
