"""A script for the fake endpoint that writes questions as a model would: from the passage that it is shown.

    fake_openai.script = write_questions              # every question sound, every critic content
    fake_openai.script = writer(critic=lambda question: 2 if "soil" in question else 5)

Each question is about one sentence of the passage, which it quotes; its answer is the end of that sentence.
Any other form of reply is filled as the schema asks: scores by the critic, verdicts false, texts by the hash.
"""

import re
from collections.abc import Callable

import msgspec
from tests.support.scripts import Body, Script, fenced, fit_schema, nonce_in, prompt_of, schema_in

SENTENCE = re.compile(r"[^.!?।。؟\n]{20,}[.!?।。؟]")


def writer(critic: Callable[[str], int] = lambda _question: 5) -> Script:
    """Return the script. critic: gives each question its score, the same from all critics."""

    def script(body: Body) -> str:
        schema = schema_in(body) or {}
        fields = schema.get("properties", {})
        prompt = prompt_of(body)
        if "questions" in fields:
            return _said(body, questions=_drafts(prompt))
        scores = [field for name, field in fields.items() if name.endswith("score")]
        if scores and all(
            max(field.get("enum", [100])) >= 5 for field in scores
        ):  # else it is a rubric's, or several judges'
            score = critic(fenced("question", prompt))
            return _said(body, **{name: score for name in fields if name.endswith("score")})
        return fit_schema(body)

    return script


write_questions = writer()


def _drafts(prompt: str) -> list[dict[str, str]]:
    asked_for = re.search(r"write (one|\d+) questions?", prompt)
    most = int(asked_for[1].replace("one", "1")) if asked_for else 3
    asked = fenced("asked already", prompt)
    drafts = []
    for sentence in SENTENCE.findall(fenced("passage", prompt)):
        sentence = sentence.strip()
        words = sentence.split()
        start = (
            " ".join(words[: max(1, len(words) // 2)]) if len(words) > 3 else sentence[: len(sentence) // 2]
        )
        question = f"{start} what?"
        if question not in asked:
            drafts.append({"quote": sentence, "question": question, "answer": sentence[len(start) :].strip()})
    return drafts[:most]


def _said(body: Body, **given: object) -> str:
    """Return the reply with these fields, the nonce, and a reason wherever one is wanted."""
    fields = (schema_in(body) or {}).get("properties", {})
    said: dict[str, object] = {name: "It is so." for name in fields if name.endswith("reason")}
    if "nonce" in fields:
        said["nonce"] = nonce_in(body)
    return msgspec.json.encode({**said, **given}).decode()
