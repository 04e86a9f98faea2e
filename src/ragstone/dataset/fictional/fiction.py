"""Documents and questions in which names, years and numbers are others: memory cannot answer them."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import msgspec

from ragstone.dataset.fictional.swapping import Changed, Swaps, change, draw_swaps
from ragstone.dataset.split import documents_of
from ragstone.records import Document, Evidence, Question, references

# Notes on the real question that do not hold for its copy.
DROPPED = frozenset({"closed_book", "rationales", "hops", "checked"})


CODE = frozenset(  # the endings of files
    {
        *(".bash", ".c", ".cc", ".clj", ".cpp", ".cs", ".css", ".dart", ".eex", ".erl", ".ex", ".exs", ".fs"),
        *(
            ".go",
            ".h",
            ".heex",
            ".hpp",
            ".hs",
            ".java",
            ".jl",
            ".js",
            ".json",
            ".jsx",
            ".kt",
            ".leex",
            ".lua",
        ),
        *(".m", ".ml", ".php", ".pl", ".ps1", ".py", ".r", ".rb", ".rs", ".scala", ".sh", ".sql", ".swift"),
        *(".toml", ".ts", ".tsx", ".vue", ".xml", ".yaml", ".yml"),
    }
)


class Fiction(msgspec.Struct, frozen=True, kw_only=True):
    """The fictional copies, under the ids of the real ones. swaps: what was replaced, and by what."""

    documents: list[Document]
    questions: list[Question]
    swaps: dict[str, str]


def fictionalise(
    documents: Sequence[Document], questions: Sequence[Question], *, seed: int, names: Sequence[str] = ()
) -> Fiction:
    """Return copies of documents and questions with other names, years and numbers.

    The same becomes the same everywhere, and nothing becomes a word that the documents have. Names are found
    by their capitals (see `find_names`) or given, as scripts without capitals need it. Texts, titles,
    questions, references, evidence, headings and page starts follow; ids, sources and tags stay, and what was
    noted of the real question's closed-book check and critics is dropped. A reference that stands in its
    evidence does so afterwards. Raises ValueError for evidence outside the documents.
    """
    texts = [
        (f"```{row.text}```" if is_code(row) else text, row.lang)
        for row in documents
        for text in (row.text, row.title or "")
    ]
    asked = [(text, row.lang) for row in questions for text in (row.question, *references(row))]
    swaps = draw_swaps(texts, asked, names, seed)
    changed = {
        row.id: Changed(row.text, []) if is_code(row) else change(row.text, swaps) for row in documents
    }
    originals = {document.id: document.text for document in documents}
    told = [_told(question, originals, changed, swaps) for question in questions]
    pairs = [
        (document.text[edit.start : edit.end], edit.new)
        for document in documents
        for edit in changed[document.id].edits
    ]
    pairs += [
        (question.question[edit.start : edit.end], edit.new)
        for question in questions
        for edit in change(question.question, swaps).edits
    ]
    return Fiction(
        documents=[_retold(document, changed[document.id], swaps) for document in documents],
        questions=told,
        swaps=dict(sorted(pairs)),
    )


def is_code(document: Document) -> bool:
    """Return whether a document is source code, by the ending of its file: nothing in it is swapped."""
    return PurePosixPath(document.source or document.id).suffix.casefold() in CODE


def _retold(document: Document, changed: Changed, swaps: Swaps) -> Document:
    metadata = dict(document.metadata or {})
    if isinstance(headings := metadata.get("headings"), list):
        metadata["headings"] = [_moved_heading(heading, changed, swaps) for heading in headings]
    if isinstance(starts := metadata.get("page_starts"), list):
        metadata["page_starts"] = [changed.moved(start, start)[0] for start in starts]
    return msgspec.structs.replace(
        document,
        text=changed.text,
        title=None if document.title is None else change(document.title, swaps).text,
        metadata=metadata or None,
    )


def _moved_heading(heading: Mapping[str, object], changed: Changed, swaps: Swaps) -> dict[str, object]:
    moved = dict(heading)
    if isinstance(start := heading.get("start"), int):
        moved["start"] = changed.moved(start, start)[0]
    if isinstance(title := heading.get("title"), str):
        moved["title"] = change(title, swaps).text
    return moved


def _told(
    question: Question, originals: Mapping[str, str], changed: Mapping[str, Changed], swaps: Swaps
) -> Question:
    metadata = {
        key: value if _is_id(key) else _swapped(value, changed, swaps)
        for key, value in (question.metadata or {}).items()
        if key not in DROPPED
    }
    tags = {key: value for key, value in (question.tags or {}).items() if key not in DROPPED}
    spans = [_moved_span(question, span, changed) for span in question.evidence or ()]
    answers = [_moved_reference(one, question, originals, changed, swaps) for one in references(question)]
    return msgspec.structs.replace(
        question,
        question=change(question.question, swaps).text,
        reference=_as_before(question, answers),
        evidence=spans if question.evidence is not None else None,
        tags=tags or None,
        metadata=metadata or None,
    )


def _as_before(question: Question, alternatives: list[str]) -> str | list[str] | None:
    if isinstance(question.reference, str):
        return alternatives[0] if alternatives else question.reference
    return alternatives if question.reference is not None else None


def _moved_span(question: Question, span: Evidence, changed: Mapping[str, Changed]) -> Evidence:
    if span.document_id not in changed:
        raise ValueError(
            f"question {question.id!r}: its evidence is in document {span.document_id!r}, which is not among "
            "the documents. Give all documents of the questions."
        )
    start, end = changed[span.document_id].moved(span.start, span.end)
    return Evidence(document_id=span.document_id, start=start, end=end)


def _moved_reference(
    reference: str,
    question: Question,
    originals: Mapping[str, str],
    changed: Mapping[str, Changed],
    swaps: Swaps,
) -> str:
    """Return a reference as its evidence, else its document, has it now; else with its names swapped."""
    places = [(span.document_id, span.start, span.end) for span in question.evidence or ()]
    places += [
        (name, 0, len(originals[name])) for name in sorted(documents_of(question)) if name in originals
    ]
    for document_id, start, end in places:
        found = originals[document_id].find(reference, start, end)
        if found >= 0:
            first, last = changed[document_id].moved(found, found + len(reference))
            return changed[document_id].text[first:last]
    return change(reference, swaps).text


def _swapped(value: object, changed: Mapping[str, Changed], swaps: Swaps) -> object:
    """Return a value of metadata with its texts swapped, but for ids, and its spans of documents moved."""
    match value:
        case str():
            return change(value, swaps).text
        case list():
            return [_swapped(one, changed, swaps) for one in value]
        case {"document_id": str(name), "start": int(start), "end": int(end)} if name in changed:
            first, last = changed[name].moved(start, end)
            return {"document_id": name, "start": first, "end": last}
        case dict():
            return {key: one if _is_id(key) else _swapped(one, changed, swaps) for key, one in value.items()}
    return value


def _is_id(key: str) -> bool:
    return key in {"id", "ids"} or key.endswith(("_id", "_ids"))
