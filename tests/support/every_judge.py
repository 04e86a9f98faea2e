"""Six answers with every field that a row may have, and a model that answers whatever a judge asks for."""

import json
from math import log
from pathlib import Path
from typing import Any

from tests.support.scripts import Body, Said, fit_schema

EMAIL = "jane@example.org"
QUESTIONS = (
    ("When is maize side-dressed?", "At V6.", "Maize is side-dressed at V6. Urea is used."),
    ("Lime makes acid soil sweeter.", "true", "Lime makes acid soil sweeter. It is spread in autumn."),
    ("Wann werden Bohnen gesät?", ["Im Mai", "May"], "Bohnen werden im Mai gesät."),
)
ANSWERS = (
    ("At V6 [1].", f"That is true [1]: lime does. Write to {EMAIL}.", "Im Mai [1]."),
    ('{"when": "V4"}', "I do not know.", "Bohnen werden im August gesät. Das ist sicher."),
)
SYSTEMS = ("first", "second")


def rows_with_every_field() -> list[dict[str, Any]]:
    """Return three questions, each answered by two systems; one answer is a refusal, one is wrong."""
    return [_row(number, system) for number in range(len(QUESTIONS)) for system in range(len(SYSTEMS))]


def _row(number: int, system: int) -> dict[str, Any]:
    question, reference, passage = QUESTIONS[number]
    answer = ANSWERS[system][number]
    step = {
        "tool": "search",
        "arguments": {"query": question},
        "result": passage,
        "seconds": 0.2,
        "tokens": 30,
    }
    return {
        "question_id": f"q{number}",
        "system": SYSTEMS[system],
        "question": question,
        "reference": reference,
        "answer": answer,
        "answerable": True,
        "contexts": [{"id": f"c{number}", "document_id": f"d{number}", "text": passage, "score": 0.9}],
        "turns": [
            {"role": "user", "content": "Hello, I grow vegetables."},
            {"role": "assistant", "content": "How can I help? Do you mean maize?"},
            {"role": "user", "content": question},
            {"role": "assistant", "content": answer},
        ],
        "steps": [step, {"tool": "weather", "arguments": {}, "error": "cannot be reached"}],
        "latency_s": 0.5 + number,
        "usage": {"input": 100, "output": 20},
        "cost_usd": 0.001,
        "tags": {"crop": "maize"},
        "kind": "open",
        "expected_steps": [{"tool": "search", "arguments": {"query": question}}],
        "role": "a farm adviser",
        "expect": {
            "regex": "V6|lime|Mai",
            "contains_all": ["i"],
            "contains_any": ["V6", "lime"],
            "at_least": {"n": 1, "of": ["V6", "lime"]},
            "valid_json": True,
            "max_latency": 1.0,
            "max_cost": 0.01,
            "max_words": 5,
            "cites_sources": 1,
        },
    }


def write_sheet(path: Path) -> Path:
    """Write the rows as JSON Lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows_with_every_field()))
    return path


def answer_in_any_form(body: Body) -> "Said | str":
    """Return what fits the schema; for a judge that reads probabilities, one token with its own."""
    if not body.get("top_logprobs"):
        return fit_schema(body)
    likely = (sum(map(ord, str(body["messages"][-1]["content"]))) % 90 + 5) / 100
    top: list[dict[str, Any]] = [
        {"token": word, "logprob": log(share)} for word, share in (("yes", likely), ("no", 1 - likely))
    ]
    first = max(top, key=lambda token: token["logprob"])
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": first["token"]},
        "finish_reason": "stop",
        "logprobs": {"content": [{**first, "top_logprobs": top}]},
    }
    usage = {"prompt_tokens": 50, "completion_tokens": 1, "total_tokens": 51}
    return Said(raw=json.dumps({"id": "x", "model": "fake", "choices": [choice], "usage": usage}).encode())
