"""Which model `ragstone demo` and `ragstone new` take when nobody names one."""

import os

PACKAGED = "llamacpp/smollm2-135m"


def choose_model() -> tuple[str, str]:
    """Return a model and why: a configured endpoint, else the largest file, else the packaged one."""
    from ragstone.llm import cached_models

    named = os.environ.get("OPENAI_MODEL")
    if named and (os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL")):
        return f"openai/{named}", "OPENAI_MODEL names it"
    if os.environ.get("OPENAI_API_KEY") and not os.environ.get("OPENAI_BASE_URL"):
        return "openai/gpt-4o-mini", "OPENAI_API_KEY is set"
    found = cached_models()
    if found:
        return f"llamacpp/{found[0].stem}", "the largest model in ~/.cache/ragstone/models"
    return PACKAGED, "the packaged one: it shows that everything runs, but it cannot judge"
