"""Dialects of servers of one's own: Ollama, LM Studio, vLLM; what a row says, see server.py."""

from functools import partial

from tests.support.dialects.server import (
    Dialect,
    always,
    chat,
    error,
    events,
    reply,
    said,
    text_for,
)
from tests.support.dialects.ways import LONG, STREAM, full, knows, thinks, without
from tests.support.doors import verdict

row = partial(Dialect, model="vllm-server/x")

LOCAL = (
    row(
        "ollama-ignores-tool-choice",
        "https://github.com/ollama/ollama/blob/main/docs/api/openai-compatibility.mdx",
        lambda request: chat(request, text_for(request)),
        model="ollama/llama3.2",
    ),
    row(
        "ollama-thinker",
        "https://github.com/ollama/ollama/issues/15288",
        thinks(700, where="reasoning", counted="nowhere"),
        model="ollama/gemma4",
    ),
    row(
        "ollama-no-such-model",
        "https://github.com/ollama/ollama/blob/main/openai/openai.go",
        always(error("model 'nonesuch' not found", status=404, kind="not_found_error")),
        model="ollama/nonesuch",
        status="stops",
        says="HTTP 404: model 'nonesuch' not found. Check the model's name",
    ),
    row(  # the words are ours
        "ollama-error-is-a-text",
        "https://github.com/ollama/ollama/blob/main/server/routes.go",
        without("think", refusal=reply({"error": '"gemma4" does not support "think"'}, status=400)),
        model="ollama/gemma4",
        status="stops",
        says='refused \'think\' of extra: "gemma4" does not support "think".',
        n_calls=0,
        settings={"extra": {"think": True}},
    ),
    row(  # the words are ours
        "lmstudio-no-schema",
        (
            "https://github.com/willmiao/ComfyUI-Lora-Manager/issues/1033 and "
            "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670"
        ),
        knows(
            "text",
            refusals={
                "json_schema": reply(
                    {"error": "response_format: this model's runtime has no structured output"}, status=400
                ),
                "tool": reply(
                    {
                        "error": (
                            "Invalid tool_choice type: 'object'. Supported string values: none, auto, "
                            "required"
                        )
                    },
                    status=400,
                ),
                "json_object": reply(
                    {"error": "'response_format.type' must be 'json_schema' or 'text'"}, status=400
                ),
            },
        ),
        model="lmstudio/qwen-x",
    ),
    row(
        "lmstudio-thinks-in-the-text",
        "https://github.com/lmstudio-ai/docs/blob/main/1_developer/api-changelog.md",
        thinks(700, where="unopened", counted="nowhere"),
        model="lmstudio/qwen-x",
    ),
    row(
        "lmstudio-fenced-reply",
        "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2403",
        lambda request: chat(request, f"```json\n{verdict()}\n```"),
        model="lmstudio/qwen-x",
    ),
    row(
        "vllm-reasoning-content",
        "https://github.com/vllm-project/vllm/issues/27755",
        thinks(700, where="reasoning_content", counted="nowhere"),
        model="vllm-server/qwen3",
    ),
    row(
        "vllm-reasoning",
        "https://github.com/vllm-project/vllm/pull/33402",
        thinks(3000, where="reasoning", counted="nowhere"),
        model="vllm-server/qwen3",
    ),
    row(
        "vllm-old-unknown-field",
        "https://github.com/1Panel-dev/MaxKB/issues/2912",
        without(
            "reasoning_effort",
            refusal=reply(
                {
                    "object": "error",
                    "message": (
                        "[{'type': 'extra_forbidden', 'loc': ('body', 'reasoning_effort'), 'msg': "
                        "'Extra inputs are not permitted', 'input': 'low'}]"
                    ),
                    "type": "BadRequestError",
                    "param": None,
                    "code": 400,
                },
                status=400,
            ),
        ),
        status="stops",
        says="refused 'reasoning_effort' of extra",
        n_calls=0,
        settings={"extra": {"reasoning_effort": "low"}},
    ),
    row(
        "vllm-old-window-full",
        "https://github.com/ruipeterpan/specreason/issues/4",
        full(
            600,
            reply(
                {
                    "object": "error",
                    "message": (
                        "This model's maximum context length is 8192 tokens. However, you requested "
                        "11691 tokens (7591 in the messages, 4100 in the completion). Please reduce "
                        "the length of the messages or completion."
                    ),
                    "type": "BadRequestError",
                    "code": 400,
                },
                status=400,
            ),
        ),
        n_calls=4,  # 4,100 tokens: 2,050, 1,025, and 512, which fit
        settings=LONG,
    ),
    row(
        "vllm-new-window-full",
        "https://github.com/vllm-project/vllm/issues/34340",
        full(
            600,
            error(
                "'max_tokens' or 'max_completion_tokens' is too large: 4100. This model's "
                "maximum context length is 262144 tokens and your request has 261500 input "
                "tokens (4100 > 262144 - 261500). None",
                kind="BadRequestError",
                code=400,
            ),
        ),
        n_calls=4,
        settings=LONG,
    ),
    row(
        "vllm-error-in-a-stream",
        "https://github.com/block/goose/pull/8031",
        always(
            events(
                said("It is "),
                {
                    "object": "error",
                    "message": "EngineCore encountered an issue.",
                    "type": "InternalServerError",
                    "code": 500,
                },
            )
        ),
        status="error",
        says="EngineCore encountered an issue. (500)",
        ask=STREAM,
    ),
)
