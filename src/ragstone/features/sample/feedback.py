"""A log with people's feedback -> questions of corrections, thumbs as labels, and a queue to label."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragstone.features.sample._feedback_rate import (
    FeedbackGroup,
    FeedbackRate,
    Thumb,
    draw_exchanges,
    queue_name,
    rate_of,
)
from ragstone.features.sample._feedback_reading import FeedbackRead, GivenFeedback, read_feedback
from ragstone.features.sample._gathering import exchanges_at, sampled_id
from ragstone.kernel.agreement.policies import VOLUNTARY
from ragstone.kernel.config import Settings, load_settings
from ragstone.kernel.dataset.logs.exchange import Columns, LoggedExchange
from ragstone.kernel.dataset.logs.reading import Source
from ragstone.kernel.dataset.logs.standing import why_left_out
from ragstone.kernel.errors import DataError, takes_rows
from ragstone.kernel.files.language import detect_languages
from ragstone.kernel.privacy.masking import OwnWords, mask_texts, own_words
from ragstone.kernel.records import Answer, Label, Question, Row
from ragstone.kernel.runs.causes import is_right
from ragstone.kernel.runs.run import read_run

SYSTEM = "log"  # of answers whose rows name none
METRIC = "correctness"  # what a person says of an answer of the queue
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
    question: str
    answer: str
    inclusion: float
    queue: str
    group: str
    group_size: int
    n_exchanges: int


class CorrectedAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """How many corrected questions a run answers right by a judge. n: those that the judge scored.

    n_questions: corrected questions that the run asked. n_checked: of those n, corrections that a person has
    accepted or edited; None for a run without its questions.
    """

    run: str
    system: str
    judge: str
    n_questions: int
    n: int
    right: int
    n_checked: int | None


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
    thumbs = {at: thumb for at, said in read.said.items() if (thumb := _thumb_of(said)) != "none"}
    groups: dict[Thumb, list[int]] = {"down": [], "up": [], "none": []}
    for at in read.alone:
        groups[thumbs.get(at, "none")].append(at)
    drawn, sizes = draw_exchanges(groups, count if labels is None else 0, seed)
    places = {*read.said, *(row.at for row in drawn)}
    own = None if keep_personal_data else own_words(settings.sample.mask)
    texts = _Texts(exchanges_at(source, places, columns), read, own, masking=not keep_personal_data)
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
        answered=[row for run in runs for row in _answered(Path(run), {one.id for one in questions})],
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


def _thumb_of(said: Sequence[GivenFeedback]) -> Thumb:
    if any(one.is_down for one in said):
        return "down"
    return "up" if any(one.score is not None and one.score > 0.5 for one in said) else "none"


class _Texts:
    """The texts of chosen exchanges, masked together, and the rows made of them.

    of: number of the row -> question, answer and corrections, in the order of what people said.
    """

    def __init__(
        self,
        exchanges: Mapping[int, LoggedExchange],
        read: FeedbackRead,
        own: OwnWords | None,
        *,
        masking: bool,
    ) -> None:
        self.masking = masking
        self.masked: Counter[str] = Counter()
        self._read, self._exchanges = read, exchanges
        self.of: dict[int, list[str]] = {}
        self._contexts: dict[int, list[str]] = {}
        for at in sorted(exchanges):
            exchange = exchanges[at]
            said = [one.correction or "" for one in read.said.get(at, ())]
            contexts = [context.text for context in exchange.contexts or ()]
            texts = [exchange.question, exchange.answer or "", *said, *contexts]
            if masking:
                masked = mask_texts(texts, own)
                for result in masked:
                    self.masked.update(result.found)
                texts = [result.text for result in masked]
            self.of[at], self._contexts[at] = texts[: 2 + len(said)], texts[2 + len(said) :]

    def system(self, at: int) -> str:
        """The system whose answer it is."""
        return self._exchanges[at].system or SYSTEM

    def answer(self, at: int) -> Answer | None:
        """Return the row of an exchange; None of one without an answer."""
        exchange, (question, answer, *_) = self._exchanges[at], self.of[at]
        if not answer:
            return None
        contexts = exchange.contexts
        if contexts is not None:
            contexts = [
                msgspec.structs.replace(context, text=text)
                for context, text in zip(contexts, self._contexts[at], strict=True)
            ]
        return Answer(
            question_id=self._read.names[at],
            question=question,
            answer=answer,
            system=self.system(at),
            contexts=contexts,
        )

    def thumbs(self) -> list[Label]:
        """Return what people said with a thumb, as labels, in the order of the log."""
        return [
            Label(
                question_id=self._read.names[at],
                system=self.system(at),
                score=one.score,
                annotator="user" if number == 1 else f"user {number}",
                rationale=self.of[at][1 + number] or None,
                metadata={VOLUNTARY: True},
            )
            for at in sorted(self._read.said)
            for number, one in enumerate(self._read.said[at], 1)
            if one.score is not None
        ]

    def questions(self) -> tuple[list[Question], Counter[str]]:
        """Return the questions of corrections, in the order of the log; why -> corrections left out."""
        left_out: Counter[str] = Counter()
        corrected: dict[str, Question] = {}
        for at in sorted(self._read.said):
            question, answer, *corrections = self.of[at]
            why = why_left_out(self._exchanges[at].question)
            for one, correction in zip(self._read.said[at], corrections, strict=True):
                if one.correction is None:
                    continue
                reason = why or _says_nothing(correction, answer)
                if reason is not None:
                    left_out[reason] += 1
                    continue
                name = sampled_id(question)
                if name in corrected:
                    left_out["an_earlier_one_of_the_question"] += 1
                corrected[name] = Question(
                    id=name,
                    question=question,
                    reference=correction,
                    metadata={
                        "from": "correction",
                        "exchange": self._read.names[at],
                        **({"answer": answer} if answer else {}),
                    },
                )
        rows = list(corrected.values())
        langs = detect_languages([row.question for row in rows])
        return [
            msgspec.structs.replace(row, lang=lang) for row, lang in zip(rows, langs, strict=True)
        ], left_out


def _says_nothing(correction: str, answer: str) -> str | None:
    """Return why a correction is no reference: it has no word of its own, or repeats the answer."""
    if why_left_out(correction) in ("nothing_asked", "small_talk"):
        return "no_answer"
    return "the_same_answer" if " ".join(correction.split()) == " ".join(answer.split()) else None


def _answered(folder: Path, corrected: set[str]) -> list[CorrectedAnswers]:
    """Return what a run's systems answer right, by its judges of correctness. Raises DataError."""
    run = read_run(folder)
    asked = [name for name in run.answers if name in corrected]
    if not asked:
        raise DataError(
            f"{folder}: the run asked no question that this log's corrections became. Run the questions file "
            "first."
        )
    metrics = [row for row in run.summary.metrics if row.metric == METRIC and row.estimate is not None]
    if not metrics:
        raise DataError(
            f"{folder}: no judge of {METRIC} has scored its answers, so nothing says which are right. Judge "
            "them with one, e.g. --judge right."
        )
    checked = {
        name
        for name in asked
        if name in run.questions
        and isinstance(review := (run.questions[name].metadata or {}).get("review"), dict)
        and review.get("decision") in ("accepted", "edited")
    }
    rows = []
    for metric in metrics:
        scored = [
            row
            for name in asked
            for row in run.judgements.get(name, ())
            if (row.judge, row.model, row.system) == (metric.judge, metric.model, metric.system)
            and row.score is not None
        ]
        if scored:
            rows.append(
                CorrectedAnswers(
                    run=folder.name,
                    system=metric.system,
                    judge=metric.judge,
                    n_questions=len(asked),
                    n=len(scored),
                    right=sum(is_right(row.score or 0.0, row.scale) for row in scored),
                    n_checked=sum(row.question_id in checked for row in scored) if run.questions else None,
                )
            )
    return rows
