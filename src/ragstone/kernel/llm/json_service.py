"""A service behind HTTP that speaks JSON of its own form: requests by a template, values read out by path."""

import asyncio
import codecs
import contextlib
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, urlsplit

import msgspec

from ragstone.kernel.config import HttpSettings, HttpSystem, HttpTranslator, ModelSettings
from ragstone.kernel.errors import ConfigError, ModelError, nearest
from ragstone.kernel.llm.failures import BadRequest, CallFailed, Unreachable
from ragstone.kernel.llm.keys import find_key, hide, without_password

if TYPE_CHECKING:
    from ragstone.kernel.llm._site import Site

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
Values = Mapping[str, Json]
Pick = Callable[[Json], list[Json]]

PLACE = re.compile(r"\{(\w[\w.-]*)\}")
SHOWN = 12
MOST_PATHS, DEEPEST = 50, 8  # of a reply that is searched for what a path should have found
NAME = re.compile(r"[A-Za-z_]\w*")  # a key that stands in a JSONPath without quotes
MOST_BYTES = 10_000_000  # of a reply: no answer with its contexts is longer, but a stream may never end

Declared = HttpSettings | HttpSystem | HttpTranslator
Post = Callable[[Values], Awaitable[Json]]
"""Values for the places of the template -> the reply to one request."""


def places_in(template: Json) -> set[str]:
    """Return the names that stand in braces in the texts of a template."""
    return {name for text in _texts(template) for name in PLACE.findall(text)}


def fill(template: Json, values: Values) -> Json:
    """Return the template with its places filled.

    A text that is one place alone becomes the value itself: a number stays a number, and what is unknown
    becomes null. Within a longer text the value is written out, and what is unknown is left away.
    """
    match template:
        case str():
            whole = PLACE.fullmatch(template)
            if whole:
                return values.get(whole[1])
            return PLACE.sub(lambda match: _written(values.get(match[1])), template)
        case Mapping():
            return {key: fill(value, values) for key, value in template.items()}
        case Sequence():
            return [fill(value, values) for value in template]
        case _:
            return template


def fill_url(url: str, values: Values) -> str:
    """Return the address with its places filled, as they must be written there."""
    return PLACE.sub(lambda match: quote(_written(values.get(match[1])), safe=""), url)


def compile_path(path: str, where: str) -> Pick:
    """Return a function that finds all values at a JSONPath (RFC 9535), in order.

    where: what the path is of, for the message. Raises ConfigError for a path that is none; the function
    raises CallFailed for a reply that is nested too deeply to be searched.
    """
    import jsonpath  # 0.1 s, and only services behind HTTP need it

    try:
        compiled = jsonpath.compile(path)
    except jsonpath.JSONPathError as mistake:
        reason = str(mistake).splitlines()[0]
        raise ConfigError(
            f"{where} = {path!r} is not a JSONPath ({reason}). Write e.g. '$.results[*]'."
        ) from None

    def pick(reply: Json) -> list[Json]:
        if isinstance(reply, str):  # the library would take it for JSON text
            return [reply] if path.strip() == "$" else []
        try:
            return cast(list[Json], compiled.findall(reply))
        except RecursionError:
            raise CallFailed("unparsable", f"{where}: the reply is nested too deeply to be read") from None

    return pick


def described(value: Json, wanted: type[str] | type[list[Json]] | None = None, *, within: Json = None) -> str:
    """Return what a JSON value holds, in a few words: its keys, or what it is.

    wanted: what a path should have found; where the reply has such is told too. within: the reply, if the
    value is a part of it.
    """
    if wanted is not None:
        return described(value) + _pointed_at(value if within is None else within, wanted)
    match value:
        case Mapping():
            keys = ", ".join(list(value)[:SHOWN]) or "none"
            return f"an object with the keys {keys}"
        case str():
            return f"the text {value[:60]!r}"
        case Sequence():
            return f"a list of {len(value)}" + (f", the first {_first(value[0])}" if value else "")
        case None:
            return "null"
        case _:
            return repr(value)


def _pointed_at(reply: Json, wanted: type[str] | type[list[Json]]) -> str:
    """Return the paths at which a reply has what is wanted, as the end of a message; empty where it has none.

    What is empty does not count, nor does a list of numbers or lists. Of a list the first item is
    looked at; its step is `[*]`.
    """
    paths = list(dict.fromkeys(islice(_paths(reply, wanted, "$", DEEPEST), MOST_PATHS)))
    if not paths:
        return ""
    kind = "text" if wanted is str else "list"
    several = f"{kind}s are" if len(paths) > 1 else f"a {kind} is"
    more = ", …" if len(paths) > SHOWN else ""
    return f"; {several} at {', '.join(paths[:SHOWN])}{more}"


def _paths(value: Json, wanted: type[str] | type[list[Json]], path: str, depth: int) -> Iterator[str]:
    if isinstance(value, wanted) and value and isinstance(value[0], str | Mapping):
        yield path
    if depth and isinstance(value, Mapping):
        for name, inner in islice(value.items(), MOST_PATHS):
            escaped = name[:60].replace("\\", "\\\\").replace("'", "\\'")
            step = f".{name}" if NAME.fullmatch(name) else f"['{escaped}']"
            yield from _paths(inner, wanted, path + step, depth - 1)
    elif depth and isinstance(value, list):
        yield from _paths(value[0] if value else None, wanted, f"{path}[*]", depth - 1)


def _first(item: Json) -> str:
    """Return what a list begins with; of a list no more than its length, for it may be nested deep."""
    if isinstance(item, Sequence) and not isinstance(item, str):
        return f"a list of {len(item)}"
    return described(item)


def _texts(template: Json) -> Iterator[str]:
    match template:
        case str():
            yield template
        case Mapping():
            for value in template.values():
                yield from _texts(value)
        case Sequence():
            for value in template:
                yield from _texts(value)


def _written(value: Json) -> str:
    if isinstance(value, str | int | float | None):
        return "" if value is None else str(value)
    return msgspec.json.encode(value).decode()


@asynccontextmanager
async def open_json_service(declared: Declared, where: str) -> AsyncIterator[Post]:
    """Give the function that makes a request; its connections are closed at the end of the block.

    where: the table of ragstone.toml, for messages. A request raises CallFailed for its row, and ModelError
    without the key, and where the address or the key is refused. The place `key` is filled here.
    """
    import aiohttp  # 0.15 s that services without HTTP do not need

    from ragstone.kernel.llm._site import CONNECT_S, Site, behind_proxy

    key, no_key = _key(declared, where)
    address_of(declared.url, where)
    headers = _headers(declared, key, where)
    if "authorization" in map(str.casefold, headers) and without_password(declared.url) != declared.url:
        raise ConfigError(
            f"{where}: the url has a user, and there is an Authorization header too: keep one. A key goes "
            "elsewhere if headers says where: { X-Key = '{key}' }."
        )
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=declared.max_concurrency),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=declared.timeout_s, sock_connect=CONNECT_S),
        headers=headers,
        trust_env=behind_proxy(declared.url),
    ) as session:
        site = Site(session, declared.url, key, no_key)

        async def post(values: Values) -> Json:
            site.check_key()
            return await _post(site, declared, {**values, "key": key}, where)

        yield post


def check_key(declared: Declared, where: str) -> None:
    """Raise ModelError where a key is named and cannot be had."""
    _, no_key = _key(declared, where)
    if no_key is not None:
        raise ModelError(no_key)


async def reach(url: str) -> str:
    """Connect to an address, send nothing, hang up, and return what was reached.

    Raises ModelError where nobody listens, ConfigError for what is no address.
    """
    from ragstone.kernel.llm._site import CONNECT_S, behind_proxy, no_more_files

    address = without_password(url)
    host, port, encrypted = address_of(url)
    if behind_proxy(url):
        return f"{address} is asked through a proxy and was not checked"
    try:
        async with asyncio.timeout(CONNECT_S):
            _, writer = await asyncio.open_connection(host, port, ssl=encrypted or None)
    except OSError as mistake:  # a timeout is one
        if full := no_more_files(mistake):
            raise ModelError(f"{address} was not checked: {full}") from None
        why = str(mistake) or f"no connection within {CONNECT_S:g} s"
        raise ModelError(f"{address} cannot be reached ({why}). Is it running, and is url right?") from None
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return f"{host}:{port} can be reached; nothing was sent"


def address_of(url: str, where: str = "") -> tuple[str, int, bool]:
    """Return an address's host, its port, and whether it is encrypted. Raises ConfigError for none."""
    try:
        address = urlsplit(url)
        port = address.port or (443 if address.scheme == "https" else 80)
    except ValueError:
        address, port = urlsplit(""), 0
    if address.scheme not in ("http", "https") or not address.hostname:
        prefix = f"{where}: url = " if where else ""
        raise ConfigError(
            f"{prefix}{without_password(url)!r} is not an address. Write e.g. http://localhost:8000/ask"
        )
    return address.hostname, port, address.scheme == "https"


def service_identity(url: str, form: object) -> str:
    """Return what the ledger knows a service by; form: all else that decides what it replies."""
    digest = hashlib.blake2b(msgspec.json.encode(form), digest_size=6).hexdigest()
    return f"http/{without_password(url)}#{digest}"


def check_places(
    declared: Declared, where: str, known: Iterable[str], needed: Iterable[str], prefix: str | None = None
) -> set[str]:
    """Return the places of the request. Raise ConfigError for one that nothing fills, or that is lacking.

    prefix: what a place may begin with besides, e.g. `tag.`.
    """
    places = places_in(declared.request) | places_in(declared.url)
    every = places | places_in(declared.headers)
    known = [*known, "key"]
    for name in sorted(places_in(declared.headers) - {"key"}):
        raise ConfigError(f"{where}: nothing fills {{{name}}} in headers, which are the same for every call.")
    for name in sorted(every - set(known)):
        if prefix is None or not name.startswith(prefix):
            raise ConfigError(f"{where}: nothing fills {{{name}}}. {nearest(name, known)}")
    for name in needed:
        if name not in places:
            raise ConfigError(f"{where}: put {{{name}}} into `request`, or into `url`.")
    if "key" in every and declared.api_key_env is None:
        raise ConfigError(f"{where}: {{key}} is wanted: name the environment variable with it, api_key_env.")
    return places


def _key(declared: Declared, where: str) -> tuple[str, str | None]:
    """Return the key, empty where there is none, and what is said where one is named and cannot be used."""
    if declared.api_key_env is None:
        return "", None
    key, remedy = find_key(ModelSettings(api_key_env=declared.api_key_env))
    return key, None if key else f"{where}: no key. {remedy}."


def _headers(declared: Declared, key: str, where: str) -> dict[str, str]:
    for name, text in declared.headers.items():
        if not (name.isascii() and name.isprintable() and " " not in name and text.isprintable()):
            raise ConfigError(f"{where}: {name!r} is not a header: a name is one word, a value is one line.")
    own_headers = {name: str(fill(text, {"key": key})) for name, text in declared.headers.items()}
    standard = {"Content-Type": "application/json", "Accept": "application/json"}
    own = places_in(declared.request) | places_in(declared.url) | places_in(declared.headers)
    bearer = {"Authorization": f"Bearer {key}"} if key and "key" not in own else {}
    return standard | bearer | own_headers


async def _post(site: "Site", declared: Declared, values: Values, where: str) -> Json:
    """Return the reply to one request as JSON. Raises what its HTTP status means."""
    from ragstone.kernel.llm._site import Site, exchange, raise_for

    there = Site(site.session, fill_url(declared.url, values), "", None)
    body = fill(declared.request, values)
    request: Mapping[str, Any] = {"data": msgspec.json.encode(body)} if body else {}
    try:
        # A POST that is redirected loses its body or, elsewhere, tells a stranger the question and the key.
        response, content = await exchange(
            there, "POST" if body else "GET", "", most_bytes=MOST_BYTES, allow_redirects=False, **request
        )
    except CallFailed as failure:
        reason = _hidden(str(failure), values).replace("base_url", "url").replace(there.name, site.name)
        if isinstance(failure, Unreachable):
            raise Unreachable(f"{where} {reason}") from None
        raise CallFailed(failure.status, f"{where} {reason}", retryable=failure.retryable) from None
    if 300 <= response.status < 400:
        target = _hidden(without_password(response.headers.get("Location", "nowhere")), values)
        raise ModelError(
            f"{where} {site.name} redirects (HTTP {response.status}) to {target}, which is not followed. Set "
            "url to the final address."
        )
    if response.status in (404, 405):
        raise ModelError(f"{where} {site.name}: HTTP {response.status}: {site.excerpt(content)}. Check url.")
    if response.status >= 400:
        try:
            raise_for(site, response.status, response.headers, content)
        except BadRequest as reason:
            raise CallFailed("error", f"{site.name} refuses the text: {reason}") from None
    try:
        decoded: Json = msgspec.json.decode(content.removeprefix(codecs.BOM_UTF8))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise CallFailed("unparsable", f"{site.name}: not JSON: {site.excerpt(content)}") from None
    return decoded


def _hidden(text: str, values: Values) -> str:
    key = values["key"]
    return hide(text, [key]) if isinstance(key, str) else text
