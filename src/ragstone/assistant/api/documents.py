"""The documents: which there are, new ones, fewer, all anew. What takes long is a job."""

import asyncio
import tempfile
from pathlib import Path

import msgspec
from litestar import delete, get, post
from litestar.datastructures import UploadFile
from litestar.params import FromPath, MultipartBody

from ragstone.assistant.api.desk import AnyRequest, AtDesk, path_tail
from ragstone.assistant.api.jobs import Job
from ragstone.assistant.api.problems import Refused, fails
from ragstone.assistant.knowledge import Advance, BadUpload, Entry, KnowledgeBase

DOCUMENTS = b"/v1/documents/"
CHUNK = 1 << 20


class DocumentList(msgspec.Struct, frozen=True, kw_only=True):
    """version: changes with every change of the documents."""

    version: str
    documents: list[Entry]


class Upload(msgspec.Struct, frozen=True):
    """A form with one file."""

    file: UploadFile


@get("/v1/documents", summary="The documents", responses=fails(503), tags=["documents"])
async def list_documents(request: AnyRequest, desk: AtDesk) -> DocumentList:
    """List the documents that answers are made from."""
    desk.check_admin(request)
    knowledge = desk.assistant.knowledge
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
    data: MultipartBody[Upload],
    desk: AtDesk,
) -> Job:
    """Take a file, check that it is what its name says, and add it in a job."""
    desk.check_admin(request)
    stored = await _stored(data.file)
    try:
        async with desk.checking:
            name = await asyncio.to_thread(_checked, desk.assistant.knowledge, data.file.filename, stored)

        async def work(advance: Advance) -> list[str]:
            content = await asyncio.to_thread(stored.read_bytes)
            await desk.assistant.knowledge.add(name, content, advance)
            return []

        return desk.jobs.start(f"add {name}", work, lambda: stored.unlink(missing_ok=True))
    except BaseException:
        stored.unlink(missing_ok=True)
        raise


def _checked(knowledge: KnowledgeBase, filename: str, stored: Path) -> str:
    """Return the name that the file is kept under. Raises Refused for one that cannot be taken in."""
    try:
        return knowledge.check(filename, stored.read_bytes())
    except BadUpload as bad:
        raise Refused(413 if bad.wrong == "too_large" else 422, str(bad)) from None


async def _stored(upload: UploadFile) -> Path:
    """Return a file of ours with what was uploaded: the upload's own ends with the request."""
    with tempfile.NamedTemporaryFile(prefix="ragstone-upload-", delete=False) as file:
        while piece := await upload.read(CHUNK):
            await asyncio.to_thread(file.write, piece)
    return Path(file.name)


@delete(
    "/v1/documents/{document_id:path}",
    status_code=202,
    summary="Remove a document",
    responses=fails(400, 404),
    tags=["documents"],
)
async def remove_document(request: AnyRequest, document_id: FromPath[str], desk: AtDesk) -> Job:  # noqa: ARG001
    """Remove a document in a job."""
    desk.check_admin(request)
    knowledge = desk.assistant.knowledge
    named = path_tail(request, DOCUMENTS)
    entries = await asyncio.to_thread(knowledge.documents)
    if named not in {one.id for one in entries}:
        raise Refused(404, "there is no such document")

    async def work(_advance: Advance) -> list[str]:
        return [] if await knowledge.remove(named) else ["it was gone already"]

    return desk.jobs.start(f"remove {named}", work)


@post(
    "/v1/documents/rebuild",
    status_code=202,
    summary="Build the knowledge base anew",
    responses=fails(),
    tags=["documents"],
)
async def rebuild(request: AnyRequest, desk: AtDesk) -> Job:
    """Read, cut and embed all documents anew, in a job."""
    desk.check_admin(request)

    async def work(advance: Advance) -> list[str]:
        built = await desk.assistant.knowledge.rebuild(advance)
        return [f"{one.path}: {one.reason}" for one in built.skipped]

    return desk.jobs.start("rebuild", work)


@get("/v1/jobs/{job_id:str}", summary="How far a job is", responses=fails(404), tags=["documents"])
async def read_job(request: AnyRequest, job_id: FromPath[str], desk: AtDesk) -> Job:
    """Give the state of a job; a restart forgets them."""
    desk.check_admin(request)
    job = desk.jobs.get(job_id)
    if job is None:
        raise Refused(404, "there is no such job")
    return job
