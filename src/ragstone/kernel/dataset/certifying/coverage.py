"""What the accepted questions cover: documents, places in them, topics, languages, styles, lengths."""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median, quantiles

import msgspec

from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.dataset.candidate import Candidate
from ragstone.kernel.records import references
from ragstone.kernel.statistics import wilson_interval

FIFTHS = 5
CROWDED = 1.5  # times its even share that a fifth surely holds, if it is called crowded


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """The questions of one topic (language, style, ...): how many were written, how many accepted."""

    value: str
    n_accepted: int
    n_written: int


class Five(msgspec.Struct, frozen=True, kw_only=True):
    """The least, the quartiles and the greatest of n numbers."""

    n: int
    least: float
    lower: float
    middle: float
    upper: float
    greatest: float


class Positions(msgspec.Struct, frozen=True, kw_only=True):
    """Where the evidence is in its document, by fifths of the places where it could stand.

    n_whole: evidence that is the whole document, in no fifth. crowded: the fifth (1 to 5) whose share is
    more than 30 % even at the lower end of its 95 % interval; None where there is none.
    """

    fifths: list[int]
    n_whole: int
    crowded: int | None


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """What the accepted questions cover.

    n_covered: documents that hold the answer of one of them. per_document: questions of a covered document;
    most: the document with the most of them. groups: by `kind` (answerable, negative; of facts true,
    false), `style`, `level`, `persona`, `change`, `topic`, `lang`, each value with what was written of it,
    most accepted first. found: how the quoted evidence was found (exact, spaced, fuzzy). question_lengths
    and answer_lengths: words; characters where a script has no spaces between words.
    """

    n_covered: int
    per_document: Five | None
    most: tuple[str, int] | None
    groups: dict[str, list[Group]]
    positions: Positions
    found: dict[str, int]
    question_lengths: Five | None
    answer_lengths: Five | None


def coverage_of(candidates: Sequence[Candidate]) -> Coverage:
    """Return what the accepted ones of the candidates cover."""
    accepted = [one for one in candidates if one.loss is None]
    per_document = Counter(name for one in accepted for name in documents_of(one))
    found = Counter(str((one.question.metadata or {}).get("evidence_found", "")) for one in accepted)
    answers = [references(one.question)[:1] for one in accepted if one.question.kind != "true_false"]
    return Coverage(
        n_covered=len(per_document),
        per_document=five_of(per_document.values()),
        most=min(per_document.items(), key=lambda pair: (-pair[1], pair[0])) if per_document else None,
        groups=_groups(candidates),
        positions=_positions(accepted),
        found={name: found[name] for name in ("exact", "spaced", "fuzzy") if found[name]},
        question_lengths=five_of(len(tokenize(one.question.question)) for one in accepted),
        answer_lengths=five_of(len(tokenize(texts[0])) for texts in answers if texts),
    )


def documents_of(candidate: Candidate) -> list[str]:
    """Return the documents that hold the answer: none of a question that the corpus cannot answer."""
    question = candidate.question
    if question.answerable is False:
        return []
    named = question.document_ids or [passage.document_id for passage in candidate.passages]
    return list(dict.fromkeys(named))


def five_of(values: Iterable[float]) -> Five | None:
    """Return least, quartiles (linear between the values) and greatest; None of no values."""
    given = sorted(values)
    if not given:
        return None
    lower, middle, upper = quantiles(given, n=4, method="inclusive") if len(given) > 1 else given * 3
    return Five(
        n=len(given),
        least=given[0],
        lower=lower,
        middle=float(median(given)) if len(given) > 1 else middle,
        upper=upper,
        greatest=given[-1],
    )


def _groups(candidates: Sequence[Candidate]) -> dict[str, list[Group]]:
    written: dict[str, Counter[str]] = {}
    accepted: dict[str, Counter[str]] = {}
    for one in candidates:
        for by, value in _values(one).items():
            if value:
                written.setdefault(by, Counter())[value] += 1
                accepted.setdefault(by, Counter())[value] += one.loss is None
    return {
        by: [
            Group(value=value, n_accepted=accepted[by][value], n_written=written[by][value])
            for value in sorted(written[by], key=lambda value: (-accepted[by][value], value))
        ]
        for by in ("kind", "style", "level", "persona", "change", "topic", "lang")
        if by in written
    }


def _values(candidate: Candidate) -> dict[str, str | None]:
    """Return what a candidate is grouped by."""
    question, tags = candidate.question, candidate.question.tags or {}
    topics = [passage.topic for passage in candidate.passages if passage.topic]
    return {
        "kind": _kind(candidate),
        "style": tags.get("style"),
        "level": tags.get("level"),
        "persona": tags.get("persona"),
        "change": tags.get("change"),
        "topic": tags.get("topic") or next(iter(topics), None),
        "lang": question.lang,
    }


def _kind(candidate: Candidate) -> str:
    question = candidate.question
    if question.kind == "true_false":
        return next(iter(references(question)), "unknown").casefold()
    return "negative" if question.answerable is False else "answerable"


def _positions(accepted: Sequence[Candidate]) -> Positions:
    fifths, n_whole = [0] * FIFTHS, 0
    for one in accepted:
        lengths = {passage.document_id: passage.document_length for passage in one.passages}
        for span in one.question.evidence or []:
            room = lengths.get(span.document_id, 0) - (span.end - span.start)
            if room > 0:
                # The start, of all places where it could start: even if the evidence stood anywhere.
                fifths[min(FIFTHS - 1, span.start * FIFTHS // room)] += 1
            elif room == 0:
                n_whole += 1
    total, most = sum(fifths), max(fifths)
    sure = total > 0 and wilson_interval(most, total)[0] > CROWDED / FIFTHS
    return Positions(fifths=fifths, n_whole=n_whole, crowded=fifths.index(most) + 1 if sure else None)
