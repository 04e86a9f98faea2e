"""A local decision model for tests and benchmarks: typed questions in, planted probabilities out.

It speaks both protocols: `POST .../decisions` as OpenAI's, any other path as TypeSafe's `/v1/systemone`. In a
test, take the fixture `decision_server` (conftest.py) and set what it believes:

    def test_x(decision_server, tmp_path):
        decision_server.believe = lambda texts, question: [0.9, 0.1]
        settings = decision_server.settings(root=tmp_path)

A benchmark takes `serving_decisions()`. By default the probabilities are drawn from a hash of texts and
question: the same question is answered alike, alone and among others. To try a command by hand:

    python -m tests.support.decision_server  # prints the table for ragstone.toml, and serves until Ctrl-C
"""

import contextlib
import hashlib
import json
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from aiohttp import web
from tests.support.in_thread import in_thread
from tests.support.scripts import Said, fail

from ragstone.kernel.config import ModelSettings, Settings

Texts = Mapping[str, str]


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A question as it arrived. type: in the words of OpenAI; labels: of its options; text: instructions."""

    name: str
    type: str
    text: str
    labels: tuple[str, ...]
    meanings: tuple[str, ...] = ()


Believe = Callable[[Texts, Asked], Sequence[float]]
"""Texts and question -> the probability of each option (of a predicate: of true, then of false)."""


def drawn(texts: Texts, question: Asked) -> list[float]:
    """Return probabilities that are drawn from a hash of what is asked."""
    key = json.dumps([dict(texts), question.text, question.labels], sort_keys=True)
    seed = int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")
    shares: list[float] = np.random.default_rng(seed).dirichlet(np.ones(len(question.labels))).tolist()
    return shares


def miscalibrated(probability: float, sharpness: float = 3.0, bias: float = 0.0) -> float:
    """Return what an overconfident judge says where the truth is `probability`: its log-odds too far out."""
    clipped = min(max(probability, 1e-6), 1 - 1e-6)
    odds = sharpness * math.log(clipped / (1 - clipped)) + bias
    return 1 / (1 + math.exp(-odds))


class DecisionServer:
    """The server. Attributes may be set at any time.

    believe: what it holds for likely. refuse: body -> an error in place of an answer, None for none. spoil:
    changes the whole reply, as it is about to be sent, into a malformed one, or gives its bytes. key: if set,
    the only one that is let in. digits: of the probabilities. What it saw: n_requests, bodies, paths.
    """

    model = "systemone/planted"

    def __init__(self) -> None:
        self.believe: Believe = drawn
        self.refuse: Callable[[dict[str, Any]], Said | None] = lambda _body: None
        self.spoil: Callable[[dict[str, Any]], object] = lambda reply: reply
        self.key: str | None = None
        self.digits = 6
        self.base_url = ""
        self.n_requests = 0
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []

    def settings(self, root: object = ".", model: str = model, **of_model: object) -> Settings:
        """Return settings in which a model is this server; `openai/...` is asked by /decisions."""
        api = {} if model.startswith("systemone/") else {"api": "decisions"}
        table = {"base_url": self.address(model), "price_usd_per_million": {"input": 1.0, "output": 0.0}}
        return Settings(
            models={model: msgspec.convert({**table, **api, **of_model}, ModelSettings)}, root=str(root)
        )

    def toml(self, model: str = model, price: float = 1.0) -> str:
        """Return the table of ragstone.toml that names this server."""
        api = "" if model.startswith("systemone/") else 'api = "decisions"\n'
        return (
            f'[models."{model}"]\nbase_url = "{self.address(model)}"\n{api}'
            f"price_usd_per_million = {{ input = {price}, output = 0.0 }}\n"
        )

    def address(self, model: str = model) -> str:
        """Return the base_url of a model."""
        return self.base_url if model.startswith("systemone/") else f"{self.base_url}/v1"

    @property
    def n_questions(self) -> int:
        """How many questions were asked, over all requests."""
        return sum(len(body["questions"]) for body in self.bodies)

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""
        body = json.loads(await request.read())
        self.n_requests += 1
        self.bodies.append(body)
        self.paths.append(request.path)
        if self.key is not None and request.headers.get("Authorization") != f"Bearer {self.key}":
            return _as_response(fail(401, "Incorrect API key provided", code="invalid_api_key"))
        refusal = self.refuse(body)
        if refusal is not None:
            if refusal.hang:
                import asyncio

                await asyncio.sleep(5)
            return _as_response(refusal)
        listed = request.path.endswith("/decisions")
        questions = _listed(body) if listed else _keyed(body)
        texts = json.loads(body["input"]) if listed else body["state"]
        believed = [[round(float(p), self.digits) for p in self.believe(texts, each)] for each in questions]
        pairs = list(zip(questions, believed, strict=True))
        counts = {"input_tokens": max(1, len(json.dumps(body)) // 4), "output_tokens": 0}
        reply: dict[str, Any] = {"model": body["model"], "usage": counts}
        if listed:
            reply["answers"] = [_openai_answer(*pair) for pair in pairs]
            counts |= {"total_tokens": counts["input_tokens"]}
        else:
            reply["answers"] = {question.name: _jev_answer(question, shares) for question, shares in pairs}
        spoilt = self.spoil(reply)
        content = spoilt if isinstance(spoilt, bytes) else json.dumps(spoilt).encode()
        return web.Response(body=content, content_type="application/json")


def _listed(body: dict[str, Any]) -> list[Asked]:
    """Return the questions of a request to /decisions."""
    asked = []
    for each in body["questions"]:
        options = each.get("choices") or each.get("levels") or []
        labels = tuple(option.get("value") or option["label"] for option in options) or ("true", "false")
        meanings = tuple(option.get("description", "") for option in options)
        asked.append(
            Asked(
                name=each["name"],
                type=each["type"],
                text=each["instructions"],
                labels=labels,
                meanings=meanings,
            )
        )
    return asked


def _keyed(body: dict[str, Any]) -> list[Asked]:
    """Return the questions of a request to /v1/systemone; levels are known by their place."""
    asked = []
    for name, each in body["questions"].items():
        criteria = each.get("criteria")
        labels: tuple[str, ...]
        meanings: tuple[str, ...]
        if each["type"] == "noul":
            labels, meanings = ("true", "false"), ("", "")
        elif each["type"] == "choice":
            labels, meanings = tuple(criteria), tuple(text or "" for text in criteria.values())
        else:
            labels, meanings = tuple(str(n) for n in range(len(criteria))), tuple(criteria)
        kind = "predicate" if each["type"] == "noul" else each["type"]
        asked.append(Asked(name=name, type=kind, text=each["instructions"], labels=labels, meanings=meanings))
    return asked


def _openai_answer(question: Asked, shares: Sequence[float]) -> dict[str, Any]:
    answer: dict[str, Any] = {"type": question.type, "name": question.name}
    if question.type == "predicate":
        return answer | {"probability": shares[0]}
    answer["confidence"] = max(shares)
    pairs = list(zip(question.labels, shares, strict=True))
    if question.type == "choice":
        listed = [{"value": label, "probability": share} for label, share in pairs]
        return answer | {"choice": max(pairs, key=lambda pair: pair[1])[0], "probabilities": listed}
    levels = [
        {"label": label, "value": number, "probability": share} for number, (label, share) in enumerate(pairs)
    ]
    return answer | {
        "score": sum(number * share for number, share in enumerate(shares)),
        "probabilities": levels,
    }


def _jev_answer(question: Asked, shares: Sequence[float]) -> dict[str, Any]:
    if question.type == "predicate":
        return {"type": "noul", "noul": shares[0]}
    table = dict(zip(question.labels, shares, strict=True))
    answer: dict[str, Any] = {"type": question.type, "confidence": max(shares), "probabilities": table}
    if question.type == "choice":
        return answer | {"choice": max(table, key=lambda label: table[label])}
    return answer | {
        "score": sum(number * share for number, share in enumerate(shares)),
        "legend": dict(zip(question.labels, question.meanings, strict=True)),
    }


def malform(reply: dict[str, Any], draw: np.random.Generator) -> tuple[object, str, int | None]:
    """Return a reply that breaks the protocol, what was done to it, and to which answer (None: to all)."""
    listed = isinstance(reply["answers"], list)
    n = len(reply["answers"])
    at = int(draw.integers(n))
    name = None if listed else list(reply["answers"])[at]
    answer = reply["answers"][at if listed else name]
    ways = {way: spoil for way, spoil in SPOILT.items() if _can(way, answer, listed, n)}
    way = list(ways)[int(draw.integers(len(ways)))]
    content = ways[way](reply, at if listed else name, draw)
    return reply if content is None else content, way, None if way in OF_ALL else at


At = Any  # a place in a list of answers, or a name in a table of them
Spoil = Callable[[dict[str, Any], Any, np.random.Generator], "bytes | None"]
OF_ALL = frozenset(
    {"missing", "unknown", "twice", "too many", "swapped", "no answers", "cut off", "a text for all"}
)


def _can(way: str, answer: dict[str, Any], listed: bool, n: int) -> bool:
    """Return whether something can be done to this answer of n in this protocol."""
    chances = isinstance(answer.get("probabilities"), dict | list)
    needs = {
        "swapped": listed and n > 1,
        "too many": listed,
        "sum too high": chances,
        "sum too low": chances,
        "option missing": chances,
        "unknown option": chances,
        "no probabilities": chances,
        "probabilities are a text": chances,
        "option twice": listed and chances,
        "levels in another order": answer["type"] == "score",
        "another option is chosen": answer["type"] == "choice",
        "an unknown option is chosen": answer["type"] == "choice",
        "no choice": answer["type"] == "choice",
        "another score is stated": answer["type"] == "score",
        "no score": answer["type"] == "score",
        "score is true": answer["type"] == "score",
    }
    return bool(needs.get(way, True))


def _set(value: object) -> Spoil:
    """Return what puts a value in the place of one probability of the answer."""

    def spoil(reply: dict[str, Any], at: At, draw: np.random.Generator) -> None:
        answer = reply["answers"][at]
        chances = answer.get("probabilities")
        if isinstance(chances, dict):
            chances[list(chances)[int(draw.integers(len(chances)))]] = value
        elif isinstance(chances, list):
            chances[int(draw.integers(len(chances)))]["probability"] = value
        else:
            answer["noul" if "noul" in answer else "probability"] = value

    return spoil


def _scaled(factor: float) -> Spoil:
    def spoil(reply: dict[str, Any], at: At, _draw: np.random.Generator) -> None:
        chances = reply["answers"][at]["probabilities"]
        for key in chances if isinstance(chances, dict) else range(len(chances)):
            if isinstance(chances, dict):
                chances[key] *= factor
            else:
                chances[key]["probability"] *= factor

    return spoil


def _field(name: str, value: object) -> Spoil:
    """Return what sets a field of the answer; a value of None takes it out."""

    def spoil(reply: dict[str, Any], at: At, _draw: np.random.Generator) -> None:
        reply["answers"][at].pop(name, None)
        if value is not None:
            reply["answers"][at][name] = value

    return spoil


def _drop_option(reply: dict[str, Any], at: At, _draw: np.random.Generator) -> None:
    chances = reply["answers"][at]["probabilities"]
    chances.pop(next(iter(chances))) if isinstance(chances, dict) else chances.pop()


def _add_option(reply: dict[str, Any], at: At, _draw: np.random.Generator) -> None:
    chances = reply["answers"][at]["probabilities"]
    if isinstance(chances, dict):
        chances["another"] = 0.0
    else:
        chances.append({**chances[0], "value": "another", "label": "another", "probability": 0.0})


def _repeat_option(reply: dict[str, Any], at: At, _draw: np.random.Generator) -> None:
    chances = reply["answers"][at]["probabilities"]
    chances[-1] = dict(chances[0])


def _turn_levels(reply: dict[str, Any], at: At, _draw: np.random.Generator) -> None:
    answer = reply["answers"][at]
    chances = answer["probabilities"]
    if isinstance(chances, dict):
        answer["legend"] = dict(zip(answer["legend"], reversed(answer["legend"].values()), strict=True))
    else:
        for number, level in enumerate(chances):
            level["value"] = len(chances) - 1 - number


def _choose_another(reply: dict[str, Any], at: At, _draw: np.random.Generator) -> None:
    """Make one option nearly certain, and state another."""
    answer = reply["answers"][at]
    chances = answer["probabilities"]
    labels = list(chances) if isinstance(chances, dict) else [option["value"] for option in chances]
    shares = [0.9] + [0.1 / (len(labels) - 1)] * (len(labels) - 1)
    for number, (label, share) in enumerate(zip(labels, shares, strict=True)):
        if isinstance(chances, dict):
            chances[label] = share
        else:
            chances[number]["probability"] = share
    answer["choice"] = labels[-1]


def _state_another_score(reply: dict[str, Any], at: At, _draw: np.random.Generator) -> None:
    answer = reply["answers"][at]
    highest = len(answer["probabilities"]) - 1
    answer["score"] += highest / 2 * (-1 if answer["score"] > highest / 2 else 1)


def _answer_missing(reply: dict[str, Any], at: At, _draw: np.random.Generator) -> None:
    reply["answers"].pop(at)


def _answer_unknown(reply: dict[str, Any], at: At, _draw: np.random.Generator) -> None:
    answers = reply["answers"]
    if isinstance(answers, list):
        answers[at]["name"] = "q999"
    else:
        answers["q999"] = answers.pop(at)


def _answer_twice(reply: dict[str, Any], at: At, _draw: np.random.Generator) -> bytes:
    answers = reply["answers"]
    if isinstance(answers, list):
        answers.append(dict(answers[at]))
        return json.dumps(reply).encode()
    text = json.dumps(reply)
    again = f"{json.dumps(at)}: {json.dumps(answers[at])}"
    return text.replace(again, f"{again}, {again}", 1).encode()


def _one_too_many(reply: dict[str, Any], _at: At, _draw: np.random.Generator) -> None:
    reply["answers"].append({"type": "predicate", "name": None, "probability": 0.5})


def _swap(reply: dict[str, Any], _at: At, _draw: np.random.Generator) -> None:
    reply["answers"].reverse()


def _replace(value: object) -> Spoil:
    def spoil(reply: dict[str, Any], at: At, _draw: np.random.Generator) -> None:
        reply["answers"][at] = value

    return spoil


def _replace_all(value: object) -> Spoil:
    def spoil(reply: dict[str, Any], _at: At, _draw: np.random.Generator) -> None:
        reply["answers"] = value

    return spoil


def _field_twice(reply: dict[str, Any], at: At, _draw: np.random.Generator) -> bytes:
    answer = reply["answers"][at]
    text, own = json.dumps(reply), json.dumps(answer)
    return text.replace(own, f'{{"type": "choice", {own[1:]}', 1).encode()


SPOILT: dict[str, Spoil] = {
    "NaN": _set(math.nan),
    "infinite": _set(math.inf),
    "negative": _set(-0.2),
    "above one": _set(1.2),
    "true for a number": _set(True),
    "a text for a number": _set("0.5"),
    "null for a number": _set(None),
    "a huge number": _set(10**400),
    "sum too high": _scaled(1.3),
    "sum too low": _scaled(0.7),
    "option missing": _drop_option,
    "unknown option": _add_option,
    "option twice": _repeat_option,
    "no probabilities": _field("probabilities", None),
    "probabilities are a text": _field("probabilities", "0.5"),
    "levels in another order": _turn_levels,
    "another option is chosen": _choose_another,
    "an unknown option is chosen": _field("choice", "another"),
    "no choice": _field("choice", None),
    "another score is stated": _state_another_score,
    "no score": _field("score", None),
    "score is true": _field("score", True),
    "of another type": _field("type", "box"),
    "of no type": _field("type", None),
    "a field twice": _field_twice,
    "null for an answer": _replace(None),
    "a number for an answer": _replace(0.5),
    "missing": _answer_missing,
    "unknown": _answer_unknown,
    "twice": _answer_twice,
    "too many": _one_too_many,
    "swapped": _swap,
    "no answers": _replace_all(None),
    "a text for all": _replace_all("yes"),
    "cut off": lambda reply, _at, _draw: json.dumps(reply).encode()[:-3],
}


def _as_response(said: Said) -> web.Response:
    kind = "text/html" if (said.raw or b"").startswith(b"<") else "application/json"
    return web.Response(
        body=said.raw or b"", status=said.status, headers={**said.headers, "Content-Type": kind}
    )


@contextlib.contextmanager
def serving_decisions(server: DecisionServer | None = None) -> Iterator[DecisionServer]:
    """Give a server that runs in a thread of this process."""
    server = server or DecisionServer()
    with in_thread(server.respond) as address:
        server.base_url = address
        yield server


if __name__ == "__main__":
    with serving_decisions() as running, contextlib.suppress(KeyboardInterrupt):
        print(running.toml(), flush=True)
        threading.Event().wait()
