"""`POST /v1/traces` and `/v1/logs`: spans and events in OTLP over HTTP, as exporters of OpenTelemetry send
them.
"""

import asyncio
import zlib
from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec
from litestar.types import HTTPScope, Receive, Send
from litestar.types.asgi_types import ReceiveMessage

from ragstone.features.watch.collector import Signal, SpanReceipt, TraceCollector
from ragstone.features.watch.otlp_decoding import Encoding, has_protobuf
from ragstone.kernel.config import Settings
from ragstone.kernel.errors import ConfigError, DataError, MissingExtra
from ragstone.kernel.llm import load_secret
from ragstone.kernel.serve.headers import HEADERS, STRICT, needs_accounts
from ragstone.kernel.serve.keys import Keys, digests, key_of_variable, name_of
from ragstone.kernel.serve.limits import RequestLimits, drain

PATHS: Mapping[str, Signal] = {"/v1/traces": "traces", "/v1/logs": "logs"}
_NOUNS = {"traces": "spans", "logs": "log events"}
KINDS: Mapping[str, Encoding] = {"application/x-protobuf": "protobuf", "application/json": "json"}
PACKED = {"gzip": 31, "deflate": 47}  # how zlib is told of them
RETRY_S = b"2"
WRONG_KEYS = 30  # of an address within a minute


class _Rejected(NamedTuple):
    """Why a request is not taken. retry: it may be sent again, later."""

    status: int
    message: str
    retry: bool = False


BUSY = _Rejected(503, "too much is being written now: send it again", retry=True)


def sender_keys(settings: Settings) -> Keys:
    """Return the key that senders need, if any.

    Raises ConfigError for a key that is not there or too short, and where others reach the server and no key
    is named.
    """
    section = settings.serve.otlp
    if section.key_env is None:
        if needs_accounts(settings):
            raise ConfigError(
                "[serve.otlp]: anyone who reaches this server could send it spans. Set key_env to the "
                "environment variable that holds a key, or listen on 127.0.0.1."
            )
        return {}
    return digests({"sender": key_of_variable(section.key_env, "[serve.otlp] key_env")})


def open_receiver(settings: Settings) -> "TraceReceiver":
    """Return what takes spans. Raises what sender_keys raises, ConfigError for a wrong `mask` or secret."""
    section = settings.serve.otlp
    keys = sender_keys(settings)
    secret = load_secret(settings.path(".ragstone"))
    return TraceReceiver(TraceCollector(settings.path(section.folder), section, secret), keys)


class TraceReceiver:
    """The application of these two paths. collector: what it hands requests to, and closes."""

    def __init__(self, collector: TraceCollector, keys: Keys) -> None:
        self.collector = collector
        self._keys = keys
        self._wrong = RequestLimits(WRONG_KEYS)

    async def __call__(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        signal = PATHS[scope["path"]]
        encoding = KINDS.get(headers.get("content-type", "").partition(";")[0].strip().lower())
        more = True

        async def reading() -> ReceiveMessage:
            nonlocal more
            message = await receive()
            more = message["type"] == "http.request" and bool(message.get("more_body", False))
            return message

        refused = _refused(scope, headers, encoding, self._keys, self._wrong)
        outcome: SpanReceipt | _Rejected | None = refused
        if refused is None and encoding is not None:
            outcome = await _receive(self.collector, reading, headers, encoding, signal)
        if isinstance(outcome, _Rejected):
            if more and "expect" not in headers:  # who still sends would not see the answer
                await drain(reading)
            await _answer(
                send, outcome.status, _status(outcome.message, encoding), encoding, retry=outcome.retry
            )
        elif outcome is not None:
            await _answer(send, 200, _receipt(outcome, encoding, signal), encoding)

    def takes(self, path: str) -> bool:
        """Return whether requests for a path are its own."""
        return path in PATHS

    def close(self) -> None:
        """Write what waits, and close the files."""
        self.collector.close()


def _refused(
    scope: HTTPScope, headers: Mapping[str, str], encoding: Encoding | None, keys: Keys, wrong: RequestLimits
) -> _Rejected | None:
    """Return why a request is not read at all."""
    noun = _NOUNS[PATHS[scope["path"]]]
    if scope["method"] != "POST":
        return _Rejected(405, f"{noun} are sent with POST")
    if "origin" in headers:
        return _Rejected(403, f"{noun} are accepted from programs, not from pages in a browser")
    if keys:
        sent_key = headers.get("authorization") or f"Bearer {headers.get('x-api-key', '')}"
        if name_of(keys, sent_key) is None:
            client = scope["client"]
            if wrong.wait_s(client[0] if client else "", asyncio.get_running_loop().time()):
                return _Rejected(429, "too many wrong keys from this address", retry=True)
            return _Rejected(401, "a key is needed: the header Authorization: Bearer KEY, or x-api-key: KEY")
    if encoding is None:
        return _Rejected(415, f"the Content-Type of {noun} is one of: {', '.join(KINDS)}")
    if headers.get("content-encoding", "identity") not in ("identity", *PACKED):
        return _Rejected(415, f"the Content-Encoding of {noun} is one of: {', '.join(PACKED)}, or none")
    return None


async def _receive(
    collector: TraceCollector,
    receive: Receive,
    headers: Mapping[str, str],
    encoding: Encoding,
    signal: Signal,
) -> SpanReceipt | _Rejected | None:
    """Read a request and have its spans written; None where the sender has gone."""
    most = collector.section.max_request_mb * 1_000_000
    large = _Rejected(413, f"a request has at most {most:,} bytes. Send smaller batches.")
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length) > most:
        return large
    with collector.room() as has_room:
        body = await _body(receive, most, has_room)
        if body is None or isinstance(body, _Rejected):
            return body
        try:
            if packed := PACKED.get(headers.get("content-encoding", "")):
                body = await asyncio.to_thread(_unpacked, body, packed, most)
            if len(body) > most:
                return large
            return await collector.take(body, encoding, signal) if has_room(len(body)) else BUSY
        except DataError as mistake:
            return _Rejected(400, str(mistake))
        except MissingExtra as mistake:
            return _Rejected(415, str(mistake))
        except OSError as mistake:
            return _Rejected(503, str(mistake), retry=True)


async def _body(receive: Receive, most: int, has_room: Callable[[int], bool]) -> bytes | _Rejected | None:
    """Return a body of at most so many bytes and one chunk more; None where the sender has gone."""
    chunks: list[bytes] = []
    n_bytes, more = 0, True
    while more and n_bytes <= most:
        message = await receive()
        if message["type"] != "http.request":
            return None
        chunks.append(message["body"])
        n_bytes += len(message["body"])
        more = message.get("more_body", False)
        if not has_room(len(message["body"])):
            return BUSY
    return b"".join(chunks)


def _unpacked(body: bytes, how: int, most: int) -> bytes:
    """Return what was packed, at most one byte more than may be. Raises DataError for what is broken."""
    try:
        reader = zlib.decompressobj(how)
        unpacked = reader.decompress(body, most + 1)
        if len(unpacked) <= most and not reader.eof:
            raise DataError("the compressed request is cut off: send it again.")
    except zlib.error as mistake:
        raise DataError(f"the request cannot be decompressed ({mistake}).") from None
    return unpacked


def _receipt(receipt: SpanReceipt, encoding: Encoding | None, signal: Signal) -> bytes:
    """Return an Export…ServiceResponse; it is empty where there is nothing to tell."""
    if not receipt.message:
        return b"" if encoding == "protobuf" else b"{}"
    if encoding == "protobuf":
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

        if signal == "logs":
            logs = ExportLogsServiceResponse()
            logs.partial_success.rejected_log_records = receipt.rejected
            logs.partial_success.error_message = receipt.message
            return bytes(logs.SerializeToString())
        spans = ExportTraceServiceResponse()
        spans.partial_success.rejected_spans = receipt.rejected
        spans.partial_success.error_message = receipt.message
        return bytes(spans.SerializeToString())
    name = "rejectedLogRecords" if signal == "logs" else "rejectedSpans"
    rejection = {name: str(receipt.rejected), "errorMessage": receipt.message}
    return msgspec.json.encode({"partialSuccess": rejection})


def _status(message: str, encoding: Encoding | None) -> bytes:
    """Return a google.rpc.Status with a message, which is its field 2."""
    if encoding == "protobuf" and has_protobuf():
        from google.rpc.status_pb2 import Status

        return bytes(Status(message=message).SerializeToString())
    return msgspec.json.encode({"message": message})


async def _answer(
    send: Send, status: int, body: bytes, encoding: Encoding | None, *, retry: bool = False
) -> None:
    kind = "application/x-protobuf" if encoding == "protobuf" and has_protobuf() else "application/json"
    headers = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        *HEADERS,
        STRICT,
    ]
    headers += [(b"retry-after", RETRY_S)] if retry else []
    headers += [(b"allow", b"POST")] if status == 405 else []
    headers += [(b"www-authenticate", b"Bearer")] if status == 401 else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
