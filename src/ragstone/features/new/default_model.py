"""Which model `ragstone demo` and `ragstone new` take when nobody names one."""

import os

PACKAGED = "llamacpp/smollm2-135m"
ENDPOINT_MODEL = "gpt-4o-mini"  # unless OPENAI_MODEL names another


def endpoint_model() -> str | None:
    """Return the model of the endpoint that the environment names; None where it names none."""
    if os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL"):
        return f"openai/{os.environ.get('OPENAI_MODEL') or ENDPOINT_MODEL}"
    return None


def choose_model() -> tuple[str, str]:
    """Return a model and why: a configured endpoint, else the largest file, else the packaged one."""
    from ragstone.kernel.llm import cached_models

    endpoint = endpoint_model()
    if endpoint:
        return endpoint, "an endpoint is configured"
    files = cached_models()
    if files:
        return f"llamacpp/{files[0].stem}", "the largest model in ~/.cache/ragstone/models"
    return PACKAGED, "the packaged model: it shows that everything runs, but it cannot judge"
