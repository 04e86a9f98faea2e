"""The files and batches endpoints of the fake server (fake_openai.py); its script answers the calls.

fake_openai.batches.takes_looks = 3          # in progress until it has been looked at so often
fake_openai.batches.end = "expired"          # completed, failed, expired or cancelled
fake_openai.batches.n_unfinished = 2         # so many calls, the last ones, are without a reply then
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from aiohttp import web
from tests.support.scripts import Body, Said, fail

MOST_BYTES = 200_000_000

Answer = Callable[[Body, bytes], tuple[int, bytes]]


@dataclass
class Made:
    """A batch that was created."""

    id: str
    calls: list[Body]
    order: Body
    end: str
    n_looks: int = 0
    files: dict[str, str] = field(default_factory=dict)

    @property
    def keys(self) -> list[str]:
        """The names of its calls."""
        return [call["custom_id"] for call in self.calls]


class FakeBatches:
    """The state of both endpoints; attributes may be set at any time.

    offered: whether there is a batch API at all. ends: how the next batches end, those after them are
    completed. takes_looks: how often one is looked at before that; held: however often. n_unfinished: how
    many calls are left without a reply, unless it is completed. lose_replies: how many batches are created
    with HTTP 500 as the reply. broken_looks: how many looks get HTTP 500.
    """

    def __init__(self) -> None:
        self.offered = True
        self.held = False
        self.ends: list[str] = []
        self.takes_looks = 1
        self.n_unfinished = self.lose_replies = self.broken_looks = 0
        self.made: list[Made] = []
        self.uploads: list[bytes] = []
        self.n_looks = self.n_requests = 0
        self._files: dict[str, bytes] = {}

    @property
    def n_calls(self) -> int:
        """How many calls all batches hold."""
        return sum(len(batch.calls) for batch in self.made)

    async def respond(self, request: web.BaseRequest, answer: Answer) -> web.StreamResponse:
        """Answer a request to either endpoint. answer: a call's body -> HTTP status and body of its reply."""
        self.n_requests += 1
        method, path = request.method, request.path.partition("/v1")[2]
        if not self.offered:
            return _response(fail(404, f"Invalid URL ({method} {path})"))
        if (method, path) == ("POST", "/files"):
            return await self._upload(request)
        if (method, path) == ("POST", "/batches"):
            return self._create(await request.json(), answer)
        if path == "/batches":
            return web.json_response({"data": [self._shown(batch) for batch in reversed(self.made)]})
        if path.startswith("/batches/"):
            return self._look(path.removeprefix("/batches/"))
        content = self._files.get(path.removeprefix("/files/").removesuffix("/content"))
        return _response(fail(404, "No such File object")) if content is None else web.Response(body=content)

    async def _upload(self, request: web.BaseRequest) -> web.StreamResponse:
        form = await request.clone(client_max_size=MOST_BYTES).post()
        assert form["purpose"] == "batch"
        file = form["file"]
        assert isinstance(file, web.FileField)
        with file.file:
            self.uploads.append(file.file.read())
        name = f"file-{len(self.uploads)}"
        self._files[name] = self.uploads[-1]
        return web.json_response({"id": name, "object": "file", "purpose": "batch"})

    def _create(self, order: Body, answer: Answer) -> web.StreamResponse:
        calls = [msgspec.json.decode(line) for line in self._files[order["input_file_id"]].splitlines()]
        assert order["completion_window"] == "24h"
        assert {(call["method"], call["url"]) for call in calls} == {("POST", "/v1/chat/completions")}
        assert len({call["custom_id"] for call in calls}) == len(calls)
        batch = Made(
            f"batch_{len(self.made) + 1}", calls, order, self.ends.pop(0) if self.ends else "completed"
        )
        self.made.append(batch)
        if batch.end != "failed":
            self._answer(batch, answer)
        if self.lose_replies:
            self.lose_replies -= 1
            return _response(fail(500, "The server had an error"))
        return web.json_response(self._shown(batch))

    def _answer(self, batch: Made, answer: Answer) -> None:
        n_unfinished = 0 if batch.end == "completed" else self.n_unfinished
        good: list[Body] = []
        bad: list[Body] = []
        for place, call in enumerate(batch.calls):
            line: dict[str, Any] = {"id": f"batch_req_{place}", "custom_id": call["custom_id"]}
            if place >= len(batch.calls) - n_unfinished:
                error = {"code": f"batch_{batch.end}", "message": "not executed before the batch was over"}
                bad.append(line | {"response": None, "error": error})
                continue
            status, body = answer(call["body"], msgspec.json.encode(call["body"]))
            said = {"status_code": status, "request_id": f"r{place}", "body": msgspec.Raw(body)}
            (good if status == 200 else bad).append(line | {"response": said, "error": None})
        for kind, lines in (("output_file_id", good[::-1]), ("error_file_id", bad)):  # the order is not ours
            if lines:
                name = f"file-{batch.id}-{kind}"
                self._files[name] = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
                batch.files[kind] = name

    def _look(self, name: str) -> web.StreamResponse:
        self.n_looks += 1
        if self.broken_looks:
            self.broken_looks -= 1
            return _response(fail(500, "The server had an error"))
        found = [batch for batch in self.made if batch.id == name]
        if not found:
            return _response(fail(404, f"No batch found with id '{name}'."))
        found[0].n_looks += 1
        return web.json_response(self._shown(found[0]))

    def _shown(self, batch: Made) -> dict[str, Any]:
        over = batch.n_looks >= self.takes_looks and not self.held
        n_failed = len(batch.calls) if batch.end == "failed" else 0
        shown: dict[str, Any] = {
            "id": batch.id,
            "object": "batch",
            "status": batch.end if over else "in_progress" if batch.n_looks else "validating",
            "metadata": batch.order.get("metadata"),
            "request_counts": {
                "total": len(batch.calls),
                "completed": len(batch.calls) - n_failed if over else 0,
                "failed": n_failed if over else 0,
            },
        }
        if over and batch.end == "failed":
            mistake = {
                "code": "token_limit_exceeded",
                "message": "Enqueued token limit reached",
                "line": None,
            }
            shown["errors"] = {"object": "list", "data": [mistake]}
        return shown | (batch.files if over else {})


def _response(said: Said) -> web.Response:
    return web.Response(body=said.raw, status=said.status, content_type="application/json")


def calls_in(upload: bytes) -> list[Body]:
    """Return the bodies of the calls in an uploaded file."""
    return [json.loads(line)["body"] for line in upload.splitlines()]
