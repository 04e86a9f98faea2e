"""What an answering model may be given for a question, to tell what it makes of it."""

from collections.abc import Mapping, Sequence

from ragstone.records import Chunk, Context, Document, Question


def gold_contexts(
    question: Question, documents: Mapping[str, Document], chunks_of: Mapping[str, Sequence[Chunk]]
) -> list[Context]:
    """Return the passages that hold the answer: the chunks of its evidence, else the whole document.

    documents: by id. chunks_of: document id -> its chunks. Empty where the question names no document of
    these.
    """
    named = question.evidence or []
    spans = [
        Context(id=chunk.id, document_id=chunk.document_id, text=chunk.text)
        for span in named
        for chunk in chunks_of.get(span.document_id, ())
        if chunk.start < span.end and span.start < chunk.end
    ]
    whole = [
        Context(document_id=name, text=documents[name].text)
        for name in question.document_ids or [span.document_id for span in named]
        if name in documents
    ]
    return list({context.id: context for context in spans}.values()) or whole
