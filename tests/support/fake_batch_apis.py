"""Local servers that speak the batch APIs of Anthropic, Mistral and Gemini, and of OpenAI beside them.

Each is written to the provider's package and documentation, which its class names, and shares nothing with
the code under test. What it holds against the protocol goes into `wrong`, which a test's fixture looks at.

fake.ends = ["expired"]      # how the next batches end; those after them go well
fake.n_unfinished = 2        # so many calls, the last ones, are without a reply then
fake.n_missing = 1           # so many results are left out of the next batch that ends well
fake.twice = True            # each result is there twice
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec
from aiohttp import web
from tests.support.in_thread import in_thread
from tests.support.scripts import Body, Said, Script, fail, fit_schema

from ragstone.kernel.config import ModelSettings, Settings

KEY = "key-of-the-batches-0123456789"
MOST_BYTES = 200_000_000


@dataclass
class MadeBatch:
    """A batch at the provider. calls: the name of each and its body; results: its lines, once it is over."""

    id: str
    calls: list[tuple[str, Body]]
    end: str
    order: Body
    n_looks: int = 0
    created: str = "2099-01-01T00:00:00Z"
    results: list[Body] = field(default_factory=list)

    @property
    def keys(self) -> list[str]:
        """The names of its calls, as the ledger has them."""
        return [name.rpartition("-")[2] for name, _body in self.calls]


class FakeBatchApi:
    """What all protocols share: the batches, how they end, and the single calls beside them."""

    model: ClassVar[str]
    base: ClassVar[str]

    def __init__(self) -> None:
        self.script: Script = fit_schema
        self.ends: list[str] = []
        self.takes_looks = 1
        self.n_unfinished = self.lose_replies = self.n_missing = 0
        self.twice = False
        self.made: list[MadeBatch] = []
        self.files: dict[str, bytes] = {}
        self.wrong: list[str] = []
        self.n_single = 0
        self.address = ""

    @property
    def n_calls(self) -> int:
        """How many calls all batches hold."""
        return sum(len(batch.calls) for batch in self.made)

    def settings(self, root: object = ".", **of_model: object) -> Settings:
        """Return settings in which the model is this server."""
        table = {"base_url": f"{self.address}{self.base}", "batch_poll_s": 0.001, **of_model}
        return Settings(models={self.model: msgspec.convert(table, ModelSettings)}, root=str(root))

    def toml(self) -> str:
        """Return the table of ragstone.toml that names this server."""
        return (
            f'[models."{self.model}"]\nbase_url = "{self.address}{self.base}"\nbatch_poll_s = 0.001\n'
            "price_usd_per_million = { input = 1, output = 2 }\nbatch_discount = 0.5\n"
        )

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request; what is wrong with it is noted and refused."""
        try:
            return await self.route(request, request.method, request.path)
        except (AssertionError, KeyError, msgspec.DecodeError) as mistake:
            self.wrong.append(f"{request.method} {request.path}: {mistake!r}")
            return _json({"error": {"message": repr(mistake)}}, 400)

    async def route(self, request: web.BaseRequest, method: str, path: str) -> web.StreamResponse:
        """Answer a request."""
        raise NotImplementedError

    def start(self, calls: list[tuple[str, Body]], order: Body) -> MadeBatch | None:
        """Make a batch and answer its calls; None where the reply to its making is lost."""
        names = [name for name, _body in calls]
        assert calls, "a batch without calls"
        assert len(set(names)) == len(names), "two calls of one name"
        end = self.ends.pop(0) if self.ends else "completed"
        batch = MadeBatch(f"{self.id_start}{len(self.made) + 1}", calls, end, order)
        self.made.append(batch)
        n_unfinished = 0 if end == "completed" else self.n_unfinished
        for place, (name, body) in enumerate(calls):
            unfinished = place >= len(calls) - n_unfinished
            if end != "failed":
                batch.results.append(self.line(name, body, None if unfinished else self.say(body), end))
        batch.results.reverse()  # the order is not that of the calls
        if end == "completed" and self.n_missing:
            del batch.results[: self.n_missing]
            self.n_missing = 0
        if self.twice:
            batch.results += batch.results
        if self.lose_replies:
            self.lose_replies -= 1
            return None
        return batch

    id_start: ClassVar[str] = "batch_"

    def say(self, body: Body) -> Said:
        """Return what the script says to a call."""
        said = self.script(body)
        return Said(text=said) if isinstance(said, str) else said

    def line(self, name: str, body: Body, said: Said | None, end: str) -> Body:
        """Return the line of a result. said: None for a call that was never made."""
        raise NotImplementedError

    def look(self, batch_id: str) -> MadeBatch | None:
        """Return a batch that is looked at, None for one that is not there."""
        batch = next((each for each in self.made if each.id == batch_id), None)
        if batch is not None:
            batch.n_looks += 1
        return batch

    def is_over(self, batch: MadeBatch) -> bool:
        """Return whether it has been looked at often enough."""
        return batch.n_looks >= self.takes_looks


class _ChatBatches(FakeBatchApi):
    """Those whose calls are chat completions."""

    jobs: ClassVar[str]

    async def route(self, request: web.BaseRequest, method: str, path: str) -> web.StreamResponse:
        beside = await self.files_beside(request, method, path)
        if beside is not None:
            return beside
        assert request.headers.get("Authorization") == f"Bearer {KEY}", "the key"
        below = path.removeprefix(self.base)
        if (method, below) == ("POST", "/chat/completions"):
            self.n_single += 1
            body = await request.json()
            status, content = _chat(body, self.say(body))
            return web.Response(body=content, status=status, content_type="application/json")
        if (method, below) == ("POST", self.jobs):
            order = await request.json()
            made = self.start(self.read(order), order)
            return _json(self.shown(made)) if made else _json({"error": {"message": "lost"}}, 500)
        if (method, below) == ("GET", self.jobs):
            return _json({"object": "list", "data": [self.shown(each) for each in reversed(self.made)]})
        assert below.startswith(f"{self.jobs}/"), "no such path"
        # What stands between slashes is one name: an id with a slash in it comes encoded.
        name = request.raw_path.partition("?")[0].rpartition("/")[2].replace("%2F", "/")
        batch = self.look(name)
        return _json(self.shown(batch)) if batch else _json({"error": {"message": "no such batch"}}, 404)

    async def files_beside(
        self, request: web.BaseRequest, method: str, path: str
    ) -> web.StreamResponse | None:
        """Answer a request for files; None for another."""
        below = path.removeprefix(self.base)
        if not below.startswith("/files"):
            return None
        assert request.headers.get("Authorization") == f"Bearer {KEY}", "the key"
        if method == "POST":
            form = await request.clone(client_max_size=MOST_BYTES).post()
            file = form["file"]
            assert form["purpose"] == "batch"
            assert isinstance(file, web.FileField)
            with file.file:
                return _json({"id": self.keep(file.file.read()), "object": "file"})
        name = below.removeprefix("/files/").removesuffix("/content")
        return web.Response(body=self.files[name])

    def keep(self, content: bytes) -> str:
        """Keep a file; return its id."""
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return name

    def read(self, order: Body) -> list[tuple[str, Body]]:
        """Return the calls of the file that an order names."""
        raise NotImplementedError

    def lines(self, file: str) -> list[Body]:
        """Return the calls of a file, as they are in it."""
        return [msgspec.json.decode(line) for line in self.files[file].splitlines()]

    def shown(self, batch: MadeBatch) -> Body:
        """Return a batch as it is shown."""
        raise NotImplementedError

    def line(self, name: str, body: Body, said: Said | None, end: str) -> Body:
        if said is None:
            error = {"code": f"batch_{end}", "message": "not executed before the batch was over"}
            return {"custom_id": name, "response": None, "error": error}
        status, content = _chat(body, said)
        reply = {"status_code": status, "request_id": "r", "body": msgspec.Raw(content)}
        return {"id": "batch_req", "custom_id": name, "response": reply, "error": None}

    def result_file(self, batch: MadeBatch) -> str:
        """Return the id of the file of its results."""
        name = f"files/of-{batch.id.replace('/', '-')}"
        self.files[name] = b"\n".join(map(msgspec.json.encode, batch.results)) + b"\n"
        return name


class OpenAIBatches(_ChatBatches):
    """https://platform.openai.com/docs/api-reference/batch, and the package openai 3.57.0."""

    model, base, jobs = "openai/fake", "/v1", "/batches"

    def read(self, order: Body) -> list[tuple[str, Body]]:
        assert order["completion_window"] == "24h"
        calls = self.lines(order["input_file_id"])
        assert {(call["method"], call["url"]) for call in calls} == {("POST", "/v1/chat/completions")}
        assert order["endpoint"] == "/v1/chat/completions"
        return [(call["custom_id"], call["body"]) for call in calls]

    def shown(self, batch: MadeBatch) -> Body:
        over = self.is_over(batch)
        n = len(batch.calls) if over else 0
        counts = {"total": len(batch.calls), "completed": n, "failed": 0}
        shown = {"id": batch.id, "status": "in_progress", "input_file_id": batch.order["input_file_id"]}
        shown |= {"request_counts": counts, "metadata": batch.order.get("metadata")}
        if not over:
            return shown
        if batch.end == "failed":
            error = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached", "line": None}
            counts |= {"completed": 0, "failed": n}
            return shown | {"status": "failed", "errors": {"object": "list", "data": [error]}}
        return shown | {"status": batch.end, "output_file_id": self.result_file(batch)}


class GeminiBatches(OpenAIBatches):
    """The OpenAI protocol for batches; files by google-genai 3.6.1 (files.py, _api_client.py).

    Google's own endpoints take the key in `x-goog-api-key`, and a bearer for a token of another kind. An
    order has three fields. Ids are names with a slash, the harder of both cases.
    """

    model, base, id_start = "gemini/gemini-fake", "/v1beta/openai", "batches/"

    async def files_beside(
        self, request: web.BaseRequest, method: str, path: str
    ) -> web.StreamResponse | None:
        if not path.startswith(("/upload/", "/download/")):
            assert not path.startswith(f"{self.base}/files"), "the OpenAI protocol has no files at Gemini"
            return None
        assert "Authorization" not in request.headers, "a bearer is no key here"
        assert request.headers["x-goog-api-key"] == KEY
        if method == "GET":
            name = path.removeprefix("/download/v1beta/").removesuffix(":download")
            assert request.query["alt"] == "media"
            return web.Response(body=self.files[name])
        command = request.headers["X-Goog-Upload-Command"]
        if command == "start":
            assert request.headers["X-Goog-Upload-Protocol"] == "resumable"
            assert path == "/upload/v1beta/files"
            n_bytes = request.headers["X-Goog-Upload-Header-Content-Length"]
            address = f"{self.address}/upload/v1beta/files?upload_id={n_bytes}&upload_protocol=resumable"
            return web.Response(headers={"X-Goog-Upload-URL": address})
        assert (command, request.headers["X-Goog-Upload-Offset"]) == ("upload, finalize", "0")
        content = await request.clone(client_max_size=MOST_BYTES).read()
        assert len(content) == int(request.query["upload_id"]), "not as long as was said"
        return _json({"file": {"name": self.keep(content), "mimeType": "application/jsonl"}})

    def keep(self, content: bytes) -> str:
        name = f"files/{super().keep(content)}"
        self.files[name] = content
        return name

    def read(self, order: Body) -> list[tuple[str, Body]]:
        assert set(order) == {"input_file_id", "endpoint", "completion_window"}
        return super().read(order)


class MistralBatches(_ChatBatches):
    """The package mistralai 3.7.0: client/jobs.py, client/models/batchjob*.py, extra/batch/client.py."""

    model, base, jobs = "mistral/mistral-fake", "/v1", "/batch/jobs"
    words: ClassVar = {
        "completed": "SUCCESS",
        "failed": "FAILED",
        "expired": "TIMEOUT_EXCEEDED",
        "cancelled": "CANCELLED",
    }

    def read(self, order: Body) -> list[tuple[str, Body]]:
        assert (order["endpoint"], order["model"]) == ("/v1/chat/completions", "mistral-fake")
        (file,) = order["input_files"]
        calls = self.lines(file)
        assert all(set(call) == {"custom_id", "body"} for call in calls)
        return [(call["custom_id"], call["body"]) for call in calls]

    def line(self, name: str, body: Body, said: Said | None, end: str) -> Body:
        shown = super().line(name, body, said, end)
        if said is not None and said.status != 200:  # the reason is a text beside a reply without a body
            shown["response"]["body"] = None
            shown["error"] = msgspec.json.decode(said.raw or b"{}")["error"]["message"]
        elif said is None:
            shown = {}
        return shown

    def shown(self, batch: MadeBatch) -> Body:
        batch.results = [line for line in batch.results if line]
        over, n = self.is_over(batch), len(batch.results)
        shown = {"id": batch.id, "object": "batch", "input_files": batch.order["input_files"], "errors": []}
        shown |= {"metadata": batch.order["metadata"], "status": "RUNNING", "created_at": 0}
        shown |= {"total_requests": len(batch.calls), "completed_requests": n if over else 0}
        shown |= {"succeeded_requests": n if over else 0, "failed_requests": 0}
        if not over:
            return shown | {"output_file": None, "error_file": None}
        errors = [{"message": "the file cannot be used", "count": 2}] if batch.end == "failed" else []
        return shown | {
            "status": self.words.get(batch.end, batch.end),
            "errors": errors,
            "output_file": self.result_file(batch) if batch.results else None,
        }


class AnthropicBatches(FakeBatchApi):
    """The package anthropic 2.14.0: resources/messages/batches.py, types/messages/message_batch*.py."""

    model, base, id_start = "anthropic/claude-fake", "", "msgbatch_"
    path: ClassVar = "/v1/messages/batches"

    async def route(self, request: web.BaseRequest, method: str, path: str) -> web.StreamResponse:
        assert request.headers["x-api-key"] == KEY
        assert request.headers["anthropic-version"] == "2023-06-01"
        if (method, path) == ("POST", "/v1/messages"):
            self.n_single += 1
            body = await request.json()
            return self._single(self.say(body), body)
        if (method, path) == ("POST", self.path):
            body = await request.clone(client_max_size=MOST_BYTES).json()
            assert int(request.headers["Content-Length"]) > 0
            assert set(body) == {"requests"}
            calls = [(each["custom_id"], each["params"]) for each in body["requests"]]
            assert all(0 < len(name) <= 64 for name, _params in calls)
            made = self.start(calls, {})
            return _json(self.shown(made)) if made else _json(_claude_error("api_error", "lost"), 500)
        if (method, path) == ("GET", self.path):
            assert 1 <= int(request.query["limit"]) <= 1_000
            return _json({"data": [self.shown(each) for each in reversed(self.made)], "has_more": False})
        name, _, what = path.removeprefix(f"{self.path}/").partition("/")
        batch = self.look(name) if not what else next(each for each in self.made if each.id == name)
        if batch is None:
            return _json(_claude_error("not_found_error", "no such batch"), 404)
        if what == "results":
            assert self.is_over(batch), "results before the end"
            return web.Response(body=b"\n".join(map(msgspec.json.encode, batch.results)) + b"\n")
        return _json(self.shown(batch))

    def say(self, body: Body) -> Said:
        """Return what the script says, which knows requests as OpenAI has them."""
        system = [{"role": "system", "content": part["text"]} for part in body.get("system", [])]
        chat: Body = {**body, "messages": [*system, *body["messages"]]}
        if body.get("tools"):
            tool = body["tools"][0]
            function = {"name": tool["name"], "parameters": tool["input_schema"]}
            chat["tools"] = [{"type": "function", "function": function}]
        return super().say(chat)

    def _single(self, said: Said, body: Body) -> web.StreamResponse:
        if said.status != 200:
            words = msgspec.json.decode(said.raw or b"{}")["error"]["message"]
            return _json(_claude_error("api_error", words), said.status)
        return _json(_message(body, said))

    def line(self, name: str, body: Body, said: Said | None, end: str) -> Body:
        if said is None:
            return {"custom_id": name, "result": {"type": {"cancelled": "canceled"}.get(end, end)}}
        if said.status != 200:
            kind = "invalid_request_error" if said.status == 400 else "api_error"
            words = msgspec.json.decode(said.raw or b"{}")["error"]["message"]
            return {"custom_id": name, "result": {"type": "errored", "error": _claude_error(kind, words)}}
        return {"custom_id": name, "result": {"type": "succeeded", "message": _message(body, said)}}

    def shown(self, batch: MadeBatch) -> Body:
        """Return a batch as it is shown: counts of what is over are 0 until all of it is."""
        over = self.is_over(batch)
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        if not over:
            counts["processing"] = len(batch.calls)
        else:
            for line in {each["custom_id"]: each for each in batch.results}.values():
                counts[line["result"]["type"]] += 1
            counts["succeeded"] += len(batch.calls) - sum(counts.values())
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if over else "in_progress",
            "request_counts": counts,
            "created_at": batch.created,
            "results_url": f"https://elsewhere.example/{batch.id}/results" if over else None,
        }


def _message(body: Body, said: Said) -> Body:
    block: Body = {"type": "text", "text": said.text}
    stop = "end_turn"
    if said.refusal is not None:
        block, stop = {"type": "text", "text": said.refusal}, "refusal"
    elif body.get("tools"):
        arguments: Any = said.text
        with contextlib.suppress(msgspec.DecodeError):
            arguments = msgspec.json.decode(said.text)
        if isinstance(arguments, dict):
            block = {"type": "tool_use", "id": "t", "name": body["tools"][0]["name"], "input": arguments}
            stop = "tool_use"
    n_bytes = len(msgspec.json.encode(body))
    usage = {"input_tokens": n_bytes // 4, "output_tokens": len(said.text) // 4 + 1}
    return {"id": "msg", "type": "message", "content": [block], "stop_reason": stop, "usage": usage}


def _claude_error(kind: str, words: str) -> Body:
    return {"type": "error", "error": {"type": kind, "message": words}, "request_id": None}


def _chat(body: Body, said: Said) -> tuple[int, bytes]:
    if said.raw is not None:
        return said.status, said.raw
    message: Body = {"role": "assistant", "content": said.text}
    if said.refusal is not None:
        message |= {"content": None, "refusal": said.refusal}
    usage = {"prompt_tokens": len(msgspec.json.encode(body)) // 4, "completion_tokens": 5}
    choice = {"index": 0, "message": message, "finish_reason": said.finish_reason}
    return 200, msgspec.json.encode({"id": "c", "choices": [choice], "usage": usage})


def _json(body: object, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(body), status=status, content_type="application/json")


APIS = (OpenAIBatches, AnthropicBatches, MistralBatches, GeminiBatches)
REFUSED = fail(400, "text too long")


@contextlib.contextmanager
def serving_batches(kind: type[FakeBatchApi]) -> Iterator[FakeBatchApi]:
    """Give a server; at the end nothing of what it was sent may have been against its protocol."""
    fake = kind()
    with in_thread(fake.respond) as fake.address:
        yield fake
    assert not fake.wrong
