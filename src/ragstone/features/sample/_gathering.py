"""The rows of a log -> each question once, masked, with how often it was asked; the others are counted."""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

import msgspec

from ragstone.kernel.dataset.repeats import repeated
from ragstone.kernel.dataset.standing import why_left_out
from ragstone.kernel.errors import DataError
from ragstone.kernel.privacy.masking import OwnWords, mask_personal_data
from ragstone.kernel.tables.columns import CHOICE
from ragstone.kernel.tables.logs.exchange import MONTH, Columns, LoggedExchange, exchange_of
from ragstone.kernel.tables.logs.reading import Source, nothing_asked, rows_of
from ragstone.kernel.tables.names import question_key

SHOWN = 10  # rows that cannot be read
_ENDS = " ?!.…¿¡؟।。"
LONGEST = 4000  # characters of a question: what is longer is a pasted document


class RowsOfCell(msgspec.Struct):
    """The rows of one question that have the same tags: how many, the first, and the first with an answer."""

    at: int
    n: int = 0
    answered_at: int | None = None


class LoggedQuestion(msgspec.Struct):
    """A question of a log: its masked words, how often it was asked, and where its answer stands.

    at: number of the first row that asked it, and of the first that has an answer, if there is one. quality:
    sum of the qualities of its rows, n_quality: rows that have one. cells: its rows by their tags, with ""
    for one that they lack; empty where no tags were named.
    """

    id: str
    text: str
    at: int
    n: int = 0
    answered_at: int | None = None
    quality: float = 0.0
    n_quality: int = 0
    cells: dict[tuple[str, ...], RowsOfCell] = {}

    @property
    def cell(self) -> tuple[str, ...]:
        """The tags of most of its rows; of several the first by name, so that the order decides nothing."""
        return min(self.cells, key=lambda tags: (-self.cells[tags].n, tags))


class LogCounts(msgspec.Struct, frozen=True):
    """What became of the rows. malformed: could not be read, the first are shown; left_out: why -> rows.

    repeats: rows that ask what another row asks, nearly: rows that do so in other words. unread_quality:
    rows whose quality is no number and no thumb.
    """

    n_rows: int
    n_questions: int
    malformed: int
    shown: list[str]
    without_question: int
    left_out: dict[str, int]
    repeats: int
    nearly: int
    unread_quality: int
    columns: list[str]


class GatheredLogs(msgspec.Struct, frozen=True):
    """The questions, most asked first, then by id; what became of the rows; places masked by kind."""

    questions: list[LoggedQuestion]
    counts: LogCounts
    masked: dict[str, int]


class _Sorting:
    """The questions so far by their words, and what was counted on the way."""

    def __init__(self, own: OwnWords | None, masking: bool, tags: Sequence[str]) -> None:
        self.questions: dict[str, LoggedQuestion] = {}
        self.left_out: Counter[str] = Counter()
        self.masked: Counter[str] = Counter()
        self._own, self._masking, self._tags = own, masking, tags
        self._same: dict[
            bytes, str
        ] = {}  # digest of a text as it was written -> its id, or why it is left out

    def add(self, at: int, exchange: LoggedExchange, quality: float | None) -> None:
        """Count a row to its question; a text that was there before is not looked at again."""
        digest = _digest(exchange.question, 16)
        name = self._same.get(digest)
        if name is None:
            name = self._same[digest] = self._named(exchange.question, at)
        known = self.questions.get(name)
        if known is None:
            self.left_out[name] += 1
            return
        known.n += 1
        if exchange.answer is not None and known.answered_at is None:
            known.answered_at = at
        if quality is not None:
            known.quality += quality
            known.n_quality += 1
        if self._tags:
            tags = tuple(exchange.tags.get(name, "") for name in self._tags)
            _count_cell(known, tags, RowsOfCell(at, 1, at if exchange.answer is not None else None))

    def _named(self, text: str, at: int) -> str:
        """Return the id of a text, of its masked words, the same in every log; or why it is left out."""
        why = "too_long" if len(text) > LONGEST else why_left_out(text)
        if why is not None:
            return why
        masked = self._mask(text)
        name = sampled_id(masked)
        self.questions.setdefault(name, LoggedQuestion(name, masked, at))
        return name

    def _mask(self, text: str) -> str:
        if not self._masking:
            return text
        masked = mask_personal_data(text, self._own)
        self.masked.update(masked.found)
        return masked.text


def _count_cell(question: LoggedQuestion, tags: tuple[str, ...], rows: RowsOfCell) -> None:
    """Count rows to a cell of a question; what comes first in the log stays the first."""
    known = question.cells.setdefault(tags, RowsOfCell(rows.at))
    known.n += rows.n
    if known.answered_at is None:
        known.answered_at = rows.answered_at


def sampled_id(masked: str) -> str:
    """Return the id of a question by its masked words, whatever their case and last marks."""
    plain = " ".join(unicodedata.normalize("NFKC", masked).casefold().split())
    return "q-" + _digest(plain.strip(_ENDS) or plain, 8).hex()


def _digest(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()


def gather(
    source: Source,
    columns: Columns,
    *,
    limit: int | None = None,
    masking: bool = True,
    own: OwnWords | None = None,
    judged: Callable[[str], float | None] | None = None,
    advance: Callable[[], object] = lambda: None,
) -> GatheredLogs:
    """Return each question of a log once; rows that ask nothing, follow-ups and repeats are counted.

    limit: only the first rows. masking, own: see mask_personal_data. judged: gives the quality of a row by
    its id, in place of a column. Memory grows with the questions that differ, not with the rows.

    Raises DataError where no row can be read, where none asks anything (the columns are named), and where a
    column that was named is nowhere.
    """
    sorting = _Sorting(own, masking, columns.tags)
    judged_of = _by_id(judged) if judged else None
    n_rows = malformed = without = unread = 0
    problems: list[str] = []
    names: dict[str, None] = {}
    for at, (line, raw) in enumerate(islice(rows_of(source), limit)):
        n_rows += 1
        advance()
        if isinstance(raw, str):
            malformed += 1
            name = f"{line.path}:{line.line}" if line else f"row {at + 1}"
            problems += [f"{name}: {raw}"] if len(problems) < SHOWN else []
            continue
        names.update(dict.fromkeys(map(str, raw)) if len(names) < 200 else {})
        exchange = exchange_of(raw, columns)
        if exchange is None:
            without += 1
            continue
        quality = judged_of(exchange) if judged_of else exchange.rating
        unread += quality is None and exchange.quality not in (None, "")
        sorting.add(at, exchange, quality)
    _check(n_rows, malformed, without, problems, list(names), columns)
    _check_month(sorting, columns)
    questions, nearly = _without_repeats(list(sorting.questions.values()))
    counts = LogCounts(
        n_rows=n_rows,
        n_questions=len(questions),
        malformed=malformed,
        shown=problems,
        without_question=without,
        left_out=dict(sorted(sorting.left_out.items())),
        repeats=sum(question.n for question in questions) - len(questions),
        nearly=nearly,
        unread_quality=unread,
        columns=list(names),
    )
    return GatheredLogs(questions, counts, dict(sorted(sorting.masked.items())))


def _by_id(judged: Callable[[str], float | None]) -> Callable[[LoggedExchange], float | None]:
    """Return what finds a row's quality by its id, or by the one that it was judged under for want of one.

    Where answers are read (tables/reading.py) such an id is made of the question, the n-th with its number.
    """
    names: Counter[tuple[str, str | None]] = Counter()

    def quality_of(exchange: LoggedExchange) -> float | None:
        name = question_key(exchange.question)
        names[name, exchange.system] += 1
        n = names[name, exchange.system]
        own = judged(exchange.id) if exchange.id is not None else None
        return own if own is not None else judged(name if n == 1 else f"{name}-{n}")

    return quality_of


def _check(
    n_rows: int, malformed: int, without: int, problems: Sequence[str], names: Sequence[str], columns: Columns
) -> None:
    if not n_rows and CHOICE.get().where is not None:
        raise DataError(f"no trace in the log matches {CHOICE.get().where!r}. Change the filter.")
    if not n_rows:
        raise DataError("the log has no rows. Check that it is the right file.")
    if malformed == n_rows:
        raise DataError("no row of the log can be read:\n" + "\n".join(problems))
    there = ", ".join(names[:40]) or "none"
    tags = () if "tags" in names else columns.tags  # a tag may be one of those that rows carry
    plain = (columns.question, columns.answer, columns.quality, columns.reference, columns.time)
    for name in (*plain, *(tag for tag in tags if tag != MONTH)):
        if name is not None and name.partition(".")[0] not in names and name not in names:
            raise DataError(f"the log has no column {name!r}. Its columns: {there}.")
    if without == n_rows - malformed:
        raise nothing_asked("Name its column with --question.", names[:40])


def _check_month(sorting: _Sorting, columns: Columns) -> None:
    """Refuse the tag `month` where no question has one."""
    if MONTH not in columns.tags or not sorting.questions:
        return
    at = columns.tags.index(MONTH)
    if not any(cell[at] for question in sorting.questions.values() for cell in question.cells):
        raise DataError(
            "no question in the log has a time, so there is no month. Name its column with --time, "
            "or leave out --tag month."
        )


def _without_repeats(questions: list[LoggedQuestion]) -> tuple[list[LoggedQuestion], int]:
    """Return the questions without those that ask the same in nearly the same words, and the rows of these.

    Of such a group the most asked one stays, and of those the one with the smaller id, so that the order of
    the log decides nothing.
    """
    questions.sort(key=lambda question: (-question.n, question.id))
    distinct: list[LoggedQuestion] = []
    nearly = 0
    for question, of in zip(questions, repeated([question.text for question in questions]), strict=True):
        if of is None:
            distinct.append(question)
            continue
        first = questions[of]
        nearly += question.n
        first.n += question.n
        first.quality += question.quality
        first.n_quality += question.n_quality
        for tags, rows in question.cells.items():
            _count_cell(first, tags, rows)
        if first.answered_at is None:
            first.answered_at = question.answered_at
    distinct.sort(key=lambda question: (-question.n, question.id))
    return distinct, nearly


def exchanges_at(source: Source, places: Iterable[int], columns: Columns) -> dict[int, LoggedExchange]:
    """Return what the rows with these numbers say; the log is read once more."""
    wanted = set(places)
    last = max(wanted, default=-1)
    exchanges = {}
    for at, (_, raw) in enumerate(islice(rows_of(source), last + 1)):
        if at in wanted and not isinstance(raw, str):
            exchange = exchange_of(raw, columns)
            if exchange is not None:
                exchanges[at] = exchange
    return exchanges
