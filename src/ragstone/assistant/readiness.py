"""What questions are compared with is embedded before the first one comes."""

import asyncio
import logging
from collections.abc import Sequence

from ragstone.assistant.answering.support import UNRELATED
from ragstone.assistant.guards.scope import subjects
from ragstone.assistant.tool import Tool
from ragstone.config import AssistantSection
from ragstone.embedding.embedder import Embedder
from ragstone.errors import RagstoneError

logger = logging.getLogger("ragstone.serve")


async def learn_texts(
    section: AssistantSection, tools: Sequence[Tool], topics: Sequence[str], embedder: Embedder
) -> None:
    """Let the embedder learn the tools' examples, the subjects of the scope and the catalogue of videos.

    With the packaged embedder that takes half a minute once; then they are in the project's store. An
    endpoint that cannot be reached is told in the log, and the first question tries again.
    """
    passages = [*UNRELATED, *(text for tool in tools for text in tool.texts)]
    examples: list[str] = []
    if section.planner == "words":
        inside, outside = subjects(section.scope, topics)
        passages += [*inside, *outside]
        examples = [text for tool in tools for text in tool.examples]
    try:
        await asyncio.to_thread(embedder.learn, passages, "passage")
        await asyncio.to_thread(embedder.learn, examples, "query")
        await asyncio.to_thread(embedder, ["Are you there?"], "query")  # loads it: the store may have had all
    except RagstoneError as failure:
        logger.warning("the embedder could not be asked at the start: %s", failure)
