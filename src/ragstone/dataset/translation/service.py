"""A translator that is no language model, behind the door: its calls are kept and capped as all are.

A call is a prompt of two messages: the pair of languages, and the texts as a JSON list. So is the reply.
"""

import asyncio
from collections.abc import Sequence

import msgspec

from ragstone.dataset.translation.translator import Translate
from ragstone.llm import Ask, Message, Prompt, Reply

TO = " -> "


def by_service(ask: Ask, *, together: bool) -> Translate:
    """Return the translator that asks an endpoint of ours (open_apertium, open_http).

    together: whether the texts of a row are one call, or each is one.
    """

    async def translate(
        texts: Sequence[str],
        source: str,
        target: str,
        about: str | None = None,  # noqa: ARG001
    ) -> list[str]:
        groups = [list(texts)] if together else [[text] for text in texts]
        replies = await asyncio.gather(*(ask(call(group, source, target)) for group in groups))
        return [text for reply, group in zip(replies, groups, strict=True) for text in _read(reply, group)]

    return translate


def call(texts: Sequence[str], source: str, target: str) -> Prompt:
    """Return the call that translates these texts."""
    pair = Message("system", f"{source}{TO}{target}")
    return Prompt(messages=(pair, Message("user", msgspec.json.encode(texts).decode())), max_tokens=1)


def called(prompt: Prompt) -> tuple[list[str], str, str]:
    """Return what a call asks: the texts, their language, and the one wanted."""
    source, _, target = prompt.messages[0].content.partition(TO)
    return msgspec.json.decode(prompt.messages[1].content, type=list[str]), source, target


def _read(reply: Reply, texts: list[str]) -> list[str]:
    """Return the texts of a reply; where nobody gave one, in a forecast, those that were given."""
    return msgspec.json.decode(reply.text, type=list[str]) if reply.usage.calls else texts
