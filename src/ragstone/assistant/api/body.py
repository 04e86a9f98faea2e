"""What comes of a body that cannot be read, or that does not come."""

import asyncio
from typing import Any

from litestar import Request
from litestar.types import Receive
from litestar.types.asgi_types import ReceiveMessage

from ragstone.assistant.api.problems import Refused

QUIET_S = 30.0
"""After so long without a byte of its body a request is given up."""


class JsonRequest(Request[Any, Any, Any]):
    """A request whose body may be anything."""

    async def json(self) -> Any:  # noqa: ANN401
        """Return what the body holds. Raises Refused where it cannot be read."""
        try:
            return await super().json()
        except UnicodeDecodeError:
            raise Refused(400, "the body is no UTF-8: encode it so") from None
        except RecursionError:
            raise Refused(400, "the body is nested too deeply to be read") from None


def patient(receive: Receive, quiet_s: float | None = None) -> Receive:
    """Return what receives a request, and raises Refused where its body stops to come; default QUIET_S."""
    coming = True

    async def received() -> ReceiveMessage:
        nonlocal coming
        if not coming:  # from now on it waits for the client to hang up
            return await receive()
        try:
            async with asyncio.timeout(QUIET_S if quiet_s is None else quiet_s):
                message = await receive()
        except TimeoutError:
            coming = False
            raise Refused(
                408, "the rest of the request did not come: send it again", Connection="close"
            ) from None
        coming = bool(message.get("more_body", False))
        return message

    return received
