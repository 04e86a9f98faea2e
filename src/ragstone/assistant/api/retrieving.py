"""Retrieval and answers without the agent, and the passages that replies cite."""

from litestar import get, post
from litestar.params import FromPath, JSONBody

from ragstone.assistant.api.bodies import (
    Answered,
    AnswerRequest,
    PassageBody,
    Retrieved,
    RetrieveRequest,
    cited,
    found,
)
from ragstone.assistant.api.chat import check_question
from ragstone.assistant.api.desk import AnyRequest, AtDesk, owner_of, path_tail
from ragstone.assistant.api.history import new_id
from ragstone.assistant.api.problems import Refused, fails
from ragstone.assistant.api.replying import Exchange, reply, unless_gone
from ragstone.assistant.conversation import Asked, Said, Turn, silent

PASSAGES = b"/v1/passages/"


@post(
    "/v1/retrieve",
    status_code=200,
    summary="The passages for a question",
    responses=fails(400, 413, 422, 503),
    tags=["retrieval"],
)
async def retrieve(data: JSONBody[RetrieveRequest], desk: AtDesk) -> Retrieved:
    """Find passages, best first, and ask no model for words."""
    check_question(data.question, desk)
    k = data.k or desk.k
    return Retrieved(found(await desk.assistant.knowledge.search(data.question, k, data.filters or {})))


@post(
    "/v1/answers",
    status_code=200,
    summary="An answer from the documents, without the agent",
    responses=fails(400, 413, 422),
    tags=["retrieval"],
)
async def answer(request: AnyRequest, data: JSONBody[AnswerRequest], desk: AtDesk) -> Answered:
    """Answer one question from the documents; the exchange is in the log like those of the agent."""
    check_question(data.question, desk)
    filters = dict(data.filters or {})
    exchange = Exchange(
        id=new_id("x"),
        asked=Asked(turns=(Turn("user", data.question),), filters=filters, lang=data.lang),
        owner=owner_of(request),
        received=desk.clocks.now(),
    )

    async def respond() -> Said:
        return await desk.assistant.answer(data.question, filters, data.lang, silent)

    said = await unless_gone(request, reply(desk, exchange, respond))
    if said is None:
        raise Refused(400, "nobody waits for this answer")
    return Answered(
        exchange_id=exchange.id,
        answer=said.text,
        kind=said.kind,
        lang=said.lang,
        citations=cited(said.citations),
        contexts=found(said.passages),
        latency_s=said.latency_s,
        usage=said.usage,
        cost_usd=said.cost_usd,
        error=said.error,
    )


@get(
    "/v1/passages/{chunk_id:path}",
    summary="A passage with the text around it",
    responses=fails(400, 404, 503),
    tags=["retrieval"],
)
async def passage(request: AnyRequest, chunk_id: FromPath[str], desk: AtDesk) -> PassageBody:  # noqa: ARG001
    """Give a passage that a reply cites."""
    placed = await desk.assistant.knowledge.passage(path_tail(request, PASSAGES))
    if placed is None:
        raise Refused(404, "there is no such passage; the documents may have changed")
    one = placed.passage
    return PassageBody(
        document_id=one.document_id,
        title=one.title,
        page=one.page,
        source=one.source,
        text=one.text,
        before=placed.before,
        after=placed.after,
    )
