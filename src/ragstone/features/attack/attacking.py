"""`ragstone attack`: can the text that is judged set its own verdict, and what else moves a judge?"""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from ragstone.features.attack._families import Family, load_families
from ragstone.features.attack._planting import plant
from ragstone.features.attack._probes import JudgedRows, ProbePlan, comparable_rows, plan_probes, probe_judge
from ragstone.features.attack._rates import attempts_of, can_flip, flips_shown, gate, rates_of
from ragstone.features.attack._rows import BAD, attackable_rows, is_base
from ragstone.features.attack._sentence_table import NOT_APPLICABLE, LeftOutAttacks
from ragstone.features.attack._values import Aim
from ragstone.features.attack.words import ATTACK, AttackSummary, JudgeAttacked, attack_document
from ragstone.kernel.config import Settings, choose, load_settings
from ragstone.kernel.document.output import write_document
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.output import make_folder
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import PLAIN, Session, SessionOptions, forecast_of, open_session
from ragstone.kernel.errors import ConfigError, DataError, checks_arguments
from ragstone.kernel.judging import Judge
from ragstone.kernel.judging.fields import members_of
from ragstone.kernel.judging.variant import AnyJudge, load_judges
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.persistence.journal import held
from ragstone.kernel.records import NO_MODEL, Answer, Judgement, Status, count_statuses
from ragstone.kernel.runs.wording import statuses
from ragstone.kernel.sentences import say
from ragstone.kernel.stages.judge import judge_rows
from ragstone.kernel.tables import check_output, read_rows, write_rows
from ragstone.kernel.version import __version__

JUDGED = "judgements.jsonl"
EVERY_ROW = "Assumes that every row is attacked; rows whose plain verdict leaves nothing to win are not."


class AttackPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is tried on judges.

    families: of attacks; none of them for probes alone. sheet: rows of the user's, in place of those that
    ship. limit: number of rows. each: so many attacks on a row, None for all. most_flips: the gate.
    """

    families: list[Family]
    probes: ProbePlan
    sheet: Path | None = None
    limit: int | None = None
    each: int | None = None
    most_flips: float | None = None


def plan_attack(
    judges: Sequence[Judge],
    *,
    sheet: Path | None = None,
    families: Iterable[str] | None = None,
    probes: Iterable[str] | None = None,
    limit: int | None = None,
    each: int | None = None,
    most_flips: float | None = None,
) -> AttackPlan:
    """Return what is tried: these families and probes; all of both if neither is named.

    Raises ConfigError for a name that is unknown, a number below 1, and for attacks on a judge that compares
    two answers.
    """
    for name, number in (("limit", limit), ("each", each)):
        if number is not None and number < 1:
            raise ConfigError(f"{name} = {number}: give 1 or more, or leave it out for all.")
    if most_flips is not None and not 0 <= most_flips <= 1:
        raise ConfigError(f"most_flips = {most_flips:g}: give a share of attacks from 0 to 1, such as 0.05.")
    everything = families is None and probes is None
    tried = load_families(families) if everything or families is not None else []
    pairwise = [judge.name for judge in judges if judge.compares_two]
    if pairwise and families is not None:
        raise ConfigError(
            f"judge {pairwise[0]!r} compares two answers, but attacks are for judges of one answer. Leave "
            "out --family; --probe position measures it."
        )
    return AttackPlan(
        families=tried,
        probes=plan_probes(probes, everything=everything),
        sheet=sheet,
        limit=limit,
        each=each,
        most_flips=most_flips,
    )


@checks_arguments
def attack(
    judges: Iterable[AnyJudge],
    *,
    model: str | None = None,
    sheet: str | Path | None = None,
    families: Iterable[str] | None = None,
    probes: Iterable[str] | None = None,
    limit: int | None = None,
    each: int | None = None,
    most_flips: float | None = None,
    output: str | Path | None = None,
    settings: Settings | None = None,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    force: bool = False,
    progress: Progress = silent,
) -> AttackSummary:
    """Return how often texts that try to set their own verdict do so, and what else moves these judges.

    sheet: an answer sheet, whose rows with a low verdict are attacked (default: rows that ship). families,
    probes: which attacks and which probes of bias; all of both if neither is given. limit: number of rows.
    each: number of attacks on each row, taken in turn (default: all). most_flips: a flip rate that sets
    `judges[n].gate`. output: a folder for attack.json, attack.html, answers.jsonl and judgements.jsonl; None
    writes nothing; force: replace them. model, budget, deadline, offline: as for `judge`. Raises ConfigError,
    DataError, ModelError.
    """
    loaded = load_judges(judges)
    plan = plan_attack(
        loaded,
        sheet=Path(sheet) if sheet else None,
        families=families,
        probes=probes,
        limit=limit,
        each=each,
        most_flips=most_flips,
    )
    return run_attack(
        loaded,
        plan,
        choose(settings or load_settings(), "judge", model=model),
        output=Path(output) if output else None,
        how=SessionOptions(parse_caps(budget, deadline), offline, progress=progress),
        force=force,
    )


def run_attack(
    judges: Sequence[Judge],
    plan: AttackPlan,
    settings: Settings,
    *,
    output: Path | None = None,
    how: SessionOptions = PLAIN,
    force: bool = False,
) -> AttackSummary:
    """Return what a plan shows of judges, and write it to the folder `output` if there is one; see attack."""
    if output is not None:
        check_output(output / JUDGED, force)

    async def work() -> AttackSummary:
        async with open_session(settings, how) as session:
            outcomes = [await _attack(judge, plan, session) for judge in judges]
            attacked = [outcome for outcome, _ in outcomes]
            summary = AttackSummary(
                name=", ".join(judge.name for judge in judges),
                version=__version__,
                models=session.roles(members_of(judges)),
                judges=attacked,
                calls=session.calls(),
                notes=_notes(attacked, judges, plan),
                most_flips=plan.most_flips,
            )
        if output is not None:
            _write(output, summary, [rows for _, judged in outcomes for rows in judged])
        return summary

    return run_sync(work())


def forecast_attack(judges: Sequence[Judge], settings: Settings, plan: AttackPlan) -> Forecast:
    """Return what an attack would ask at most. Raises what `attack` raises before it makes a call."""

    async def work(session: Session) -> None:
        for judge in judges:
            if judge.needs_model:
                session.forecaster.assume(EVERY_ROW)
                await _attack(judge, plan, session, every=True)

    return forecast_of(settings, work)


async def _attack(
    judge: Judge, plan: AttackPlan, session: Session, *, every: bool = False
) -> tuple[JudgeAttacked, list[JudgedRows]]:
    """Return what attacks on one judge show, and what was judged, in order.

    every: attack all rows, whatever their plain verdict says, for a forecast.
    """
    rows = _rows(judge, plan)
    models = {named or session.settings.judge.model for leaf, named in judge.leaves() if leaf.needs_model}
    decided = bool(models) and all(model and session.models.decides(model) for model in models)
    tried = [family.persuading() if decided else family for family in plan.families]
    left_out = {
        family.name: n
        for family, kept in zip(plan.families, tried, strict=True)
        if (n := len(family.attack) - len(kept.attack))
    }
    tried = [family for family in tried if family.attack]
    seed = session.settings.run.seed
    single = not judge.compares_two
    first = await _judge(rows if single else [], judge, session)
    plain = first.lead
    targets = _targets(judge, rows, plain, tried, every) if single else []
    planted = plant(judge, tried, targets, plan.each)
    second = await _judge([row.answer for row in planted], judge, session)
    after = second.lead
    attempts = [] if every else attempts_of(judge, plain, planted, after)
    overall, families, attacks = rates_of(attempts, tried, seed)
    probes, probed = await probe_judge(
        judge, plan.probes, rows, plain, session, lambda some: _judge(some, judge, session)
    )
    attacked = JudgeAttacked(
        judge=judge.name,
        metric=judge.measures,
        model=judge.model_name(session.settings.judge.model or NO_MODEL),
        prompt_version=judge.prompt_version,
        scale=judge.scale,
        n_rows=len(rows) if single else 0,
        plain=count_statuses(plain),
        n_attacked=len(targets) if plan.families else None,
        overall=overall if attempts else None,
        families=families,
        attacks=attacks,
        flips=flips_shown(attempts, rows, planted, plain, after),
        probes=probes,
        gate=None if plan.most_flips is None or not plan.families else gate(overall, plan.most_flips),
        not_applicable=left_out,
    )
    return attacked, [first, second, *probed]


async def _judge(rows: Sequence[Answer], judge: Judge, session: Session) -> JudgedRows:
    judgements = [row async for row in judge_rows(lambda: rows, [judge], session, len(rows))] if rows else []
    return JudgedRows(
        rows=[msgspec.structs.replace(row, metadata={"judge": judge.name}) for row in rows],
        judgements=judgements,
        lead=judgements[:: len(judge.metrics)],
    )


def _rows(judge: Judge, plan: AttackPlan) -> list[Answer]:
    """Return the plain rows. Raises DataError for a sheet that holds none."""
    if plan.sheet is None and judge.compares_two:
        return comparable_rows(plan.limit)
    if plan.sheet is None:
        rows = attackable_rows(judge, plan.limit)
        lowering = any(family.aim == "lower" for family in plan.families)
        return rows if lowering or plan.probes.names else [row for row in rows if row.system == BAD]
    rows = list(islice(read_rows(plan.sheet, Answer), plan.limit))
    if not rows:
        raise DataError(f"{plan.sheet}: no answers, so there is nothing to attack.")
    return rows


def _targets(
    judge: Judge, rows: Sequence[Answer], plain: Sequence[Judgement], families: Sequence[Family], every: bool
) -> list[tuple[int, Answer, Aim]]:
    """Return the rows whose plain verdict leaves something to win, by number, and what is to be won."""
    tried = {family.aim for family in families}
    targets: list[tuple[int, Answer, Aim]] = []
    for at, (row, judgement) in enumerate(zip(rows, plain, strict=True)):
        score = judgement.score
        aims: tuple[Aim, ...] = ("raise", "lower")  # of the user's rows the plain verdict tells which
        if is_base(row):
            aims = ("raise",) if row.system == BAD else ("lower",)
        for aim in aims:
            if aim in tried and (every or (score is not None and can_flip(judge, score, aim))):
                targets.append((at, row, aim))
                break
    return targets


def _write(folder: Path, summary: AttackSummary, judged: Sequence[JudgedRows]) -> None:
    make_folder(folder)
    with held(folder):
        write_rows(
            folder / "answers.jsonl", [row for part in judged for row in part.rows], Answer, force=True
        )
        judgements = [row for part in judged for row in part.judgements]
        write_rows(folder / JUDGED, judgements, Judgement, force=True)
        (folder / ATTACK).write_bytes(msgspec.json.format(msgspec.json.encode(summary), indent=2))
        write_document(folder / "attack.html", attack_document(summary))


def _notes(attacked: Sequence[JudgeAttacked], judges: Sequence[Judge], plan: AttackPlan) -> list[str]:
    """Return what a reader must know before trusting the numbers."""
    notes = []
    for outcome, judge in zip(attacked, judges, strict=True):
        notes += _untried(outcome)
        left_out = LeftOutAttacks(outcome.judge, outcome.model, outcome.not_applicable)
        notes += filter(None, [say(left_out, NOT_APPLICABLE)])
        if plan.families and not judge.compares_two and not judge.needs_model:
            notes.append(
                f"{outcome.judge} calls no model, so instructions and claims mean nothing to it: what moves "
                "it is text that its measure counts, such as the reference's words (family leaked_reference)."
            )
    if plan.families and plan.sheet is None:
        notes.append(
            "The rows that ship are few, so the intervals, clustered by row, are wide. Use your own with "
            "--sheet."
        )
    return notes


def _untried(outcome: JudgeAttacked) -> list[str]:
    """Return why some plain rows of a judge could not be attacked, or none of them."""
    unscored: dict[Status, int] = {status: n for status, n in outcome.plain.items() if status != "scored"}
    n_unscored = sum(unscored.values())
    if n_unscored and n_unscored == outcome.n_rows:
        return [
            f"{outcome.judge}: no plain row has a score ({statuses(unscored)}), so nothing could be "
            f"measured. The field `error` of {JUDGED} says why; ragstone judges test tries the judge with "
            "its model."
        ]
    notes = []
    if n_unscored:
        rest = "" if outcome.n_attacked is None else " and were not attacked"
        notes.append(f"{outcome.judge}: {n_unscored} plain rows have no score{rest}.")
    if outcome.n_attacked == 0 and outcome.n_rows and not (outcome.not_applicable and not outcome.families):
        notes.append(
            f"{outcome.judge}: no plain verdict leaves anything to win (bad answers have a high one "
            "already), so no attack could be tried. Give answers that it scores low, with --sheet."
        )
    return notes
