"""The tool `search_documents`: a question -> an answer from the knowledge base."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated

import msgspec

from ragstone.kernel.corpus.tags import Tag
from ragstone_assistant.answering.answering import Answering, answer_from
from ragstone_assistant.conversation import Passage
from ragstone_assistant.knowledge.entry import KnowledgeDown
from ragstone_assistant.languages import SPOKEN, language_of, phrase
from ragstone_assistant.tool import Observation, Situation, Tool

NAME = "search_documents"
LISTED = 12  # values of a tag that its description names
MOST_ASKED = 1000  # characters of a question

Search = Callable[[str, int, Mapping[str, str]], Awaitable[list[Passage]]]
"""(question, k, tags that passages must have) -> the k best passages, best first. Raises KnowledgeDown."""


def documents_tool(
    search: Search, answering: Answering, *, k: int, tags: Sequence[Tag] = (), examples: Sequence[str] = ()
) -> Tool:
    """Return the tool that answers from documents, with the best k passages.

    tags: those that documents can be restricted to; each is an argument, as far as it is no argument already.
    examples: questions that need it, for the planner by words.
    A restriction that finds nothing is dropped: the model may have made the value up. What the user has
    restricted himself always holds. Where the question is put in another language than the user's, his own
    words are searched for too, and both lists are taken in turns.
    """

    async def call(arguments: msgspec.Struct, situation: Situation) -> Observation:
        fields = msgspec.structs.asdict(arguments)
        question = str(fields.pop("question"))
        wanted = {key: str(value) for key, value in fields.items() if value}
        try:
            passages = await _found(search, question, k, wanted, situation)
        except KnowledgeDown as down:
            return Observation(
                text=f"{phrase('documents_unavailable', situation.lang)} ({down})", failed=True
            )
        using = msgspec.structs.replace(answering, stream=None) if situation.quoting else answering
        outcome = await answer_from(
            question, passages, situation.lang, using, situation.emit, situation.deadline
        )
        return Observation(
            text=outcome.text,
            failed=outcome.kind == "unavailable",
            passages=outcome.passages,
            reply=outcome,
            usage=outcome.usage,
            cost_usd=outcome.cost_usd,
        )

    return Tool(
        name=NAME,
        description="Answers a question from the approved documents, with their sources.",
        arguments=_arguments(tags),
        call=call,
        examples=tuple(examples),
        doing={lang: phrase("searching", lang) for lang in SPOKEN},
        advises=True,
    )


async def _found(
    search: Search, question: str, k: int, wanted: Mapping[str, str], situation: Situation
) -> list[Passage]:
    own = situation.asked.filters
    passages = await search(question, k, {**wanted, **own})
    if not passages and wanted:
        passages = await search(question, k, own)
    in_own_words = situation.asked.question
    if in_own_words == question or language_of(question) == situation.lang:
        return passages
    return _in_turns(passages, await search(in_own_words, k, own))[:k]


def _in_turns(first: Sequence[Passage], second: Sequence[Passage]) -> list[Passage]:
    """Return the passages of two rankings, each once, by their best place in either."""
    placed = [(rank, passage) for ranking in (first, second) for rank, passage in enumerate(ranking)]
    merged: dict[str, Passage] = {}
    for _, passage in sorted(placed, key=lambda pair: pair[0]):
        merged.setdefault(passage.chunk_id, passage)
    return list(merged.values())


def _arguments(tags: Sequence[Tag]) -> type[msgspec.Struct]:
    """Return the tool's arguments: the question, and the tags that documents can be restricted to."""
    description = "the user's question, complete in itself, with everything that it is about"
    fields: list[tuple[str, object] | tuple[str, object, object]] = [
        (
            "question",
            Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_ASKED, description=description)],
        )
    ]
    for tag in tags:
        if tag.key != "question":
            listed = ", ".join(list(tag.values or {})[:LISTED])
            described = f"only documents on this {tag.key}{f', e.g. {listed}' if listed else ''}"
            kind = Annotated[str | None, msgspec.Meta(description=described)]
            fields.append((tag.key, kind, None))
    return msgspec.defstruct(
        "SearchDocuments",
        fields,
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
        namespace={"__doc__": "What to look for in the documents."},
    )
