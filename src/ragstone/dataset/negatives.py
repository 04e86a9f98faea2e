"""Questions that the corpus seems to answer and does not, so that refusing is tested as well."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from ragstone.corpus.language import detect_language
from ragstone.dataset.answering import find_answer
from ragstone.dataset.candidate import Candidate, Passage, call_failed, lose, noted
from ragstone.dataset.evidence import find_evidence
from ragstone.dataset.hops import SearchPassages
from ragstone.dataset.languages import language_name, speaks
from ragstone.dataset.writing import DRAWN_AT, IN_LANGUAGE, STERN, Written
from ragstone.llm import MATERIAL, Ask, CallFailed, Prompt, fenced_prompt, row_nonce
from ragstone.records import Question

VERSION = 1  # of the wording below; a change of it is a new one
NEAREST = 5  # passages that are looked at for an answer, the question's own among them
MOST_BYTES = 15_000  # of these passages: some 5,000 tokens in any script, so that a context of 8,192 does
MAX_TOKENS = 400
SHOWN = 200  # characters of a quotation that is not in the text

TASK = (
    "You write trick questions for a test of a search engine: <passage> seems to answer them and does not, "
    "so the right reply is that the documents do not tell. Those who ask: {audience}.\n\n"
    "Choose something that <passage> tells of, and a detail of it that somebody would want to know and that "
    "<passage> leaves out: a number, date, place, name, reason or condition. First write into missing which "
    "detail that is. Then copy into quote the words of <passage> that a careless reader would take for the "
    "answer, exactly as they stand there, at most two sentences or five lines of code. Then write a question "
    "for the missing detail. It says by name what it is about, makes sense to somebody who has not seen "
    "<passage>, and never mentions a passage, a text or a document. Then write into wrong_answer, in a few "
    "words, what the careless reader would reply."
)
FORM = '{"nonce": the code, "missing": "...", "quote": "...", "question": "...", "wrong_answer": "..."}'

# Told to the model and not demanded of it: see writing.py.
Short = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": 300})]
Long = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": 500})]


class NegativeReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the passage leaves out, what may be taken for it, the question, and the wrong answer."""

    missing: Short
    quote: Long
    question: Short
    wrong_answer: Short


async def write_negative(
    passage: Passage,
    search: SearchPassages,
    *,
    audience: str,
    ask: Ask,
    secret: bytes,
    check: Ask | None = None,
    sample: int = 0,
) -> Written:
    """Return one question that no passage answers, lost where that is not so, or not known.

    search: a text -> the nearest passages of the corpus. check: asks the model that looks for an answer in
    them; without it the writer does. The question has `answerable` False, no reference, evidence or
    document_ids, and the tag style = negative; metadata `tempting` {document_id, start, end} is the span that
    may be taken for an answer, `wrong_answer` the answer that it tempts to, `missing` what is not told.

    Lost as `no_evidence` where the tempting words do not stand in the passage, `answerable` where a passage
    answers it, `not_criticised` where the call that looks for an answer failed. One in another language than
    its passage's is lost as `wrong_language` and asked for once more: then there are two candidates.
    """
    candidates: list[Candidate] = []
    for stern in (False, True):
        try:
            candidate = await _write(passage, audience, ask, secret, sample, stern=stern)
        except CallFailed as failure:
            return Written(candidates=candidates, failed=call_failed(failure), n_asked=1)
        candidates.append(candidate)
        if candidate.loss is None or candidate.loss.reason != "wrong_language":
            break
    if candidates[-1].loss is None:
        candidates[-1] = await check_negative(candidates[-1], search, ask=check or ask, secret=secret)
    return Written(candidates=candidates, n_asked=1)


async def check_negative(
    candidate: Candidate, search: SearchPassages, *, ask: Ask, secret: bytes
) -> Candidate:
    """Return the candidate, lost where its passage or the nearest others answer it, or the call failed."""
    question = candidate.question.question
    own = candidate.passages
    others = [passage for passage in await search(question) if passage not in own]
    try:
        found = await find_answer(question, _fitting([*own, *others]), ask=ask, secret=secret)
    except CallFailed as failure:
        return lose(candidate, "not_criticised", f"answerable: {failure.status}, {failure}")
    candidate = noted(candidate, unanswered=found.reason.strip())
    return lose(candidate, "answerable", found.reason.strip()) if found.answered else candidate


def write_prompt(passage: Passage, audience: str, secret: bytes, sample: int, *, stern: bool) -> Prompt:
    """Return the call that asks for one negative; stern: once more, after one in another language."""
    told = TASK.format(audience=audience)
    if passage.lang:
        in_language = STERN if stern else IN_LANGUAGE
        told += "\n\n" + in_language.format(language=language_name(passage.lang))
    shown = ({"title": passage.title} if passage.title else {}) | {"passage": passage.text}
    return fenced_prompt(
        f"{told}\n\n{MATERIAL}",
        shown,
        form=FORM,
        reply=NegativeReply,
        nonce=row_nonce(secret, ["negative", str(VERSION), told, *shown.values()]),
        max_tokens=MAX_TOKENS,
        sample=sample,
        temperature=DRAWN_AT if sample else None,
    )


async def _write(
    passage: Passage, audience: str, ask: Ask, secret: bytes, sample: int, *, stern: bool
) -> Candidate:
    """Return what the model wrote, lost if its quotation or its language is wrong. Raises CallFailed."""
    reply = await ask(write_prompt(passage, audience, secret, sample, stern=stern))
    draft: NegativeReply = reply.value
    found = find_evidence(draft.quote, passage.text)
    asked = _tidy(draft.question)
    in_language = speaks(asked, passage.lang)
    metadata: dict[str, object] = {
        "missing": _tidy(draft.missing),
        "quote": draft.quote,
        "wrong_answer": _tidy(draft.wrong_answer),
    }
    if found:
        start, end = passage.start + found.start, passage.start + found.end
        metadata["tempting"] = {"document_id": passage.document_id, "start": start, "end": end}
    question = Question(
        id="",
        question=asked,
        answerable=False,
        lang=passage.lang if in_language and passage.lang else detect_language(asked),
        tags={"style": "negative"} | ({"topic": passage.topic} if passage.topic else {}),
        metadata=metadata,
    )
    candidate = Candidate(question=question, passages=(passage,))
    if not in_language:
        seen = detect_language(asked)
        return lose(candidate, "wrong_language", f"{seen or 'unclear'} in place of {passage.lang}")
    return candidate if found else lose(candidate, "no_evidence", draft.quote[:SHOWN])


def _fitting(passages: Sequence[Passage]) -> list[Passage]:
    """Return the first of the passages, as many as are looked at and have room in a call."""
    fitting = list(passages[:1])
    n_bytes = len(passages[0].text.encode())
    for passage in passages[1:NEAREST]:
        n_bytes += len(passage.text.encode())
        if n_bytes > MOST_BYTES:
            break
        fitting.append(passage)
    return fitting


def _tidy(text: str) -> str:
    return " ".join(text.split())
