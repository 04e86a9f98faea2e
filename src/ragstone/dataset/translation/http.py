"""A translator behind HTTP: a text goes out as a JSON template says, and its translation is read by path."""

import hashlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import msgspec

from ragstone.config import HttpTranslator, ModelSettings
from ragstone.dataset.translation.service import called
from ragstone.errors import ConfigError, ModelError, nearest
from ragstone.llm import CallFailed
from ragstone.llm.json_form import Json, Pick, Values, compile_path, described, fill, fill_url, places_in
from ragstone.llm.keys import find_key, without_password
from ragstone.llm.prompt import Completion, Prompt
from ragstone.llm.transport import BadRequest, Endpoint, Unreachable
from ragstone.records import Usage

if TYPE_CHECKING:
    from ragstone.llm.site import Site

HTTP = "http"
PLACES = ("text", "source", "target", "key")
WHERE = "[translate.http]"


@asynccontextmanager
async def open_http(declared: HttpTranslator) -> AsyncIterator[Endpoint]:
    """Give the endpoint that posts a text a call.

    Raises ConfigError for a template or a path that cannot be. A call raises ModelError without the key, and
    where the address or the key is refused.
    """
    import aiohttp  # 0.15 s that other translators do not need

    from ragstone.llm.site import CONNECT_S, Site

    _check_places(declared)
    pick = compile_path(declared.text, f"{WHERE} text")
    key, no_key = _key(declared)
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=declared.max_concurrency),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=declared.timeout_s, sock_connect=CONNECT_S),
        headers=_headers(declared, key),
        trust_env=True,
    ) as session:
        site = Site(session, declared.url, key, no_key)

        async def send(prompt: Prompt) -> Completion:
            site.check_key()
            texts, source, target = called(prompt)
            values = {
                "text": texts[0],
                "source": declared.codes.get(source, source),
                "target": declared.codes.get(target, target),
                "key": key,
            }
            started = time.perf_counter()
            reply = await _post(site, declared, values)
            return Completion(
                text=msgspec.json.encode([_read(reply, pick)]).decode(),
                usage=Usage(calls=1),
                latency_s=round(time.perf_counter() - started, 4),
            )

        yield Endpoint(
            identity=_identity(declared), send=send, concurrency=declared.max_concurrency, price=None
        )


def _key(declared: HttpTranslator) -> tuple[str, str | None]:
    """Return the key, empty where there is none, and what is said where one is named and cannot be used."""
    if declared.api_key_env is None:
        return "", None
    key, remedy = find_key(ModelSettings(api_key_env=declared.api_key_env))
    return key, None if key else f"{WHERE}: no key. {remedy}."


def _identity(declared: HttpTranslator) -> str:
    """Return what the ledger knows the service by: another request may give other translations."""
    form = (declared.request, declared.text, sorted(declared.headers.items()), sorted(declared.codes.items()))
    digest = hashlib.blake2b(msgspec.json.encode(form), digest_size=6).hexdigest()
    return f"{HTTP}/{without_password(declared.url)}#{digest}"


def _headers(declared: HttpTranslator, key: str) -> dict[str, str]:
    given = {name: str(fill(text, {"key": key})) for name, text in declared.headers.items()}
    standard = {"Content-Type": "application/json", "Accept": "application/json"}
    own = places_in(declared.request) | places_in(declared.url) | places_in(declared.headers)
    bearer = {"Authorization": f"Bearer {key}"} if key and "key" not in own else {}
    return standard | bearer | given


async def _post(site: "Site", declared: HttpTranslator, values: Values) -> Json:
    """Return the reply to one text as JSON. Raises what its HTTP status means."""
    from ragstone.llm.site import Site, exchange, raise_for

    there = Site(site.session, fill_url(declared.url, values), "", None)
    body = fill(declared.request, values)
    try:
        response, content = await exchange(
            there, "POST" if body else "GET", "", data=msgspec.json.encode(body) if body else None
        )
    except Unreachable as failure:
        words = _hidden(str(failure), values).replace("base_url", "url").replace(there.name, site.name)
        raise Unreachable(f"{WHERE} {words}") from None
    if response.status in (404, 405):
        raise ModelError(f"{WHERE} {site.name}: HTTP {response.status}: {site.excerpt(content)}. Check url.")
    if response.status >= 400:
        try:
            raise_for(site, response.status, response.headers.get("Retry-After"), content)
        except BadRequest as words:
            raise CallFailed("error", f"{site.name} refuses the text: {words}") from None
    try:
        decoded: Json = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise CallFailed("unparsable", f"{site.name}: no JSON: {site.excerpt(content)}") from None
    return decoded


def _hidden(words: str, values: Values) -> str:
    key = values["key"]
    return words.replace(key, "[the key]") if isinstance(key, str) and key else words


def _read(reply: Json, pick: Pick) -> str:
    found = next(iter(pick(reply)), None)
    if not isinstance(found, str) or not found.strip():
        raise CallFailed("unparsable", f"{WHERE} the reply has no text at `text`; it is {described(reply)}")
    return found


def _check_places(declared: HttpTranslator) -> None:
    """Raise ConfigError for a place that nothing fills, and for a request without text or language."""
    places = places_in(declared.request) | places_in(declared.url)
    for place in sorted((places | places_in(declared.headers)) - set(PLACES)):
        raise ConfigError(f"{WHERE}: nothing fills {{{place}}}. {nearest(place, PLACES)}")
    for place in ("text", "target"):
        if place not in places:
            raise ConfigError(f"{WHERE}: put {{{place}}} into `request`, or into `url`.")
    if "key" in places | places_in(declared.headers) and declared.api_key_env is None:
        raise ConfigError(f"{WHERE}: {{key}} is wanted: name the environment variable with it, api_key_env.")
