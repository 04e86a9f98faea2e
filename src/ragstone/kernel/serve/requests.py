"""Requests as routes take them."""

from typing import Any

from litestar import Request
from litestar.exceptions import HTTPException

AnyRequest = Request[Any, Any, Any]


class JsonRequest(Request[Any, Any, Any]):
    """A request whose body may be anything."""

    async def json(self) -> Any:  # noqa: ANN401
        """Return what the body holds. Raises RefusedRequest where it cannot be read."""
        try:
            return await super().json()
        except UnicodeDecodeError:
            raise RefusedRequest(400, "the body is not UTF-8: encode it as UTF-8") from None
        except RecursionError:
            raise RefusedRequest(400, "the body is nested too deeply to be read") from None


class RefusedRequest(HTTPException):
    """A request that is refused, with what to do in its detail."""

    def __init__(self, status: int, detail: str, *, code: str | None = None, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        super().__init__(detail=detail, status_code=status, headers=named or None)
        self.code = code
