"""Dialects of Anthropic's own protocol; what a row says, see server.py."""

from functools import partial

from tests.support.dialects.server import (
    Dialect,
    Response,
    always,
    claude_error,
    event,
    healthy,
    message,
    message_events,
    once,
    page,
    reply,
    text_for,
    unless,
)
from tests.support.dialects.ways import CUT, LONG, STREAM, THOUGHT, capped, full, without

row = partial(Dialect, model="anthropic/claude-sonnet-4-5")

ANTHROPIC = (
    row(
        "anthropic",
        "https://docs.claude.com/en/api/messages",
        healthy,
    ),
    row(
        "anthropic-no-forced-tool",
        "https://github.com/can1357/oh-my-pi/issues/12939",
        unless(
            lambda request: (
                "tool_choice" not in request.body or request.body["tool_choice"]["type"] == "auto"
            ),
            claude_error('tool_choice: type "tool" and "any" are not supported for this model.'),
        ),
        model="anthropic/claude-opus-5-5",
    ),
    row(
        "anthropic-grammar-too-large",
        "https://github.com/anthropics/claude-code/issues/55539",
        lambda request: (
            claude_error("compiled grammar is too large")
            if "output_config" in request.body
            else claude_error('tool_choice: type "tool" and "any" are not supported for this model.')
            if request.body.get("tool_choice", {}).get("type") == "tool"
            else healthy(request)
        ),
        model="anthropic/claude-opus-5-5",
    ),
    row(
        "anthropic-no-temperature",
        "https://github.com/earendil-works/pi/pull/7961",
        without(
            "temperature",
            "top_p",
            refusal=claude_error("`temperature` is deprecated for this model."),
        ),
        model="anthropic/claude-opus-5",
    ),
    row(
        "anthropic-temperature-or-top-p",
        "https://github.com/microsoft/copilot-eclipse-feedback/issues/79",
        unless(
            lambda request: not {"temperature", "top_p"} <= request.body.keys(),
            claude_error(
                "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
            ),
        ),
        model="anthropic/claude-haiku-4-5",
        ask={"top_p": 0.9, "temperature": 0.5},
    ),
    row(
        "anthropic-thinking",
        "https://github.com/mastra-ai/mastra/issues/7507",
        lambda request: (
            claude_error("Thinking may not be enabled when tool_choice forces tool use.")
            if request.body.get("tool_choice", {}).get("type") == "tool"
            else claude_error("`temperature` may only be set to 1 when thinking is enabled.")
            if "temperature" in request.body
            else claude_error("`max_tokens` must be greater than `thinking.budget_tokens`.")
            if request.body["max_tokens"] <= 2000
            else message(
                request,
                {"type": "thinking", "thinking": THOUGHT, "signature": "EqQB"},
                {"type": "text", "text": text_for(request)},
                usage={
                    "input_tokens": 50,
                    "output_tokens": 320,
                    "output_tokens_details": {"thinking_tokens": 300},
                },
            )
        ),
        settings={"extra": {"thinking": {"type": "enabled", "budget_tokens": 2000}}},
    ),
    row(
        "anthropic-thinking-budget-too-small",
        "https://github.com/themaximalist/llm.js/issues/30",
        unless(
            lambda request: "thinking" not in request.body,
            claude_error("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"),
        ),
        status="stops",
        says=(
            "refused 'thinking' of extra: thinking.enabled.budget_tokens: Input should be "
            "greater than or equal to 1024."
        ),
        n_calls=0,
        settings={"extra": {"thinking": {"type": "enabled", "budget_tokens": 512}}},
    ),
    row(  # the words are ours
        "anthropic-unknown-field",
        "https://github.com/immersive-translate/immersive-translate/issues/3971",
        without(
            "verbosity",
            refusal=claude_error("verbosity: Extra inputs are not permitted"),
        ),
        status="stops",
        says="refused 'verbosity' of extra: verbosity: Extra inputs are not permitted.",
        n_calls=0,
        settings={"extra": {"verbosity": "low"}},
    ),
    row(
        "anthropic-limit-of-the-model",
        "https://github.com/OpenHands/software-agent-sdk/issues/596",
        capped(
            64000,
            claude_error(
                "max_tokens: 65100 > 64000, which is the maximum allowed number of output "
                "tokens for claude-sonnet-4-5-20250929"
            ),
        ),
        model="anthropic/claude-sonnet-4-5-20250929",
        settings={"reasoning_tokens": 65_000},
    ),
    row(
        "anthropic-window-full",
        "https://github.com/continuedev/continue/issues/6080",
        full(
            1000,
            claude_error(
                "input length and `max_tokens` exceed context limit: 199000 + 4100 > 200000, "
                "decrease input length or `max_tokens` and try again"
            ),
        ),
        n_calls=4,  # 4,100 tokens: 2,050, 1,025, and 512, which fit
        settings=LONG,
    ),
    row(
        "anthropic-overloaded",
        "https://docs.claude.com/en/api/errors",
        once(claude_error("Overloaded", status=529, kind="overloaded_error")),
        n_calls=2,
    ),
    row(
        "anthropic-overloaded-for-good",
        "https://www.developersdigest.tech/errors/api/anthropic-api/529-overloaded-error",
        always(claude_error("Overloaded", status=529, kind="overloaded_error")),
        status="error",
        says="HTTP 529: Overloaded",
        n_calls=6,
    ),
    row(
        "anthropic-rate-limit",
        "https://docs.claude.com/en/api/rate-limits",
        once(
            claude_error(
                "This request would exceed your organization's rate limit of 50,000 input tokens per minute.",
                status=429,
                kind="rate_limit_error",
                headers={"retry-after": "0.05"},
            )
        ),
        n_calls=2,
    ),
    row(
        "anthropic-no-credit",
        "https://github.com/anthropics/claude-code/issues/88711",
        always(
            claude_error(
                "Your credit balance is too low to access the Anthropic API. Please go to "
                "Plans & Billing to upgrade or purchase credits."
            )
        ),
        status="stops",
        says=(
            "no quota left: Your credit balance is too low to access the Anthropic API. "
            "Please go to Plans & Billing"
        ),
    ),
    row(
        "anthropic-wrong-key",
        "https://docs.claude.com/en/api/errors",
        always(claude_error("invalid x-api-key", status=401, kind="authentication_error")),
        status="stops",
        says="refused the key (HTTP 401): invalid x-api-key. Check ANTHROPIC_API_KEY.",
    ),
    row(
        "anthropic-unknown-model",
        "https://docs.claude.com/en/api/errors",
        always(claude_error("model: claude-9", status=404, kind="not_found_error")),
        model="anthropic/claude-9",
        status="stops",
        says="HTTP 404: model: claude-9. Check the model's name",
    ),
    row(
        "anthropic-request-too-large",
        "https://docs.claude.com/en/api/errors",
        always(page(413, "413 Request Entity Too Large")),  # Cloudflare says it, and in no JSON
        status="error",
        says="refused the request: a web page, '413 Request Entity Too Large'",
    ),
    row(
        "anthropic-refusal",
        "https://github.com/anthropics/anthropic-sdk-python/blob/main/src/anthropic/types/stop_reason.py",
        always(lambda request: message(request, {"type": "text", "text": ""}, stop_reason="refusal")),
        status="refused",
        says="the model refused: it ended its turn with `refusal`",
    ),
    row(
        "anthropic-cut-off",
        "https://docs.claude.com/en/api/handling-stop-reasons",
        always(
            lambda request: message(
                request,
                {"type": "text", "text": CUT},
                stop_reason="max_tokens",
                usage={"input_tokens": 50, "output_tokens": request.body["max_tokens"]},
            )
        ),
        status="unparsable",
        says="cut off at 400 tokens. Raise max_tokens in the file of the judge or prompt.",  # 4 times 100
        n_calls=2,
    ),
    row(
        "anthropic-end-of-the-window",
        "https://github.com/anthropics/anthropic-sdk-python/blob/main/src/anthropic/types/stop_reason.py",
        once(
            lambda request: message(
                request, {"type": "text", "text": CUT}, stop_reason="model_context_window_exceeded"
            )
        ),
        n_calls=2,
    ),
    row(
        "anthropic-empty-turn",
        "https://docs.claude.com/en/api/handling-stop-reasons",
        once(
            lambda request: reply(
                {
                    "type": "message",
                    "content": [],
                    "stop_reason": "end_turn",
                    "usage": {"input_tokens": 50, "output_tokens": 3},
                }
            )
        ),
        n_calls=2,
    ),
    row(
        "anthropic-cut-json",
        "https://github.com/BerriAI/litellm/issues/9551",
        once(lambda request: Response(message(request).content[:-40])),
        n_calls=2,
    ),
    row(
        "anthropic-stream",
        "https://docs.claude.com/en/docs/build-with-claude/streaming",
        lambda request: Response(
            b"".join(
                message_events(
                    "It is blue.", thinking=THOUGHT, usage={"input_tokens": 50, "output_tokens": 120}
                )
            )
        ),
        ask=STREAM,
    ),
    row(
        "anthropic-stream-overloaded",
        "https://docs.claude.com/en/docs/build-with-claude/streaming#error-events",
        always(
            lambda request: Response(
                b"".join(message_events("It is blue.")[:4])
                + event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
            )
        ),
        status="error",
        says="HTTP 529: Overloaded",
        ask=STREAM,
    ),
    row(
        "anthropic-stream-overloaded-before-it-began",
        "https://docs.claude.com/en/docs/build-with-claude/streaming#error-events",
        once(
            Response(event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}))
        ),
        n_calls=2,
        ask=STREAM,
    ),
    row(
        "anthropic-stream-broken-off",
        "https://github.com/anthropics/anthropic-sdk-typescript/issues/346",
        always(lambda request: Response(b"".join(message_events("It is blue.")[:4]), then="cut")),
        status="error",
        says="the reply broke off",
        ask=STREAM,
    ),
)
