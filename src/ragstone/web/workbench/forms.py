"""The token that an HTML form carries, read before the form is."""

import re
from urllib.parse import parse_qs

from litestar.types import Receive
from litestar.types.asgi_types import HTTPRequestEvent, ReceiveMessage

FORM_BYTES = 1 << 20
FIRST_PART = re.compile(
    rb'\A--[^\r\n]+\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n([\w-]+)\r\n', re.IGNORECASE
)
FIRST_BYTES = 4096
MOST_FIELDS = 1000


async def form_token(content_type: str, receive: Receive) -> tuple[str | None, Receive]:
    """Return the field `csrf` of a form, None for what has none; and what receives the whole request still.

    In a form with files it must be the first field. Of another kind of request nothing is read.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        body, receive = await _begun(receive, FORM_BYTES)
        try:
            fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS)
        except ValueError:
            return None, receive
        return next(iter(fields.get("csrf", [])), None), receive
    if kind == "multipart/form-data":
        body, receive = await _begun(receive, FIRST_BYTES)
        found = FIRST_PART.match(body)
        return (found[1].decode() if found else None), receive
    return None, receive


async def _begun(receive: Receive, n_bytes: int) -> tuple[bytes, Receive]:
    """Return the first bytes of a body, all if there are no more, and what receives it from its beginning."""
    messages: list[ReceiveMessage] = []
    body, more = b"", True
    while more and len(body) < n_bytes:
        message = await receive()
        messages.append(message)
        if message["type"] != "http.request":
            break
        body += message["body"]
        more = bool(message.get("more_body", False))

    async def again() -> HTTPRequestEvent | ReceiveMessage:
        return messages.pop(0) if messages else await receive()

    return body, again
