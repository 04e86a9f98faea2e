"""Labelled sets: answers, what people say of them, and the part that each question is in."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.improve._parts import Node, Part, nodes_of
from ragstone.features.label import queue_names, read_queued
from ragstone.kernel.agreement.pairing import UNNAMED, Key
from ragstone.kernel.config import Settings
from ragstone.kernel.dataset.split import documents_of
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import ConfigError, DataError, nearest
from ragstone.kernel.judging import Judge
from ragstone.kernel.records import Answer, Judgement, Label, Question
from ragstone.kernel.stages.judge import judge_context, judge_rows
from ragstone.kernel.systems.rows import join_questions
from ragstone.kernel.tables import read_rows


class LabelledSet(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Answers that have a label, and their labels. nodes: question id -> what ties it to other questions."""

    name: str
    answers: list[Answer]
    labels: list[Label]
    nodes: dict[str, list[Node]]

    def of(self, parts: Mapping[Node, Part], part: Part) -> "LabelledSet":
        """Return the answers and labels of one part."""
        ids = {name for name, nodes in self.nodes.items() if parts.get(nodes[0]) == part}
        return LabelledSet(
            name=self.name,
            answers=[row for row in self.answers if row.question_id in ids],
            labels=[row for row in self.labels if row.question_id in ids],
            nodes={name: nodes for name, nodes in self.nodes.items() if name in ids},
        )

    def filled(self, parts: Mapping[Node, Part], part: Part) -> "LabelledSet":
        """Return one part. Raises DataError if it is empty."""
        subset = self.of(parts, part)
        if not subset.answers:
            raise DataError(
                f"{self.name}: none of its questions is in the {part} part yet. Label answers to "
                "more questions."
            )
        return subset

    @property
    def questions(self) -> list[Node]:
        """Its questions, each once; an id alone is a name within its own set only, and has its name."""
        nodes = {nodes[0] for nodes in self.nodes.values()}
        return sorted(f"{self.name} {node}" if node.startswith("id ") else node for node in nodes)


async def judge_labelled(
    judge: Judge,
    answers: Sequence[Answer],
    session: Session,
    *,
    model: str | None = None,
    as_tuned: bool = False,
) -> list[Judgement]:
    """Return a judge's rows of labelled answers, in their order.

    as_tuned: leave out what it was tuned on, which the dev part is there for. model: asked in place of the
    usual one.
    """
    judge = judge if as_tuned else msgspec.structs.replace(judge, tuned_on=[])
    context = await judge_context(session, [judge], model)
    rows = judge_rows(lambda: answers, [judge], session, len(answers), context=context)
    return [row async for row in rows]


def read_labelled(
    labels: Path | str,
    answers: Path | str | None = None,
    questions: Path | str | None = None,
    *,
    words: Mapping[str, float] | None = None,
) -> LabelledSet:
    """Return the labelled set of a file of labels, whose name it takes.

    answers: the sheet with the texts; without it, the labels' own file is read as one too. questions: where
    the sheet carries neither question nor reference; their documents tie questions. words: a label that is a
    word -> its score. Raises DataError.
    """
    question_rows = list(read_rows(questions, Question)) if questions else []
    try:
        sheet = list(read_rows(answers or labels, Answer))
    except DataError as mistake:
        if answers:
            raise
        raise DataError(
            f"{labels}: has labels but no answers, and a judge reads answers. Name the answers' "
            f"file: --answers answers.jsonl ({mistake})"
        ) from None
    label_rows = list(read_rows(labels, Label, words=words))
    return labelled_set(Path(labels).stem, sheet, label_rows, question_rows)


def labelled_set(
    name: str, sheet: Iterable[Answer], labels: Iterable[Label], questions: Sequence[Question] = ()
) -> LabelledSet:
    """Return the answers that labels speak of. Raises DataError if there are none.

    Of several labels of an answer by one annotator in one metric, as files of labels grow, the last counts.
    """
    by_annotator = {(row.question_id, row.system, row.metric, row.annotator): row for row in labels}
    last_labels = list(by_annotator.values())
    if not last_labels:
        raise DataError(f"{name}: no labels yet. Label some answers first: ragstone label, or the workbench.")
    questions_by_id = {row.id: row for row in questions}
    labelled = _labelled(list(join_questions(sheet, questions_by_id)), last_labels)
    if not labelled:
        raise DataError(
            f"{name}: no label matches an answer in the sheet. Labels: question "
            f"{last_labels[0].question_id!r}, system {last_labels[0].system!r}. Give the sheet that "
            "was labelled, with the same ids."
        )
    ids = {row.question_id for row in labelled}
    written = ((row.question_id, (row.metadata or {}).get("question")) for row in last_labels)
    texts = {id_: text for id_, text in written if isinstance(text, str)}
    texts |= {row.question_id: row.question for row in labelled if row.question}
    documents = {row.id: documents_of(row) for row in questions}
    for row in labelled:
        # A joint sheet names documents for a question; contexts are only what was retrieved.
        named = (row.metadata or {}).get("document_ids")
        own = {id_ for id_ in named if isinstance(id_, str)} if isinstance(named, list) else set()
        documents.setdefault(row.question_id, own)
    return LabelledSet(
        name=name,
        answers=labelled,
        labels=[row for row in last_labels if row.question_id in ids],
        nodes={id_: nodes_of(id_, texts.get(id_), documents.get(id_, ())) for id_ in sorted(ids)},
    )


def _labelled(sheet: Sequence[Answer], labels: Sequence[Label]) -> list[Answer]:
    """Return the answers that have a label; where labels name no system, or answers, the id is enough."""
    keys: set[Key] = {(row.question_id, row.system) for row in labels}
    bare = {row.question_id for row in labels if row.system == UNNAMED}
    named = {row.question_id for row in labels}
    n_answers = Counter(row.question_id for row in sheet)
    return [
        row
        for row in sheet
        if (row.question_id, row.system) in keys
        or (n_answers[row.question_id] == 1 and row.question_id in bare)
        or (row.system == UNNAMED and row.question_id in named)
    ]


QUEUES = "queues"


class LabelSource(msgspec.Struct, frozen=True):
    """Where a labelled set comes from. queue: the folder of its queue, which holds the texts; else None."""

    labels: Path
    queue: Path | None = None


def sources_of(settings: Settings) -> dict[str, LabelSource]:
    """Return the labelled sets by name: the files of the folder of labels, then the sheets of the settings.

    Those are `[agree] sheet` and `[bench.judges] sheet`. Of two of one name the first is taken.
    """
    queues = settings.path(settings.workbench.store) / QUEUES
    names = set(queue_names(queues))
    files = sorted(settings.path(settings.workbench.labels).glob("*.jsonl"))
    sources = {file.stem: LabelSource(file, queues if file.stem in names else None) for file in files}
    for sheet in (settings.agree.sheet, settings.bench.judges.sheet):
        if sheet is not None:
            path = settings.path(sheet)
            sources.setdefault(path.stem, LabelSource(path))
    return sources


def open_set(settings: Settings, name: str, words: Mapping[str, float] | None = None) -> LabelledSet:
    """Return a labelled set; words: as in read_labelled.

    Raises DataError for a name that is none, and where labels have no answers.
    """
    sources = sources_of(settings)
    if not sources:
        raise DataError(
            "there are no labels yet. Label some answers on the page Label, or name a labelled sheet as "
            "`sheet` in [agree] of ragstone.toml."
        )
    if name not in sources:
        raise DataError(f"there is no labelled set {name!r}. {nearest(name, sorted(sources))}")
    source = sources[name]
    if source.queue is None:
        return read_labelled(source.labels, words=words)
    texts = read_queued(source.queue, name)
    return labelled_set(name, texts, read_rows(source.labels, Label))


def as_yes_no(labels: Iterable[Label], metric: str, yes_from: float | None) -> list[Label]:
    """Return the labels of a metric as 1 and 0, 1 from `yes_from` on.

    Raises DataError if it is not said how, ConfigError for a number that is none.
    """
    if yes_from is not None and not math.isfinite(yes_from):
        raise ConfigError(f"yes from {yes_from}: give a number, the lowest label that is a yes.")
    of_metric = [label for label in labels if label.metric in (None, metric)]
    values = sorted({label.score for label in of_metric})
    if yes_from is not None:
        return [msgspec.structs.replace(label, score=float(label.score >= yes_from)) for label in of_metric]
    if not set(values) <= {0.0, 1.0}:
        listed = ", ".join(f"{value:g}" for value in values[:5]) + (", ..." if len(values) > 5 else "")
        raise DataError(
            f"the labels are {listed}, not 0 and 1: give the lowest one that counts as a yes with --yes-from."
        )
    return of_metric
