"""The assistant as those see it who serve it: one value whose functions do everything."""

from collections.abc import Awaitable, Callable, Mapping

import msgspec

from ragstone.assistant.conversation import Asked, Emit, Said
from ragstone.assistant.knowledge import KnowledgeBase
from ragstone.assistant.log import ExchangeLog

Respond = Callable[[Asked, Emit], Awaitable[Said]]
"""A conversation -> the next reply. Raises nothing but CancelledError: whatever fails, the reply says so."""

AnswerFrom = Callable[[str, Mapping[str, str], str | None, Emit], Awaitable[Said]]
"""(question, filters, lang, emit) -> the answer from the documents, without the agent. lang: see Asked."""


class Assistant(msgspec.Struct, frozen=True, kw_only=True):
    """An assistant, ready to be asked; made by `ragstone.assistant.opening.open_assistant`.

    health: part ("model", "knowledge", "log") -> "ok", or what is wrong with it. scope: what it answers
    questions about. languages: ISO 639-1 codes that its phrases are written in. The log is written by who
    serves: it knows ids and the time.
    """

    respond: Respond
    answer: AnswerFrom
    health: Callable[[], Awaitable[dict[str, str]]]
    knowledge: KnowledgeBase
    log: ExchangeLog
    scope: str
    languages: tuple[str, ...]
