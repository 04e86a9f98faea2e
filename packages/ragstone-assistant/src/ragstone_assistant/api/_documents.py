"""The documents: searched, answered from, listed, added, removed, built anew. What takes long is a job."""

import asyncio
import pickle
import tempfile
from typing import IO

import msgspec
from litestar import delete, get, post
from litestar.datastructures import UploadFile
from litestar.params import FromPath, JSONBody, MultipartBody

from ragstone.kernel.records import Turn
from ragstone.kernel.serve.requests import AnyRequest, RefusedRequest
from ragstone_assistant.api._bodies import (
    Answered,
    AnswerRequest,
    PassageBody,
    Retrieved,
    RetrieveRequest,
    cited,
    found,
)
from ragstone_assistant.api._chat import check_question
from ragstone_assistant.api._history import new_id
from ragstone_assistant.api._jobs import Job
from ragstone_assistant.api._problems import fails
from ragstone_assistant.api._replying import PendingExchange, reply, unless_gone
from ragstone_assistant.api.state import WithState, owner_of, path_tail
from ragstone_assistant.conversation import Asked, Said, silent
from ragstone_assistant.knowledge.entry import Advance, BadUpload, Entry
from ragstone_assistant.knowledge.uploads import Upload

DOCUMENTS = b"/v1/documents/"


class DocumentList(msgspec.Struct, frozen=True, kw_only=True):
    """version: changes with every change of the documents."""

    version: str
    documents: list[Entry]


class Form(msgspec.Struct, frozen=True):
    """A form with one file."""

    file: UploadFile


@get("/v1/documents", summary="The documents", responses=fails(503), tags=["documents"])
async def list_documents(request: AnyRequest, app_state: WithState) -> DocumentList:
    """List the documents that answers are made from."""
    app_state.check_admin(request)
    knowledge = app_state.assistant.knowledge
    entries = await asyncio.to_thread(knowledge.documents)
    return DocumentList(version=await asyncio.to_thread(lambda: knowledge.version), documents=entries)


@post(
    "/v1/documents",
    status_code=202,
    summary="Add a document, or a new version of one",
    description="The form field `file` holds it. Its name decides how it is read.",
    responses=fails(400, 413, 422),
    tags=["documents"],
)
async def add_document(
    request: AnyRequest,
    data: MultipartBody[Form],
    app_state: WithState,
) -> Job:
    """Take a file, read it, and add what it gives in a job."""
    app_state.check_admin(request)
    knowledge = app_state.assistant.knowledge
    async with app_state.checking:
        app_state.jobs.check_room()
        try:
            upload = await knowledge.check(data.file.filename, await data.file.read())
        except BadUpload as bad:
            raise RefusedRequest(413 if bad.wrong == "too_large" else 422, str(bad)) from None
        waiting = await asyncio.to_thread(_set_aside, upload)

        async def work(advance: Advance) -> list[str]:
            await knowledge.add(await asyncio.to_thread(_taken_up, waiting), advance)
            return []

        return app_state.jobs.start(f"add {upload.name}", work, waiting.close)


def _set_aside(upload: Upload) -> IO[bytes]:
    """Return a file with an upload that waits for its turn. It has no name: a kill leaves nothing of it."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the job
    pickle.dump(upload, file, protocol=5)
    return file


def _taken_up(file: IO[bytes]) -> Upload:
    file.seek(0)
    upload: Upload = pickle.load(file)  # noqa: S301 - nobody but us has it
    return upload


@delete(
    "/v1/documents/{document_id:path}",
    status_code=202,
    summary="Remove a document",
    responses=fails(400, 404),
    tags=["documents"],
)
async def remove_document(
    request: AnyRequest,
    document_id: FromPath[str],  # noqa: ARG001 - it may hold slashes, see path_tail
    app_state: WithState,
) -> Job:
    """Remove a document in a job."""
    app_state.check_admin(request)
    knowledge = app_state.assistant.knowledge
    named = path_tail(request, DOCUMENTS)
    entries = await asyncio.to_thread(knowledge.documents)
    if named not in {entry.id for entry in entries}:
        raise RefusedRequest(404, "there is no such document")

    async def work(_advance: Advance) -> list[str]:
        return [] if await knowledge.remove(named) else ["it was gone already"]

    return app_state.jobs.start(f"remove {named}", work)


@post(
    "/v1/documents/rebuild",
    status_code=202,
    summary="Rebuild the knowledge base",
    responses=fails(),
    tags=["documents"],
)
async def rebuild(request: AnyRequest, app_state: WithState) -> Job:
    """Read, cut and embed all documents anew, in a job."""
    app_state.check_admin(request)

    async def work(advance: Advance) -> list[str]:
        built = await app_state.assistant.knowledge.rebuild(advance)
        return [f"{skipped.path}: {skipped.reason}" for skipped in built.skipped]

    return app_state.jobs.start("rebuild", work)


@get("/v1/jobs/{job_id:str}", summary="Progress of a job", responses=fails(400, 404), tags=["documents"])
async def read_job(request: AnyRequest, job_id: FromPath[str], app_state: WithState) -> Job:
    """Give the state of a job; a restart forgets them."""
    app_state.check_admin(request)
    return _job(app_state.jobs.get(job_id))


@post(
    "/v1/jobs/{job_id:str}/stop",
    status_code=200,
    summary="Stop a job",
    responses=fails(400, 404),
    tags=["documents"],
)
async def stop_job(request: AnyRequest, job_id: FromPath[str], app_state: WithState) -> Job:
    """Stop a job that waits or runs. Files that it has finished stay; of the one at hand nothing is kept."""
    app_state.check_admin(request)
    return _job(await app_state.jobs.stop(job_id))


def _job(job: Job | None) -> Job:
    if job is None:
        raise RefusedRequest(404, "there is no such job")
    return job


PASSAGES = b"/v1/passages/"


@post(
    "/v1/retrieve",
    status_code=200,
    summary="The passages for a question",
    responses=fails(400, 413, 422, 503),
    tags=["retrieval"],
)
async def retrieve(data: JSONBody[RetrieveRequest], app_state: WithState) -> Retrieved:
    """Find passages, best first, and ask no model for words."""
    check_question(data.question, app_state)
    k = data.k or app_state.k
    return Retrieved(found(await app_state.assistant.knowledge.search(data.question, k, data.filters or {})))


@post(
    "/v1/answers",
    status_code=200,
    summary="An answer from the documents, without the agent",
    responses=fails(400, 413, 422),
    tags=["retrieval"],
)
async def answer(request: AnyRequest, data: JSONBody[AnswerRequest], app_state: WithState) -> Answered:
    """Answer one question from the documents; the exchange is in the log like those of the agent."""
    check_question(data.question, app_state)
    filters = dict(data.filters or {})
    exchange = PendingExchange(
        id=new_id("x"),
        asked=Asked(turns=(Turn("user", data.question),), filters=filters, lang=data.lang),
        owner=owner_of(request),
        received=app_state.clocks.now(),
    )

    async def respond() -> Said:
        return await app_state.assistant.answer(data.question, filters, data.lang, silent)

    outcome = await unless_gone(request, reply(app_state, exchange, respond))
    if outcome is None:
        raise RefusedRequest(400, "nobody waits for this answer")
    return Answered(
        exchange_id=exchange.id,
        answer=outcome.text,
        kind=outcome.kind,
        lang=outcome.lang,
        citations=cited(outcome.citations),
        contexts=found(outcome.passages),
        latency_s=outcome.latency_s,
        usage=outcome.usage,
        cost_usd=outcome.cost_usd,
        error=outcome.error,
    )


@get(
    "/v1/passages/{chunk_id:path}",
    summary="A passage with the text around it",
    responses=fails(400, 404, 503),
    tags=["retrieval"],
)
async def passage(request: AnyRequest, chunk_id: FromPath[str], app_state: WithState) -> PassageBody:  # noqa: ARG001
    """Give a passage that a reply cites."""
    placed = await app_state.assistant.knowledge.passage(path_tail(request, PASSAGES))
    if placed is None:
        raise RefusedRequest(404, "there is no such passage; the documents may have changed")
    found = placed.passage
    return PassageBody(
        document_id=found.document_id,
        title=found.title,
        page=found.page,
        source=found.source,
        text=found.text,
        before=placed.before,
        after=placed.after,
    )
