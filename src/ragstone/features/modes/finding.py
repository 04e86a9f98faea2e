"""`ragstone modes`: the failure modes of a run, proposed, confirmed, and counted by people's labels."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from shlex import quote

import msgspec

from ragstone.features.label import ToLabel, keep_instructions, policy_digest
from ragstone.features.modes._confirming import CandidateMode, confirmed_modes, cut_in_parts
from ragstone.features.modes._counting import (
    Key,
    ModeRows,
    draw_rows,
    labels_of,
    queue_name,
    with_counts,
)
from ragstone.features.modes._people import FEWEST_TAGGED, NotedMode, noted_modes
from ragstone.features.modes._plan import ModesPlan, plan_modes
from ragstone.features.modes._reading import MOST_MODES, ReadMode, WrongRow, read_modes_of
from ragstone.features.modes.files import (
    asked_file,
    earlier_name,
    mode_name,
    mode_question,
    signs_file,
    write_mode,
)
from ragstone.features.modes.proposing import ALPHA, propose_signs
from ragstone.features.modes.values import ModeOverlap, ModesProposal, ModesSummary, read_modes_summary
from ragstone.kernel.config import Settings, load_settings
from ragstone.kernel.engine.digests import digest_of
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, SessionOptions, forecast_of, open_session
from ragstone.kernel.errors import DataError, checks_arguments, nearest
from ragstone.kernel.judging import Judge, JudgeContext, parse_judge
from ragstone.kernel.judging.signs import Sign
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.persistence.journal import held
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.runs.blamed import digests
from ragstone.kernel.runs.modes import (
    MODE_ROWS,
    MODES_FILE,
    EvidencePart,
    Mode,
    ModeEvidence,
    has_mode,
    mode_title,
)
from ragstone.kernel.stages.judge import judge_context, judge_rows
from ragstone.kernel.tables import read_rows, write_rows
from ragstone.kernel.tables.storage import put_bytes
from ragstone.kernel.version import __version__

INPUT_SHARE = 0.95  # of the answers that must have a part, so that the judge of a mode may read it
KEPT_EVIDENCE = 5
AT_MOST = (
    f"This is a maximum: that the model proposes {MOST_MODES} modes for each part of the wrong answers, and "
    f"that {MOST_MODES} are confirmed and asked of every answer."
)


class ModeDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A mode that is proposed. text: of its file."""

    judge: Judge
    text: str
    evidence: list[ModeEvidence]


class FoundModes(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it. drafts: those to be written. judgements: by the mode's name."""

    drafts: list[ModeDraft]
    proposal: ModesProposal | None
    judgements: dict[str, list[Judgement]]


@checks_arguments
def modes(
    run: os.PathLike[str] | str,
    *,
    model: str | None = None,
    judge: str | None = None,
    labels: Sequence[Path | str] = (),
    propose: bool = False,
    settings: Settings | None = None,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> ModesSummary:
    """Return the failure modes of a finished run; write them to its folder.

    run: a folder that `ragstone run` or `ragstone judge` wrote, or what `read_run` returns. Modes are the
    judge files in the folder `modes` beside ragstone.toml. propose: look for more even if there are some;
    without any they are always proposed from this run, and written there. model: reads wrong answers and is
    asked about every answer; default: that of `[judge]` for mode files that ask one, and none to propose.
    judge: whose verdicts say which answers are wrong; default: the headline judge. labels: files of
    people's labels, beside those of the workbench. budget: e.g. `100calls` or `2usd`; deadline: e.g. `30m`.
    Raises DataError for a folder that is no run or has no score, ConfigError for a mode file that is none
    or a judge that the run has not, ModelError when no call can succeed.
    """
    chosen = settings or load_settings()
    plan = plan_modes(Path(run), chosen, model=model, judge=judge, labels=[*map(Path, labels)])
    how = SessionOptions(parse_caps(budget, deadline), offline, progress=progress)
    return run_sync(_modes(plan, how, propose=propose))


def forecast_modes(
    run: Path, settings: Settings, *, model: str | None, judge: str | None, propose: bool
) -> Forecast:
    """Return the most that would be asked. Raises what `modes` raises before it makes a call."""
    plan = plan_modes(run, settings, model=model, judge=judge, labels=())

    async def at_most(session: Session) -> None:
        if model is not None and (propose or not plan.judges):
            session.forecaster.assume(AT_MOST)
        await find_modes(plan, session, propose=propose, everything=True)

    return forecast_of(settings, at_most)


@checks_arguments
def modes_to_label(
    run: os.PathLike[str] | str,
    mode: str,
    *,
    n: int = 60,
    seed: int = 0,
    settings: Settings | None = None,
) -> list[ToLabel]:
    """Return n answers of a run for people to look at for a mode, in random order: score 1 where it is true.

    mode: its name. n: how many answers. Two fifths have the mode by its judge, the others do not; each
    carries its chance (`inclusion`) and the digest of the mode's question (`policy`), which is kept with the
    project's instructions. `modes` then counts the labels. Raises DataError for a run without modes, and for
    a mode that it does not have.
    """
    chosen, folder = settings or load_settings(), Path(run)
    summary = read_modes_summary(folder)
    if summary is None:
        raise DataError(
            f"{folder} has no modes of these judgements. Find them first: ragstone modes {quote(str(folder))}"
        )
    found = next((one for one in summary.modes if one.name == mode), None)
    if found is None:
        names = [one.name for one in summary.modes]
        raise DataError(f"{folder} has no mode {mode!r}. {nearest(mode, names) if names else 'It has none.'}")
    if n < 1:
        raise DataError(f"{n} answers to label: give 1 or more.")
    plan = plan_modes(folder, chosen, model=None, judge=summary.judge, labels=())
    rows = _mode_rows(plan, [row for row in _kept_judgements(folder) if row.judge == mode])
    drawn = draw_rows(rows, n, seed)
    queue, texts = queue_name(found, drawn), {(row.question_id, row.system): row for row in plan.answers}
    policy = keep_instructions(chosen, found.question)
    return [
        ToLabel(
            question_id=row.key[0],
            system=row.key[1],
            score=None,
            metric=mode,
            scale="0 to 1",
            question=texts[row.key].question,
            answer=texts[row.key].answer,
            reference=texts[row.key].reference,
            inclusion=row.inclusion,
            queue=queue,
            policy=policy,
        )
        for row in drawn
    ]


async def _modes(plan: ModesPlan, how: SessionOptions, *, propose: bool) -> ModesSummary:
    with held(plan.folder):
        async with open_session(plan.settings, how) as session:
            found = await find_modes(plan, session, propose=propose)
        written = [
            str(write_mode(plan.modes_folder, draft.judge.name, draft.text, draft.evidence))
            for draft in found.drafts
        ]
        summary = _summary(plan, found, written)
        rows = [row for some in found.judgements.values() for row in some]
        if rows:
            write_rows(plan.folder / MODE_ROWS, rows, Judgement, force=True)
        else:
            (plan.folder / MODE_ROWS).unlink(missing_ok=True)
        put_bytes(msgspec.json.format(msgspec.json.encode(summary), indent=2), plan.folder / MODES_FILE)
    return msgspec.structs.replace(summary, calls=session.calls())


async def find_modes(
    plan: ModesPlan, session: Session, *, propose: bool, everything: bool = False
) -> FoundModes:
    """Return the modes of a run with their judges' verdicts. everything: ask the most, for a forecast."""
    judgements = {judge.name: await _judged(plan, judge, plan.answers, session) for judge in plan.judges}
    if plan.judges and not propose:
        return FoundModes(drafts=[], proposal=None, judgements=judgements)
    drafts: list[ModeDraft] = []
    proposal = ModesProposal()
    if 0 < plan.n_wrong < len(plan.answers):
        drafts, proposal = await _by_signs(plan, session, judgements)
    of_people, proposal = await _by_people(plan, session, proposal, [*judgements], everything=everything)
    for draft in of_people:
        judgements[draft.judge.name] = await _judged(plan, draft.judge, plan.answers, session)
    drafts += of_people
    if plan.model is not None and 0 < plan.n_wrong < len(plan.answers):
        by_model, proposal = await _by_model(plan, session, proposal, judgements, everything=everything)
        drafts += by_model
    return FoundModes(drafts=drafts, proposal=proposal, judgements=judgements)


async def _judged(
    plan: ModesPlan, judge: Judge, answers: Sequence[Answer], session: Session
) -> list[Judgement]:
    """Return a judge's verdicts; where no model is to be asked, those of an earlier command, or none."""
    model = plan.model or plan.settings.judge.model
    context: JudgeContext | None = None
    if judge.asks_default:
        if model is None:
            return _kept_for(plan.folder, judge)
        context = await judge_context(session, [judge], model)
    rows = judge_rows(lambda: answers, [judge], session, len(answers), context=context)
    return [row async for row in rows if row.metric == judge.measures]


def _kept_for(folder: Path, judge: Judge) -> list[Judgement]:
    """Return what an earlier command was told by a judge of a mode, whatever the mode was called then."""
    before = read_modes_summary(folder)
    names = (
        {one.name for one in before.modes if one.judge_digest == mode_judge_digest(judge)} if before else ()
    )
    return [
        msgspec.structs.replace(row, judge=judge.name, metric=judge.measures)
        for row in _kept_judgements(folder)
        if row.judge in names
    ]


def mode_judge_digest(judge: Judge) -> str:
    """Return what changes when a mode's judge says something else: not its name, nor where it is from."""
    return digest_of(msgspec.structs.replace(judge, name="mode", metric=None, source=""))


def _kept_judgements(folder: Path) -> list[Judgement]:
    return list(read_rows(folder / MODE_ROWS, Judgement)) if (folder / MODE_ROWS).is_file() else []


async def _by_signs(
    plan: ModesPlan, session: Session, judgements: dict[str, list[Judgement]]
) -> tuple[list[ModeDraft], ModesProposal]:
    """Return the modes that signs mark apart, but those that a mode file has already.

    judgements: gets the verdicts of those that are returned.
    """
    keys = [(row.question_id, row.system) for row in plan.answers]
    clusters = [plan.clusters.get(name, name) for name, _ in keys]
    found = await asyncio.to_thread(
        propose_signs,
        plan.answers,
        [plan.wrong[key] for key in keys],
        clusters,
        seed=plan.settings.run.seed,
        alpha=_alpha(plan),
    )
    known = [_yes(rows) for rows in judgements.values()]
    drafts: list[ModeDraft] = []
    for one in found.signs:
        inputs = list(
            dict.fromkeys([*one.sign.inputs, *(part for sign in one.unless for part in sign.inputs)])
        )
        source = (
            f"ragstone modes, from {plan.run.summary.name} without a model: {one.n_wrong} of {one.n} answers "
            f"with it are wrong by {plan.lead.judge}"
        )
        name, text = signs_file(one.sign, one.unless, inputs, source, [*judgements])
        judge = parse_judge(text, plan.modes_folder / f"{name}.toml")
        rows = await _judged(plan, judge, plan.answers, session)
        yes = _yes(rows)
        if any(2 * len(yes & own) >= len(yes | own) for own in known):
            continue
        judgements[name] = rows
        evidence = [
            ModeEvidence(
                question_id=row.question_id,
                system=row.system,
                quote=_shown(row, one.sign),
                part=_part(one.sign),
            )
            for row, key in zip(plan.answers, keys, strict=True)
            if key in yes and plan.wrong[key]
        ]
        drafts.append(ModeDraft(judge=judge, text=text, evidence=evidence[:KEPT_EVIDENCE]))
    proposal = ModesProposal(
        n_read=found.n_read,
        n_signs=found.n_candidates,
        n_tested=found.n_tested,
        n_named=len(drafts),
        n_known=len(found.signs) - len(drafts),
    )
    return drafts, proposal


def _alpha(plan: ModesPlan) -> float:
    """Return the level of each way to find modes: where a model reads too, the two ways share it."""
    return ALPHA if plan.model is None else ALPHA / 2


def _part(sign: Sign) -> EvidencePart:
    return "question" if sign.begins is not None or (sign.words and sign.of == "question") else "answer"


def _shown(row: Answer, sign: Sign) -> str:
    text = (row.question or "") if _part(sign) == "question" else row.answer
    return " ".join(text.split())[:200]


def _yes(rows: Iterable[Judgement]) -> set[Key]:
    return {(row.question_id, row.system) for row in rows if has_mode(row)}


async def _by_people(
    plan: ModesPlan, session: Session, proposal: ModesProposal, taken: Sequence[str], *, everything: bool
) -> tuple[list[ModeDraft], ModesProposal]:
    """Return the modes of people's notes whose name no mode has yet."""
    systems = list(dict.fromkeys(row.system for row in plan.answers))
    comments = [row for row in plan.labels if row.metric in (None, plan.lead.metric)]
    known = [mode_title(judge.name) for judge in plan.judges if judge.kind == "boolean"]
    noted = await noted_modes(
        plan.run.notes, comments, systems, known=known, model=plan.model, session=session
    )
    modes = noted.modes
    if everything:
        n = min(MOST_MODES, noted.n_notes // FEWEST_TAGGED)
        modes += [
            NotedMode(title=f"notes {at}", question=f"Notes {at}: {'x' * 80}.", evidence=[])
            for at in range(n)
        ]
    drafts: list[ModeDraft] = []
    for one in modes:
        name = mode_name(one.title, ())
        if {name, earlier_name(one.title)} & {*taken, *(draft.judge.name for draft in drafts)}:
            continue
        n = len({(row.question_id, row.system) for row in one.evidence})
        source = f"ragstone modes, from people's notes on {n} answers of {plan.run.summary.name}"
        drafts.append(_draft(plan, name, one.question, one.evidence, source))
    return drafts, msgspec.structs.replace(
        proposal,
        n_of_people=len(drafts),
        n_notes=noted.n_notes,
        n_grouped=noted.n_grouped,
        n_failed=noted.n_failed,
    )


def _draft(
    plan: ModesPlan, name: str, question: str, evidence: Sequence[ModeEvidence], source: str
) -> ModeDraft:
    """Return a mode whose judge asks a model its question."""
    text = asked_file(name, question, _inputs(plan.answers), source)
    judge = parse_judge(text, plan.modes_folder / f"{name}.toml")
    return ModeDraft(judge=judge, text=text, evidence=[*evidence[:KEPT_EVIDENCE]])


def _inputs(answers: Sequence[Answer]) -> list[str]:
    """Return the parts that the question of a mode is asked of: those that nearly all answers have."""
    parts: dict[str, int] = {
        "question": sum(bool(row.question) for row in answers),
        "contexts": sum(row.contexts is not None for row in answers),
        "reference": sum(bool(row.reference) for row in answers),
    }
    return ["answer", *(name for name, n in parts.items() if n >= INPUT_SHARE * len(answers))]


async def _by_model(
    plan: ModesPlan,
    session: Session,
    proposal: ModesProposal,
    judgements: dict[str, list[Judgement]],
    *,
    everything: bool,
) -> tuple[list[ModeDraft], ModesProposal]:
    """Return the modes that a model names, each confirmed on answers of parts that it was not read from.

    judgements: gets the verdicts of those that are confirmed.
    """
    assert plan.model is not None
    parts = cut_in_parts(plan, plan.settings.run.seed)
    shown = [
        [WrongRow(row, plan.beside.get((row.question_id, row.system), "")) for row in part]
        for part in parts.shown
    ]
    read = await read_modes_of(shown, plan.model, session)
    modes = read.modes
    if everything:
        modes = [
            ReadMode(part=part, title=f"mode {n}", question=f"{part}-{n}: {'x' * 80}.", evidence=[])
            for part, some in enumerate(shown)
            for n in range(MOST_MODES if some else 0)
        ]
    # Candidates of the same title have one name: what tells their calls apart is the question.
    known, before = [*judgements], [_yes(judgements[judge.name]) for judge in plan.judges]
    tested: list[CandidateMode] = []
    for one in modes:
        draft = _draft(plan, mode_name(one.title, known), one.question, one.evidence, "")
        rows = await _judged(plan, draft.judge, parts.tests[one.part], session)
        tested.append(CandidateMode(mode=one, judge=draft.judge, rows=rows))
    confirmed, n_known, n_repeated = confirmed_modes(plan, tested, before, _alpha(plan))
    drafts: list[ModeDraft] = []
    for found in tested[:MOST_MODES] if everything else confirmed:
        name, quoted = mode_name(found.mode.title, [*judgements]), found.mode.evidence
        n = len({(row.question_id, row.system) for row in quoted})
        source = (
            f"ragstone modes, from {plan.run.summary.name} by {plan.model}, which quotes {n} wrong answers"
        )
        draft = _draft(plan, name, found.mode.question, quoted, source)
        judgements[name] = await _judged_in_all(plan, draft.judge, found, session)
        drafts.append(draft)
    return drafts, msgspec.structs.replace(
        proposal,
        n_tested=proposal.n_tested + len(tested),
        n_named=proposal.n_named + len(drafts),
        n_known=proposal.n_known + n_known,
        n_repeated=n_repeated,
        model=plan.model,
        n_shown=sum(map(len, shown)),
        n_quotes=read.n_quotes,
        n_held=read.n_held,
        n_dropped=read.n_dropped,
        n_failed=proposal.n_failed + read.n_failed,
    )


async def _judged_in_all(
    plan: ModesPlan, judge: Judge, tested: CandidateMode, session: Session
) -> list[Judgement]:
    """Return a mode's verdicts on every answer, in their order; what it was tested on is not asked again."""
    rows = tested.rows if judge.name == tested.judge.name else []
    known = {(row.question_id, row.system): row for row in rows}
    rest = [row for row in plan.answers if (row.question_id, row.system) not in known]
    known |= {(row.question_id, row.system): row for row in await _judged(plan, judge, rest, session)}
    return [known[row.question_id, row.system] for row in plan.answers]


def _mode_rows(plan: ModesPlan, judgements: Iterable[Judgement]) -> ModeRows:
    has_it = {(row.question_id, row.system): has for row in judgements if (has := has_mode(row)) is not None}
    keys = [(row.question_id, row.system) for row in plan.answers]
    return ModeRows(keys=keys, has_it={key: has_it[key] for key in keys if key in has_it}, wrong=plan.wrong)


def _summary(plan: ModesPlan, found: FoundModes, written: Sequence[str]) -> ModesSummary:
    """Return the modes with their counts, the most frequent first."""
    before = read_modes_summary(plan.folder)
    known = {one.name: one for one in before.modes} if before else {}
    evidence = {name: one.evidence for name, one in known.items()}
    evidence |= {draft.judge.name: draft.evidence for draft in found.drafts}
    judges = [*plan.judges, *(draft.judge for draft in found.drafts)]
    rows_of = {judge.name: _mode_rows(plan, found.judgements[judge.name]) for judge in judges}
    held = [_mode(plan, judge, rows_of[judge.name], evidence.get(judge.name, [])) for judge in judges]
    yes = {name: {key for key, has_it in rows.has_it.items() if has_it} for name, rows in rows_of.items()}
    covered = set[Key]().union(*yes.values())
    return ModesSummary(
        name=plan.run.summary.name,
        version=__version__,
        judge=plan.lead.judge,
        metric=plan.lead.metric,
        model=plan.lead.model,
        n_answers=len(plan.answers),
        n_wrong=plan.n_wrong,
        n_left_out=plan.n_left_out,
        modes=sorted(held, key=lambda mode: (-mode.n_wrong, -mode.n_yes, mode.name)),
        made_from=digests(plan.folder),
        overlaps=[
            ModeOverlap(first=first, second=second, n=len(yes[first] & yes[second]))
            for first, second in combinations(yes, 2)
            if yes[first] & yes[second]
        ],
        n_uncovered=sum(is_wrong and key not in covered for key, is_wrong in plan.wrong.items()),
        n_unanswerable=sum(answer.answerable is False for answer in plan.answers),
        proposal=found.proposal,
        written=[*written],
    )


def _mode(plan: ModesPlan, judge: Judge, rows: ModeRows, evidence: list[ModeEvidence]) -> Mode:
    question = mode_question(judge)
    yes = [key for key, has_it in rows.has_it.items() if has_it]
    bad = [key for key in yes if plan.wrong[key]]
    causes = Counter(
        cause.cause
        for name, system in bad
        for cause in plan.run.causes.get(name, ())
        if cause.system == system
    )
    mode = Mode(
        name=judge.name,
        title=mode_title(judge.name),
        question=question,
        digest=policy_digest(question),
        judge_digest=mode_judge_digest(judge),
        kind=judge.kind,
        proposed_from=judge.source,
        evidence=evidence,
        n_asked=len(rows.has_it),
        n_yes=len(yes),
        n_wrong=len(bad),
        n_unscored=len(rows.keys) - len(rows.has_it),
        causes=dict(causes.most_common()),
    )
    texts = {(row.question_id, row.system): row.answer for row in plan.answers}
    labels, n_other = labels_of(mode, plan.labels, texts)
    mode = msgspec.structs.replace(mode, n_other_labels=n_other)
    return with_counts(mode, rows, labels, seed=plan.settings.run.seed)
