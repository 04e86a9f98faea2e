"""What an import has met: counts, remarks by reason, repeated questions, documents that are not there."""

from collections import Counter, defaultdict
from typing import Literal

import msgspec

from ragstone.features.import_._rows import Found, Grades
from ragstone.kernel.dataset.repeats import exact_form, find_repeats
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Document, Question, references

MOST_NEAR = 100_000  # questions; all words of all of them are held to compare (1.5 KB each)


class RepeatedQuestion(msgspec.Struct, frozen=True):
    """A question, and the earlier one of its language that it repeats. exact: in the same words."""

    id: str
    of: str
    exact: bool


class RepeatFinder:
    """The questions so far: their texts, or of more than MOST_NEAR what tells whether one comes again."""

    def __init__(self) -> None:
        self._texts: dict[str | None, list[tuple[str, str]]] = defaultdict(list)
        self._n = 0
        self._first: dict[int, str] = {}
        self._exact: list[RepeatedQuestion] = []

    def add(self, question: Question) -> None:
        """Take a question."""
        self._n += 1
        if self._n <= MOST_NEAR:
            self._texts[question.lang].append((question.id, question.question))
            return
        for lang, texts in self._texts.items():
            for name, text in texts:
                self._compare(lang, name, text)
        self._texts.clear()
        self._compare(question.lang, question.id, question.question)

    def exactly(self) -> bool:
        """Say whether only repetitions in the same words are found, since there are too many questions."""
        return self._n > MOST_NEAR

    def repeats(self) -> list[RepeatedQuestion]:
        """Return the questions that repeat an earlier one of their language."""
        if self.exactly():
            return self._exact
        return [
            RepeatedQuestion(texts[repeat.number][0], texts[repeat.of][0], repeat.exact)
            for texts in self._texts.values()
            for repeat in find_repeats([text for _, text in texts])
        ]

    def _compare(self, lang: str | None, name: str, text: str) -> None:
        first = self._first.setdefault(hash((lang, exact_form(text))), name)
        if first != name:
            self._exact.append(RepeatedQuestion(name, first, exact=True))


SHOWN = 5  # places that are named for each reason
MOST_REASONS = 100
OTHER = "other reasons"


class Remarked(msgspec.Struct, frozen=True, kw_only=True):
    """How many rows were skipped, changed or left out for a reason, and where the first of them stand."""

    kind: Literal["skipped", "changed", "left_out"]
    reason: str
    n: int
    places: list[str]


class ImportSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What was imported and what was not.

    formats: source -> the format that it was read as. n_questions: those that were kept. n_skipped: rows that
    gave nothing, by the remarks. repeats: found among all questions, and n_dropped of them dropped; not
    near_repeats_sought: there are too many questions to find more than the same words.
    missing_documents: ids that questions name and the documents lack, where there are documents. graded:
    grades other than 1 are in the qrels. output: files that were written; set_aside: files that stood there
    and are of another set, now NAME.old.
    """

    formats: dict[str, str]
    n_questions: int
    n_documents: int
    n_with_reference: int
    n_with_evidence: int
    n_unanswerable: int
    languages: dict[str, int]
    tags: dict[str, int]
    remarks: list[Remarked]
    n_skipped: int
    repeats: list[RepeatedQuestion]
    near_repeats_sought: bool = True
    n_dropped: int = 0
    missing_documents: list[str] = []
    graded: bool = False
    output: list[str] = []
    set_aside: list[str] = []


class ImportTally:
    """Takes every row that an import yields, and keeps of it no more than the summary needs."""

    def __init__(self) -> None:
        self.grades: dict[str, dict[str, int]] = {}
        self._n: Counter[str] = Counter()
        self._languages: Counter[str] = Counter()
        self._tags: Counter[str] = Counter()
        self._remarks: dict[tuple[str, str], tuple[int, list[str]]] = {}
        self._asked = RepeatFinder()
        self._named: set[str] = set()
        self._documents: set[str] = set()

    def take(self, row: Found) -> None:
        """Count a row."""
        if isinstance(row, Question):
            self._question(row)
        elif isinstance(row, Document):
            self._documents.add(row.id)
        elif isinstance(row, Grades):
            self.grades[row.question_id] = row.grades
        else:
            full = len(self._remarks) >= MOST_REASONS and (row.kind, row.reason) not in self._remarks
            key = (row.kind, OTHER if full else row.reason)
            n, places = self._remarks.get(key, (0, []))
            self._remarks[key] = (n + 1, places if len(places) == SHOWN else [*places, row.place])

    def _question(self, row: Question) -> None:
        self._n["questions"] += 1
        self._n["reference"] += bool(references(row))
        self._n["evidence"] += bool(row.evidence)
        self._n["unanswerable"] += row.answerable is False
        self._languages[row.lang or "unknown"] += 1
        self._tags.update(list(row.tags or ()))
        self._asked.add(row)
        self._named.update(row.document_ids or ())

    def is_graded(self) -> bool:
        """Say whether the grades hold more than that a document is relevant."""
        return any(grade != 1 for grades in self.grades.values() for grade in grades.values())

    def summary(self, formats: dict[str, str]) -> ImportSummary:
        """Return the summary of the rows so far. Raises DataError where none of them is a question."""
        remarks = [
            Remarked(kind=kind, reason=reason, n=n, places=places)  # type: ignore[arg-type]
            for (kind, reason), (n, places) in sorted(self._remarks.items(), key=lambda remark: -remark[1][0])
        ]
        if not self._n["questions"]:
            why = [remark_text(remark) for remark in remarks] or [
                "The sources have no rows that could be questions."
            ]
            raise DataError("\n".join(["no question was imported.", *why]))
        missing = self._named - self._documents if self._documents else set()
        return ImportSummary(
            formats=formats,
            n_questions=self._n["questions"],
            n_documents=len(self._documents),
            n_with_reference=self._n["reference"],
            n_with_evidence=self._n["evidence"],
            n_unanswerable=self._n["unanswerable"],
            languages=dict(self._languages.most_common()),
            tags=dict(self._tags.most_common()),
            remarks=remarks,
            n_skipped=sum(remark.n for remark in remarks if remark.kind == "skipped"),
            repeats=self._asked.repeats(),
            near_repeats_sought=not self._asked.exactly(),
            missing_documents=sorted(missing),
            graded=self.is_graded(),
        )


def remark_text(remark: Remarked) -> str:
    """Return a remark in words."""
    verb = {"skipped": "skipped", "changed": "changed", "left_out": "left out"}[remark.kind]
    first = ", ".join(remark.places[:2])
    return f"{verb} {remark.n:,}: {remark.reason} ({first}{', …' if remark.n > 2 else ''})"
