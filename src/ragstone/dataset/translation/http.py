"""A translator behind HTTP: a text goes out as a JSON template says, and its translation is read by path."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from ragstone.config import HttpTranslator
from ragstone.dataset.translation.service import called
from ragstone.llm import CallFailed
from ragstone.llm.json_form import Json, Pick, compile_path, described
from ragstone.llm.json_service import check_places, open_json_service, service_identity
from ragstone.llm.prompt import Completion, Prompt
from ragstone.llm.transport import Endpoint
from ragstone.records import Usage

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
            return Completion(
                text=msgspec.json.encode([_read(reply, pick)]).decode(),
                usage=Usage(calls=1),
                latency_s=round(time.perf_counter() - started, 4),
            )

        yield Endpoint(
            identity=_identity(declared), send=send, concurrency=declared.max_concurrency, price=None
        )


def _identity(declared: HttpTranslator) -> str:
    """Return what the ledger knows the service by: another request may give other translations."""
    form = (declared.request, declared.text, sorted(declared.headers.items()), sorted(declared.codes.items()))
    return service_identity(declared.url, form)


def _read(reply: Json, pick: Pick) -> str:
    found = next(iter(pick(reply)), None)
    if not isinstance(found, str) or not found.strip():
        raise CallFailed("unparsable", f"{WHERE} the reply has no text at `text`; it is {described(reply)}")
    return found
