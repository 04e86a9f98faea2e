"""Requests as routes take them."""

from typing import Any

from litestar import Request

from ragstone.kernel.serve.problems import RefusedRequest

AnyRequest = Request[Any, Any, Any]


class JsonRequest(Request[Any, Any, Any]):
    """A request whose body may be anything."""

    async def json(self) -> Any:  # noqa: ANN401
        """Return what the body holds. Raises RefusedRequest where it cannot be read."""
        try:
            return await super().json()
        except UnicodeDecodeError:
            raise RefusedRequest(400, "the body is no UTF-8: encode it so") from None
        except RecursionError:
            raise RefusedRequest(400, "the body is nested too deeply to be read") from None
