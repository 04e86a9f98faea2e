"""An endpoint of the OpenAI protocol: its address, its key, its connections, and what its errors mean."""

import contextlib
import os
import urllib.request
from collections.abc import AsyncIterator, Iterator
from typing import Any, NoReturn
from urllib.parse import urlsplit

import aiohttp
import msgspec

from ragstone.config import ModelSettings
from ragstone.errors import ModelError
from ragstone.llm.keys import find_key, passwords_in, without_password
from ragstone.llm.limits import retry_after_s_of
from ragstone.llm.prompt import CallFailed
from ragstone.llm.transport import BadRequest, Unreachable

DEFAULT_BASE_URL = "https://api.openai.com/v1"
DEFAULT_TIMEOUT_S = 60.0
CONNECT_S = 10.0
# Who asks to be left alone for longer than this has no quota left for today: the row is given up.
PATIENCE_S = 120.0
RETRYABLE = {408, 409, 425, 429, 500, 502, 503, 504, 529}


class Site:
    """An endpoint's address, and what must not be shown of it: the key, and a password in the address.

    name: the address, fit to be shown.
    """

    def __init__(self, session: aiohttp.ClientSession, base_url: str, key: str, no_key: str | None) -> None:
        self.session = session
        self.base_url = base_url
        self.name = without_password(base_url)
        self._secrets = [secret for secret in (key, *passwords_in(base_url)) if secret]
        self._no_key = no_key

    def check_key(self) -> None:
        """Raise ModelError where a key is demanded and there is none."""
        if self._no_key is not None:
            raise ModelError(self._no_key)

    def excerpt(self, content: bytes) -> str:
        """Return the message of an error body, or its first words, without the key and the password."""
        for secret in self._secrets:  # before the words are cut, for half a key is too much
            content = content.replace(secret.encode(), b"[the key]")
        return _excerpt(content)


def base_url_of(settings: ModelSettings) -> str:
    """Return the address that the settings name, else the environment, else OpenAI's own."""
    return (settings.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL).rstrip("/")


def model_at(base_url: str, model: str) -> str:
    """Return what a model at this address is known by.

    Two servers may both call their model `default`: one must not be taken for the other.
    """
    where = "" if base_url == DEFAULT_BASE_URL else f"@{without_password(base_url).partition('//')[2]}"
    return f"openai/{model}{where}"


@contextlib.asynccontextmanager
async def open_site(model: str, settings: ModelSettings, concurrency: int) -> AsyncIterator[Site]:
    """Give the endpoint of a model; its connections are closed at the end of the block.

    The key is read from where the settings name, else from OPENAI_API_KEY (see keys.py); only OpenAI's own
    address demands one.
    """
    base_url = base_url_of(settings)
    key, remedy = find_key(settings)
    named = settings.api_key_env is not None or settings.api_key_file is not None
    no_key = (
        f"openai/{model}: no key. {remedy}, or point base_url (or OPENAI_BASE_URL) at an endpoint that needs "
        "none, such as Ollama or vLLM."
    )
    demanded = not key and (named or base_url == DEFAULT_BASE_URL)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=concurrency, keepalive_timeout=60),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=settings.timeout_s or DEFAULT_TIMEOUT_S, sock_connect=CONNECT_S),
        headers=headers,
        trust_env=behind_proxy(base_url),
    ) as session:
        yield Site(session, base_url, key, no_key if demanded else None)


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
    most_bytes: int | None = None,
    **request: Any,  # noqa: ANN401 - as aiohttp takes it
) -> tuple[aiohttp.ClientResponse, bytes]:
    """Return the response to a request, and its body. Raises CallFailed and ModelError for none.

    most_bytes: of the body; of a longer one the rest is not read, and it is a CallFailed. None: any length.
    """
    with failures_of(site):
        async with site.session.request(method, site.base_url + path, **request) as response:
            body = bytearray()
            async for part in response.content.iter_any():
                body += part
                if most_bytes is not None and len(body) > most_bytes:
                    told = f"{site.name}: a reply of more than {most_bytes:,} bytes"
                    raise CallFailed("unparsable", told)
            return response, bytes(body)


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
        raise Unreachable(
            f"{site.name} cannot be reached ({mistake}). Is it running, and is base_url right?"
        ) from None


def raise_for(site: Site, status: int, retry_after: str | None, content: bytes) -> NoReturn:
    """Raise what an HTTP error means: stop everything, try again, or give up this row."""
    words = site.excerpt(content)
    if status in (400, 413, 422):
        if "(content_filter)" in words:
            raise CallFailed("refused", f"{site.name} refused the text: {words}", raw=words)
        raise BadRequest(words)
    if status in (401, 403):
        raise ModelError(
            f"{site.name} refused the key (HTTP {status}): {words}. Check the key's environment variable."
        )
    if status in (404, 405):
        raise ModelError(
            f"{site.name}: HTTP {status}: {words}. Check the model's name and base_url (usually .../v1)."
        )
    if status == 402 or (status == 429 and "insufficient_quota" in words):
        raise ModelError(f"{site.name}: the account has no quota left: {words}")
    retry_after_s = retry_after_s_of(retry_after)
    patient = retry_after_s is None or retry_after_s <= PATIENCE_S
    raise CallFailed(
        "rate_limited" if status == 429 else "error",
        f"{site.name}: HTTP {status}: {words}" + ("" if patient else f" (wait {retry_after_s:.0f} s)"),
        retryable=patient and status in RETRYABLE,
        retry_after_s=retry_after_s if patient else None,
    )


def _excerpt(content: bytes) -> str:
    """Return the message of an error body, or its first words."""
    try:
        error = msgspec.json.decode(content)
        error = error.get("error", error.get("detail", error))
        text = error.get("message") if isinstance(error, dict) else error
        code = f" ({error['code']})" if isinstance(error, dict) and error.get("code") else ""
        if text is not None:
            return f"{text}{code}"[:400]
    except (msgspec.DecodeError, UnicodeDecodeError, AttributeError, RecursionError):
        pass
    return " ".join(content[:200].decode("utf-8", "replace").split()) or "an empty reply"
