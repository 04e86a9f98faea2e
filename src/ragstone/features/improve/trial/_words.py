"""A changed prompt on a few rows of a run, beside what the run has: what was found, and how it is told."""

from typing import Literal

import msgspec

from ragstone.kernel.decimals import scale_text
from ragstone.kernel.document.blocks import Cell, Column, Heading, Notes, Paragraph, ReportDocument, Table
from ragstone.kernel.document.numbers import number, one_line, signed
from ragstone.kernel.errors import plural
from ragstone.kernel.records import NO_MODEL, STATUS_WORDS, Judgement
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.runs.wording import asked_line
from ragstone.kernel.version import __version__

TrialKind = Literal["answer", "judge"]
SHORT = 40  # characters of a text in a terminal
FEW: dict[TrialKind, str] = {
    "answer": "A few rows show how a prompt differs, not how much better it is. For that, run it on all "
    "questions and compare: `ragstone run`, then `ragstone compare`.",
    "judge": "A few rows show how the scores differ, not which of them are right. For that, measure the "
    "judge with people's labels: `ragstone judge`, then `ragstone agree`.",
}


class TrialScore(msgspec.Struct, frozen=True, kw_only=True):
    """A score of a row. name: of the judge, or of its criterion. before: what the run has, or None.

    after: with the changed prompt.
    """

    name: str
    before: Judgement | None
    after: Judgement

    @property
    def difference(self) -> float | None:
        """After minus before; None where one of them has no score, or their scales differ."""
        before = self.before.score if self.before else None
        if before is None or self.after.score is None or not self.same_scale:
            return None
        return self.after.score - before

    @property
    def same_scale(self) -> bool:
        """Whether both scores are on one scale, as far as they name it."""
        scales = {tuple(row.scale) for row in (self.before, self.after) if row and row.scale}
        return len(scales) < 2


class TrialRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row that was tried. before, after: the answer; the same one where a judge was tried.

    error: why there is no answer after.
    """

    question_id: str
    system: str
    question: str
    before: str
    after: str
    error: str | None = None
    scores: list[TrialScore]


class PromptTrial(msgspec.Struct, frozen=True, kw_only=True):
    """What a changed prompt gave. kind: whether answers or a judge's scores were made anew. name: of the
    prompt or the judge.
    """

    run: str
    kind: TrialKind
    name: str
    rows: list[TrialRow]
    calls: Calls
    notes: list[str] = []


def trial_document(trial: PromptTrial) -> ReportDocument:
    """Return the means over the rows that have both scores, then the rows side by side."""
    what = "answer prompt" if trial.kind == "answer" else "judge"
    n = len(trial.rows)
    return ReportDocument(
        title=f"Ragstone: {trial.name} tried on {trial.run}",
        kind="trial",
        about="",
        version=__version__,
        blocks=[
            Paragraph(f"The {what} {trial.name} on {plural(n, 'row')} of {trial.run}.", tone="outcome"),
            _means(trial),
            Heading("Side by side", level=3),
            _rows(trial),
            Notes([*trial.notes, *_unlike_notes(trial), FEW[trial.kind]]),
        ],
        last=asked_line(trial.calls),
    )


def _means(trial: PromptTrial) -> Table:
    names = list(dict.fromkeys(score.name for row in trial.rows for score in row.scores))
    columns = [Column("Judge", text=True), Column("Saved"), Column("Now"), Column("Difference")]
    columns.append(Column("Rows with both scores"))
    rows = []
    for name in names:
        scores = [score for row in trial.rows for score in row.scores if score.name == name]
        both = [
            (one.before.score, one.after.score)
            for one in scores
            if one.before and one.before.score is not None and one.after.score is not None
        ]
        old, new = [sum(side) / len(both) for side in zip(*both, strict=True)] if both else (None, None)
        apart = old is None or new is None or not all(score.same_scale for score in scores)
        told = [_number(old), _number(new), "–" if apart or old is None or new is None else signed(new - old)]
        rows.append([name, *told, f"{len(both)} of {len(scores)}"])
    return Table(columns, rows, "Means of the tried rows")


def _number(value: float | None) -> str:
    return "–" if value is None else number(value)


def _rows(trial: PromptTrial) -> Table:
    columns = [Column("Question", text=True), Column("Saved", text=True), Column("Now", text=True)]
    columns.append(Column("Difference", text=True))
    rows = [_cells(row, trial) for row in trial.rows]
    if len({row.system for row in trial.rows}) > 1:
        columns.insert(1, Column("System", text=True))
        for row, cells in zip(trial.rows, rows, strict=True):
            cells.insert(1, Cell(row.system))
    return Table(columns, rows, "Rows side by side", kind="wide trial")


def _cells(row: TrialRow, trial: PromptTrial) -> list[Cell]:
    short = one_line(row.question, SHORT)
    saved = " · ".join(_told(_saved_name(score), score.before) for score in row.scores)
    now = " · ".join(_told(score.name, score.after) for score in row.scores)
    if trial.kind == "answer":
        after = row.after or f"No answer. {row.error or ''}".strip()
        cells = [
            Cell(row.question, short=short),
            Cell(row.before, beside=saved, short=f"{one_line(row.before, SHORT)} ({saved})"),
            Cell(after, beside=now, short=f"{one_line(after, SHORT)} ({now})"),
        ]
    else:
        cells = [
            Cell(row.question, beside=row.before, short=short),
            Cell(saved, beside=_reason([score.before for score in row.scores])),
            Cell(now, beside=_reason([score.after for score in row.scores])),
        ]
    return [*cells, _difference(row)]


def _saved_name(score: TrialScore) -> str:
    """Return the name of the judge that gave the saved score, where the new one is another's."""
    of_judge = score.before is not None and score.name == score.after.judge
    return score.before.judge if score.before and of_judge else score.name


def _unlike_notes(trial: PromptTrial) -> list[str]:
    """Return what differs between the saved and the new scores besides what was tried: scale, model, version.

    A judge that is tried may have another version: that is what is tried.
    """
    notes = []
    for score in (score for row in trial.rows for score in row.scores):
        before, after = score.before, score.after
        if before is None or before.score is None or after.score is None:
            continue
        if not score.same_scale and before.scale and after.scale:
            old, new = (scale_text(*scale) for scale in (before.scale, after.scale))
            notes.append(
                f"The saved scores of {_saved_name(score)} are on {old}, the new ones of {score.name} on "
                f"{new}: no difference is taken."
            )
        if before.model != after.model:
            notes.append(
                f"The saved scores of {_saved_name(score)} are {_by(before)}, the new ones of {score.name} "
                f"{_by(after)}: a difference may come from that."
            )
        if trial.kind == "answer" and before.prompt_version != after.prompt_version:
            notes.append(
                f"The saved scores are by version {before.prompt_version} of {before.judge}, the new ones by "
                f"version {after.prompt_version}: a difference may come from that."
            )
    return list(dict.fromkeys(notes))


def _by(judged: Judgement) -> str:
    return "without a model" if judged.model == NO_MODEL else f"by {judged.model}"


def _told(name: str, judged: Judgement | None) -> str:
    if judged is None:
        return f"{name} not judged"
    return f"{name} {STATUS_WORDS[judged.status] if judged.score is None else number(judged.score)}"


def _reason(judged: list[Judgement | None]) -> str:
    return " ".join(one.rationale or one.error or "" for one in judged if one).strip()


def _difference(row: TrialRow) -> Cell:
    moved = [(score.name, score.difference) for score in row.scores if score.difference is not None]
    several = len(moved) > 1
    words = " · ".join(f"{name} {signed(by)}" if several else signed(by) for name, by in moved)
    return Cell(words or "–", tone="strong" if any(by for _, by in moved) else "muted")
