"""A question or a document -> the same in another language, or why not."""

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

import msgspec

from ragstone.features.translate._pieces import cut, find_missing, missing_numbers
from ragstone.kernel.dataset.candidate import Loss
from ragstone.kernel.dataset.evidence import find_evidence
from ragstone.kernel.dataset.placing import SOURCES, remember_sources
from ragstone.kernel.judging.lexical import chrf
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Document, Evidence, Metadata, Question, Status, references
from ragstone.kernel.translation.checks import find_fault
from ragstone.kernel.translation.services import Translate

RowT = TypeVar("RowT", Document, Question)


class TranslationTask(msgspec.Struct, frozen=True, kw_only=True):
    """One row's way: its language, the one wanted, and who translates.

    forth: the translator, named `by` in the row. back: translates back, None where nobody does. lowest: the
    chrF of the text that came back, against the one that was given, below which the row is lost. longest:
    characters of a piece of a document.
    """

    source: str
    target: str
    forth: Translate
    by: str
    back: Translate | None
    lowest: float
    longest: int


class TranslatedRow(msgspec.Struct, Generic[RowT], frozen=True, kw_only=True):
    """A translated row, and why it is lost, if it is.

    row: where the translator gave nothing, the row as it was given, under its new id. status: of the call
    that decided. chrf: None where nothing was translated back.
    """

    row: RowT
    loss: Loss | None = None
    status: Status = "scored"
    chrf: float | None = None


def failed(failure: CallFailed, reason: str) -> tuple[Loss, Status]:
    """Return the loss of a row whose call failed, and its status."""
    return Loss(reason=reason, detail=f"{failure.status}: {failure}"), failure.status


def with_loss(made: TranslatedRow[RowT]) -> RowT:
    """Return the row, a lost one with `lost` in its metadata: step, reason and detail."""
    if made.loss is None:
        return made.row
    metadata = {**(made.row.metadata or {}), "lost": made.loss.note()}
    return msgspec.structs.replace(made.row, metadata=metadata)


PARALLEL = "parallel"  # the metadata field that copies of one row share

# What metadata say of a text, its places or its scores, and does not hold of a translation.
_OF_THE_TEXT = frozenset({"rationales", "duplicates", "headings", "pages", "lost"})
_OF_THE_EVIDENCE = frozenset({"quote", "evidence_found", SOURCES})


class Pair(msgspec.Struct, frozen=True):
    """A document and its translation."""

    original: Document
    translated: Document


def id_in(name: str, lang: str) -> str:
    """Return the id of a row's translation: `DOC#1@hi`."""
    return f"{name}@{lang}"


def marked(metadata: Metadata | None, name: str) -> Metadata:
    """Return metadata that say which rows are copies of one; those of a copy say it already."""
    return {**(metadata or {}), PARALLEL: (metadata or {}).get(PARALLEL, name)}


async def translate_document(document: Document, task: TranslationTask) -> TranslatedRow[Document]:
    """Return the document in the task's language: title and text, paragraph by paragraph.

    Blank lines and code stay as they are. A document without a word is the same in every language.
    """
    pieces = cut(document.text, task.longest)
    texts = [piece.text for piece in pieces if piece.open]
    titles = [document.title] if document.title and any(map(str.isalpha, document.title)) else []
    if not texts and not titles:
        return TranslatedRow(row=msgspec.structs.replace(_renamed(document, task), lang=task.target))
    try:
        named = await task.forth(titles, task.source, task.target) if titles else []
        about = named[0] if named else None
        made = await task.forth(texts, task.source, task.target, about) if texts else []
    except CallFailed as failure:
        loss, status = failed(failure, "not_translated")
        return TranslatedRow(row=_renamed(document, task), loss=loss, status=status)
    main = "\n\n".join(texts or titles), "\n\n".join(made or named)
    checked = await _checked([*titles, *texts], [*named, *made], *main, task)
    left = iter(made)
    row = msgspec.structs.replace(
        _renamed(document, task),
        text="".join(next(left) if piece.open else piece.text for piece in pieces),
        title=named[0] if named else document.title,
        lang=task.target,
        metadata=_metadata(document, task, checked),
    )
    return TranslatedRow(row=row, loss=checked.loss, status=checked.status, chrf=checked.chrf)


async def translate_question(
    question: Question, task: TranslationTask, documents: Mapping[str, Pair] | None = None
) -> TranslatedRow[Question]:
    """Return the question and its references in the task's language.

    A true/false question's reference stays. documents: id -> what became of those that were translated too:
    the question then names the translations, and its evidence is looked for in them; where it is not found it
    is left out. What points at any other document stays.
    """
    answers = [] if question.kind == "true_false" else references(question)
    pairs = documents or {}
    spans = [span for span in question.evidence or () if span.document_id in pairs]
    quotes = [pairs[span.document_id].original.text[span.start : span.end] for span in spans]
    texts = [question.question, *answers]
    try:
        made = await task.forth([*texts, *quotes], task.source, task.target)
    except CallFailed as failure:
        loss, status = failed(failure, "not_translated")
        return TranslatedRow(row=_renamed(question, task), loss=loss, status=status)
    n = len(texts)
    checked = await _checked(texts, made[:n], question.question, made[0], task)
    reference = question.reference  # of a true/false question, which stays
    if answers:
        reference = list(made[1:n]) if isinstance(question.reference, list) else made[1]
    row = msgspec.structs.replace(
        _renamed(question, task),
        question=made[0],
        reference=reference,
        lang=task.target,
        scores=None,
        metadata=_metadata(question, task, checked),
    )
    if pairs:
        row = _pointing(row, pairs, dict(zip(spans, made[n:], strict=True)))
    return TranslatedRow(row=row, loss=checked.loss, status=checked.status, chrf=checked.chrf)


class _Checked(msgspec.Struct, frozen=True):
    loss: Loss | None
    status: Status = "scored"
    chrf: float | None = None
    missing: tuple[str, ...] = ()  # numbers


async def _checked(
    texts: Sequence[str], made: Sequence[str], main: str, translated: str, task: TranslationTask
) -> _Checked:
    """Return what the checks find. Lost or not, what is not empty is translated back and compared.

    main and translated: the text that the language and the length are seen in.
    """
    loss = find_fault(main, translated, task.target) or find_missing(texts, made)
    missing = tuple(missing_numbers("\n".join(texts), "\n".join(made)))
    if not all(text.strip() for text in made):
        return _Checked(loss or Loss(reason="empty_translation"), missing=missing)
    if task.back is None:
        return _Checked(loss, missing=missing)
    try:
        again = await task.back(made, task.target, task.source)
    except CallFailed as failure:
        missed, status = failed(failure, "not_translated_back")
        return _Checked(loss or missed, status, missing=missing)
    score = round(mean_chrf(again, texts), 4)
    if loss is None and score < task.lowest:
        loss = Loss(reason="far_from_source", detail=f"chrF {score:.2f} of {task.lowest:g}")
    return _Checked(loss, chrf=score, missing=missing)


def mean_chrf(texts: Sequence[str], wanted: Sequence[str]) -> float:
    """Return the mean chrF of texts against those wanted, each counting by its length; in [0, 1]."""
    weights = [max(1, len(text)) for text in wanted]
    scores = [chrf(text, other) for text, other in zip(texts, wanted, strict=True)]
    return sum(score * weight for score, weight in zip(scores, weights, strict=True)) / sum(weights)


def _renamed(row: RowT, task: TranslationTask) -> RowT:
    """Return the row as it is under the id of its translation."""
    return msgspec.structs.replace(row, id=id_in(row.id, task.target), metadata=marked(row.metadata, row.id))


def _metadata(row: Document | Question, task: TranslationTask, checked: _Checked) -> Metadata:
    held = {key: value for key, value in (row.metadata or {}).items() if key not in _OF_THE_TEXT}
    made: dict[str, object] = {"from": task.source, "by": task.by}
    if checked.chrf is not None:
        made["chrf"] = checked.chrf
    if checked.missing:
        made["missing_numbers"] = list(checked.missing)
    return {**marked(held, row.id), "translation": made}


def _pointing(question: Question, pairs: Mapping[str, Pair], quotes: Mapping[Evidence, str]) -> Question:
    """Return the translated question with what points at translated documents pointing at these."""
    evidence = []
    texts: dict[str, str] = {}
    metadata = {key: value for key, value in (question.metadata or {}).items() if key not in _OF_THE_EVIDENCE}
    for span in question.evidence or ():
        if span.document_id not in pairs:
            evidence.append(span)
            continue
        document = pairs[span.document_id].translated
        match = find_evidence(quotes[span], document.text)
        if match:
            texts[document.id] = document.text
            evidence.append(Evidence(document_id=document.id, start=match.start, end=match.end))
            metadata |= {"quote": document.text[match.start : match.end], "evidence_found": match.how}
    names = question.document_ids
    if names is None and question.evidence:  # which would be lost with the evidence
        names = list(dict.fromkeys(span.document_id for span in question.evidence))
    pointing = msgspec.structs.replace(
        question,
        evidence=evidence or None,
        document_ids=names and [pairs[name].translated.id if name in pairs else name for name in names],
        metadata=metadata,
    )
    return remember_sources(pointing, texts)
