"""Problem bodies: `application/problem+json` (RFC 9457), and as OpenAI's clients expect them of a chat."""

from http import HTTPStatus

import msgspec

MEDIA_TYPE = "application/problem+json"
CHAT_PATH = "/v1/chat/completions"
MODELS_PATH = "/v1/models"


class Error(msgspec.Struct, frozen=True):
    """An error as OpenAI's clients read it."""

    message: str
    type: str
    code: str | None = None
    param: str | None = None


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What went wrong. errors: fields of the request that are wrong. error: on the chat route."""

    title: str
    status: int
    detail: str
    type: str = msgspec.field(default_factory=lambda: "about:blank")
    errors: list[str] = []
    error: Error | None = None


LATE = "the request was cut off: send it again"

OF_OPENAI = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


def problem(
    path: str, status: int, detail: str, *, errors: list[str] | None = None, code: str | None = None
) -> Problem:
    """Return the problem for an answer with that status; on OpenAI's routes with its `error` object."""
    of_openai = path in (CHAT_PATH, MODELS_PATH)
    kind = OF_OPENAI.get(status, "server_error" if status >= 500 else "invalid_request_error")
    message = "; ".join([detail, *(errors or [])])
    return Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        errors=errors or [],
        error=Error(message=message, type=kind, code=code) if of_openai else None,
    )
