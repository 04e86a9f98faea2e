"""An endpoint over HTTP: its address, its key, its connections, and what its errors mean."""

import contextlib
import copy
import errno
import os
import re
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, NoReturn
from urllib.parse import urlsplit

import aiohttp
import msgspec

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.errors import ConfigError, ModelError
from ragstone.kernel.llm.failures import BadRequest, CallFailed, Unreachable
from ragstone.kernel.llm.keys import find_key, hide, passwords_in, without_password
from ragstone.kernel.llm.limits import retry_after_s_of, wait_text
from ragstone.kernel.llm.providers import Provider

DEFAULT_TIMEOUT_S = 60.0
CONNECT_S = 10.0
MOST_REPLY_BYTES = 64_000_000
# Who asks to be left alone for longer than this has no quota left for today: the row is given up.
PATIENCE_S = 120.0
# 498: no capacity (Groq); 499: the request was cancelled on its way; 5xx: gateways have numbers of their own.
RETRYABLE = {408, 409, 425, 429, 498, 499, *range(500, 600)} - {501, 505}
LONGEST_MESSAGE = 20_000  # characters, in which keys are looked for
AZURE_VERSION = "2024-10-21"
AZURE_VERSION_VARIABLE = "OPENAI_API_VERSION"
FILTERED = (
    "(content_filter)",
    "(ResponsibleAIPolicyViolation)",
    "flagged_input",
    "content management policy",
)
WRONG_KEY = ("API_KEY_INVALID", "API key not valid", "invalid x-api-key")
NO_MODEL = ("model_decommissioned", "model_not_found", "invalid_model")
NO_QUOTA = ("insufficient_quota", "credit balance is too low", "Insufficient Balance")
# Requests that are refused for their form or length under another status: by Together, and by OpenRouter.
REFUSED = {
    403: ("max_tokens",),
    404: ("No endpoints found that support", "No endpoints found that can handle"),
}
ADDRESS_HINTS = {"azure": "azure/DEPLOYMENT and the resource's address", "anthropic": "it ends before /v1"}


class Site:
    """An endpoint's address, and what must not be shown of it: the key, and a password in the address.

    name: the address, fit to be shown. query: what follows every path. key_name: what the key is read from.
    hint: what model's name and base_url usually are.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        base_url: str,
        key: str,
        no_key: str | None,
        *,
        query: str = "",
        key_name: str = "the key's environment variable",
        hint: str = "usually .../v1",
    ) -> None:
        self.session = session
        self.base_url = base_url
        self.name = without_password(base_url)
        self.key_name = key_name
        self.hint = hint
        self._query = query
        self._secrets = (key, *passwords_in(base_url))
        self._no_key = no_key

    def at(self, base_url: str, session: aiohttp.ClientSession) -> "Site":
        """Return another address of the same host, asked by connections of its own."""
        moved = copy.copy(self)
        moved.base_url, moved.session, moved._query = base_url, session, ""
        moved.name = without_password(base_url)
        return moved

    def check_key(self) -> None:
        """Raise ModelError where a key is demanded and there is none."""
        if self._no_key is not None:
            raise ModelError(self._no_key)

    def url(self, path: str) -> str:
        """Return the address of a path."""
        return f"{self.base_url}{path}{self._query}"

    def shown(self, text: str) -> str:
        """Return words of the endpoint as they may be shown: without the key and the password."""
        return hide(text, self._secrets)

    def excerpt(self, content: bytes) -> str:
        """Return the message of an error body, or its first words, as they may be shown."""
        # Hidden before the words are cut, for half a key is too much.
        return self.shown(message_of(content)[:LONGEST_MESSAGE])[:400]


@contextlib.asynccontextmanager
async def open_site(
    provider: Provider, model: str, settings: ModelSettings, concurrency: int
) -> AsyncIterator[Site]:
    """Give the endpoint of a model; its connections are closed at the end of the block.

    The key is read from where the settings name, else from the provider's variable (see keys.py). Only the
    provider's own address demands one: behind another there may be a proxy that has it. Raises ModelError
    for a provider that has no address of its own, where none is given; ConfigError where the address has a
    user and a key goes into the same header.
    """
    base_url = provider.address(settings)
    if not base_url:
        raise ModelError(
            f"{provider.name}/{model}: no address. Set the environment variable {provider.base_url_env[0]}, "
            f'or base_url in [models."{provider.name}/{model}"] of ragstone.toml.'
        )
    key, remedy = find_key(settings, provider.key_variable or next(iter(provider.keys), ""))
    named = settings.api_key_env is not None or settings.api_key_file is not None
    wanted = any("{key}" in value for value in settings.headers.values())
    others = ", or point base_url at an endpoint that needs none, such as Ollama or vLLM"
    elsewhere = others if provider.name == "openai" else ""
    no_key = f"{provider.name}/{model}: no key. {remedy}{'' if named or wanted else elsewhere}."
    by_header = any(name.casefold() == "authorization" for name in settings.headers)
    own = provider.dialect == "azure" or (provider.needs_key and base_url == provider.base_url)
    demanded = not key and (named or wanted or (own and not by_header))
    base_url, query = _azure(base_url, model, settings) if provider.dialect == "azure" else (base_url, "")
    headers = _headers(provider, settings, key)
    key_name = settings.api_key_file or settings.api_key_env or provider.key_variable or "the key"
    if without_password(base_url) != base_url and "authorization" in map(str.casefold, headers):
        raise ConfigError(
            f"{provider.name}/{model}: base_url has a user, and {key_name} or a header of [models] goes into "
            "the same header, Authorization. Keep one of them; if both are needed, send the key in "
            "another: headers = { X-Api-Key = '{key}' }."
        )
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=concurrency, keepalive_timeout=60),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=settings.timeout_s or DEFAULT_TIMEOUT_S, sock_connect=CONNECT_S),
        headers=headers,
        trust_env=behind_proxy(base_url),
    ) as session:
        hint = ADDRESS_HINTS.get(provider.dialect, "usually .../v1")
        yield Site(
            session, base_url, key, no_key if demanded else None, query=query, key_name=key_name, hint=hint
        )


def _headers(provider: Provider, settings: ModelSettings, key: str) -> dict[str, str]:
    """Return what every request carries; a header of the settings goes before one of the provider."""
    declared = {name: value.replace("{key}", key) for name, value in settings.headers.items()}
    usual = {"Content-Type": "application/json"}
    if key and not any("{key}" in value for value in settings.headers.values()):
        usual |= {provider.key_header: key} if provider.key_header else {"Authorization": f"Bearer {key}"}
    if provider.dialect == "anthropic":
        usual["anthropic-version"] = "2023-06-01"
    known = {name.casefold() for name in declared}
    return {name: value for name, value in usual.items() if name.casefold() not in known} | declared


def _azure(base_url: str, model: str, settings: ModelSettings) -> tuple[str, str]:
    """Return the address of a deployment, and the query that every request to it has.

    An address that ends in /openai/v1 is that of the newer interface, which needs neither.
    """
    if base_url.endswith("/v1"):
        return base_url, ""
    version = settings.api_version or os.environ.get(AZURE_VERSION_VARIABLE) or AZURE_VERSION
    return f"{base_url.removesuffix('/openai')}/openai/deployments/{model}", f"?api-version={version}"


def behind_proxy(base_url: str) -> bool:
    """Return whether the environment names a proxy for it; aiohttp would look that up for every call."""
    address = urlsplit(base_url)
    return address.scheme in urllib.request.getproxies() and not urllib.request.proxy_bypass(
        address.hostname or ""
    )


async def exchange(
    site: Site,
    method: str,
    path: str,
    *,
    most_bytes: int = MOST_REPLY_BYTES,
    **request: Any,  # noqa: ANN401 - as aiohttp takes it
) -> tuple[aiohttp.ClientResponse, bytes]:
    """Return the response to a request, and its body. Raises CallFailed and ModelError for none.

    most_bytes: of the body; of a longer one the rest is not read, and it is a CallFailed.
    """
    # A POST that is redirected loses its body or, elsewhere, tells a stranger the texts.
    request = {"allow_redirects": False} | request
    with failures_of(site):
        async with site.session.request(method, site.url(path), **request) as response:
            return response, await read_body(site, response, most_bytes)


async def read_body(
    site: Site, response: aiohttp.ClientResponse, most_bytes: int = MOST_REPLY_BYTES
) -> bytes:
    """Return a body, unpacked. Raises CallFailed for a longer one than that, whose rest is not read."""
    body = bytearray()
    async for part in response.content.iter_any():
        body += part
        check_size(site, len(body), most_bytes)
    return bytes(body)


def check_size(site: Site, n_bytes: int, most_bytes: int = MOST_REPLY_BYTES) -> None:
    """Raise CallFailed for a reply that is too long to be kept in memory."""
    if n_bytes > most_bytes:
        raise CallFailed(
            "unparsable", f"{site.name}: a reply of more than {most_bytes:,} bytes, which is given up"
        )


@contextlib.contextmanager
def failures_of(site: Site) -> Iterator[None]:
    """Within the block, what goes wrong on the way to the endpoint is raised as CallFailed and ModelError."""
    try:
        yield
    except aiohttp.ConnectionTimeoutError:
        raise Unreachable(f"{site.name} cannot be reached (no connection within {CONNECT_S:g} s).") from None
    except TimeoutError:
        raise CallFailed("timeout", f"{site.name} did not answer in time", retryable=True) from None
    except (aiohttp.ClientPayloadError, aiohttp.ContentTypeError) as mistake:
        why = " ".join(str(mistake).split())
        raise CallFailed("error", f"{site.name}: the reply broke off ({why})", retryable=True) from None
    except aiohttp.ClientConnectorCertificateError as mistake:
        raise ModelError(
            f"{site.name}: its certificate does not verify ({mistake.certificate_error}). "
            "Set SSL_CERT_FILE to your authority's certificate."
        ) from None
    except (aiohttp.ClientError, OSError) as mistake:
        if full := no_more_files(mistake):
            raise Unreachable(f"{site.name} was not asked: {full}") from None
        raise Unreachable(
            f"{site.name} cannot be reached ({mistake}). Is it running, and is base_url right?"
        ) from None


def no_more_files(mistake: BaseException) -> str | None:
    """Return what to do where this computer, and not the one asked, has no room for a connection; or None."""
    inner = getattr(mistake, "os_error", mistake)
    if getattr(inner, "errno", None) not in (errno.EMFILE, errno.ENFILE):
        return None
    return (
        "this process has too many open files and connections. Allow more with "
        "`ulimit -n 4096`, or lower max_concurrency of the model. Then run it again: what was paid is kept."
    )


def raise_for(site: Site, status: int, headers: Mapping[str, str], content: bytes) -> NoReturn:
    """Raise what an HTTP error means: stop everything, try again, or give up this row."""
    raw = content.decode("utf-8", "replace")
    message = site.excerpt(content)

    def says(*signs: str) -> bool:
        return any(sign in raw or sign in message for sign in signs)

    if 300 <= status < 400:
        target = site.shown(without_password(headers.get("Location", "nowhere")))
        raise ModelError(
            f"{site.name} redirects (HTTP {status}) to {target}, which is not followed. Set base_url to the "
            "final address."
        )
    if status in (400, 403, 413, 422) and says(*FILTERED):
        raise CallFailed("refused", f"{site.name}'s content filter refused the text: {message}", raw=message)
    if says(*REFUSED.get(status, ())):
        raise BadRequest(message, raw=message_of(content))
    if status in (401, 403) or (status == 400 and says(*WRONG_KEY)):
        account = ", and what its account may use" if status == 403 else ""
        raise ModelError(
            f"{site.name} refused the key (HTTP {status}): {message}. Check {site.key_name}{account}."
        )
    if status == 402 or (status in (400, 429) and says(*NO_QUOTA)):
        raise ModelError(f"{site.name}: the account has no quota left: {message}")
    if status in (400, 413, 422) and not says(*NO_MODEL):
        raise BadRequest(message, raw=message_of(content))
    if status in (400, 404, 405, 413, 422):
        raise ModelError(
            f"{site.name}: HTTP {status}: {message}. Check the model's name and base_url ({site.hint})."
        )
    retry_after_s = retry_after_s_of(headers, raw)
    patient = retry_after_s is None or retry_after_s <= PATIENCE_S
    wait = "" if retry_after_s is None or patient else f" (wait {wait_text(retry_after_s)})"
    raise CallFailed(
        "rate_limited" if status in (429, 498) else "error",
        f"{site.name}: HTTP {status}: {message}{wait}",
        retryable=patient and status in RETRYABLE,
        retry_after_s=retry_after_s if patient else None,
    )


def message_of(content: bytes) -> str:
    """Return the message of an error body, in whichever form, with its code; else its first words."""
    try:
        body = msgspec.json.decode(content)
        while isinstance(body, list) and body:  # Gemini gives a list of one error
            body = body[0]
        error = body.get("error", body.get("detail", body))
        if isinstance(error, list):  # FastAPI's: where and what, for each field
            return "; ".join(_field_message(field) for field in error[:3])
        text = error.get("message") if isinstance(error, dict) else error
        if isinstance(text, dict | list):  # Mistral's: a list of fields, or an object around one
            return message_of(
                msgspec.json.encode({"error": text.get("detail") if isinstance(text, dict) else text})
            )
        code = f" ({error['code']})" if isinstance(error, dict) and error.get("code") else ""
        if text is not None:
            return f"{text}{code}{_cause(error)}"
    except (msgspec.DecodeError, UnicodeDecodeError, AttributeError, RecursionError):
        pass
    text = content[:2000].decode("utf-8", "replace")
    page = re.search(r"<title>([^<]{1,200})", text, re.IGNORECASE)
    return (
        " ".join((f"a web page, {' '.join(page[1].split())!r}" if page else text[:200]).split())
        or "an empty reply"
    )


def _cause(error: object) -> str:
    """Return what an error says beside its message: OpenRouter what its provider said, a relay the reason."""
    if not isinstance(error, dict):
        return ""
    beside = error.get("metadata")
    raw = beside.get("raw") if isinstance(beside, dict) else None
    parts = [message_of(raw.encode())] if isinstance(raw, str) and raw else []
    param = error.get("param")
    if isinstance(param, str) and " " in param:
        parts.append(param)
    return f": {'; '.join(parts)}" if parts else ""


def _field_message(field: object) -> str:
    if not isinstance(field, dict):
        return str(field)
    location = ".".join(str(part) for part in field.get("loc", ()) if part != "body")
    return f"{location}: {field.get('msg', field)}" if location else str(field.get("msg", field))
