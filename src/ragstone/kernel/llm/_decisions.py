"""Decision models over aiohttp: OpenAI's `POST /decisions`, and `POST /v1/systemone` of TypeSafe and others.

The fields are those of the packages openai 3.57.0 and typesafe-sdk 0.7.5. The texts of a row go as one JSON
object, whose strings they cannot leave.
"""

import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.llm._openai_reply import raise_error, unreadable
from ragstone.kernel.llm._site import Site, exchange, open_site, raise_for
from ragstone.kernel.llm.failures import CallFailed
from ragstone.kernel.llm.prompt import Completion, Prompt
from ragstone.kernel.llm.providers import Provider, at_url, list_price
from ragstone.kernel.llm.questionnaire import Questionnaire, TypedQuestion, level_text
from ragstone.kernel.llm.transport import Dialect, Endpoint, Where, asked_in
from ragstone.kernel.records import figure_of, told_usage

DEFAULT_CONCURRENCY = 64
DECISIONS, SYSTEMONE = "OpenAI's /decisions", "/v1/systemone"
NO_BATCH = "answers typed questions, which the provider's batch API does not take"

Form = Callable[[str, Questionnaire, dict[str, str]], dict[str, Any]]


class _Place(msgspec.Struct, frozen=True):
    """Where and in which form a model is asked; path: below the address of the provider."""

    provider: Provider
    settings: ModelSettings
    path: str
    protocol: str
    form: Form


@contextlib.asynccontextmanager
async def open_decisions(
    provider: Provider, model: str, settings: ModelSettings, where: Where
) -> AsyncIterator[Endpoint]:
    """Give the endpoint of a decision model; its connections are closed at the end of the block.

    Where its key is missing (see site.py), the first call that the ledger lacks raises ModelError.
    """
    model, settings = at_url(model, settings) if provider.dialect == "systemone" else (model, settings)
    address = provider.address(settings)
    place = _place(provider, settings, address)
    concurrency = settings.max_concurrency or DEFAULT_CONCURRENCY
    refusals = Dialect(modes=("decisions",))
    async with open_site(place.provider, model, place.settings, concurrency) as site:
        site.hint = f"the request is POST base_url{place.path}"

        async def send(prompt: Prompt) -> Completion:
            site.check_key()
            asked = prompt.questionnaire
            if asked is None:
                raise CallFailed("error", f"{site.name} is asked no questions")
            texts = dict(zip(asked.inputs, (each.content for each in prompt.messages), strict=True))
            body = msgspec.json.encode(place.form(model, asked, texts) | settings.extra)
            with asked_in(refusals, prompt, settings.extra, where, site.name):
                started = time.perf_counter()
                response, content = await exchange(site, "POST", place.path, data=body)
                if response.status != 200:
                    raise_for(site, response.status, response.headers, content)
                completion = _completion(site, content, place.protocol, tells_cost=provider.tells_cost)
                latency_s = round(time.perf_counter() - started, 4)
            return msgspec.structs.replace(completion, latency_s=latency_s)

        yield Endpoint(
            identity=provider.identity_of(model, address),
            send=send,
            concurrency=concurrency,
            # The list has prices of models that write; the same one may cost less where it only decides.
            price=list_price(address, model) if provider.dialect == "systemone" else None,
            decides=True,
            no_batch=NO_BATCH,
        )


def _place(provider: Provider, settings: ModelSettings, address: str) -> _Place:
    if provider.dialect == "systemone":
        whole = address.endswith(("/systemone", "/decisions"))
        path = "" if whole else "/systemone" if address.endswith("/v1") else "/v1/systemone"
        return _Place(provider, settings, path, SYSTEMONE, _systemone_body)
    if provider.systemone_url and address == provider.base_url:
        there = msgspec.structs.replace(provider, base_url=provider.systemone_url)
        return _Place(there, settings, "", SYSTEMONE, _systemone_body)
    return _Place(provider, settings, "/decisions", DECISIONS, _decisions_body)


def _completion(site: Site, content: bytes, protocol: str, *, tells_cost: bool) -> Completion:
    """Return the completion in a reply; its text is the whole body, whose answers are read later."""
    text = content.decode("utf-8", "replace")
    try:
        body = json.loads(text)  # which takes NaN: a matter of one answer
    except (ValueError, RecursionError) as mistake:
        if '"answers"' in text:  # it was paid for, and is kept: whoever reads it finds that it is no JSON
            return Completion(text=text, latency_s=None)
        raise unreadable(site, content, mistake, protocol) from None
    if isinstance(body, dict) and "answers" not in body and body.get("error") is not None:
        raise_error(site, content)
    if not isinstance(body, dict) or "answers" not in body:
        raise unreadable(site, content, None, protocol)
    counts = body.get("usage")
    counts = counts if isinstance(counts, dict) else {}
    inner, outer = (counts.get(f"{side}_tokens_details") for side in ("input", "output"))
    inner, outer = (part if isinstance(part, dict) else {} for part in (inner, outer))
    return Completion(
        text=text,
        usage=told_usage(
            counts.get("input_tokens"),
            counts.get("output_tokens"),
            cached=inner.get("cached_tokens"),
            cache_written=inner.get("cache_write_tokens"),
            reasoning=outer.get("reasoning_tokens"),
        ),
        latency_s=None,
        cost_usd=figure_of(counts.get("cost")) if tells_cost else None,
    )


def _decisions_body(model: str, asked: Questionnaire, texts: dict[str, str]) -> dict[str, Any]:
    def question(each: TypedQuestion) -> dict[str, Any]:
        fields: dict[str, Any] = {"type": each.type, "name": each.name, "instructions": each.instructions}
        key, plural = {"choice": ("value", "choices"), "score": ("label", "levels")}.get(each.type, ("", ""))
        if key:
            fields[plural] = [
                {key: label} | ({"description": meaning} if meaning else {})
                for label, meaning in each.options
            ]
        return fields

    return {
        "model": model,
        "input": json.dumps(texts, ensure_ascii=False),
        "questions": [question(each) for each in asked.questions],
    }


def _systemone_body(model: str, asked: Questionnaire, texts: dict[str, str]) -> dict[str, Any]:
    def question(each: TypedQuestion) -> dict[str, Any]:
        if each.type == "predicate":
            return {"type": "noul", "instructions": each.instructions}
        criteria: object = [level_text(option) for option in each.options]
        if each.type == "choice":
            criteria = {label: meaning or None for label, meaning in each.options}
        return {"type": each.type, "instructions": each.instructions, "criteria": criteria}

    return {
        "model": model,
        "state": texts,
        "questions": {each.name: question(each) for each in asked.questions},
    }
