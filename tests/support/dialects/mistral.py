"""Dialects of Mistral; what a row says, see server.py."""

from functools import partial

import msgspec
from tests.support.dialects.server import (
    Dialect,
    Response,
    always,
    once,
    reply,
    unless,
)
from tests.support.dialects.ways import thinks, without


def mistral_error(
    status: int, words: object, code: object = None, headers: dict[str, str] | None = None
) -> Response:
    """Return an error of Mistral's: flat, and its message may be an object."""
    body = {"object": "error", "message": words, "type": "invalid_request_error", "param": None, "code": code}
    return reply(body, status=status, headers=headers or {})


def forbidden(field: str, given: object) -> dict[str, object]:
    """Return what pydantic says of a field that it does not know."""
    return {
        "type": "extra_forbidden",
        "loc": ["body", field],
        "msg": "Extra inputs are not permitted",
        "input": given,
    }


row = partial(Dialect, model="mistral/mistral-small-latest")

MISTRAL = (
    row(
        "mistral-thinking",
        "https://github.com/mistralai/platform-docs-public/blob/main/public/studio-api/conversations/reasoning.md",
        unless(
            lambda request: "max_completion_tokens" not in request.body,
            mistral_error(422, {"detail": [forbidden("max_completion_tokens", 1)]}),
        ),
        model="mistral/mistral-medium-3-5",
        settings={"extra": {"reasoning_effort": "high"}},
    ),
    row(
        "mistral-content-in-parts",
        "https://github.com/vercel/ai/blob/main/packages/mistral/src/mistral-chat-language-model.ts",
        thinks(700, where="parts", counted="nowhere"),
        model="mistral/mistral-medium-3-5",
    ),
    row(
        "mistral-unknown-field",
        "https://github.com/editor-code-assistant/eca/issues/231",
        without("verbosity", refusal=mistral_error(422, {"detail": [forbidden("verbosity", "low")]})),
        status="stops",
        says="refused 'verbosity' of extra: verbosity: Extra inputs are not permitted.",
        n_calls=0,
        settings={"extra": {"verbosity": "low"}},
    ),
    row(
        "mistral-unknown-field-in-a-text",
        "https://github.com/mistralai/platform-docs-public/issues/7",
        without(
            "verbosity",
            refusal=mistral_error(
                422, msgspec.json.encode({"detail": [forbidden("verbosity", "low")]}).decode(), "1000"
            ),
        ),
        status="stops",
        says="refused 'verbosity' of extra",
        n_calls=0,
        settings={"extra": {"verbosity": "low"}},
    ),
    row(  # the words are ours
        "mistral-wrong-value",
        "https://github.com/mistralai/platform-docs-public/blob/main/openapi-public-doc.yaml",
        always(
            reply(
                {
                    "detail": [
                        {"loc": ["body", "messages", 0], "msg": "Input should be shorter", "type": "too_long"}
                    ]
                },
                status=422,
            )
        ),
        status="error",
        says="refused the request: messages.0: Input should be shorter",
    ),
    row(
        "mistral-rate-limit",
        "https://github.com/raycast/extensions/issues/31107",
        once(mistral_error(429, "Rate limit exceeded", "1300", {"Retry-After": "0.05"})),
        n_calls=2,
    ),
    row(
        "mistral-capacity",
        "https://github.com/continuedev/continue/issues/6185",
        always(mistral_error(429, "Service tier capacity exceeded for this model.")),
        status="rate_limited",
        says="HTTP 429: Service tier capacity exceeded for this model.",
        n_calls=6,
    ),
)
