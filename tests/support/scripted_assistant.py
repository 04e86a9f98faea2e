"""Passages, a model that says what it is told to, and an embedder by words: for the assistant's tests."""

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
from tests.support.farm import FARM

from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.embedding.model import Role, Vectors
from ragstone.kernel.llm import CallFailed, Prompt, Reply, Stream
from ragstone.kernel.records import Usage
from ragstone_assistant.answering.answering import Answering
from ragstone_assistant.answering.prompting import load_answering_prompt
from ragstone_assistant.conversation import Doing, Passage, TextPiece

SECRET = b"the secret of a test, thirty-two bytes"

MAIZE = (
    Passage(
        chunk_id="maize-1#0",
        document_id="maize-1",
        title="Growing maize",
        page=3,
        lang="en",
        text="Sow maize at the beginning of the long rains, in late March or April. Plant two seeds in each "
        "hole, five centimetres deep. Maize needs 120 kg of nitrogen for each hectare.",
    ),
    Passage(
        chunk_id="maize-2#0",
        document_id="maize-2",
        title="Pests of maize",
        lang="en",
        text="Fall armyworm eats the leaves of young maize. Look for its droppings in the plant's funnel. "
        "Spray an insecticide with emamectin benzoate, 0.4 ml for each litre of water, in the evening.",
    ),
)


class Scripted:
    """A `Stream` that says a text, in pieces of a size, and keeps the prompts that it was asked."""

    def __init__(self, text: str | Callable[[Prompt], str], size: int = 4, fails_after: int | None = None):
        self._text = text
        self._size = size
        self._fails_after = fails_after
        self.prompts: list[Prompt] = []

    async def __call__(self, prompt: Prompt, on_text: Callable[[str], None]) -> Reply:
        self.prompts.append(prompt)
        text = self._text if isinstance(self._text, str) else self._text(prompt)
        usage = Usage(input=100, output=len(text) // 4, calls=1)
        for start in range(0, len(text), self._size):
            if self._fails_after is not None and start >= self._fails_after:
                raise CallFailed("timeout", "no reply within 60 s", usage=usage)
            on_text(text[start : start + self._size])
            await asyncio.sleep(0)
        if self._fails_after is not None:
            raise CallFailed("timeout", "no reply within 60 s", usage=usage)
        return Reply(text=text, value=None, usage=usage, latency_s=0.1, cost_usd=0.001)


def embed_words(texts: Sequence[str], _role: Role) -> Vectors:
    """Return vectors in which texts of the same words meet; words of two languages do not."""
    vectors = np.zeros((len(texts), 512), np.float32)
    for row, text in enumerate(texts):
        for word in tokenize(text):
            vectors[row, sum(word.encode()) % 512] += 1
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(lengths, 1e-9)


def answering(stream: Stream, prompt: str = "cited") -> Answering:
    """Return the means of an answer."""
    return Answering(
        stream=stream,
        prompt=load_answering_prompt(prompt),
        secret=SECRET,
        embed=embed_words,
        context_tokens=8192,
        model="scripted",
        sensitive=FARM.sensitive,
    )


class Heard:
    """An `Emit` that keeps what it hears."""

    def __init__(self) -> None:
        self.events: list[Doing | TextPiece] = []

    def __call__(self, event: Doing | TextPiece) -> None:
        self.events.append(event)

    @property
    def text(self) -> str:
        """The pieces, put together."""
        return "".join(event.piece for event in self.events if isinstance(event, TextPiece))
