"""One call: a passage -> questions, each with its answer and the words that hold it.

A question that is not in the language of its passage is asked for once more, in a second call."""

import functools
import re
from collections.abc import Sequence
from itertools import permutations
from typing import Annotated

import msgspec

from ragstone.features.build._built import Written, call_failed
from ragstone.features.build._losses import lose
from ragstone.features.build._styles import DialogueTurn, render_style
from ragstone.kernel.dataset.candidate import Candidate, SourcePassage
from ragstone.kernel.dataset.evidence import HOWS, EvidenceMatch, find_evidence
from ragstone.kernel.dataset.languages import language_name, speaks
from ragstone.kernel.files.language import detect_language
from ragstone.kernel.llm import MATERIAL, Ask, CallFailed, Prompt, fenced_prompt, row_nonce
from ragstone.kernel.records import Question

VERSION = 1  # of the wording below; a change of it is a new one
DRAWN_AT = 0.7  # the temperature of every sample but the first
MOST_AVOIDED = 20  # questions that the model is told not to repeat
FRAME_TOKENS, TOKENS_A_QUESTION = 100, 500
SHOWN = 200  # characters of a quotation that is not in the text
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")  # those that are no white space
BETWEEN = " … "  # two quotations in a question's metadata

# Told to the model and not demanded of it: one text that is too long is no reason to lose the others.
Short = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": 300})]
Long = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": 500})]

TASK = """\
You write questions to test a search engine. Read {source} and write {number} that can be \
answered from {them}.

What kind of question:
{style}

Who asks: {audience}. They have not read it and do not know that it exists. So every question makes sense \
to a stranger: it names the thing that it asks about, and it never says "the passage", "the text", "this \
document", "the author", "the example" or "mentioned". There is exactly one right answer. Ask about what \
matters, and nothing twice in other words; of source code about what it does, takes and returns, of a table \
about its values.

For each question: {copied} Then write a question that these words answer. Then write the answer that \
follows from them, as short as this kind of question allows."""
COPIED = {
    1: "First copy from <passage> into quote the words in which the answer itself stands, not those that "
    "lead up to it, exactly as they are: at most two sentences or five lines of code. No two questions have "
    "the same quote.",
    2: "First copy from <passage> the words in which the answer itself stands, exactly as they are: one "
    "sentence into quote, and another one, from a different place, into second_quote.",
}
COPIED_FROM_TWO = (
    "First copy the words in which the answer itself stands, exactly as they are: a sentence of <passage 1> "
    "into quote, and a sentence of <passage 2> into second_quote."
)
LINKED = {
    2: (
        "Questions that take both passages, one after the other. Both speak of <link 1>. Ask for something "
        "that only <passage 2> tells of it. Do not name it: describe it by what only <passage 1> tells of "
        "it, so that one has to read <passage 1> to know which one it is. One question, not two joined by "
        '"and". The answer is a few words of <passage 2>.'
    ),
    3: (
        "Questions that take all three passages, one after the other. <passage 1> and <passage 2> speak of "
        "<link 1>, <passage 2> and <passage 3> of <link 2>. Ask for something that only <passage 3> tells of "
        "<link 2>. Name neither: describe <link 2> by what only <passage 2> tells of it and <link 1> "
        "together, and <link 1> by what only <passage 1> tells of it. One question, not two joined by "
        '"and". The answer is a few words of <passage 3>.'
    ),
}
QUOTES = ("quote", "second_quote", "third_quote")
COPIED_ALONG = (
    "First copy the words that it rests on, exactly as they are, a sentence of each passage: {quotes}. The "
    "last one holds the answer."
)
AVOID = "Do not ask what stands in <asked already> again, in whatever words."
IN_LANGUAGE = "Write the questions and the answers in {language}."
IN_ITS_LANGUAGE = "Write the questions and the answers in the language of the passage."
STERN = (
    "The text is in {language}. People who ask speak {language} and nothing else. Every question and every "
    "answer must be written in {language}, in no other language; a question in another language is useless."
)


class Draft(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model writes of one question: first the words that it rests on."""

    quote: Long
    question: Short
    answer: Long


class DraftOfTwo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model writes of a question whose answer stands in two places."""

    quote: Long
    second_quote: Long
    question: Short
    answer: Long


class DraftOfThree(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model writes of a question along three passages."""

    quote: Long
    second_quote: Long
    third_quote: Long
    question: Short
    answer: Long


AnyDraft = Draft | DraftOfTwo | DraftOfThree


async def write_questions(
    passages: tuple[SourcePassage, ...],
    turn: DialogueTurn,
    n: int,
    *,
    audience: str,
    ask: Ask,
    secret: bytes,
    avoid: Sequence[str] = (),
    sample: int = 0,
    links: Sequence[str] = (),
) -> Written:
    """Return what a model makes of the request for n questions on a passage.

    passages: one, or the two or three of a multi-hop question, in its order; links: what each shares with
    the next, empty where nothing is known of it. audience: who asks, in words. avoid: questions that
    are not to be asked again. sample: another number draws other questions.

    A candidate whose quotation is not in its passage is lost (`no_evidence`), as is one whose question or
    answer is not in the passage's language (`wrong_language`): those are asked for once more. `evidence`
    holds offsets in the document, `reference` the answer; in the metadata are `quote` and `evidence_found`,
    see Found.how.
    """

    async def call(n_wanted: int, stern: bool) -> Written:
        prompt = write_prompt(
            passages,
            turn,
            n_wanted,
            audience=audience,
            secret=secret,
            avoid=avoid,
            sample=sample,
            stern=stern,
            links=links,
        )
        try:
            reply = await ask(prompt)
        except CallFailed as failure:
            return Written(candidates=[], failed=call_failed(failure), n_asked=n)
        drafts: list[AnyDraft] = reply.value.questions
        candidates = [_candidate(draft, passages, turn, links) for draft in drafts[:n_wanted]]
        return Written(candidates=candidates, n_asked=n, n_cut=max(0, len(drafts) - n_wanted))

    written = await call(n, False)
    losses = [candidate.loss.reason for candidate in written.candidates if candidate.loss]
    n_wrong = losses.count("wrong_language")
    if n_wrong == 0:
        return written
    again = await call(n_wrong, True)
    return Written(
        candidates=[*written.candidates, *again.candidates],
        failed=again.failed,
        n_asked=n,
        n_cut=written.n_cut + again.n_cut,
    )


def write_prompt(
    passages: tuple[SourcePassage, ...],
    turn: DialogueTurn,
    n: int,
    *,
    audience: str,
    secret: bytes,
    avoid: Sequence[str] = (),
    sample: int = 0,
    stern: bool = False,
    links: Sequence[str] = (),
) -> Prompt:
    """Return the call that asks for n questions. stern: once more, for they were in the wrong language."""
    n_passages, n_quotes = len(passages), max(turn.style.quotes, len(passages))
    names = [f"<passage {number}>" for number in range(1, n_passages + 1)]
    quotes = ", ".join(f"of {name} into {quote}" for name, quote in zip(names, QUOTES, strict=False))
    copied = COPIED_ALONG.format(quotes=quotes) if links else COPIED_FROM_TWO
    parts = [
        TASK.format(
            source="<passage>" if n_passages == 1 else f"{', '.join(names[:-1])} and {names[-1]}",
            them="it" if n_passages == 1 else "them",
            number="one question" if n == 1 else f"{n} questions",
            style=LINKED[n_passages] if links else render_style(turn, audience),
            audience=audience,
            copied=COPIED[n_quotes] if n_passages == 1 else copied,
        )
    ]
    inputs = {f"link {number}": link for number, link in enumerate(links, 1)} | _passage_inputs(passages)
    if avoid:
        inputs["asked already"] = "\n".join(f"- {question}" for question in avoid[-MOST_AVOIDED:])
        parts.append(AVOID)
    lang = passages[0].lang
    in_language = STERN if stern else IN_LANGUAGE
    parts.append(in_language.format(language=language_name(lang)) if lang else IN_ITS_LANGUAGE)
    fields = [*QUOTES[:n_quotes], "question", "answer"]
    item = "{" + ", ".join(f'"{name}": "..."' for name in fields) + "}"
    return fenced_prompt(
        "\n\n".join([*parts, MATERIAL]),
        inputs,
        form=f'{{"nonce": the code, "questions": [{item}{", ..." if n > 1 else ""}]}}',
        reply=_reply_of(n, n_quotes),
        nonce=row_nonce(secret, ["write", str(VERSION), *parts, *inputs, *inputs.values()]),
        max_tokens=FRAME_TOKENS + TOKENS_A_QUESTION * n,
        sample=sample,
        temperature=DRAWN_AT if sample else None,
    )


def _passage_inputs(passages: tuple[SourcePassage, ...]) -> dict[str, str]:
    """Return the passages under the names of their tags, each after a title that does not begin it.

    A small model that is shown the same words twice asks for the title.
    """
    inputs: dict[str, str] = {}
    for number, passage in enumerate(passages, 1):
        which = f" {number}" if len(passages) > 1 else ""
        if passage.title and not passage.text.lstrip("# ").startswith(passage.title):
            inputs[f"title{which}"] = passage.title
        inputs[f"passage{which}"] = passage.text
    return inputs


def _candidate(
    draft: AnyDraft, passages: tuple[SourcePassage, ...], turn: DialogueTurn, links: Sequence[str]
) -> Candidate:
    """Return a draft as a candidate, lost if its evidence is not there or its language another."""
    quotes = [getattr(draft, name) for name in QUOTES if hasattr(draft, name)]
    matches = _find_all(quotes, passages)
    question, answer = _line(draft.question), _line(draft.answer)
    passage = passages[0]
    foreign = _foreign(question, answer, passages)
    tags = {"style": turn.style.name, "persona": turn.persona, "level": turn.level, "topic": passage.topic}
    tags["hops"] = str(len(passages)) if len(passages) > 1 else None
    notes: dict[str, object] = {"quote": BETWEEN.join(quotes)}
    if links:
        notes["links"] = list(links)
    if matches:
        notes["evidence_found"] = max((match.how for match, _ in matches), key=HOWS.index)
    candidate = Candidate(
        question=Question(
            id="",
            question=question,
            reference=answer,
            evidence=[there.evidence(match.start, match.end) for match, there in matches] or None,
            document_ids=list(dict.fromkeys(passage.document_id for passage in passages)),
            answerable=True,
            lang=detect_language(question) if foreign else passage.lang or detect_language(question),
            tags={key: value for key, value in tags.items() if value},
            metadata=notes,
        ),
        passages=passages,
    )
    if foreign:
        return lose(candidate, "wrong_language", foreign)
    return candidate if matches else lose(candidate, "no_evidence", BETWEEN.join(quotes)[:SHOWN])


def _find_all(
    quotes: Sequence[str], passages: tuple[SourcePassage, ...]
) -> list[tuple[EvidenceMatch, SourcePassage]]:
    """Return where each quotation stands, in the order of the text; none if one of them is not there.

    Of several passages each holds one quotation: the first the first, or in any other order.
    """
    orders = permutations(passages) if len(passages) > 1 else [passages * len(quotes)]
    for order in orders:
        pairs = [
            (find_evidence(quote, there.text), there) for quote, there in zip(quotes, order, strict=True)
        ]
        there = [(match, passage) for match, passage in pairs if match is not None]
        if len(there) == len(quotes):
            # Two quotations of one passage may be the same words.
            once = {
                (passage.document_id, passage.start + match.start): (match, passage)
                for match, passage in there
            }
            return sorted(once.values(), key=lambda pair: (passages.index(pair[1]), pair[0].start))
    return []


def _foreign(question: str, answer: str, passages: tuple[SourcePassage, ...]) -> str | None:
    """Say what is not in the passage's language; an answer that is copied out of it may be in any."""
    lang = passages[0].lang
    if not speaks(question, lang):
        return f"question: {detect_language(question) or 'unclear'} in place of {lang}"
    copied = any(find_evidence(answer, passage.text) is not None for passage in passages)
    if not copied and not speaks(answer, lang):
        return f"answer: {detect_language(answer) or 'unclear'} in place of {lang}"
    return None


def _line(text: str) -> str:
    """Return the text on one line, without control characters: they hide words and colour terminals."""
    return " ".join(CONTROL.sub("", text).split())


@functools.lru_cache(maxsize=64)
def _reply_of(n: int, n_quotes: int) -> type[msgspec.Struct]:
    """Return the type of a reply: a list of drafts; the model is held to n of them, but more are accepted."""
    draft = (Draft, DraftOfTwo, DraftOfThree)[n_quotes - 1]
    several = Annotated[list[draft], msgspec.Meta(extra_json_schema={"maxItems": n})]  # type: ignore[valid-type]
    return msgspec.defstruct("Drafts", [("questions", several)], frozen=True, forbid_unknown_fields=True)
