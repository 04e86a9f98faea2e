"""What retrievers need of a session: embedders, models to ask, places to work."""

from collections.abc import Iterable

from ragstone.engine.session import Session
from ragstone.records import Document
from ragstone.retrieval.deps import ChunkFilter, RetrieverDeps


def retriever_deps(session: Session, documents: Iterable[Document] = ()) -> RetrieverDeps:
    """Return what retrievers need, as `[retrieve]` and `[retrievers]` declare."""
    declared = session.settings.retrieve
    return RetrieverDeps(
        retrievers=session.settings.retrievers,
        filter=ChunkFilter(where=declared.where, match=tuple(declared.match)),
        embedder=declared.embedder,
        open_embedder=session.embed,
        open_door=session.models.ask,
        context_tokens=session.models.context_tokens,
        each=session.each,
        documents={document.id: document for document in documents},
        offline=session.asks_nobody,
        secret=session.secret,
        store=session.settings.path(".ragstone"),
    )
