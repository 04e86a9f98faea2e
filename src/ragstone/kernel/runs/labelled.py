"""What people's labels say of the answers to one question: of the files of labels that are known."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from ragstone.kernel.agreement.pairing import is_adjudicated
from ragstone.kernel.config import Settings
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.records import Label
from ragstone.kernel.tables import read_rows


class LabelShown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A label of an answer. source: the name of its queue or file. annotator: None where it is not shown.

    settles: it is the one that counts where annotators differ. has_text: the label carries the answer that
    was read, and it is this one; else question and system are all that tells.
    """

    source: str
    system: str
    score: float
    metric: str | None = None
    annotator: str | None = None
    rationale: str | None = None
    settles: bool = False
    has_text: bool = False


def label_files(settings: Settings) -> dict[str, Path]:
    """Return the files of people's labels that a project knows: those of its queues, and those that it names.

    By a name to show: that of the queue, or the path in ragstone.toml. A named file need not be there.
    """
    queues = sorted(settings.path(settings.workbench.labels).glob("*.jsonl"))
    known = {path.resolve() for path in queues}
    named = (settings.agree.labels, settings.gate.labels, settings.blame.labels)
    others = {name: settings.path(name) for name in named if name}
    files = {path.stem: path for path in queues}
    return files | {name: path for name, path in others.items() if path.resolve() not in known}


def labels_of_row(
    files: Mapping[str, Path], question_id: str, answers: Mapping[str, str]
) -> tuple[list[LabelShown], list[str]]:
    """Return the labels of the answers to a question, and what is wrong with files that cannot be read.

    files: by the name that is shown. answers: system -> what it answered. A label that carries another answer
    than this one (the run was made again, or another run has the same questions) is left out; so is one of a
    system that is not here. A file that is not there yet holds none.
    """
    labels: list[LabelShown] = []
    wrong = []
    for name, path in files.items():
        if not path.is_file():
            continue
        try:
            rows = [row for row in read_rows(path, Label) if row.question_id == question_id]
        except RagstoneError as mistake:
            wrong.append(str(mistake))
            continue
        labels += [label for row in rows if (label := _shown(row, name, answers))]
    return labels, wrong


def _shown(row: Label, source: str, answers: Mapping[str, str]) -> LabelShown | None:
    labelled = (row.metadata or {}).get("answer")
    answer = answers.get(row.system)
    if answer is None or labelled not in (None, answer):
        return None
    return LabelShown(
        source=source,
        system=row.system,
        score=row.score,
        metric=row.metric,
        annotator=row.annotator,
        rationale=row.rationale,
        settles=is_adjudicated(row),
        has_text=labelled is not None,
    )
