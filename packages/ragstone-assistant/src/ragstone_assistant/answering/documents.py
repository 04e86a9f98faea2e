"""The tool `search_documents`: a question -> an answer from the knowledge base."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated

import msgspec

from ragstone.kernel.corpus.tags import Tag
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.errors import harmless
from ragstone_assistant.answering.answering import Answering, answer_from
from ragstone_assistant.answering.coverage import Coverage
from ragstone_assistant.conversation import Asked, Emit, Passage, Said, TextPiece
from ragstone_assistant.knowledge.entry import KnowledgeDown
from ragstone_assistant.languages import SPOKEN, language, language_of, phrase
from ragstone_assistant.tool import Observation, Situation, Tool
from ragstone_assistant.tools.plain_text import shortened

NAME = "search_documents"
LISTED = 12  # values of a tag that its description names
MOST_ASKED = 1000  # characters of a question
MOST_VALUE = 60  # of a filter that a reply names

Search = Callable[[str, int, Mapping[str, str]], Awaitable[list[Passage]]]
"""(question, k, tags that passages must have) -> the k best passages, best first. Raises KnowledgeDown."""


def documents_tool(
    search: Search,
    answering: Answering,
    *,
    k: int,
    tags: Sequence[Tag] = (),
    examples: Sequence[str] = (),
    loosen: Sequence[str] = (),
    coverage: Coverage | None = None,
) -> Tool:
    """Return the tool that answers from documents, with the best k passages.

    tags: those that documents can be restricted to; each is an argument, as far as it is no argument already.
    examples: questions that need it, for the planner by words.
    A restriction that finds nothing is dropped, see `restricted`; the reply says so. loosen: of those that
    the user has made himself, the tags that may be dropped, in this order; the others hold. coverage: refuses
    what no document may be asked about. Where the
    question is put in another language than the user's, his own words are searched for too, and both lists
    are taken in turns.
    """

    async def call(arguments: msgspec.Struct, situation: Situation) -> Observation:
        fields = msgspec.structs.asdict(arguments)
        question = str(fields.pop("question"))
        wanted = {key: str(value) for key, value in fields.items() if value}
        restricted_to = restrictions(wanted, situation.asked, tags, loosen)
        if coverage is not None:
            asked = (question, situation.asked.question)
            if lacking := coverage.lacking(asked, restricted_to.all):
                refused = coverage.refusal(lacking, asked, situation.lang, situation.emit)
                return Observation(text=refused.text, reply=refused)
        try:
            found = await _found(search, question, k, restricted_to, situation)
        except KnowledgeDown as down:
            return Observation(
                text=f"{phrase('documents_unavailable', situation.lang)} ({down})", failed=True
            )
        using = answering.without_model() if situation.quoting else answering
        outcome = await found.answer(question, situation.lang, using, situation.emit, situation.deadline)
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


class Restrictions(msgspec.Struct, frozen=True):
    """What passages must have. all: tag -> value. droppable: tags that may be dropped, the first first.

    own_words: the user's question, as he put it. named: values of which he may know: his own filters, those
    that he has named in the conversation, and those of the documents; a model has made up the others.
    """

    all: dict[str, str]
    droppable: list[str]
    own_words: str
    named: frozenset[str]


def restrictions(
    wanted: Mapping[str, str], asked: Asked, tags: Sequence[Tag], loosen: Sequence[str]
) -> Restrictions:
    """Return the restrictions of a question. wanted: what the planner reads from it, which is dropped first,
    the tag that is listed last before the others; then the user's own of `loosen`."""
    own = {key: value for key, value in asked.filters.items() if value.strip()}
    names = {tag.key: tag.values or {} for tag in tags}
    words = f" {' '.join(' '.join(tokenize(turn.content)) for turn in asked.turns if turn.role == 'user')} "
    named = {
        value
        for key, value in wanted.items()
        if value in names.get(key, {}) or (tokenize(value) and f" {' '.join(tokenize(value))} " in words)
    }
    listed = [key for key in reversed(names) if key in wanted and key not in own]
    others = [key for key in wanted if key not in names and key not in own]
    droppable = [*others, *listed, *(key for key in loosen if key in own)]
    return Restrictions({**wanted, **own}, droppable, asked.question, frozenset({*named, *own.values()}))


class FoundPassages(msgspec.Struct, frozen=True):
    """What was found, and without which restrictions. asked, dropped: tag -> value, as far as the user may
    know of them. held: all restrictions that passages were searched with."""

    passages: list[Passage]
    asked: dict[str, str]
    dropped: dict[str, str]
    held: dict[str, str]

    async def answer(
        self, question: str, lang: str, answering: Answering, emit: Emit, deadline: float | None
    ) -> Said:
        """Return the answer from these passages (see answer_from); first it says what was dropped.

        What was dropped is noted in its tags.
        """
        lead = self._lead(lang)
        if lead:
            emit(TextPiece(lead))
        outcome = await answer_from(question, self.passages, lang, answering, emit, deadline)
        if not lead:
            return outcome
        tags = {**outcome.tags, **({"loosened": ", ".join(self.dropped)} if self.dropped else {})}
        return msgspec.structs.replace(outcome, text=lead + outcome.text, tags=tags)

    def _lead(self, lang: str) -> str:
        """Return what a reply begins with: that nothing fits all restrictions; empty where something does.

        Before an answer it is said without a negation, which judges would read as a refusal.
        """
        filters = _listed(self.asked)
        if self.dropped:
            dropped = _listed(self.dropped)
            return phrase("searched_without", lang, filters=filters, dropped=dropped) + "\n\n"
        return "" if self.passages or not self.asked else phrase("no_fit", lang, filters=filters) + "\n\n"


def _listed(values: Mapping[str, str]) -> str:
    return ", ".join(
        language(value).name if key == "lang" and value in SPOKEN else shortened(harmless(value), MOST_VALUE)
        for key, value in values.items()
    )


async def restricted(search: Search, question: str, k: int, wanted: Restrictions) -> FoundPassages:
    """Return the passages that have all tags; where there is none, those without one tag after another."""
    left = dict(wanted.all)
    passages = await search(question, k, left)
    dropped: dict[str, str] = {}
    for key in wanted.droppable:
        if passages:
            break
        dropped[key] = left.pop(key)
        passages = await search(question, k, left)
    known = {key: value for key, value in wanted.all.items() if value in wanted.named}
    return FoundPassages(
        passages, known, {key: value for key, value in dropped.items() if key in known and passages}, left
    )


async def _found(
    search: Search, question: str, k: int, wanted: Restrictions, situation: Situation
) -> FoundPassages:
    """Return what is found for a question, and for the user's own words where these are of his language."""
    found = await restricted(search, question, k, wanted)
    if wanted.own_words == question or language_of(question) == situation.lang:
        return found
    others = await search(wanted.own_words, k, found.held)
    return msgspec.structs.replace(found, passages=_in_turns(found.passages, others)[:k])


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
