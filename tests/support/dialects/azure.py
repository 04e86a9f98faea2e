"""Dialects of Azure OpenAI; what a row says, see server.py."""

from functools import partial

from tests.support.dialects.server import (
    Dialect,
    always,
    chat,
    error,
    events,
    once,
    reply,
    said,
    unless,
)
from tests.support.dialects.ways import STREAM, openai_reasoner

row = partial(Dialect, model="azure/my-deployment")

AZURE = (
    row(
        "azure-deployment",
        "https://learn.microsoft.com/azure/ai-services/openai/reference",
        lambda request: chat(
            request, form={"prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]}
        ),
    ),
    row(
        "azure-v1",
        "https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle",
        unless(
            lambda request: request.body["model"] == "my-deployment", error("Resource not found", status=404)
        ),
        base="/openai/v1",
    ),
    row(
        "azure-reasoner",
        "https://github.com/anomalyco/opencode/issues/37964",
        openai_reasoner,
    ),
    row(
        "azure-no-such-deployment",
        "https://github.com/chatboxai/chatbox/issues/861",
        always(
            reply(
                {
                    "error": {
                        "code": "DeploymentNotFound",
                        "message": (
                            "The API deployment for this resource does not exist. If you created the "
                            "deployment within the last 5 minutes, please wait a moment and try again."
                        ),
                    }
                },
                status=404,
            )
        ),
        status="stops",
        says="Check the model's name and base_url (azure/DEPLOYMENT and the resource's address)",
    ),
    row(
        "azure-prompt-filtered",
        "https://github.com/compl-ai/compl-ai/issues/20",
        always(
            error(
                "The response was filtered due to the prompt triggering Azure OpenAI's content "
                "management policy. Please modify your prompt and retry.",
                param="prompt",
                code="content_filter",
                innererror={
                    "code": "ResponsibleAIPolicyViolation",
                    "content_filter_result": {"violence": {"filtered": True, "severity": "medium"}},
                },
            )
        ),
        status="refused",
        says="content filter refused the text: The response was filtered due to the prompt triggering",
    ),
    row(
        "azure-answer-filtered",
        "https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter",
        always(lambda request: chat(request, "", finish_reason="content_filter")),
        status="refused",
        says="cut off by the provider's content filter",
    ),
    row(
        "azure-rate-limit-in-milliseconds",
        "https://github.com/Azure/azure-openai-benchmark/issues/31",
        # The header of whole seconds rounds up: who reads that one waits for nothing.
        once(
            error(
                "Please retry after 100 seconds.",
                status=429,
                code="429",
                headers={"retry-after-ms": "60", "retry-after": "100"},
            )
        ),
        n_calls=2,
    ),
    row(
        "azure-rate-limit-until-tomorrow",
        "https://github.com/jasonacox/TinyLLM/issues/17",
        always(
            error(
                "Requests to the ChatCompletions_Create Operation under Azure OpenAI API "
                "version 2023-05-15 have exceeded token rate limit of your current AIServices "
                "S0 pricing tier. Please retry after 86400 seconds.",
                status=429,
                code="429",
            )
        ),
        status="rate_limited",
        says="(wait 24 h)",
    ),
    row(
        "azure-stream",
        "https://learn.microsoft.com/azure/ai-services/openai/concepts/content-streaming",
        lambda request: events(
            {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
            said("It is "),
            said("blue."),
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        ),
        ask=STREAM,
    ),
)
