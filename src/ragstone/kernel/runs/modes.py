"""What modes.json and mode_judgements.jsonl of a run hold: failure modes, and which answers have each."""

from collections import defaultdict
from pathlib import Path
from typing import Literal

import msgspec

from ragstone.kernel.judging.fields import JudgeFields
from ragstone.kernel.records import OWN_THRESHOLD, Judgement
from ragstone.kernel.runs.blamed import digests
from ragstone.kernel.runs.summary import Calls, read_numbers
from ragstone.kernel.tables import read_rows
from ragstone.kernel.tables.shown import Displayed

MODES = "modes"
"""The folder of the mode files, beside ragstone.toml."""
MODES_FILE, MODE_ROWS = "modes.json", "mode_judgements.jsonl"
EvidencePart = Literal["question", "answer", "contexts", "reference", "rationale", "note"]


class ModeEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """A row that a mode was proposed from. quote: words of it, as they are in `part`."""

    question_id: str
    system: str
    quote: str
    part: EvidencePart


class ModeShare(msgspec.Struct, frozen=True, kw_only=True):
    """A share of answers by people's labels, with its 95 % interval; n: the labels that it rests on."""

    value: float
    low: float
    high: float
    n: int


class Mode(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A failure mode: a question that can be asked of any answer, and how many answers have it.

    digest: of the question, which labels carry as their policy; judge_digest: of its file. proposed_from:
    what it was proposed from; empty where somebody wrote its file. n_asked: answers that its judge scored,
    n_yes: those that have the mode by its judge, n_wrong: those of them that are wrong by the run's judge;
    n_unscored: answers that it could not score. causes: blame's causes of these wrong ones. n_labelled:
    answers with a label; n_looked_at: those of them that have the mode by its judge, n_true: of these, by
    people; n_other_labels: labels that name it and were given for another question, or another answer.
    precision: of those that its judge says have it, how many do; recall: of those that have it, how many its
    judge says; prevalence: how many of the run's answers have it. They are None without labels.
    """

    name: str
    title: str
    question: str
    digest: str
    judge_digest: str
    kind: str
    proposed_from: str = ""
    evidence: list[ModeEvidence] = []
    n_asked: int = 0
    n_yes: int = 0
    n_wrong: int = 0
    n_unscored: int = 0
    causes: dict[str, int] = {}
    n_labelled: int = 0
    n_looked_at: int = 0
    n_true: int = 0
    n_other_labels: int = 0
    precision: ModeShare | None = None
    recall: ModeShare | None = None
    prevalence: ModeShare | None = None

    @property
    def checked(self) -> bool:
        """Whether people's labels say how many answers have it."""
        return self.prevalence is not None


class ModeOverlap(msgspec.Struct, frozen=True, kw_only=True):
    """Two modes and the answers that have both, by their judges."""

    first: str
    second: str
    n: int


class ModesProposal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How modes were proposed. n_read: answers in which signs were looked for, n_signs: signs looked at.

    n_tested: candidates that were tested on answers they were not proposed from, n_named: those of them
    that are named, n_known: those that are confirmed and have a mode file already, n_repeated: those of a
    model that are confirmed and hold the wrong answers of one that is named. n_of_people: modes from people's
    notes, which need no test; n_notes: notes without a tag that a model grouped, n_grouped: those of them
    that are in a mode. model: that read wrong answers, n_shown: how many; n_quotes:
    what it quoted, n_held: quotes that are in their row; n_dropped: its modes that quote fewer than two
    rows truly; n_failed: calls that failed.
    """

    n_read: int = 0
    n_signs: int = 0
    n_tested: int = 0
    n_named: int = 0
    n_known: int = 0
    n_repeated: int = 0
    n_of_people: int = 0
    n_notes: int = 0
    n_grouped: int = 0
    model: str | None = None
    n_shown: int = 0
    n_quotes: int = 0
    n_held: int = 0
    n_dropped: int = 0
    n_failed: int = 0


class ModesSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True, omit_defaults=True):
    """The failure modes of a run.

    judge, metric, model: whose verdict says that an answer is wrong. n_answers: answers that it scored,
    n_wrong: those that are wrong; n_left_out: all others. n_uncovered: wrong answers that no mode holds.
    proposal: how modes were proposed by this command; None where it counted the modes of files that were
    there. written: the mode files that it wrote. calls: what it asked for; not in the file.
    """

    name: str
    version: str
    judge: str
    metric: str
    model: str
    n_answers: int
    n_wrong: int
    n_left_out: int
    modes: list[Mode]
    made_from: dict[str, str]
    overlaps: list[ModeOverlap] = []
    n_uncovered: int = 0
    proposal: ModesProposal | None = None
    written: list[str] = []
    notes: list[str] = []
    calls: Calls | None = None


def read_modes(folder: Path) -> ModesSummary | None:
    """Return the modes of a run folder; None without them, or where the run was made anew since.

    Raises DataError for a file that holds something else.
    """
    if not (folder / MODES_FILE).is_file():
        return None
    summary = read_numbers(folder / MODES_FILE, ModesSummary, "modes of a run", "ragstone modes RUN")
    return summary if summary.made_from == digests(folder) else None


def read_mode_rows(folder: Path) -> dict[str, dict[tuple[str, str], bool]]:
    """Return for each mode of a run: (question id, system) -> whether the answer has it, by its judge.

    Answers that its judge could not score are not in it. Empty without the file. Raises DataError.
    """
    rows: dict[str, dict[tuple[str, str], bool]] = defaultdict(dict)
    if (folder / MODE_ROWS).is_file():
        for row in read_rows(folder / MODE_ROWS, Judgement):
            if (has_it := has_mode(row)) is not None:
                rows[row.judge][row.question_id, row.system] = has_it
    return dict(rows)


def has_mode(row: Judgement) -> bool | None:
    """Return whether an answer has a mode by the judgement of its judge; None where that has no score.

    From the threshold of the judge's file on, by default from the middle of its scale.
    """
    if row.score is None:
        return None
    threshold = (row.metadata or {}).get(OWN_THRESHOLD)
    return bool(row.score >= (threshold if threshold is not None else sum(row.scale or (0, 1)) / 2))


def mode_title(name: str) -> str:
    """Return the name of a mode as it is read: `answers_cut_off` is `answers cut off`."""
    return name.replace("_", " ")


def mode_question(judge: JudgeFields) -> str:
    """Return the question that people answer with yes or no for each answer.

    That is the statement that a model is asked to check, where the file has one, else its description.
    """
    own = judge.own_texts.get("statement") or judge.description
    return (own or str(getattr(judge, "prompt", "") or "") or mode_title(judge.name)).strip()
