"""Batch APIs that take a file of calls and give files of results: OpenAI's, Mistral's and Gemini's.

Mistral names its jobs otherwise: written to the package mistralai 3.7.0 (client/jobs.py, extra/batch). Gemini
takes the OpenAI protocol for batches, but not for files, which go through its own Files API: written to
google-genai 3.6.1 (files.py, _api_client.py) and https://developers.googleblog.com/gemini-batch-api-now-
supports-embeddings-and-openai-compatibility. Its batches carry no name of ours, so they are found again by
the file that they were made of.
"""

import contextlib
import functools
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import aiohttp
import msgspec

from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm._batch_api import (
    Batch,
    BatchEntry,
    BatchProtocol,
    BatchResult,
    ask_batches,
    check_reply,
    lines_of,
    patiently,
    send,
)
from ragstone.kernel.llm._site import Site, exchange
from ragstone.kernel.llm.transport import Wire

ENDPOINT = "/v1/chat/completions"
LISTED = 100
MISTRAL_STATUS = {
    **dict.fromkeys(("QUEUED", "RUNNING", "CANCELLATION_REQUESTED"), "in_progress"),
    "SUCCESS": "completed",
    "FAILED": "failed",
    "TIMEOUT_EXCEEDED": "expired",
    "CANCELLED": "cancelled",
}


class _Mistake(msgspec.Struct, frozen=True):
    code: str | None = None
    message: str | None = None


class _Mistakes(msgspec.Struct, frozen=True):
    data: list[_Mistake] | None = None


class _Counts(msgspec.Struct, frozen=True):
    completed: int = 0
    failed: int = 0


class _OpenAIJob(msgspec.Struct, frozen=True):
    id: str
    status: str
    input_file_id: str = ""
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: _Mistakes | None = None
    request_counts: _Counts | None = None
    metadata: dict[str, Any] | None = None

    @property
    def input_files(self) -> list[str]:
        """The ids of the files that it was made of."""
        return [self.input_file_id]

    def batch(self) -> Batch:
        """Return it as a batch."""
        counts = self.request_counts or _Counts()
        errors = (self.errors.data or []) if self.errors else []
        return Batch(
            id=self.id,
            status=self.status,
            n_done=counts.completed + counts.failed,
            n_answered=counts.completed,
            words="; ".join(f"{error.message} ({error.code})" for error in errors[:3]),
            files=tuple(filter(None, (self.output_file_id, self.error_file_id))),
        )


class _MistralJob(msgspec.Struct, frozen=True):
    id: str
    status: str
    input_files: list[str] = []
    output_file: str | None = None
    error_file: str | None = None
    errors: list[_Mistake] = []
    completed_requests: int = 0
    succeeded_requests: int = 0
    metadata: dict[str, Any] | None = None

    def batch(self) -> Batch:
        """Return it as a batch; a status that is not known ends it, as in Mistral's own package."""
        status = MISTRAL_STATUS.get(self.status, "failed")
        words = [error.message for error in self.errors[:3] if error.message]
        return Batch(
            id=self.id,
            status=status,
            n_done=self.completed_requests,
            n_answered=self.succeeded_requests,
            words="; ".join(words)
            or ("" if self.status in MISTRAL_STATUS else f"its status is {self.status}"),
            files=tuple(filter(None, (self.output_file, self.error_file))),
        )


class _Jobs(msgspec.Struct, frozen=True):
    data: list[_OpenAIJob]


class _MistralJobs(msgspec.Struct, frozen=True):
    data: list[_MistralJob] | None = None  # left out where there is none


class _File(msgspec.Struct, frozen=True):
    id: str


class _Reply(msgspec.Struct, frozen=True):
    status_code: int = 0
    body: msgspec.Raw = msgspec.Raw(b"null")


class _Line(msgspec.Struct, frozen=True):
    custom_id: str
    response: _Reply | None = None
    error: _Mistake | str | None = None  # Mistral gives it as a text

    def result(self) -> BatchResult:
        """Return it as a result; a line with an error has no reply to be read."""
        error = _Mistake(message=self.error) if isinstance(self.error, str) else self.error
        reply = self.response or _Reply()
        code, message = (error and error.code) or "no response", (error and error.message) or ""
        status, body = reply.status_code, bytes(reply.body)
        if error is not None and 200 <= status < 300:
            status = 0
        if error is not None and body == b"null":
            body = msgspec.json.encode({"error": {"message": message}})
        return BatchResult(custom_id=self.custom_id, status=status, body=body, code=code, message=message)


def _order(_wire: Wire, entry: BatchEntry, *, tagged: bool = True) -> dict[str, Any]:
    return {
        "input_file_id": entry.file,
        "endpoint": ENDPOINT,
        "completion_window": "24h",
        **({"metadata": {"ragstone": entry.tag}} if tagged else {}),
    }


def _mistral_order(wire: Wire, entry: BatchEntry) -> dict[str, Any]:
    return {
        "input_files": [entry.file],
        "endpoint": ENDPOINT,
        "model": wire.model,
        "timeout_hours": 24,
        "metadata": {"ragstone": entry.tag},
    }


async def _upload(wire: Wire, path: Path) -> str:
    form = aiohttp.FormData({"purpose": "batch"})
    with path.open("rb") as file:
        form.add_field("file", file, filename=path.name, content_type="application/jsonl")
        payload = form()
        headers = {"Content-Type": payload.headers["Content-Type"]}
        return (await ask_batches(wire, "POST", "/files", _File, data=payload, headers=headers)).id


async def _download(wire: Wire, file_id: str, *, beside: bool = False) -> bytes:
    """Return a file. beside: by Google's own endpoint, see _beside."""
    if beside:
        async with _beside(wire.site) as (site, version):
            status, content = await send(site, "GET", f"/download/{version}/{file_id}:download?alt=media")
    else:
        status, content = await send(wire.site, "GET", f"/files/{file_id}/content")
    return check_reply(wire, status, content, f"the file {file_id}")


class _UploadedFile(msgspec.Struct, frozen=True):
    name: str


class _Uploaded(msgspec.Struct, frozen=True):
    file: _UploadedFile


async def _gemini_upload(wire: Wire, path: Path) -> str:
    """Return the name of an uploaded file, `files/ID`: the start of an upload tells where the bytes go."""
    n_bytes = os.path.getsize(path)  # noqa: PTH202, ASYNC240 - no wait
    start = {
        "X-Goog-Upload-Protocol": "resumable",
        "X-Goog-Upload-Command": "start",
        "X-Goog-Upload-Header-Content-Length": str(n_bytes),
        "X-Goog-Upload-Header-Content-Type": "application/jsonl",
    }
    named = msgspec.json.encode({"file": {"display_name": path.stem, "mimeType": "application/jsonl"}})
    async with _beside(wire.site) as (site, version):
        response, content = await exchange(
            site, "POST", f"/upload/{version}/files", data=named, headers=start
        )
        check_reply(wire, response.status, content, "the upload of files")
        address = response.headers.get("X-Goog-Upload-URL", "")
        if not address.startswith(f"{site.base_url}/"):  # the key goes nowhere else
            raise ModelError(f"{wire.name}: the reply to an upload does not say where the file goes.")
        finish = {
            "X-Goog-Upload-Offset": "0",
            "X-Goog-Upload-Command": "upload, finalize",
            "Content-Type": "application/jsonl",
        }
        with path.open("rb") as file:
            status, content = await send(
                site, "POST", address.removeprefix(site.base_url), data=file, headers=finish
            )
    content = check_reply(wire, status, content, "the upload of files")
    try:
        return msgspec.json.decode(content, type=_Uploaded).file.name
    except (msgspec.DecodeError, UnicodeDecodeError) as mistake:
        raise ModelError(f"{wire.name}: the reply to an upload cannot be read ({mistake}).") from None


@contextlib.asynccontextmanager
async def _beside(site: Site) -> AsyncIterator[tuple[Site, str]]:
    """Give Google's own endpoints beside the OpenAI protocol's, and the version of its API.

    They take the key in a header of its own, and a bearer of it for something else.
    """
    own = site.base_url.removesuffix("/openai")
    root, _, version = own.rpartition("/")
    headers = dict(site.session.headers)
    bearer = next((name for name in headers if name.casefold() == "authorization"), None)
    if bearer is not None:
        headers["x-goog-api-key"] = headers.pop(bearer).removeprefix("Bearer ")
    async with aiohttp.ClientSession(headers=headers, trust_env=site.session.trust_env) as session:
        yield site.at(root, session), version


async def _create(
    wire: Wire, entry: BatchEntry, _path: Path, *, jobs: str, order: Callable[..., Any], job: type[Any]
) -> str:
    body = msgspec.json.encode(order(wire, entry))
    return str((await ask_batches(wire, "POST", jobs, job, data=body)).id)


async def _find(wire: Wire, entry: BatchEntry, *, jobs: str, listed: type[Any]) -> list[str]:
    shown = await ask_batches(wire, "GET", jobs, listed)
    return [
        job.id
        for job in shown.data or []
        if (job.metadata or {}).get("ragstone") == entry.tag or (entry.file and entry.file in job.input_files)
    ][:1]


async def _look(wire: Wire, batch_id: str, *, jobs: str, job: type[Any]) -> Batch:
    path = f"{jobs}/{quote(batch_id, safe='')}"
    shown: _OpenAIJob | _MistralJob = await ask_batches(wire, "GET", path, job, f"batch {batch_id}")
    return shown.batch()


async def _results(
    wire: Wire, batch: Batch, *, download: Callable[..., Any]
) -> AsyncIterator[Iterator[BatchResult]]:
    for file_id in batch.files:
        content = await patiently(wire, functools.partial(download, wire, file_id))
        yield (line.result() for line in lines_of(content, _Line))


OPENAI = BatchProtocol(
    line=lambda _tag, key, body: (
        msgspec.json.encode({"custom_id": key, "method": "POST", "url": ENDPOINT, "body": msgspec.Raw(body)})
        + b"\n"
    ),
    upload=_upload,
    create=functools.partial(_create, jobs="/batches", order=_order, job=_OpenAIJob),
    find=functools.partial(_find, jobs=f"/batches?limit={LISTED}", listed=_Jobs),
    look=functools.partial(_look, jobs="/batches", job=_OpenAIJob),
    results=functools.partial(_results, download=_download),
)
FILE_PROTOCOLS: Mapping[Literal["openai", "mistral", "gemini"], BatchProtocol] = {
    "openai": OPENAI,
    "mistral": BatchProtocol(
        line=lambda _tag, key, body: (
            msgspec.json.encode({"custom_id": key, "body": msgspec.Raw(body)}) + b"\n"
        ),
        upload=_upload,
        create=functools.partial(_create, jobs="/batch/jobs", order=_mistral_order, job=_MistralJob),
        find=functools.partial(_find, jobs=f"/batch/jobs?page_size={LISTED}", listed=_MistralJobs),
        look=functools.partial(_look, jobs="/batch/jobs", job=_MistralJob),
        results=functools.partial(_results, download=_download),
    ),
    "gemini": msgspec.structs.replace(
        OPENAI,
        upload=_gemini_upload,
        create=functools.partial(
            _create, jobs="/batches", order=functools.partial(_order, tagged=False), job=_OpenAIJob
        ),
        results=functools.partial(_results, download=functools.partial(_download, beside=True)),
    ),
}
