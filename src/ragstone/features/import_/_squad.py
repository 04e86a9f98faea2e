"""SQuAD's JSON, and the sets that have its form: XQuAD, MLQA, TyDi QA's gold passages, and many more."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from ragstone.features.import_._rows import Found, ImportOptions, Source, changed, skipped
from ragstone.features.import_._sheets import open_sheet
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Document, Evidence, Question
from ragstone.kernel.tables.columns import as_object

How = Literal["exact", "utf-16", "utf-8", "nearest"]


class AnswerSpan(NamedTuple):
    """The span of an answer, in code points, and how it was found."""

    start: int
    end: int
    how: How


def locate(text: str, answer: str, start: object) -> AnswerSpan | None:
    """Return where an answer stands that is said to begin at `start`; None where the text does not hold it.

    In this order: at `start`; at `start` counted in UTF-16 units, or in bytes of UTF-8, as tools in other
    languages count; the occurrence that is nearest. The answer is compared without the white space around it.
    """
    answer = answer.strip()
    if not answer:
        return None
    at = start if isinstance(start, int) and start >= 0 else 0
    for begin, how in _readings(text, at):
        while begin < len(text) and text[begin].isspace():
            begin += 1
        if text.startswith(answer, begin):
            return AnswerSpan(begin, begin + len(answer), how)
    begin = _nearest(text, answer, at)
    return None if begin < 0 else AnswerSpan(begin, begin + len(answer), "nearest")


def _readings(text: str, at: int) -> list[tuple[int, How]]:
    readings: list[tuple[int, How]] = [(at, "exact")]
    if not text.isascii():
        in_utf16 = text.encode("utf-16-le", "surrogatepass")[: 2 * at]
        in_utf8 = text.encode("utf-8", "surrogatepass")[:at]
        readings += [
            (len(in_utf16.decode("utf-16-le", "ignore")), "utf-16"),
            (len(in_utf8.decode("utf-8", "ignore")), "utf-8"),
        ]
    return readings


def _nearest(text: str, answer: str, at: int) -> int:
    before = text.rfind(answer, 0, min(at, len(text)) + len(answer))
    after = text.find(answer, min(at, len(text)))
    if min(before, after) < 0:
        return max(before, after)
    return before if at - before <= after - at else after


Cells = dict[str, Any]

TASK = frozenset({"id", "question", "answers", "is_impossible", "plausible_answers", "answer"})
MOVED: dict[How, str] = {
    "utf-16": "its answer's offset counts UTF-16 units: converted",
    "utf-8": "its answer's offset counts bytes of UTF-8: converted",
    "nearest": "its answer's offset was wrong: the nearest place with the same text is used",
}
NOWHERE = "its answer is not in its paragraph: imported without evidence"


def is_squad(row: Mapping[str, object]) -> bool:
    """Say whether a row is an article of SQuAD's JSON, or a question with its paragraph."""
    return "paragraphs" in row or is_flat(row)


def is_flat(row: Mapping[str, object]) -> bool:
    """Say whether a row is a question with its paragraph, as Hugging Face has SQuAD."""
    if not {"question", "context", "answers"} <= row.keys():
        return False
    try:
        answers = as_object(row["answers"])
    except ValueError:
        return False
    return isinstance(answers, Mapping) and {"text", "answer_start"} <= answers.keys()


def read_squad(source: Source, _options: ImportOptions) -> Iterator[Found]:
    """Yield each paragraph as a document, once, and its questions.

    A document's id is its title and the number of the paragraph under it. The answers are references, each
    once, and evidence: spans that hold them, checked. A question without an answer in its paragraph
    (`is_impossible`) is not answerable; its metadata is that of a negative that Ragstone writes: the
    plausible answer is `wrong_answer`, and its span, else the whole paragraph, `tempting`. Metadata holds
    other fields too.
    """
    sheet = open_sheet(source.path)
    paragraphs = _Paragraphs(source)
    n_articles = 0
    for number, row in sheet.rows:
        location = sheet.place(number)
        if isinstance(row, str):
            yield skipped(location, row)
        elif is_flat(row):
            n_articles += 1
            yield from _paragraph({**row, "qas": [row]}, row.get("title"), paragraphs, location, flat=True)
        elif isinstance(row.get("paragraphs"), list):
            n_articles += 1
            for paragraph in row["paragraphs"]:
                yield from _paragraph(paragraph, row.get("title"), paragraphs, location, flat=False)
        else:
            yield skipped(location, "it has no list of paragraphs")
    if not n_articles:
        raise DataError(
            f"{source.path}: not in SQuAD's form, an object with `data`, a list of articles with "
            "`paragraphs`. Leave --format out, or name the right one."
        )


class _Paragraphs:
    """The paragraphs so far: the same text is the same document."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._ids: dict[bytes, str] = {}
        self._n_under: Counter[str] = Counter()

    def document(self, text: str, title: object, notes: Cells) -> tuple[str, Document | None]:
        """Return the id of a text's document, and the document where it is new."""
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if digest in self._ids:
            return self._ids[digest], None
        name = title if isinstance(title, str) and title.strip() else None
        under = "_".join((name or self._source.name).split())
        self._ids[digest] = f"{under}-{self._n_under[under]}"
        self._n_under[under] += 1
        return self._ids[digest], Document(
            id=self._ids[digest],
            text=text,
            title=name,
            source=self._source.path.as_posix(),
            metadata=notes or None,
        )


def _paragraph(
    paragraph: object, title: object, paragraphs: _Paragraphs, location: str, *, flat: bool
) -> Iterator[Found]:
    context = paragraph.get("context") if isinstance(paragraph, Mapping) else None
    qas = paragraph.get("qas") if isinstance(paragraph, Mapping) else None
    if not isinstance(paragraph, Mapping) or not isinstance(context, str) or not context.strip():
        yield skipped(location, "a paragraph has no context")
        return
    notes = {} if flat else {name: paragraph[name] for name in paragraph if name not in ("context", "qas")}
    name, document = paragraphs.document(context, title, notes)
    if document is not None:
        yield document
    for qa in qas if isinstance(qas, list) else []:
        if flat:
            qa = {key: value for key, value in qa.items() if key not in ("context", "title", "qas")}
        yield from _question(qa, name, context, location, flat=flat)


def _question(qa: object, document_id: str, context: str, location: str, *, flat: bool) -> Iterator[Found]:
    if not isinstance(qa, Mapping) or not isinstance(qa.get("question"), str) or not qa["question"].strip():
        yield skipped(location, "it has no question")
        return
    name = qa.get("id")
    where = location if flat or name is None else f"{location}, question {name}"
    answers = _answers(qa.get("answers"))
    impossible = qa.get("is_impossible") is True or (flat and not answers)
    evidence: list[Evidence] = []
    for text, start in () if impossible else answers:
        spot = locate(context, text, start)
        if spot is None:
            yield changed(where, NOWHERE)
            continue
        if spot.how != "exact":
            yield changed(where, MOVED[spot.how])
        evidence.append(Evidence(document_id=document_id, start=spot.start, end=spot.end))
    references = [] if impossible else list(dict.fromkeys(text for text, _ in answers))
    tempting = answers or _answers(qa.get("plausible_answers"))
    notes = {key: value for key, value in qa.items() if key not in TASK and value is not None}
    if impossible:
        notes |= _tempting(tempting, document_id, context)
    yield Question(
        id="" if name is None else str(name),
        question=qa["question"],
        reference=_one(references) if references else None,
        evidence=list({(span.start, span.end): span for span in evidence}.values()) or None,
        document_ids=None if impossible else [document_id],
        answerable=False if impossible else (True if answers else None),
        metadata=notes or None,
    )


def _answers(value: object) -> list[tuple[str, object]]:
    """Return the texts of answers that say something, each with the offset that is claimed."""
    try:
        value = as_object(value)
    except ValueError:
        return []
    if isinstance(value, Mapping):  # Hugging Face: a list of texts and one of offsets
        texts, starts = value.get("text"), value.get("answer_start")
        texts, starts = (item if isinstance(item, list) else [] for item in (texts, starts))
        pairs = [(text, starts[n] if n < len(starts) else None) for n, text in enumerate(texts)]
    else:
        listed = value if isinstance(value, list) else []
        pairs = [(item.get("text"), item.get("answer_start")) for item in listed if isinstance(item, Mapping)]
    return [(text, start) for text, start in pairs if isinstance(text, str) and text.strip()]


def _tempting(answers: list[tuple[str, object]], document_id: str, context: str) -> Cells:
    spots = [spot for text, start in answers if (spot := locate(context, text, start))]
    start, end = spots[0][:2] if spots else (0, len(context))
    wrong = list(dict.fromkeys(text for text, _ in answers))
    tempting = {"document_id": document_id, "start": start, "end": end}
    return {"tempting": tempting, **({"wrong_answer": _one(wrong)} if wrong else {})}


def _one(texts: list[str]) -> str | list[str]:
    return texts[0] if len(texts) == 1 else texts
