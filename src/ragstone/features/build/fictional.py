"""The fictional variant of a set: names and years are others everywhere, so that memory is no help.

A model lists what is particular in each document, and what stands in its place; the same becomes the same in
all documents and questions, and what points into the documents moves with their text.
"""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, NamedTuple

import msgspec

from ragstone.features.build.files import fictional_paths
from ragstone.kernel.corpus.readers.text import CODE
from ragstone.kernel.dataset.placing import SOURCES, remember_sources
from ragstone.kernel.dataset.split import documents_of
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import takes_rows
from ragstone.kernel.llm import MATERIAL, Ask, CallFailed, Prompt, fenced_prompt, row_nonce
from ragstone.kernel.records import Document, Evidence, Question, references
from ragstone.kernel.tables import write_rows

VERSION = 1  # of the prompt below; a change of wording is a new one
SHOWN = 4000  # characters of a document in one call
MAX_TOKENS = 1500
TASK = (
    "You make a text fictional. List what is particular in it, each as it is spelled there: the names of "
    "people, places, organisations, works and products, every form by itself, and the years. Write beside "
    "each what stands in its place: of the same kind, script and form and as many words, but of nobody and "
    "nothing that exists; a year becomes another one, all by the same distance. No common words. An empty "
    "list where there is nothing."
)
FORM = '{"nonce": the code, "names": [{"old": as in the text, "new": in its place}]}'

# Notes on the real question that do not hold for its copy.
DROPPED = frozenset({"closed_book", "rationales", "hops", "checked", SOURCES})
LEFT_ALONE = (
    r"```.*?```|~~~.*?~~~|`[^`\n]+`|(?:https?|ftp)://\S+|www\.\S+"
    r"|(?:(?<!\S)|(?<=`)(?!`))\S[^\s@]*+@\S+\.\w++"
)
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")

Text = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": 80})]


class OtherName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A name as it stands in a text, and what replaces it."""

    old: Text
    new: Text


class NamesReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model replaces in a text."""

    names: Annotated[list[OtherName], msgspec.Meta(extra_json_schema={"maxItems": 60})]


class Fiction(msgspec.Struct, frozen=True, kw_only=True):
    """The fictional copies, under the ids of the real ones. swaps: what was replaced, and by what."""

    documents: list[Document]
    questions: list[Question]
    swaps: dict[str, str]


class Edit(NamedTuple):
    """`new` in place of text[start:end]."""

    start: int
    end: int
    new: str


class RenamedText(NamedTuple):
    """A text after its edits, which are in order and apart."""

    text: str
    edits: list[Edit]

    def moved(self, start: int, end: int) -> tuple[int, int]:
        """Return where a span of the old text is in the new one; a name that it cuts is taken whole."""
        first, last = start, end
        for edit in self.edits:
            grown = len(edit.new) - (edit.end - edit.start)
            if edit.end <= start:
                first += grown
            elif edit.start < start:
                first += edit.start - start
            if edit.end <= end:
                last += grown
            elif edit.start < end:
                last += edit.end - end + grown
        return first, last


async def write_fiction(
    documents: Sequence[Document],
    questions: Sequence[Question],
    output: Path,
    session: Session,
    *,
    force: bool,
) -> list[Path]:
    """Write documents and questions with other names and years, and return the paths.

    Where a call fails, what only it would have found stays as it is.
    """
    declared = session.settings.build
    pairs: list[list[OtherName]] = []
    if declared.model is not None:
        ask, secret = await session.models.ask(declared.model), session.secret()
        texts = [
            row.text[start : start + SHOWN]
            for row in documents
            if not is_code(row)
            for start in range(0, len(row.text), SHOWN)
        ]
        pairs = await session.each("names", functools.partial(_names, ask=ask, secret=secret), texts)
    swaps = [(pair.old, pair.new) for some in pairs for pair in some]
    fiction = fictionalise(documents, questions, swaps)
    paths = fictional_paths(output)
    write_rows(paths[0], fiction.documents, Document, force=force)
    write_rows(paths[1], fiction.questions, Question, force=force)
    return paths


async def _names(text: str, ask: Ask, secret: bytes) -> list[OtherName]:
    try:
        reply = await ask(names_prompt(text, secret))
    except CallFailed:  # counted with the other calls; a name that stays is no wrong name
        return []
    listed: list[OtherName] = reply.value.names
    return listed


def names_prompt(text: str, secret: bytes) -> Prompt:
    """Return the call that asks what is particular in a text."""
    return fenced_prompt(
        f"{TASK}\n\n{MATERIAL}",
        {"text": text},
        form=FORM,
        reply=NamesReply,
        nonce=row_nonce(secret, [TASK, str(VERSION), text]),
        max_tokens=MAX_TOKENS,
    )


@takes_rows(documents=Document, questions=Question)
def fictionalise(
    documents: Sequence[Document], questions: Sequence[Question], names: Iterable[tuple[str, str]]
) -> Fiction:
    """Return copies of documents and questions with other names.

    names: a name or a year, and what replaces it; of two for one the first counts, and none is taken that
    is in the documents. The same becomes the same everywhere, but for source code, addresses and what is
    set as code. Texts, titles, questions, references, evidence, headings and page starts follow; ids, sources
    and tags stay; what was noted of the real question's closed-book check and critics is dropped. A reference
    that is in its evidence stays in it. Raises ValueError for evidence outside the documents.
    """
    swaps = choose_swaps(names, [row.text for row in documents if not is_code(row)])
    originals = {row.id: row.text for row in documents}
    changed = {
        row.id: RenamedText(row.text, []) if is_code(row) else change(row.text, swaps) for row in documents
    }
    return Fiction(
        documents=[_fictional_document(row, changed[row.id], swaps) for row in documents],
        questions=[_fictional_question(row, originals, changed, swaps) for row in questions],
        swaps=swaps,
    )


def is_code(document: Document) -> bool:
    """Return whether a document is source code, by the ending of its file: nothing in it is swapped."""
    return PurePosixPath(document.source or document.id).suffix.casefold() in CODE


def choose_swaps(names: Iterable[tuple[str, str]], texts: Sequence[str]) -> dict[str, str]:
    """Return old -> new of the names that stand in the texts, with the words of names of several words.

    "Ada Lovelace" -> "Mira Tolvane" also makes Lovelace Tolvane, unless the texts have the word in small
    letters: it is a common one then.
    """
    every = "\n".join(texts)
    swaps: dict[str, str] = {}
    for old, new in names:
        old, new = " ".join(old.split()), " ".join(new.split())
        if len(old) < 2 or not new or old.isnumeric() != new.isnumeric() or old in swaps:
            continue
        if old not in every or new in every:
            continue
        first, second = old.split(" "), new.split(" ")
        if len(first) == len(second) > 1:
            for word, other in zip(first, second, strict=True):
                if word[:1].isupper() and len(word) > 2 and word.lower() not in every and other not in every:
                    swaps.setdefault(word, other)
            new = " ".join(swaps.get(word, other) for word, other in zip(first, second, strict=True))
        swaps[old] = new
    return swaps


def change(text: str, swaps: Mapping[str, str]) -> RenamedText:
    """Return a text with other names, but for code and addresses; a name all in capitals stays so."""
    both = {**{old.upper(): new.upper() for old, new in swaps.items() if len(old) > 3}, **swaps}
    there = sorted((old for old in both if old in text), key=lambda old: (-len(old), old))
    if not there:
        return RenamedText(text, [])
    edits = [Edit(*match.span(), both[match[0]]) for match in _pattern(there).finditer(text) if match["name"]]
    pieces, end = [], 0
    for edit in edits:
        pieces += [text[end : edit.start], edit.new]
        end = edit.end
    return RenamedText("".join([*pieces, text[end:]]), edits)


def _pattern(names: Sequence[str]) -> re.Pattern[str]:
    """Return what finds names, whole words where their script has spaces, and what is left alone."""
    whole = [
        re.escape(name) if _UNSPACED.search(name) else rf"(?<!\w){re.escape(name)}(?![\w\u0900-\u0d7f])"
        for name in names
    ]
    return re.compile(f"{LEFT_ALONE}|(?P<name>{'|'.join(whole)})", re.DOTALL)


def _fictional_document(document: Document, changed: RenamedText, swaps: Mapping[str, str]) -> Document:
    metadata = dict(document.metadata or {})
    if isinstance(headings := metadata.get("headings"), list):
        metadata["headings"] = [
            {
                **heading,
                "start": changed.moved(heading["start"], heading["start"])[0],
                "title": change(heading["title"], swaps).text,
            }
            for heading in headings
        ]
    if isinstance(starts := metadata.get("page_starts"), list):
        metadata["page_starts"] = [changed.moved(start, start)[0] for start in starts]
    title = None if document.title is None else change(document.title, swaps).text
    return msgspec.structs.replace(document, text=changed.text, title=title, metadata=metadata or None)


def _fictional_question(
    question: Question,
    originals: Mapping[str, str],
    changed: Mapping[str, RenamedText],
    swaps: Mapping[str, str],
) -> Question:
    metadata = {name: value for name, value in (question.metadata or {}).items() if name not in DROPPED}
    tags = {name: value for name, value in (question.tags or {}).items() if name not in DROPPED}
    spans = [_moved_span(question, span, changed) for span in question.evidence or ()]
    answers = [
        _moved_reference(reference, question, originals, changed, swaps) for reference in references(question)
    ]
    retold = msgspec.structs.replace(
        question,
        question=change(question.question, swaps).text,
        reference=answers[0]
        if answers and isinstance(question.reference, str)
        else answers or question.reference,
        evidence=spans if question.evidence is not None else None,
        tags=tags or None,
        metadata=_swapped(metadata, changed, swaps) or None,
    )
    return remember_sources(retold, {span.document_id: changed[span.document_id].text for span in spans})


def _moved_span(question: Question, span: Evidence, changed: Mapping[str, RenamedText]) -> Evidence:
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
    changed: Mapping[str, RenamedText],
    swaps: Mapping[str, str],
) -> str:
    """Return a reference as its evidence, else its document, has it now; else with its names swapped."""
    places = [(span.document_id, span.start, span.end) for span in question.evidence or ()]
    places += [(name, 0, len(originals[name])) for name in sorted(documents_of(question) & originals.keys())]
    for document_id, start, end in places:
        at = originals[document_id].find(reference, start, end)
        if at >= 0:
            first, last = changed[document_id].moved(at, at + len(reference))
            return changed[document_id].text[first:last]
    return change(reference, swaps).text


def _swapped(value: Any, changed: Mapping[str, RenamedText], swaps: Mapping[str, str]) -> Any:  # noqa: ANN401 - JSON
    """Return a value of metadata with its texts swapped, but for ids, and its spans of documents moved."""
    match value:
        case str():
            return change(value, swaps).text
        case list():
            return [_swapped(item, changed, swaps) for item in value]
        case {"document_id": str(name), "start": int(start), "end": int(end)} if name in changed:
            first, last = changed[name].moved(start, end)
            return {"document_id": name, "start": first, "end": last}
        case dict():
            return {
                name: item
                if name in ("id", "ids") or name.endswith(("_id", "_ids"))
                else _swapped(item, changed, swaps)
                for name, item in value.items()
            }
    return value
