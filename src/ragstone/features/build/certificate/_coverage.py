"""What the accepted questions cover: documents, places in them, topics, languages, styles, lengths."""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median, quantiles

from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.dataset.candidate import Candidate
from ragstone.kernel.dataset.certificate import Coverage, Five, Group, Positions
from ragstone.kernel.records import references
from ragstone.kernel.statistics import wilson_interval

FIFTHS = 5
CROWDED = 1.5  # times its even share that a fifth surely holds, if it is called crowded


def coverage_of(candidates: Sequence[Candidate]) -> Coverage:
    """Return what the accepted ones of the candidates cover."""
    accepted = [candidate for candidate in candidates if candidate.loss is None]
    per_document = Counter(name for candidate in accepted for name in answering_documents(candidate))
    matches = Counter(
        str((candidate.question.metadata or {}).get("evidence_found", "")) for candidate in accepted
    )
    answers = [
        references(candidate.question)[:1]
        for candidate in accepted
        if candidate.question.kind != "true_false"
    ]
    return Coverage(
        n_covered=len(per_document),
        per_document=five_of(per_document.values()),
        most=min(per_document.items(), key=lambda pair: (-pair[1], pair[0])) if per_document else None,
        groups=_groups(candidates),
        positions=_positions(accepted),
        found={name: matches[name] for name in ("exact", "spaced", "fuzzy") if matches[name]},
        question_lengths=five_of(len(tokenize(candidate.question.question)) for candidate in accepted),
        answer_lengths=five_of(len(tokenize(texts[0])) for texts in answers if texts),
    )


def answering_documents(candidate: Candidate) -> list[str]:
    """Return the documents that hold the answer: none of a question that the corpus cannot answer."""
    question = candidate.question
    if question.answerable is False:
        return []
    named = question.document_ids or [passage.document_id for passage in candidate.passages]
    return list(dict.fromkeys(named))


def five_of(values: Iterable[float]) -> Five | None:
    """Return least, quartiles (linear between the values) and greatest; None of no values."""
    numbers = sorted(values)
    if not numbers:
        return None
    lower, middle, upper = quantiles(numbers, n=4, method="inclusive") if len(numbers) > 1 else numbers * 3
    return Five(
        n=len(numbers),
        least=numbers[0],
        lower=lower,
        middle=float(median(numbers)) if len(numbers) > 1 else middle,
        upper=upper,
        greatest=numbers[-1],
    )


def _groups(candidates: Sequence[Candidate]) -> dict[str, list[Group]]:
    written: dict[str, Counter[str]] = {}
    accepted: dict[str, Counter[str]] = {}
    for candidate in candidates:
        for by, value in _values(candidate).items():
            if value:
                written.setdefault(by, Counter())[value] += 1
                accepted.setdefault(by, Counter())[value] += candidate.loss is None
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
    kind = "negative" if question.answerable is False else "answerable"
    if question.kind == "true_false":
        kind = next(iter(references(question)), "unknown").casefold()
    topics = [passage.topic for passage in candidate.passages if passage.topic]
    return {
        "kind": kind,
        "style": tags.get("style"),
        "level": tags.get("level"),
        "persona": tags.get("persona"),
        "change": tags.get("change"),
        "topic": tags.get("topic") or next(iter(topics), None),
        "lang": question.lang,
    }


def _positions(accepted: Sequence[Candidate]) -> Positions:
    fifths, n_whole = [0] * FIFTHS, 0
    for candidate in accepted:
        lengths = {passage.document_id: passage.document_length for passage in candidate.passages}
        for span in candidate.question.evidence or []:
            room = lengths.get(span.document_id, 0) - (span.end - span.start)
            if room > 0:
                # The start, of all places where it could start: even if the evidence stood anywhere.
                fifths[min(FIFTHS - 1, span.start * FIFTHS // room)] += 1
            elif room == 0:
                n_whole += 1
    total, most = sum(fifths), max(fifths)
    sure = total > 0 and wilson_interval(most, total)[0] > CROWDED / FIFTHS
    return Positions(fifths=fifths, n_whole=n_whole, crowded=fifths.index(most) + 1 if sure else None)
