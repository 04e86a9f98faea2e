"""What the fake endpoint can be told to say: values and functions from a request's body to one of them.

A script returns a text, `say(...)`, `fail(...)`, `html()`, `hang()` or `cut_connection()`. The default,
`fit_schema`, returns an object that fits the schema asked for, drawn from a hash of the prompt without its
nonce: the same prompt is answered alike in every project.
"""

import hashlib
import json
import random
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

Body = dict[str, Any]

# What is said depends on no code of a fence: codes are of the project's secret, another one in each run.
CODE = re.compile(r"\b[0-9a-f]{10}\b")
NUMBERED = re.compile(r"^(\d{1,3})\. ", re.MULTILINE)
OFFERED = re.compile(r'"reason": [^"]*, "verdict": ("[^}]*")\}\n')
RERANKED = re.compile(r"^<passage (\d+) ", re.MULTILINE)
PASSAGE = re.compile(r"^\[(\d{1,3})\] ", re.MULTILINE)


@dataclass(frozen=True)
class Said:
    """What the server says to one request; `hang` and `cut` say nothing at all.

    pieces: how the text is cut where a stream is asked for; None: after each word. events: what follows the
    pieces in place of the end of the stream, byte for byte; then: whether the connection is cut or left open.
    """

    text: str = ""
    status: int = 200
    finish_reason: str = "stop"
    refusal: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    usage: dict[str, Any] | None = None
    raw: bytes | None = None
    hang: bool = False
    cut: bool = False
    pieces: tuple[str, ...] | None = None
    events: bytes | None = None
    then: Literal["end", "cut", "hang"] = "end"


Script = Callable[[Body], "Said | str"]


def say(
    text: str, *, finish_reason: str = "stop", refusal: str | None = None, usage: Body | None = None
) -> Said:
    """Return a reply with this content."""
    return Said(text=text, finish_reason=finish_reason, refusal=refusal, usage=usage)


def fail(status: int, message: str, *, retry_after: object = None, code: str | None = None) -> Said:
    """Return an error as OpenAI words it."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    error = {"error": {"message": message, "type": "fake", "code": code}}
    return Said(status=status, raw=json.dumps(error).encode(), headers=headers)


def html(status: int = 200) -> Said:
    """Return a web page: what a wrong base_url or a gateway answers."""
    return Said(status=status, raw=b"<!doctype html><title>Welcome</title><p>It works!</p>")


def stream(
    *pieces: str,
    events: bytes | None = None,
    then: Literal["end", "cut", "hang"] = "end",
    usage: Body | None = None,
) -> Said:
    """Return a reply in these pieces; events, then: see Said."""
    return Said(text="".join(pieces), pieces=pieces, events=events, then=then, usage=usage)


def hang() -> Said:
    """Return nothing, ever: the request stays open."""
    return Said(hang=True)


def cut_connection() -> Said:
    """Close the connection without a word."""
    return Said(cut=True)


def always(said: "Said | str") -> Script:
    """Return a script that says the same to everybody."""
    return lambda _body: said


def in_turn(*said: "Said | str | Script") -> Script:
    """Return a script that says these one after the other, and the last of them for ever."""
    left = deque(said)

    def script(body: Body) -> "Said | str":
        now = left.popleft() if len(left) > 1 else left[0]
        return now(body) if callable(now) else now

    return script


def sometimes(
    shares: dict[float, "Said"] | list[tuple[float, "Said"]], seed: int = 0, otherwise: "Script | None" = None
) -> Script:
    """Return a script that says each of these with its probability, and otherwise what fits the schema."""
    draw = random.Random(seed)
    pairs = list(shares.items()) if isinstance(shares, dict) else list(shares)

    def script(body: Body) -> "Said | str":
        left = draw.random()
        for share, said in pairs:
            left -= share
            if left < 0:
                return said
        return (otherwise or fit_schema)(body)

    return script


def prompt_of(body: Body) -> str:
    """Return all that the messages say."""
    return "\n".join(str(message["content"]) for message in body["messages"])


def fenced(name: str, prompt: str) -> str:
    """Return the text that stands between the tags of this name; empty where there is none."""
    found = re.search(rf"<{name} \w+>\n(.*?)\n</{name} \w+>", prompt, re.DOTALL)
    return found[1] if found else ""


def schema_in(body: Body) -> dict[str, Any] | None:
    """Return the JSON Schema that the request asks for, in whichever way."""
    form = (body.get("response_format") or {}).get("json_schema") or {}
    if "schema" in form:
        return dict(form["schema"])
    tools = body.get("tools")
    return dict(tools[0]["function"]["parameters"]) if tools else None


def mode_of(body: Body) -> str:
    """Return how the request asks for JSON: json_schema, tool, json_object or text."""
    if body.get("tools"):
        return "tool"
    return str((body.get("response_format") or {}).get("type", "text"))


def fit_schema(body: Body) -> str:
    """Return an object that fits the schema asked for, the same for the same prompt; without one, words."""
    schema = schema_in(body)
    prompt = prompt_of(body)
    if schema is None:
        return f"A fake answer, number {_seed(CODE.sub('', prompt)) % 10_000}."
    nonce = nonce_in(body) if "nonce" in schema.get("properties", {}) else ""
    seed = _seed(CODE.sub("", prompt))
    asked = str(body["messages"][-1]["content"])
    numbered = [int(n) for n in NUMBERED.findall(fenced("statements", asked) or asked)]
    passages = [int(n) for n in PASSAGE.findall(fenced("contexts", asked)) or RERANKED.findall(asked)]
    draw = random.Random(seed)
    made = Builder(schema.get("$defs", {}), numbered, draw, nonce, passages).build(schema)
    if isinstance(made, dict) and "This is what to judge:" in asked:  # the layout contexts_first
        listed = OFFERED.findall(asked)
        made["verdict"] = draw.choice(re.findall(r'"([^"]*)"', listed[-1]) if listed else ["50"])
    return msgspec.json.encode(made).decode()


def nonce_in(body: Body) -> str:
    """Return the code that the last of the messages tells; that of doors.py, whose prompt tells none."""
    found: list[str] = re.findall(r'The code is "(\w+)"', prompt_of(body))
    return found[-1] if found else "0123456789"


def embed_words(body: Body, dimensions: int = 64) -> Said:
    """Return a vector for each input text: how often each of its words is there, words being hashed."""
    texts, n = body["input"], body.get("dimensions", dimensions)
    vectors = []
    for text in texts:
        vector = [0.0] * n
        for word in re.findall(r"\w+", text.casefold()):
            vector[_seed(word) % n] += 1.0
        vectors.append(vector)
    return vectors_said(vectors, sum(len(text) // 4 + 1 for text in texts))


def vectors_said(vectors: list[Any], n_tokens: int = 1) -> Said:
    """Return the reply that gives these vectors (lists, or texts in base64)."""
    rows = [{"object": "embedding", "index": at, "embedding": one} for at, one in enumerate(vectors)]
    usage = {"prompt_tokens": n_tokens, "total_tokens": n_tokens}
    reply = {"object": "list", "data": rows[::-1], "model": "fake", "usage": usage}
    return Said(raw=json.dumps(reply).encode())


def _seed(prompt: str) -> int:
    return int.from_bytes(hashlib.blake2b(prompt.encode("utf-8", "replace"), digest_size=8).digest(), "big")


class Builder:
    """Builds values that fit a JSON Schema.

    numbered: ids of the statements that the prompt lists; a list of objects with ids gets exactly these.
    nonce: the code that the prompt tells. passages: numbers of the passages that it shows: a list of verdicts
    on those gets exactly these, and a ranking is of them.
    """

    def __init__(
        self,
        definitions: dict[str, Any],
        numbered: list[int],
        draw: random.Random,
        nonce: str = "",
        passages: Sequence[int] = (),
    ) -> None:
        self.definitions = definitions
        self.numbered = numbered
        self.draw = draw
        self.nonce = nonce
        self.passages = list(passages)

    def build(self, schema: dict[str, Any]) -> object:
        """Return a value that fits."""
        if "$ref" in schema:
            return self.build(self.definitions[schema["$ref"].rpartition("/")[2]])
        if "enum" in schema:
            return self.draw.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        if "anyOf" in schema:
            return self.build(schema["anyOf"][0])
        kind = schema.get("type", "object")
        made: object = getattr(self, "_" + kind)(schema)
        return made

    def _object(self, schema: dict[str, Any]) -> dict[str, Any]:
        fields = schema.get("properties", {})
        ids = self.passages if "useful" in fields else self.numbered if "supported" in fields else []
        if "ranking" in fields and self.passages:
            return {"nonce": self.nonce, "ranking": self.draw.sample(self.passages, len(self.passages[:2]))}
        known: dict[str, list[Any]] = {"nonce": [self.nonce], "id": ids}
        if "context" in fields and ids:
            known["context"] = [0, *self.passages]
        return {
            name: self.draw.choice(known[name]) if known.get(name) else self.build(inner)
            for name, inner in fields.items()
        }

    def _array(self, schema: dict[str, Any]) -> list[Any]:
        items = schema.get("items", {"type": "string"})
        fewest, most = schema.get("minItems", 0), schema.get("maxItems", 1_000)
        item = self.definitions.get(items.get("$ref", "").rpartition("/")[2], items)
        ids = self.passages if "useful" in item.get("properties", {}) else self.numbered
        n = min(most, max(fewest, len(ids) or 2))
        made = [self.build(items) for _ in range(n)]
        for place, item in enumerate(made):
            if isinstance(item, dict) and isinstance(item.get("id"), int):
                item["id"] = ids[place] if place < len(ids) else place + 1
        return made

    def _integer(self, schema: dict[str, Any]) -> int:
        low = schema.get("minimum", schema.get("exclusiveMinimum", 0 - 1) + 1)
        high = schema.get("maximum", schema.get("exclusiveMaximum", low + 101) - 1)
        return self.draw.randint(int(low), int(high))

    def _number(self, schema: dict[str, Any]) -> float:
        return round(self.draw.uniform(schema.get("minimum", 0), schema.get("maximum", 1)), 3)

    def _string(self, schema: dict[str, Any]) -> str:
        text = f"Reason {self.draw.randrange(10_000)}: the texts say so."
        return text.ljust(schema.get("minLength", 0), ".")[: schema.get("maxLength", 10_000)]

    def _boolean(self, _schema: dict[str, Any]) -> bool:
        return self.draw.random() < 0.5

    def _null(self, _schema: dict[str, Any]) -> None:
        return None
