"""A script for the fake endpoint that writes facts as a model would: from the text that it is shown.

    fake_openai.script = write_facts                 # every statement sound, every change as asked
    fake_openai.script = facts_writer(prose=0.02, twins=0.02, malformed=0.02)
    python -m tests.support.fake_openai --script tests.support.scripted_facts:faulty

A statement is a sentence of the text, which it quotes. Faults are drawn from a hash of the text, so that the
same document has the same in every run.
"""

import hashlib
import re
from collections.abc import Callable

import msgspec
from tests.support.scripts import Body, Script, fenced, fit_schema, nonce_in, prompt_of, say, schema_in

from ragstone.features.build._fact_writing import TOKENS_A_FACT

SENTENCE = re.compile(r"[^.!?।。؟\n]{20,280}[.!?।。؟]?")
TWIN = "The same thing is said every time."
VERDICT = "false"
SWAPS = {"entity": (r"\b[A-Z]\w{2,}|\b\w{6,}", "Borneo"), "relation": (r"\b(?:is|are|will|can)\b", "was")}


def wants_facts(body: Body) -> bool:
    """Return whether a request asks for facts."""
    return "facts" in (schema_in(body) or {}).get("properties", {})


def facts_writer(
    *, prose: float = 0.0, twins: float = 0.0, malformed: float = 0.0, verdict: str = VERDICT
) -> Script:
    """Return the script. The shares of texts whose writer chats, repeats one statement, is cut off where it
    has no more room than at first.
    """

    def script(body: Body) -> object:
        fields = (schema_in(body) or {}).get("properties", {})
        prompt = prompt_of(body)
        text = fenced("text", prompt)
        drawn = _share(text)
        if "facts" in fields:
            if drawn < prose:
                return "Certainly! Here are some facts for you."
            told = re.search(r"write (\d+) of them", prompt)
            n = int(told[1]) if told else 1
            if drawn < prose + malformed and body["max_tokens"] <= TOKENS_A_FACT * n + 60:
                return say('{"nonce": "0", "facts": [{"quo', finish_reason="length")
            return _said(body, facts=_facts(text, n, repeated=drawn > 1 - twins))
        if "now" in fields:
            return _said(body, **_change(fenced("statement", prompt), prompt))
        if "verdict" in fields:
            return _said(body, reason="The text says otherwise.", verdict=verdict)
        return fit_schema(body)

    return script  # type: ignore[return-value]


def _facts(text: str, n: int, *, repeated: bool) -> list[dict[str, str]]:
    sentences = [found.strip() for found in SENTENCE.findall(text)] or [text.strip()[:280]]
    return [{"quote": one, "subject": "it", "statement": TWIN if repeated else one} for one in sentences[:n]]


def _change(statement: str, prompt: str) -> dict[str, str]:
    """Return the change that the prompt asks for."""
    kind = next((kind for kind in SWAPS if CLUES[kind] in prompt), "negation")
    if kind == "negation":
        first = statement.split()[0]
        return {"was": first, "now": f"{first} not"}
    pattern, new = SWAPS[kind]
    found = re.search(pattern, statement)
    return {"was": found[0] if found else statement.split()[0], "now": new}


CLUES = {"entity": "Replace one name", "relation": "Replace one verb"}


def _said(body: Body, **given: object) -> str:
    return msgspec.json.encode({"nonce": nonce_in(body), **given}).decode()


def _share(text: str) -> float:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big") / 2**32


write_facts: Callable[[Body], object] = facts_writer()
faulty = facts_writer(prose=0.01, malformed=0.02, twins=0.02)
