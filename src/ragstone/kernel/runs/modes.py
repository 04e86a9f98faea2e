"""What modes.json and mode_judgements.jsonl of a run hold: failure modes, and which answers have each."""

from collections import defaultdict
from pathlib import Path
from typing import Literal

import msgspec

from ragstone.kernel.records import OWN_THRESHOLD, Judgement
from ragstone.kernel.runs.blamed import digests
from ragstone.kernel.runs.summary import read_numbers
from ragstone.kernel.tables import read_rows

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


class RunModes(msgspec.Struct, frozen=True, kw_only=True):
    """What modes.json says of each mode, and which files of the run it was made from: file -> digest."""

    modes: list[Mode]
    made_from: dict[str, str]


def read_modes(folder: Path) -> RunModes | None:
    """Return the modes of a run folder; None without them, or where the run was made anew since.

    Raises DataError for a file that holds something else.
    """
    if not (folder / MODES_FILE).is_file():
        return None
    held = read_numbers(folder / MODES_FILE, RunModes, "modes of a run", "ragstone modes RUN")
    return held if held.made_from == digests(folder) else None


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
