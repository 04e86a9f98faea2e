"""A run folder -> what modes are found in: its answers, which of them are wrong, and the mode files."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from ragstone.features.modes.files import MODES, read_mode_judges
from ragstone.kernel.config import Settings
from ragstone.kernel.errors import ConfigError, DataError, nearest
from ragstone.kernel.judging import Judge, MetricSummary, load_judge, question_clusters
from ragstone.kernel.records import JOINT_SUFFIX, Answer, Judgement, Label
from ragstone.kernel.runs.breakdown import is_right
from ragstone.kernel.runs.headlines import common_headline, headlines
from ragstone.kernel.runs.run import Run, read_run
from ragstone.kernel.stages.notes import unscored_note
from ragstone.kernel.systems.rows import join_questions, with_columns
from ragstone.kernel.tables import read_rows

Key = tuple[str, str]
SHOWN_STATEMENTS = 5  # of an answer, without support


class ModesPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What modes are found in, checked before any call.

    lead: the judge whose verdicts say what is wrong. answers: those that it scored, joined with their
    questions. wrong: of each. clusters: question id -> what it shares with others. beside: what judges say of
    a wrong answer, beside its score. judges: those of the mode files.
    """

    folder: Path
    run: Run
    settings: Settings
    modes_folder: Path
    lead: MetricSummary
    answers: list[Answer]
    wrong: dict[Key, bool]
    n_left_out: int
    clusters: dict[str, str]
    beside: dict[Key, str]
    judges: list[Judge]
    labels: list[Label]
    model: str | None

    @property
    def n_wrong(self) -> int:
        """How many answers are wrong."""
        return sum(self.wrong.values())


def plan_modes(
    folder: Path, settings: Settings, *, model: str | None, judge: str | None, labels: Sequence[Path]
) -> ModesPlan:
    """Return the plan. Raises DataError for a folder that is no run and one without a scored answer;
    ConfigError for a judge that the run has not, and for a mode file that is none.
    """
    run = read_run(folder)
    lead = _lead(run, judge)
    is_upside_down = _best(run, lead) == "lowest"
    by_answer = {
        (row.question_id, row.system): row
        for rows in run.judgements.values()
        for row in rows
        if (row.judge, row.metric, row.model) == (lead.judge, lead.metric, lead.model)
    }
    of_workbench = sorted(settings.path(settings.workbench.labels).glob("*.jsonl"))
    label_files = dict.fromkeys(path.absolute() for path in [*labels, *of_workbench])
    answers, wrong = [], {}
    joined = join_questions((row for rows in run.answers.values() for row in rows), run.questions)
    n = 0
    for answer in with_columns(joined, run.questions):
        n += 1
        verdict = by_answer.get((answer.question_id, answer.system))
        if verdict is not None and verdict.score is not None:
            answers.append(answer)
            wrong[answer.question_id, answer.system] = is_upside_down == is_right(
                verdict.score, verdict.scale
            )
    if not answers:
        raise DataError(
            f"{folder}: {lead.judge} scored none of its answers, so nothing says which are wrong. Judge them "
            "again, or name another judge with --judge."
        )
    judgements = [row for rows in run.judgements.values() for row in rows]
    return ModesPlan(
        folder=folder,
        run=run,
        settings=settings,
        modes_folder=settings.path(MODES),
        lead=lead,
        answers=answers,
        wrong=wrong,
        n_left_out=n - len(answers),
        clusters=dict(question_clusters(run.questions.values(), judgements)),
        beside=_beside(judgements, {key for key, is_wrong in wrong.items() if is_wrong}),
        judges=read_mode_judges(settings.path(MODES)),
        labels=[label for path in label_files for label in read_rows(path, Label)],
        model=model,
    )


def _lead(run: Run, wanted: str | None) -> MetricSummary:
    scored = [row for row in run.summary.metrics if row.estimate is not None]
    if not scored:
        raise DataError(
            f"{run.summary.name}: no judgement has a score, so nothing says which answers are wrong. "
            f"{unscored_note(run.summary.metrics)}"
        )
    if wanted is None:
        return common_headline(run.summary) or next(
            row for row in headlines(run.summary) if row.estimate is not None
        )
    names = [row.judge for row in scored]
    if wanted not in names:
        raise ConfigError(
            f"--judge {wanted}: the run has no scores of it. {nearest(wanted, list(dict.fromkeys(names)))}"
        )
    return scored[names.index(wanted)]


def _best(run: Run, lead: MetricSummary) -> str:
    """Return the good end of a judge's scale: by the manifest, else by its file, else the highest."""
    name = lead.judge.removesuffix(JOINT_SUFFIX)
    made = (run.manifest or {}).get("judges", {}).get(name)
    if isinstance(made, dict):
        return str(made.get("best") or "highest")
    try:
        return load_judge(name).best
    except ConfigError:  # a file of another project
        return "highest"


def _beside(judgements: Iterable[Judgement], wrong: set[Key]) -> dict[Key, str]:
    """Return what judges say of wrong answers in words: their reasons, and statements without support."""
    said: dict[Key, list[str]] = {}
    for row in judgements:
        if (row.question_id, row.system) in wrong:
            lost = [verdict.statement for verdict in row.verdicts or () if not verdict.supported]
            parts = [
                *filter(None, [row.rationale]),
                *(f"not supported: {one}" for one in lost[:SHOWN_STATEMENTS]),
            ]
            said.setdefault((row.question_id, row.system), []).extend(parts)
    return {key: "\n".join(parts) for key, parts in said.items() if parts}
