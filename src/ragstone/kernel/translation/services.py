"""A translator that is no language model, behind the door: a service over HTTP."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec

from ragstone.kernel.config import HttpTranslator
from ragstone.kernel.llm import Ask, CallFailed, Message, Prompt
from ragstone.kernel.llm.json_service import (
    check_places,
    compile_path,
    described,
    open_json_service,
    service_identity,
)
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.transport import Endpoint
from ragstone.kernel.records import Usage


class Translate(Protocol):
    """Returns the texts in the target language, one for each, in their order.

    about: the title of what the texts are from, for a translator that can use it. Raises CallFailed, with the
    status that the row gets, where one of the texts has no translation; ModelError where none ever will.
    """

    async def __call__(
        self, texts: Sequence[str], source: str, target: str, about: str | None = None
    ) -> list[str]:
        """Translate the texts of one row."""
        ...


TO = " -> "


def by_service(ask: Ask) -> Translate:
    """Return the translator that asks an endpoint of open_http, a call for each text."""

    async def translate(
        texts: Sequence[str],
        source: str,
        target: str,
        about: str | None = None,  # noqa: ARG001
    ) -> list[str]:
        replies = await asyncio.gather(*(ask(call([text], source, target)) for text in texts))
        # Where nobody gave a reply, in a forecast, the text itself stands for its translation.
        return [
            msgspec.json.decode(reply.text, type=list[str])[0] if reply.usage.calls else text
            for reply, text in zip(replies, texts, strict=True)
        ]

    return translate


def call(texts: Sequence[str], source: str, target: str) -> Prompt:
    """Return the call that translates these texts."""
    pair = Message("system", f"{source}{TO}{target}")
    return Prompt(messages=(pair, Message("user", msgspec.json.encode(texts).decode())), max_tokens=1)


def called(prompt: Prompt) -> tuple[list[str], str, str]:
    """Return what a call asks: the texts, their language, and the one wanted."""
    source, _, target = prompt.messages[0].content.partition(TO)
    return msgspec.json.decode(prompt.messages[1].content, type=list[str]), source, target


HTTP = "http"
PLACES = ("text", "source", "target")
WHERE = "[translate.http]"


@asynccontextmanager
async def open_http(declared: HttpTranslator) -> AsyncIterator[Endpoint]:
    """Give the endpoint that posts a text a call.

    Raises ConfigError for a template or a path that cannot be. A call raises ModelError without the key, and
    where the address or the key is refused.
    """
    check_places(declared, WHERE, PLACES, ("text", "target"))
    pick = compile_path(declared.text, f"{WHERE} text")
    # What the ledger knows the service by: another request may give other translations.
    form = (declared.request, declared.text, sorted(declared.headers.items()), sorted(declared.codes.items()))
    identity = service_identity(declared.url, form)
    async with open_json_service(declared, WHERE) as post:

        async def send(prompt: Prompt) -> Completion:
            texts, source, target = called(prompt)
            values = {
                "text": texts[0],
                "source": declared.codes.get(source, source),
                "target": declared.codes.get(target, target),
            }
            started = time.perf_counter()
            reply = await post(values)
            text = next(iter(pick(reply)), None)
            if not isinstance(text, str) or not text.strip():
                there = f"it is {described(reply, str)}"
                raise CallFailed("unparsable", f"{WHERE} the reply has no text at `text`; {there}")
            return Completion(
                text=msgspec.json.encode([text]).decode(),
                usage=Usage(calls=1),
                latency_s=round(time.perf_counter() - started, 4),
            )

        yield Endpoint(identity=identity, send=send, concurrency=declared.max_concurrency, price=None)
