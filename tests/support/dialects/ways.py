"""Ways of an endpoint that several dialects have: thinking, refusing a field, a limit, a form of reply."""

from typing import Any, Literal

from tests.support.dialects.server import (
    Request,
    Respond,
    Response,
    chat,
    error,
    healthy,
    limit_of,
    text_for,
    unless,
)
from tests.support.doors import NONCE, verdict
from tests.support.scripts import mode_of

THOUGHT = "The claim says so, and the text agrees with it. " * 10
STREAM = {"reply": None}
LONG = {"reasoning_tokens": 4000}
TWICE = f'{{"nonce": "{NONCE}", "reason": "r", "score": 2, "score": 3}}'
CUT = verdict()[:30]


def thinks(
    n: int,
    *,
    where: Literal[
        "nowhere", "reasoning_content", "reasoning", "both", "think", "unopened", "parts"
    ] = "nowhere",
    counted: Literal["details", "total", "usage", "nowhere"] = "details",
) -> Respond:
    """Answer every row after n tokens of thought, or be cut off. where, counted: how the reply tells it."""

    def respond(request: Request) -> Response:
        limit = limit_of(request)
        cut = limit < n + 20
        n_said, n_thought = (0, limit) if cut else (20, n)
        usage: dict[str, object] = {"prompt_tokens": 50, "completion_tokens": n_said + n_thought}
        usage["total_tokens"] = 50 + n_said + n_thought
        if counted == "details":
            usage["completion_tokens_details"] = {"reasoning_tokens": n_thought}
        elif counted == "total":
            usage["completion_tokens"] = n_said
        elif counted == "usage":
            usage["reasoning_tokens"] = n_thought
        content, fields = _thought("" if cut else text_for(request), where, cut=cut)
        return chat(request, content, finish_reason="length" if cut else "stop", usage=usage, **fields)

    return respond


def _thought(text: str, where: str, *, cut: bool) -> tuple[object, dict[str, Any]]:
    match where:
        case "reasoning_content" | "reasoning":
            return text, {where: THOUGHT}
        case "both":
            return text, {"reasoning_content": THOUGHT, "reasoning": THOUGHT}
        case "think":
            return f"<think>{THOUGHT}" + ("" if cut else f"</think>\n\n{text}"), {}
        case "unopened":
            return THOUGHT + ("" if cut else f"</think>\n\n{text}"), {}
        case "parts":
            thought = {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}
            return [thought] if cut else [thought, {"type": "text", "text": text}], {}
    return text, {}


def openai_reasoner(request: Request) -> Response:
    """Answer as OpenAI's reasoning models do: another name for the limit, and none of the sampling."""
    if "max_tokens" in request.body:
        words = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead."
        )
        return error(words, param="max_tokens", code="unsupported_parameter")
    if "temperature" in request.body:
        words = (
            "Unsupported value: 'temperature' does not support "
            f"{request.body['temperature']:g} with this model. Only the default (1) value "
            "is supported."
        )
        return error(words, param="temperature", code="unsupported_value")
    if "logprobs" in request.body:
        words = "logprobs are not supported with reasoning models."
        return error(words, param="include", code="unsupported_parameter")
    return thinks(700)(request)


def capped(most: int, refusal: Response) -> Respond:
    """Refuse a limit above what the model can say."""
    return unless(lambda request: limit_of(request) <= most, refusal)


def full(room: int, refusal: Response) -> Respond:
    """Refuse the odd row, whose prompt is so long, where beside it there is not so much room."""
    return unless(lambda request: not request.odd or limit_of(request) <= room, refusal)


def knows(*modes: str, refusals: dict[str, Response]) -> Respond:
    """Answer what is asked for in one of these ways, and refuse the others in the provider's words."""

    def respond(request: Request) -> Response:
        mode = mode_of(request.body)
        return healthy(request) if mode in modes else refusals[mode]

    return respond


def without(*fields: str, refusal: Response) -> Respond:
    """Refuse requests that have one of these fields."""
    return unless(lambda request: not any(field in request.body for field in fields), refusal)
