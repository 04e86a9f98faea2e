"""What a route raised as problem bodies, and the errors of a route for the OpenAPI document."""

import logging
from http import HTTPStatus
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.openapi.datastructures import ResponseSpec

from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.serve.problems import LATE, MEDIA_TYPE, Problem, problem
from ragstone.kernel.serve.requests import RefusedRequest

logger = logging.getLogger("ragstone.serve")


PLAINLY = {
    405: "this address does not take this method: see the header Allow",
    413: "the request is too large: send less at once",
}
"""What to say where Litestar only names the status."""


GONE = "client disconnected prematurely"
"""What Litestar says where a body did not come to its end."""


def problem_response(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Return the response for whatever a route raised; of an unforeseen error it tells nothing."""
    errors: list[str] = []
    headers: dict[str, str] = {}
    code = None
    if isinstance(error, HTTPException):
        if error.detail == GONE:
            error = RefusedRequest(408, LATE)
        status, detail = error.status_code, error.detail
        headers = dict(error.headers or {})
        if isinstance(error, ValidationException):
            errors = _errors(error.extra)
            detail = "the request is not valid: see errors" if errors else detail
        code = getattr(error, "code", None)
        if status in PLAINLY and not isinstance(error, RefusedRequest):
            detail = PLAINLY[status]
        detail = detail if status < 500 or isinstance(error, RefusedRequest) else HTTPStatus(status).phrase
    elif isinstance(error, RagstoneError):
        status, detail = 503, str(error)
    else:
        status, detail = 500, "the server failed at this request; its own log says why"
    if status == 500 and not isinstance(error, RefusedRequest):
        logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
    if status == 404 and not isinstance(error, RefusedRequest):
        detail = f"there is nothing at {request.url.path}; see /openapi.json"
    return Response(
        content=msgspec.json.encode(problem(request.url.path, status, detail, errors=errors, code=code)),
        status_code=status,
        media_type=MEDIA_TYPE,
        headers=headers,
    )


def _errors(extra: object) -> list[str]:
    """Return the fields that Litestar found wrong: `$.messages[0].role: what is wrong`."""
    listed = extra if isinstance(extra, list) else []
    errors = []
    for error in listed:
        if isinstance(error, dict):
            field, message = error.get("key") or error.get("source") or "body", error.get("message")
            # Litestar's words for a body that is not there
            errors.append("the body is missing" if message == "'data'" else f"{field}: {message}")
    return errors


MEANINGS = {
    400: "The request is not valid; `errors` names the fields.",
    401: "A key is needed: `Authorization: Bearer KEY`.",
    403: "This key may not do that, or the page that asks is from another site.",
    404: "There is no such thing, or it belongs to someone else.",
    405: "The address does not take this method.",
    408: "The body of the request did not arrive.",
    409: "Something else is under way.",
    413: "Too much.",
    415: "Another media type is needed.",
    422: "It can be read, but is not what is needed.",
    429: "Too many requests; `Retry-After` says in how many seconds to try again.",
    500: "The server failed.",
    503: "A part that is needed cannot be reached.",
}


def fails(*statuses: int) -> dict[int, ResponseSpec]:
    """Return the errors of a route, for the OpenAPI document; those that every route has are added."""
    return {
        status: ResponseSpec(
            data_container=Problem,
            description=MEANINGS[status],
            media_type=MEDIA_TYPE,
            generate_examples=False,
        )
        for status in sorted({401, 403, 429, 500, *statuses})
    }
