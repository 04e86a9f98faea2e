"""What comes of a body that cannot be read."""

from typing import Any

from litestar import Request

from ragstone.assistant.api.problems import Refused


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
