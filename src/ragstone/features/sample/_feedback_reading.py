"""A log -> which exchanges can be labelled, and what people said of exchanges: thumbs and corrections."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ragstone.kernel.config import Settings
from ragstone.kernel.dataset.standing import why_left_out
from ragstone.kernel.errors import DataError, harmless, plural
from ragstone.kernel.records import Label
from ragstone.kernel.tables import read_rows
from ragstone.kernel.tables.columns import value_at
from ragstone.kernel.tables.formats import READERS, ending_of, reader_of
from ragstone.kernel.tables.interchange.recognise import is_of_tool
from ragstone.kernel.tables.interchange.values import objects_in
from ragstone.kernel.tables.logs.exchange import (
    FEEDBACK_METRICS,
    Columns,
    LoggedExchange,
    exchange_of,
    feedback_on,
    first_of,
    is_feedback_row,
)
from ragstone.kernel.tables.logs.reading import Source, log_files, nothing_asked, rows_of
from ragstone.kernel.tables.names import LOG_NAMES, question_key

SHOWN = 10  # rows that cannot be read
MOST_COLUMNS = 200  # names of columns that are gathered
LONGEST = 4000  # characters of a correction, as the assistant takes them: what is longer is a pasted text
CORRECTIONS = ("correction", "corrected_answer", "metadata.correction", "feedback.correction")
_OF_PEOPLE = re.compile(r"feedback|thumb|rating|reaction", re.IGNORECASE)


class GivenFeedback(msgspec.Struct, frozen=True):
    """What one person said of an exchange. score: from 0 to 1; None for a correction alone.

    correction: the person's words; with a thumb up they are a comment.
    """

    score: float | None
    correction: str | None = None

    @property
    def is_down(self) -> bool:
        """Whether the person was not content: a low score, or another answer in place of this one."""
        return not self.is_up and (self.correction is not None or (self.score or 0.0) < 0.5)

    @property
    def is_up(self) -> bool:
        """Whether the person was content: a high score."""
        return self.score is not None and self.score > 0.5


class FeedbackRead(msgspec.Struct, kw_only=True):
    """What a log holds. names: number of the row of an exchange -> its id.

    alone: rows of exchanges that can be labelled: a question that makes sense alone, and its answer. said:
    number of the row -> what people said of it, each person once, the last word.
    """

    n_rows: int = 0
    malformed: int = 0
    problems: list[str] = []
    names: dict[int, str] = {}
    alone: list[int] = []
    left_out: Counter[str] = Counter()
    said: dict[int, list[GivenFeedback]] = {}
    replaced: int = 0
    unknown: int = 0
    unread: int = 0
    too_long: int = 0


class _Person(NamedTuple):
    exchange: str
    who: str


class _Gathering:
    """What was said so far, by exchange and person. A class: it counts on the way."""

    def __init__(self, columns: Columns, scale: tuple[float, float]) -> None:
        self.read = FeedbackRead(problems=[], names={}, alone=[], left_out=Counter(), said={})
        self.first: dict[str, int] = {}
        self._texts: dict[str, int] = {}  # of the exchange of this id
        self.given: dict[_Person, GivenFeedback] = {}
        self.seen: dict[str, None] = {}  # names of columns, in the order of the rows
        self._columns, self._scale = columns, scale
        self._feedback = (columns.quality,) if columns.quality else LOG_NAMES.feedback
        self._corrections = (columns.reference,) if columns.reference else CORRECTIONS
        self._asked: Counter[str] = Counter()

    def fail(self, problem: str) -> None:
        """Count a row that cannot be read."""
        self.read.malformed += 1
        if len(self.read.problems) < SHOWN:
            self.read.problems.append(problem)

    def add(self, at: int, raw: Mapping[str, Any]) -> None:
        if len(self.seen) < MOST_COLUMNS:
            self.seen.update(dict.fromkeys(map(str, raw)))
        row = {str(name).strip().casefold(): value for name, value in raw.items()} | {**raw}
        if self._label(row):
            return
        evaluations = objects_in(row.get("evaluations"))
        if row.keys() == {"evaluations", "metadata"}:  # of a trace whose answer is another row
            self._evaluations(str(value_at(row, "metadata.trace_id")), evaluations)
            return
        exchange = exchange_of(raw, self._columns)
        if exchange is not None:
            self._exchange(at, row, exchange)
        else:
            self.read.left_out["without_question"] += 1

    def _exchange(self, at: int, row: Mapping[str, Any], exchange: LoggedExchange) -> None:
        name = self._name(row, exchange)
        if name not in self.first:
            self.first[name] = at
            self.read.names[at] = name
            why = why_left_out(exchange.question) or (None if exchange.answer else "without_answer")
            if why is None:
                self.read.alone.append(at)
            else:
                self.read.left_out[why] += 1
        who = None if value_at(row, "metadata.trace_id") else first_of(row, LOG_NAMES.users)
        correction = first_of(row, self._corrections)
        self.say(name, str(who or ""), first_of(row, self._feedback), correction)
        self._evaluations(name, objects_in(value_at(row, "metadata.evaluations")))

    def _name(self, row: Mapping[str, Any], exchange: LoggedExchange) -> str:
        """Return the id of an exchange: its own, its trace's, else one made of its question.

        An id that another exchange has gets a number. The same texts under the same id are the same exchange,
        which an application has written again, e.g. with the thumb.
        """
        trace, number = value_at(row, "metadata.trace_id"), value_at(row, "metadata.exchange")
        own = exchange.id or (f"{trace}#{number}" if trace and number else trace and str(trace))
        texts = hash((exchange.question, exchange.answer, exchange.system))
        first = name = str(own or question_key(exchange.question))
        while name in self.first and not (own and self._texts[name] == texts):
            self._asked[first] += 1
            name = f"{first}-{self._asked[first] + 1}"
        self._texts[name] = texts
        return name

    def _label(self, row: Mapping[str, Any]) -> bool:
        """Take a row of labels. Return whether it was one of people's feedback."""
        if not is_feedback_row(row):
            return False
        metric = row.get("metric")
        score = None if metric == "correction" else row["score"]
        name, person = str(row["question_id"]), str(row.get("annotator") or "")
        self.say(name, person, score, row.get("rationale"), metric)
        return True

    def _evaluations(self, name: str, listed: Sequence[Mapping[str, Any]]) -> None:
        for told in listed:
            if _OF_PEOPLE.search(str(told.get("name"))):
                score = told.get("score")
                self.say(name, "", told.get("label") if score is None else score, None)

    def say(self, name: str, who: str, thumb: object, correction: object, metric: object = None) -> None:
        """Keep what a person says of an exchange, in place of what the same person said before."""
        score = feedback_on(thumb, self._scale, metric=metric)
        self.read.unread += score is None and thumb not in (None, "")
        text = harmless(correction).strip() if isinstance(correction, str) else ""
        if len(text) > LONGEST:
            self.read.too_long += 1
            text = ""
        if score is None and not text:
            return
        person, feedback = _Person(name, who), GivenFeedback(score, text or None)
        before = self.given.pop(person, None)  # what came last is the last
        if before is not None and before.is_down and feedback.is_down:  # a thumb first, then why
            self.read.replaced += bool(text and before.correction and text != before.correction)
            score = before.score if score is None else score
            feedback = GivenFeedback(score, text or before.correction)
        elif before is not None:
            self.read.replaced += 1
        self.given[person] = feedback

    def verdicts(self, path: Path) -> None:
        """Take what users said in a file of another tool: scores named after feedback, thumbs or ratings.

        What annotators said of a metric is no feedback of users, and left to `ragstone agree`.
        """
        if ending_of(path) not in READERS:
            return
        try:
            first = next((raw for _, raw in reader_of(path)(path) if isinstance(raw, dict)), None)
            if first is None or not is_of_tool(first):
                return
            labels = [label for label in read_rows(path, Label) if label.metric in FEEDBACK_METRICS]
        except DataError:  # verdicts of evaluators alone
            return
        for label in labels:
            names = (label.question_id, str((label.metadata or {}).get("trace_id")))
            name = next((name for name in names if name in self.first), names[0])
            if label.annotator:  # the answer that was read from the trace may carry one of these thumbs too
                self.given.pop(_Person(name, ""), None)
            self.say(name, label.annotator or "", label.score, label.rationale, label.metric)

    def placed(self) -> FeedbackRead:
        """Return what was read, what people said with the row that it is of."""
        said: defaultdict[int, list[GivenFeedback]] = defaultdict(list)
        for person, feedback in self.given.items():
            at = self.first.get(person.exchange)
            if at is None:
                self.read.unknown += 1
            else:
                said[at].append(feedback)
        self.read.said = dict(said)
        return self.read


def read_feedback(source: Source, columns: Columns, settings: Settings, limit: int | None) -> FeedbackRead:
    """Return what a log holds. columns: `quality` is the thumb's, `reference` the correction's.

    Raises DataError where no row can be read, none is an exchange, or there is no feedback on any.
    """
    gathering = _Gathering(columns, settings.monitor.feedback_scale)
    read = gathering.read
    for at, (line, raw) in enumerate(islice(rows_of(source), limit)):
        read.n_rows += 1
        if isinstance(raw, str):
            gathering.fail(f"{f'{line.path}:{line.line}' if line else f'row {at + 1}'}: {raw}")
        else:
            gathering.add(at, raw)
    for file in () if source and isinstance(source[0], Mapping) else log_files(source):  # type: ignore[arg-type]
        gathering.verdicts(file)
    if not read.n_rows:
        raise DataError("the log has no rows. Check that it is the right file.")
    if read.malformed == read.n_rows:
        raise DataError("no row of the log can be read:\n" + "\n".join(read.problems))
    if not read.names and gathering.given:
        raise DataError(
            f"the log has feedback ({plural(len(gathering.given), 'row')}) but no exchange. Name the files "
            "with the questions and answers too, or their folder."
        )
    if not read.names:
        raise nothing_asked("Name its column with --question.", list(gathering.seen)[:40])
    for column in (columns.quality, columns.reference):
        if (
            column is not None
            and column.partition(".")[0] not in gathering.seen
            and column not in gathering.seen
        ):
            there = ", ".join(list(gathering.seen)[:40])
            raise DataError(f"the log has no column {column!r}. Its columns: {there}.")
    return _checked(gathering.placed())


def _checked(read: FeedbackRead) -> FeedbackRead:
    if read.said:
        return read
    if read.unknown:
        raise DataError(
            f"no feedback here ({plural(read.unknown, 'row')}) is for an exchange of this log. Give the log "
            "that it belongs to."
        )
    if read.unread or read.too_long:
        raise DataError(
            f"no feedback of the log can be used: {read.unread:,} off the scale, {read.too_long:,} "
            f"corrections above {LONGEST:,} characters. Set feedback_scale in [monitor]."
        )
    raise DataError(
        f"the log has no feedback under a known name ({', '.join(LOG_NAMES.feedback[:4])}, correction). Name "
        "the column of thumbs with --quality, that of corrections with --reference."
    )
