"""What tests of the knowledge base share: an embedder by words, a way to open one, some documents."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np

from ragstone.kernel.config import AssistantSection
from ragstone.kernel.corpus.tags import Tag
from ragstone.kernel.embedding.model import Role, Vectors
from ragstone.kernel.errors import DataError
from ragstone_assistant.knowledge.entry import Advance, BuildResult
from ragstone_assistant.knowledge.grouping import Namer
from ragstone_assistant.knowledge.knowledge_base import KnowledgeBase, open_knowledge, silent

CROP = Tag("crop", {"maize": ("maize", "corn", "maíz"), "rice": ("rice",)})
REGION = Tag("region", {"Kisumu": ("Kisumu",)})


class Words:
    """An embedder of 32 numbers: how often the words of a text fall into each. `given`: texts, in order."""

    def __init__(self) -> None:
        self.given: list[str] = []
        self.broken = False

    def __call__(self, texts: Sequence[str], role: Role) -> Vectors:
        if self.broken:
            raise DataError("the embedder is gone")
        self.given += texts
        vectors = np.zeros((len(texts), 32), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                row[int(hashlib.md5(word.strip(".,?!").encode()).hexdigest(), 16) % 32] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.maximum(lengths, 1e-9)


async def add(knowledge: KnowledgeBase, name: str, content: bytes, advance: Advance = silent) -> BuildResult:
    """Read an upload and take it in."""
    return await knowledge.add(await knowledge.check(name, content), advance)


@asynccontextmanager
async def knowledge_in(
    root: Path,
    embed: Words | None = None,
    tags: Sequence[Tag] = (CROP, REGION),
    *,
    namer: Namer | None = None,
    **settings: object,
) -> AsyncIterator[KnowledgeBase]:
    """Give a knowledge base below a folder, closed at the end; its builds do not stand back for others."""
    section = AssistantSection(**settings)
    knowledge = open_knowledge(section, root, embed or Words(), tags, namer=namer, serving=False)
    try:
        yield knowledge
    finally:
        await knowledge.close()


def write(folder: Path, **files: str) -> Path:
    """Write Markdown files NAME=text into a folder, and return it."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder
