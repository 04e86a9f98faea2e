"""What a tool is told besides its arguments, for tests."""

from datetime import date

import msgspec

from ragstone.kernel.records import Turn
from ragstone_assistant.conversation import Asked
from ragstone_assistant.tool import Observation, Situation, Tool


def situation(lang: str = "en", *questions: str) -> Situation:
    turns = tuple(Turn("user", question) for question in questions or ("?",))
    return Situation(asked=Asked(turns=turns), lang=lang, today=date(2026, 11, 21))


async def observe(tool: Tool, lang: str = "en", **given) -> Observation:
    """Call a tool with arguments as a model gives them."""
    return await tool.call(msgspec.convert(given, tool.arguments), situation(lang))
