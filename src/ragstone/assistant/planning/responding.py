"""A conversation -> the next reply, with the question's tags: greetings at once, all else by the agent."""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import msgspec

from ragstone.assistant.assistant import Respond
from ragstone.assistant.conversation import Asked, Emit, Passage, Said, Text
from ragstone.assistant.languages import phrase, scope_words
from ragstone.assistant.planning.lexicon import courtesy_in
from ragstone.assistant.planning.loop import Agent, is_question, reply_to
from ragstone.assistant.planning.slots import Know, turn_language

LONG = 4000  # characters; more are not read in the loop that answers everybody
_READER = ThreadPoolExecutor(1, "ragstone-long")
LOOKED_BACK = 3  # earlier turns of the user by which the language of a turn that tells nothing is known


def respond_with(agent: Agent, know: Know, tag_keys: Sequence[str], today: Callable[[], date]) -> Respond:
    """Return the function that replies to conversations.

    know: reads what a conversation holds; what it says of tag_keys are tags of the question. today: read for
    each reply.
    """

    def read(asked: Asked) -> tuple[str, Said | None, dict[str, str]]:
        lang = conversation_language(asked)
        return lang, _courtesy(asked, lang, agent.scope), know(asked)

    async def respond(asked: Asked, emit: Emit) -> Said:
        if sum(len(turn.text) for turn in asked.turns) > LONG:
            lang, said, known = await asyncio.get_running_loop().run_in_executor(_READER, read, asked)
        else:
            lang, said, known = read(asked)
        if said is None:
            said = await reply_to(agent, asked, lang, today(), emit, known=known)
        else:
            emit(Text(said.text))
        tags = {key: known[key] for key in tag_keys if key in known}
        tags |= question_tags(said.lang, said.passages) | said.tags
        return msgspec.structs.replace(said, tags=tags)

    return respond


def conversation_language(asked: Asked) -> str:
    """Return the language to answer in: the user's choice, else that of the last turn that tells."""
    texts = [turn.text for turn in asked.turns if turn.role == "user"][-LOOKED_BACK:]
    before = None
    for text in texts[:-1]:
        before = turn_language(text, None, before)
    return turn_language(texts[-1], asked.lang, before)


def question_tags(lang: str, passages: Sequence[Passage]) -> dict[str, str]:
    """Return the tags that every question has: its language, and the topic of the nearest passage, if any."""
    topic = passages[0].tags.get("topic") if passages else None
    return {"lang": lang} | ({"topic": topic} if topic else {})


def _courtesy(asked: Asked, lang: str, scope: str) -> Said | None:
    """Return the reply to a greeting or to thanks; None for any other turn.

    "OK" in reply to a question of the assistant is none: it says yes.
    """
    started = time.perf_counter()
    courtesy = courtesy_in(asked.question, lang)
    earlier = [turn for turn in asked.turns[:-1] if turn.role == "assistant"]
    if courtesy is None or (courtesy[0] == "thanks" and earlier and is_question(earlier[-1])):
        return None
    kind, spoken = courtesy
    if asked.lang is None and not earlier:
        lang = spoken
    text = phrase(kind, lang, scope=scope_words(scope, lang))
    return Said(
        text=text,
        kind="greeting",
        lang=lang,
        cost_usd=0.0,
        latency_s=round(time.perf_counter() - started, 4),
    )
