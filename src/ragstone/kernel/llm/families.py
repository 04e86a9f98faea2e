"""Which models are kin: those of one maker and line, by their names."""

import re

FAMILIES = {
    "GPT": r"gpt|chatgpt|o[1345](-|$)|davinci",
    "Claude": r"claude",
    "Gemini": r"gemini",
    "Gemma": r"gemma",
    "Llama": r"llama",
    "Qwen": r"qwen|qwq",
    "Mistral": r"mistral|mixtral|ministral|magistral|codestral",
    "DeepSeek": r"deepseek",
    "Phi": r"phi(-|\d)",
    "Command": r"command-|c4ai",
    "Grok": r"grok",
    "GLM": r"glm",
    "Kimi": r"kimi",
    "SmolLM": r"smollm",
}
"""Family -> how the last part of a model's name begins; models that are tuned from one carry its name."""


def model_family(model: str) -> str | None:
    """Return the family of a model, by its name; None where that tells none."""
    name = model.lower().rsplit("/", 1)[-1].removesuffix(".gguf")
    matches = [
        (match.start(), family)
        for family, pattern in FAMILIES.items()
        if (match := re.search(rf"(?:^|[-_. :]|meta-)(?:{pattern})", name))
    ]
    return min(matches)[1] if matches else None
