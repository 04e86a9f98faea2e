"""A log with people's feedback -> questions of corrections, thumbs as labels, and a queue to label."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragstone.features.sample._feedback_answered import METRIC, CorrectedAnswers, answers_of_run
from ragstone.features.sample._feedback_rate import (
    FeedbackGroup,
    FeedbackRate,
    Thumb,
    draw_exchanges,
    queue_name,
    rate_of,
)
from ragstone.features.sample._feedback_reading import read_feedback
from ragstone.features.sample._feedback_texts import ExchangeTexts
from ragstone.features.sample._gathering import exchanges_at
from ragstone.kernel.config import Settings, load_settings
from ragstone.kernel.errors import takes_rows
from ragstone.kernel.privacy.masking import own_words
from ragstone.kernel.records import Answer, Label, Question, Row
from ragstone.kernel.tables.logs.exchange import Columns
from ragstone.kernel.tables.logs.reading import Source

KEPT = "feedback.json"  # in the store of the monitor, whose page shows it


class FeedbackToLabel(Row, frozen=True, kw_only=True):
    """An answer of the queue, its score to be filled in: 1 for a right answer, 0 for a wrong one.

    inclusion: its chance in the draw `queue`. group: the exchanges that had the same, group_size of
    n_exchanges; the letter does not say which thumb they have.
    """

    question_id: str
    system: str
    score: float | None
    metric: str
    scale: str = "0 to 1"
    question: str
    answer: str
    inclusion: float
    queue: str
    group: str
    group_size: int
    n_exchanges: int


class FeedbackSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What people said of a log's exchanges, and what became of it.

    n_exchanges: those with an answer and a question that makes sense alone; left_out: why -> other rows.
    n_up: of these, those that somebody liked; n_down: those that somebody disliked or corrected, whatever
    others gave. replaced: feedback in whose place another came; unknown: for exchanges that the log lacks;
    unread: values off the scale. corrections_left_out: why -> corrections. groups: what the queue was drawn
    from; empty where labels were given. rate: what labels of a queue say. answered: of the runs given.
    """

    n_rows: int
    malformed: int
    shown: list[str]
    n_exchanges: int
    left_out: dict[str, int]
    n_up: int
    n_down: int
    n_corrections: int
    n_questions: int
    corrections_left_out: dict[str, int]
    replaced: int
    unknown: int
    unread: int
    groups: list[FeedbackGroup] = []
    masked: dict[str, int] | None = None
    rate: FeedbackRate | None = None
    answered: list[CorrectedAnswers] = []


class FeedbackSample(msgspec.Struct, frozen=True):
    """What feedback became. thumbs: labels by `user`, of no metric, which so speak of any judge's."""

    questions: list[Question]
    answers: list[Answer]
    thumbs: list[Label]
    queue: list[FeedbackToLabel]
    summary: FeedbackSummary


@takes_rows(labels=Label)
def sample_feedback(
    log: Path | str | Sequence[Path | str] | Sequence[Mapping[str, Any]],
    count: int = 200,
    *,
    labels: Iterable[Label] | None = None,
    runs: Sequence[Path | str] = (),
    question: str | None = None,
    answer: str | None = None,
    quality: str | None = None,
    reference: str | None = None,
    limit: int | None = None,
    seed: int = 0,
    keep_personal_data: bool = False,
    settings: Settings | None = None,
) -> FeedbackSample:
    """Return what the users of an application said of its answers, as rows to evaluate it with.

    log: a file, a folder, several of them, or rows; of the assistant, of other applications, or traces.
    A correction becomes a question with the user's words as its reference, which nobody has checked; the last
    one of a question counts. A thumb becomes a label by `user` (`user 2`, ... on the same exchange).
    count: answers of the queue: a fifth with a thumb down, a tenth with one up, the rest without any.

    labels: those of a queue of before; the summary says what share of the answers is right. runs: folders of
    runs that asked the corrected questions; the summary says how many they answer right. question, answer,
    quality (thumbs), reference (corrections): columns, where their names are not known. Thumbs are read on
    `feedback_scale` of `[monitor]`. Personal data is masked as in sample_log.

    Thumbs are given by few and not at random: no share of right answers follows from them. Raises DataError
    for a log without exchanges or without feedback on them, for labels of no queue or of several, and for a
    run without corrected questions or without a judge of correctness.
    """
    settings = settings or load_settings()
    source: Source = [log] if isinstance(log, str | Path) else log
    columns = Columns(question, answer, quality, reference)
    read = read_feedback(source, columns, settings, limit)
    thumbs: dict[int, Thumb] = {
        at: "down" if any(one.is_down for one in said) else "up"
        for at, said in read.said.items()
        if any(one.is_down or one.is_up for one in said)
    }
    groups: dict[Thumb, list[int]] = {"down": [], "up": [], "none": []}
    for at in read.alone:
        groups[thumbs.get(at, "none")].append(at)
    drawn, sizes = draw_exchanges(groups, count if labels is None else 0, seed)
    places = {*read.said, *(row.at for row in drawn)}
    own = None if keep_personal_data else own_words(settings.sample.mask)
    texts = ExchangeTexts(exchanges_at(source, places, columns), read, own, masking=not keep_personal_data)
    questions, left_out = texts.questions()
    queue = queue_name(drawn, read.names)
    summary = FeedbackSummary(
        n_rows=read.n_rows,
        malformed=read.malformed,
        shown=read.problems,
        n_exchanges=len(read.alone),
        left_out=dict(sorted(read.left_out.items())),
        n_up=len(groups["up"]),
        n_down=len(groups["down"]),
        n_corrections=sum(one.correction is not None for said in read.said.values() for one in said),
        n_questions=len(questions),
        corrections_left_out=dict(sorted((left_out + Counter(too_long=read.too_long)).items())),
        replaced=read.replaced,
        unknown=read.unknown,
        unread=read.unread,
        groups=sizes if labels is None else [],
        masked=dict(sorted(texts.masked.items())) if texts.masking else None,
        rate=None
        if labels is None
        else rate_of(labels, {read.names[at]: thumb for at, thumb in thumbs.items()}, seed),
        answered=[row for run in runs for row in answers_of_run(Path(run), {one.id for one in questions})],
    )
    return FeedbackSample(
        questions=questions,
        answers=[row for at in sorted(places) if (row := texts.answer(at)) is not None],
        thumbs=texts.thumbs(),
        queue=[
            FeedbackToLabel(
                question_id=read.names[row.at],
                system=texts.system(row.at),
                score=None,
                metric=METRIC,
                question=texts.of[row.at][0],
                answer=texts.of[row.at][1],
                inclusion=row.inclusion,
                queue=queue,
                group=row.group,
                group_size=row.group_size,
                n_exchanges=len(read.alone),
            )
            for row in drawn
        ],
        summary=summary,
    )
