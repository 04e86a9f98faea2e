"""A GGUF model in this process, through xllamacpp: no server, no key, no network."""

import asyncio
import contextlib
import functools
import os
import threading
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from ragstone.config import ModelSettings, Price
from ragstone.errors import MissingExtra, ModelError
from ragstone.llm.gguf import fingerprint, resolve_gguf
from ragstone.llm.logprobs import read_logprobs
from ragstone.llm.prompt import CallFailed, Completion, Prompt
from ragstone.llm.schema import encoded_schema, fill_nonce
from ragstone.llm.transport import Endpoint
from ragstone.records import Usage

# One call at a time: on two cores, more slots share the same arithmetic and lose each other's prompt
# cache (measured: 8 calls with a 1.5B model take 10.5 s in one slot, 14.3 s in two, 20.6 s in four).
DEFAULT_CONCURRENCY = 1
DEFAULT_TIMEOUT_S = 600.0
DEFAULT_CONTEXT_TOKENS = 8192
# Small models do not know when to stop; the grammar stops them before the reply is cut off mid-way.
MOST_CHARACTERS = 200
MOST_ITEMS = 5


@contextlib.asynccontextmanager
async def open_llamacpp(model: str, settings: ModelSettings) -> AsyncIterator[Endpoint]:
    """Give the endpoint of a GGUF model; it is loaded when the first call is made, so that a run which
    the ledger answers never loads it.

    model: see resolve_gguf. Raises ModelError when the file is missing, MissingExtra without xllamacpp.
    """
    path = resolve_gguf(model)
    concurrency = settings.max_concurrency or DEFAULT_CONCURRENCY
    context = settings.context_tokens or DEFAULT_CONTEXT_TOKENS
    timeout_s = settings.timeout_s or DEFAULT_TIMEOUT_S
    pool = ThreadPoolExecutor(concurrency, thread_name_prefix="ragstone-llamacpp")
    loading = threading.Lock()
    server: list[Any] = []

    def call(body: dict[str, Any]) -> Any:
        with loading:
            if not server:
                server.append(_load(path, concurrency, context))
        return server[0].handle_chat_completions(body)

    async def send(prompt: Prompt) -> Completion:
        started = time.perf_counter()
        running = asyncio.get_running_loop().run_in_executor(pool, call, _body(prompt))
        try:
            reply = await asyncio.wait_for(running, timeout_s)
        except TimeoutError:
            raise CallFailed("timeout", f"{path.name} took more than {timeout_s:g} s") from None
        return _completion(reply, path, context, prompt.top_logprobs, time.perf_counter() - started)

    in_order = False
    try:
        identity = f"llamacpp/{path.stem}@{fingerprint(path)}"
        yield Endpoint(identity=identity, send=send, concurrency=concurrency, price=Price(input=0, output=0))
        in_order = True
    finally:
        # A generation cannot be interrupted: an error or Ctrl-C leaves it to its thread.
        pool.shutdown(wait=in_order, cancel_futures=True)
        server.clear()


def _cores() -> int:
    """Return how many processors this process may use: a container may have fewer than the machine."""
    if hasattr(os, "sched_getaffinity"):  # Linux alone has it
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _load(path: Path, slots: int, context_tokens: int) -> Any:
    try:
        import xllamacpp
    except ImportError:
        raise MissingExtra(f"running {path.name} in this process", "local") from None
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = context_tokens * slots
    params.n_parallel = slots
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _cores()
    params.verbosity = -1
    params.warmup = False
    try:
        return xllamacpp.Server(params)
    except RuntimeError as mistake:
        raise ModelError(f"{path}: cannot be loaded ({mistake}). Is it a whole GGUF file?") from None


def _body(prompt: Prompt) -> dict[str, Any]:
    body: dict[str, Any] = {
        "messages": msgspec.to_builtins(prompt.messages),
        "max_tokens": prompt.max_tokens,
        "temperature": prompt.temperature,
        "seed": prompt.sample,
        "cache_prompt": True,
    }
    if prompt.top_logprobs is not None:
        body |= {"logprobs": True, "top_logprobs": max(1, prompt.top_logprobs)}  # 0 would give none at all
    if prompt.reply is not None:
        encoded = _bounded_schema(prompt.reply, prompt.nonce is not None)
        schema = msgspec.json.decode(fill_nonce(encoded, prompt.nonce))
        body["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema, "strict": True}}
    return body


@functools.lru_cache(maxsize=256)
def _bounded_schema(reply: type, with_nonce: bool) -> bytes:
    return msgspec.json.encode(_bound(msgspec.json.decode(encoded_schema(reply, with_nonce))))


def _bound(node: Any) -> Any:
    """Return the schema with a longest string and a longest list, where it has none."""
    if isinstance(node, list):
        return [_bound(item) for item in node]
    if not isinstance(node, dict):
        return node
    bounded = {key: _bound(value) for key, value in node.items()}
    if bounded.get("type") == "string" and "enum" not in bounded:
        bounded.setdefault("maxLength", MOST_CHARACTERS)
    if bounded.get("type") == "array":
        bounded.setdefault("maxItems", MOST_ITEMS)
    return bounded


def _completion(
    reply: Any, path: Path, context: int, top_logprobs: int | None, latency_s: float
) -> Completion:
    error = reply.get("error")
    if error:
        hint = ""
        if error.get("type") == "exceed_context_size_error":
            hint = f" Raise context_tokens (now {context}) in the model's table, or give fewer contexts."
        raise CallFailed("error", f"{path.name}: {error.get('message')}.{hint}")
    choice, usage = reply["choices"][0], reply.get("usage", {})
    return Completion(
        text=choice["message"].get("content") or "",
        finish_reason=choice.get("finish_reason"),
        usage=Usage(
            input=usage.get("prompt_tokens", 0),
            output=usage.get("completion_tokens", 0),
            cached=usage.get("prompt_tokens_details", {}).get("cached_tokens", 0),
        ),
        latency_s=round(latency_s, 4),
        logprobs=None if top_logprobs is None else read_logprobs(choice.get("logprobs"), top_logprobs),
    )
