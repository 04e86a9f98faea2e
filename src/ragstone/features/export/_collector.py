"""Where OTLP is sent to, by the standard variables OTEL_EXPORTER_OTLP_…, and how it is sent over HTTP.

After the specification of OTLP: 429, 502, 503 and 504 are tried again, with the pause that Retry-After names,
and so is what did not arrive; what a collector rejects of a request that it takes is never sent again.
"""

import asyncio
import os
import random
import re
import ssl
import time
import urllib.request
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

import msgspec

from ragstone.features.export.otlp import Encode, EvaluationEvent, in_json, in_protobuf
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.llm.json_service import address_of
from ragstone.kernel.llm.keys import hide, without_password
from ragstone.kernel.llm.limits import backoff_s, retry_after_s_of, wait_text
from ragstone.kernel.version import __version__

if TYPE_CHECKING:
    import aiohttp

LOGS = "/v1/logs"
RETRYABLE = (429, 502, 503, 504)
TRIES = 5
LONGEST_WAIT_S = 60.0
CONNECT_S = 5.0
MOST_REPLY_BYTES = 65_536
SHOWN = 300  # characters of what a collector says
SHORTEST_KEY = 8  # characters of the value of a header that is hidden in messages
_HEADER = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_OURS = {"content-type", "content-encoding", "content-length", "host", "transfer-encoding"}
_PACKED = {"gzip": True, "none": False}
_PROTOCOLS: Mapping[str, tuple[Encode, str]] = {
    "http/protobuf": (in_protobuf, "application/x-protobuf"),
    "http/json": (in_json, "application/json"),
}


class CollectorEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where log events go. headers: keys are among them. timeout_s: of a request."""

    url: str
    headers: dict[str, str]
    timeout_s: float
    gzip: bool
    protocol: str
    certificate: str = ""
    client_certificate: str = ""
    client_key: str = ""

    @property
    def name(self) -> str:
        """The address as it may be shown."""
        return without_password(self.url)


class CollectorReply(NamedTuple):
    """What a collector took of the events of a request. message: what it says of those that it rejected."""

    accepted: int
    rejected: int = 0
    message: str = ""


def endpoint_of(url: str | None, variables: Mapping[str, str] = os.environ) -> CollectorEndpoint:
    """Return where the log events go. url: of the collector, `/v1/logs` is added where it is not there.

    Without one it is that of OTEL_EXPORTER_OTLP_LOGS_ENDPOINT, as it is, or of OTEL_EXPORTER_OTLP_ENDPOINT.
    Headers, time limit, packing, protocol and certificates are those of the variables for logs, else for all.
    Raises ConfigError where one of them is none.
    """
    own = variables.get("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT") if url is None else None
    base = url if url is not None else variables.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    if not own and not base:
        raise ConfigError(
            "no collector is named. Give its address, e.g. http://localhost:4318, or set "
            "OTEL_EXPORTER_OTLP_ENDPOINT."
        )
    protocol = _setting(variables, "PROTOCOL") or "http/protobuf"
    if protocol not in _PROTOCOLS:
        raise ConfigError(
            f"OTEL_EXPORTER_OTLP_PROTOCOL is {protocol!r}: events are sent over HTTP. Set it to "
            f"{' or '.join(_PROTOCOLS)}, and give the collector's address for HTTP (often port 4318)."
        )
    packed = _setting(variables, "COMPRESSION") or "gzip"
    if packed not in _PACKED:
        raise ConfigError(f"OTEL_EXPORTER_OTLP_COMPRESSION is {packed!r}: set it to gzip or none.")
    endpoint = CollectorEndpoint(
        url=_checked(own) if own else _logs_of(base or ""),
        headers=_headers(_setting(variables, "HEADERS")),
        timeout_s=_timeout_s(_setting(variables, "TIMEOUT")),
        gzip=_PACKED[packed],
        protocol=protocol,
        certificate=_setting(variables, "CERTIFICATE"),
        client_certificate=_setting(variables, "CLIENT_CERTIFICATE"),
        client_key=_setting(variables, "CLIENT_KEY"),
    )
    if urlsplit(endpoint.url).password and "authorization" in map(str.lower, endpoint.headers):
        raise ConfigError(
            f"{endpoint.name}: the address has a user, and OTEL_EXPORTER_OTLP_HEADERS has an authorization: "
            "keep one of them."
        )
    _tls(endpoint)  # certificates that cannot be read are told at once
    return endpoint


def _setting(variables: Mapping[str, str], name: str) -> str:
    of_logs = variables.get(f"OTEL_EXPORTER_OTLP_LOGS_{name}", "")
    return (of_logs or variables.get(f"OTEL_EXPORTER_OTLP_{name}", "")).strip()


def _checked(url: str) -> str:
    try:
        host = address_of(url, "the collector")[0]
    except ConfigError:
        host = ""  # its example is no collector's
    if any(letter.isspace() or not letter.isprintable() for letter in url) or not host:
        raise ConfigError(f"{without_password(url)!r} is not an address. Write e.g. http://localhost:4318")
    return url


def _logs_of(url: str) -> str:
    """Return the address for logs of a collector's. Raises ConfigError for that of another signal."""
    address = urlsplit(_checked(url))
    path = address.path.rstrip("/")
    other = next((name for name in ("traces", "metrics", "profiles") if path.endswith(f"/v1/{name}")), None)
    if other is not None:
        raise ConfigError(
            f"{without_password(url)}: {other} are taken there, but judgements are log events. Give the "
            f"address without /v1/{other}."
        )
    return urlunsplit(address._replace(path=path if path.endswith(LOGS) else path + LOGS, fragment=""))


def _headers(listed: str) -> dict[str, str]:
    """Return the headers of a variable: `key=value,key=value`, percent-encoded. Raises ConfigError."""
    headers = {}
    for pair in filter(str.strip, listed.split(",")):
        name, equals, value = pair.partition("=")
        name, value = unquote(name.strip()), unquote(value.strip())
        if not equals or not _HEADER.fullmatch(name) or not value.isprintable():
            raise ConfigError(
                "OTEL_EXPORTER_OTLP_HEADERS is not a list of headers. Write key=value,key=value, and a "
                "comma, equals sign or space in a value as %2C, %3D or %20."
            )
        if name.lower() not in _OURS:
            headers[name] = value
    return headers


def _timeout_s(milliseconds: str) -> float:
    """Return the seconds of a request, at least one. Raises ConfigError for what is no number."""
    try:
        return max(1.0, float(milliseconds or 10_000) / 1000)
    except ValueError:
        raise ConfigError(
            f"OTEL_EXPORTER_OTLP_TIMEOUT is {milliseconds!r}: give milliseconds, e.g. 10000."
        ) from None


def _tls(endpoint: CollectorEndpoint) -> ssl.SSLContext | bool:
    """Return how certificates are checked and shown; True for the usual way. Raises ConfigError."""
    if not (endpoint.certificate or endpoint.client_certificate):
        return True
    try:
        tls = ssl.create_default_context(cafile=endpoint.certificate or None)
        if endpoint.client_certificate:
            tls.load_cert_chain(endpoint.client_certificate, endpoint.client_key or None)
    except OSError as mistake:  # an SSLError is one
        raise ConfigError(
            "OTEL_EXPORTER_OTLP_CERTIFICATE, …_CLIENT_CERTIFICATE and …_CLIENT_KEY name files in PEM format: "
            f"one of them cannot be used ({mistake})."
        ) from None
    return tls


@asynccontextmanager
async def open_collector(endpoint: CollectorEndpoint) -> "AsyncIterator[CollectorClient]":
    """Give what sends to an endpoint. Raises ConfigError for certificates that cannot be read any more."""
    import aiohttp  # 0.15 s that commands without HTTP do not need

    kind, address = _PROTOCOLS[endpoint.protocol][1], urlsplit(endpoint.url)
    proxied = address.scheme in urllib.request.getproxies()
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=_tls(endpoint)),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=endpoint.timeout_s, sock_connect=CONNECT_S),
        headers={"User-Agent": f"ragstone/{__version__}", **endpoint.headers, "Content-Type": kind},
        # Only where there is a proxy to be found: aiohttp would also look for its netrc.
        trust_env=proxied and not urllib.request.proxy_bypass(address.hostname or ""),
    ) as session:
        yield CollectorClient(session, endpoint)


class CollectorClient:
    """Sends events to an endpoint, one request at a time. `send` raises DataError where none can be sent."""

    def __init__(self, session: "aiohttp.ClientSession", endpoint: CollectorEndpoint) -> None:
        self._session, self._endpoint = session, endpoint
        self._draw = random.Random(0)

    async def send(self, events: Sequence[EvaluationEvent]) -> CollectorReply:
        """Send events; those of a request that is too large go in two halves, one alone counts as rejected.

        Raises DataError where the collector does not take them, saying what to do.
        """
        body = _PROTOCOLS[self._endpoint.protocol][0](events, time.time_ns())
        reply = await self._post(body)
        if reply is not None:
            rejected, message = _partial(reply)
            rejected = min(rejected, len(events))
            return CollectorReply(len(events) - rejected, rejected, self._shown(message))
        if len(events) == 1:
            return CollectorReply(0, 1, f"an event of {len(body):,} bytes is too large for it (HTTP 413)")
        middle = len(events) // 2
        halves = [await self.send(events[first:last]) for first, last in pairwise((0, middle, len(events)))]
        message = next((half.message for half in halves if half.message), "")
        return CollectorReply(
            sum(half.accepted for half in halves), sum(half.rejected for half in halves), message
        )

    async def _post(self, body: bytes) -> bytes | None:
        """Return the reply to a request that was taken; None for one that is too large."""
        if self._endpoint.gzip:
            packer = zlib.compressobj(1, wbits=31)
            body = packer.compress(body) + packer.flush()
        why = ""
        for attempt in range(TRIES):
            status, headers, reply, why = await self._once(body)
            if 200 <= status < 300 and reply.lstrip()[:1] == b"<":
                raise DataError(
                    f"{self._endpoint.name}: it answers with a web page, so it is not a collector. Give the "
                    "address at which a collector takes OTLP over HTTP, often port 4318."
                )
            if 200 <= status < 300:
                return reply
            if status == 413:
                return None
            if status and status not in RETRYABLE:
                raise self._refused(status, why, headers.get("Location", ""))
            wait_s = retry_after_s_of(headers) or 0.0
            if wait_s > LONGEST_WAIT_S:
                raise DataError(
                    f"{self._endpoint.name}: {why}. It asks for a pause of {wait_text(wait_s)}: send again "
                    "after that."
                )
            if attempt + 1 < TRIES:
                await asyncio.sleep(wait_s + backoff_s(attempt, self._draw))
        raise DataError(
            f"{self._endpoint.name}: events could not be sent in {TRIES} tries ({why}). Check that an "
            "OpenTelemetry collector takes logs over HTTP there."
        )

    async def _once(self, body: bytes) -> tuple[int, Mapping[str, str], bytes, str]:
        """Return status, headers and reply of one request, and what went wrong; status 0 for no reply."""
        import aiohttp

        packed = {"Content-Encoding": "gzip"} if self._endpoint.gzip else {}
        try:
            async with self._session.post(
                self._endpoint.url, data=body, headers=packed, allow_redirects=False
            ) as response:
                reply = await response.content.read(MOST_REPLY_BYTES)
                said = self._shown(_status_text(reply)) or "no reason is given"
                return response.status, response.headers, reply, f"HTTP {response.status}: {said}"
        except TimeoutError:
            return 0, {}, b"", f"no reply within {self._endpoint.timeout_s:g} s"
        except aiohttp.ClientConnectorCertificateError as mistake:
            raise DataError(
                f"{self._endpoint.name}: its certificate does not verify ({mistake.certificate_error}). "
                "Name your authority's certificate in OTEL_EXPORTER_OTLP_CERTIFICATE."
            ) from None
        except (aiohttp.ClientError, OSError) as mistake:
            return 0, {}, b"", self._shown(str(mistake)) or type(mistake).__name__

    def _refused(self, status: int, why: str, location: str) -> DataError:
        if status in (401, 403):
            remedy = "Give its key in OTEL_EXPORTER_OTLP_HEADERS, e.g. authorization=Bearer%20KEY."
        elif status in (404, 405):
            remedy = (
                "Log events are not taken there. Give the collector's address without the path of a signal."
            )
        elif 300 <= status < 400:
            target = self._shown(without_password(location)) or "nowhere"
            remedy = f"It redirects to {target}, which is not followed: give the final address."
        else:
            remedy = "It refuses what was sent; sending it again does not help."
        return DataError(f"{self._endpoint.name}: {why}. {remedy}")

    def _shown(self, text: str) -> str:
        """Return what a collector says, on one line and without keys."""
        keys = [value for value in self._endpoint.headers.values() if len(value) >= SHORTEST_KEY]
        return hide(" ".join(without_password(text).split()), keys, self._endpoint.url)[:SHOWN].rstrip(".")


def _partial(reply: bytes) -> tuple[int, str]:
    """Return how many records an ExportLogsServiceResponse says were rejected, and why; 0 of what is none."""
    if reply[:1] == b"{":
        try:
            told = msgspec.json.decode(reply, type=_JsonResponse, strict=False).partial_success
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return 0, ""
        return (max(0, told.rejected), told.message) if told else (0, "")
    inside = _fields_of(reply).get(1)
    told_fields = _fields_of(inside) if isinstance(inside, bytes) else {}
    n, message = told_fields.get(1, 0), told_fields.get(2, b"")
    rejected = n if isinstance(n, int) and n < 2**63 else 0
    return rejected, message.decode("utf-8", "replace") if isinstance(message, bytes) else ""


class _JsonPartial(msgspec.Struct):
    rejected: int = msgspec.field(default=0, name="rejectedLogRecords")
    message: str = msgspec.field(default="", name="errorMessage")


class _JsonResponse(msgspec.Struct):
    partial_success: _JsonPartial | None = msgspec.field(default=None, name="partialSuccess")


def _status_text(reply: bytes) -> str:
    """Return the message of a google.rpc.Status, in JSON or protobuf; else the beginning of the reply."""
    if reply[:1] == b"{":
        try:
            told = msgspec.json.decode(reply)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            told = None
        if isinstance(told, dict) and isinstance(told.get("message"), str):
            return str(told["message"])
    message = _fields_of(reply).get(2)
    return (message if isinstance(message, bytes) else reply).decode("utf-8", "replace")


def _fields_of(message: bytes) -> dict[int, int | bytes]:
    """Return the fields of a message of protobuf by number; none of what is no such message."""
    fields: dict[int, int | bytes] = {}
    at = 0
    while at < len(message):
        tag, at = _read_varint(message, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = _read_varint(message, at)
            fields[number] = value
        elif kind == 2:
            length, at = _read_varint(message, at)
            fields[number] = message[at : at + length]
            at += length
        else:
            return {}
    return fields if at == len(message) and 0 not in fields else {}


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    """Return a number and the place after it; a place beyond the end where it is cut off."""
    number = shift = 0
    while at < len(message) and shift < 70:
        byte = message[at]
        number |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return number, at
        shift += 7
    return number, len(message) + 1
