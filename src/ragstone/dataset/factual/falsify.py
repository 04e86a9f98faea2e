"""True statements -> false ones, by a small change of a known kind that is checked."""

import re
from collections.abc import Collection, Sequence
from typing import Annotated, Literal

import msgspec

from ragstone.config.build import Change
from ragstone.dataset.candidate import Candidate, Loss, call_failed, lose, noted
from ragstone.dataset.factual.changes import UNSPACED, Changed, check_change, same_words
from ragstone.dataset.factual.facts import check_fact, tidy
from ragstone.dataset.factual.numbers import NumberChange, change_number
from ragstone.llm import MATERIAL, Ask, CallFailed, Prompt, fenced_prompt, row_nonce
from ragstone.records import Question

VERSION = 1  # of the prompts below; a change of wording is a new one
CHANGE_TOKENS, CHECK_TOKENS = 160, 200
LONGEST = 60  # characters of what is replaced, as the model is told
MOST_TRIES = 2  # kinds of change that a model is asked for, of one statement

CHANGE_TOLD = (
    "You make a true statement false for a true/false test, by replacing a few of its words.\n"
    "{how}\n"
    "- was: the words that you replace, copied exactly from the statement: as few as you can.\n"
    "- now: the words that you put in their place, in the language of the statement. The statement must then "
    "be a correct sentence, and the text must show that it is false."
)
HOW = {
    "entity": "Replace one name, place, product, person or thing by another one of the same kind, which a "
    'reader could take for the right one. For example, in "The museum in Lyon opens at nine.": was "Lyon", '
    'now "Bern".',
    "negation": 'Put one negation in, or take one out, so that it says the opposite. For example, in "The '
    'museum opens on Sundays.": was "opens", now "does not open".',
    "relation": "Replace one verb, adjective, comparison or preposition by its opposite, without a negation. "
    'For example, in "The museum opens before noon.": was "before", now "after".',
}
CHECK_TOLD = (
    "You check a statement against a text. First give your reason in one sentence: what does the text say of "
    "it? Then the verdict: true if the text says the same, false if the text says otherwise, not_said if the "
    "text says neither. Compare every word: one name, one number or one small word can make the difference."
)


Words = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": LONGEST})]


class ChangeReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words of a statement that are replaced, and those in their place."""

    was: Words
    now: Words


class CheckReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reason, then whether the text says that a statement is true."""

    reason: Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": 400})]
    verdict: Literal["true", "false", "not_said"]


class Truths(msgspec.Struct, frozen=True):
    """What a false statement may not be: the words of a true one, or words that stand in its document.

    Both as `same_words` has them. documents: document id -> what the model may be shown of it.
    """

    said: Collection[str]
    documents: dict[str, str]


class Falsified(msgspec.Struct, frozen=True, kw_only=True):
    """What the attempts to make a statement false gave: candidates, of which the last may be good."""

    candidates: list[Candidate]
    failed: list[Loss] = []

    @property
    def n_asked(self) -> int:
        """How many false statements were asked for."""
        return len(self.candidates) + len(self.failed)


def plan_changes(
    statements: Sequence[Candidate], kinds: Sequence[Change], truths: Truths, seed: int
) -> list[list[Change]]:
    """Return for each statement the kinds of change in the order in which they are tried.

    The first ones are spread as evenly as may be. A number is among them only where there is one to change.
    """
    counts = dict.fromkeys(kinds, 0)
    plans = []
    for statement in statements:
        possible = [kind for kind in counts if kind != "number" or _number_of(statement, truths, seed)]
        possible.sort(key=counts.__getitem__)
        if possible:
            counts[possible[0]] += 1
        plans.append(possible)
    return plans


async def falsify_fact(
    truth: Candidate, kinds: Sequence[Change], truths: Truths, *, seed: int, ask: Ask, secret: bytes
) -> Falsified:
    """Return false statements made of a true one, by the first of these kinds of change that succeeds.

    A number is changed without a model; a model is asked for MOST_TRIES of the other kinds at most, and for
    no other once a call has failed. A candidate without a loss is false by all that was checked; the others
    say what was wrong.
    """
    done, n_left = Falsified(candidates=[]), MOST_TRIES
    for kind in kinds:
        if kind != "number":
            if not n_left:
                continue
            n_left -= 1
        tried = await _attempt(truth, kind, truths, seed, ask, secret)
        if tried.failed or any(one.loss and one.loss.reason == "call_failed" for one in tried.candidates):
            n_left = 0
        done = Falsified(candidates=done.candidates + tried.candidates, failed=done.failed + tried.failed)
        if any(one.loss is None for one in tried.candidates):
            break
    if not done.n_asked:
        return Falsified(candidates=[_unchanged(truth, "number", "it has no number that can be changed")])
    return done


async def _attempt(
    truth: Candidate, kind: Change, truths: Truths, seed: int, ask: Ask, secret: bytes
) -> Falsified:
    if kind == "number":
        found = _number_of(truth, truths, seed)
        if found is None:
            return Falsified(candidates=[])
        changed = Changed(found.before, found.after)
        return Falsified(candidates=[_checked(_false(truth, kind, found.statement, changed), truths)])
    try:
        reply = await ask(change_prompt(truth, kind, secret))
    except CallFailed as failure:
        return Falsified(candidates=[], failed=[call_failed(failure)])
    statement = truth.question.question
    if max(len(reply.value.was), len(reply.value.now)) >= LONGEST:  # small models copy until they are cut off
        return Falsified(candidates=[_unchanged(truth, kind, f"{LONGEST} characters or more were replaced")])
    text = replace_words(statement, reply.value.was, reply.value.now)
    if text is None:
        why = f"{reply.value.was!r} does not stand in it"
        return Falsified(candidates=[_unchanged(truth, kind, why)])
    what = check_change(statement, text, kind, truth.question.lang)
    if isinstance(what, str):
        return Falsified(candidates=[_unchanged(truth, kind, what, text)])
    candidate = _checked(_false(truth, kind, text, what), truths)
    return Falsified(candidates=[await ask_whether_false(candidate, ask=ask, secret=secret)])


async def ask_whether_false(candidate: Candidate, *, ask: Ask, secret: bytes) -> Candidate:
    """Return the candidate with what a model says of it in `metadata.checked`; lost if the text supports it.

    A lost one is not asked about. One whose call failed is lost: nobody has checked it.
    """
    if candidate.loss is not None:
        return candidate
    try:
        reply = await ask(check_prompt(candidate, secret))
    except CallFailed as failure:
        return lose(candidate, "call_failed", call_failed(failure).detail)
    checked = noted(candidate, checked=reply.value.verdict)
    if reply.value.verdict == "true":
        return lose(checked, "unchanged", f"the text supports it: {tidy(reply.value.reason)}")
    return checked


def replace_words(statement: str, was: str, now: str) -> str | None:
    """Return the statement with the first `was` in it replaced, whole words in any case; None without one.

    At its start the statement keeps its capital.
    """
    was, now = tidy(was), tidy(now)
    edges = [r"(?<!\w)" if _is_spaced(was[:1]) else "", r"(?!\w)" if _is_spaced(was[-1:]) else ""]
    found = re.search(f"{edges[0]}{re.escape(was)}{edges[1]}", statement, re.IGNORECASE) if was else None
    if found is None:
        return None
    if not found.start() and statement[:1].isupper():
        now = now[:1].upper() + now[1:]
    return tidy(statement[: found.start()] + now + statement[found.end() :])


def change_prompt(truth: Candidate, kind: Change, secret: bytes) -> Prompt:
    """Return the call that asks for a change of this kind."""
    told = CHANGE_TOLD.format(how=HOW[kind])
    form = '{"nonce": the code, "was": words of the statement, "now": other words}'
    return _prompt(told, form, truth, ChangeReply, CHANGE_TOKENS, secret)


def check_prompt(candidate: Candidate, secret: bytes) -> Prompt:
    """Return the call that asks whether the text supports a statement."""
    form = '{"nonce": the code, "reason": one sentence, "verdict": "true", "false" or "not_said"}'
    return _prompt(CHECK_TOLD, form, candidate, CheckReply, CHECK_TOKENS, secret)


def _prompt(
    told: str, form: str, candidate: Candidate, reply: type, max_tokens: int, secret: bytes
) -> Prompt:
    passage = candidate.passages[0]
    shown = {"title": passage.title} if passage.title else {}
    shown |= {"text": passage.text, "statement": candidate.question.question}
    return fenced_prompt(
        f"{told}\n\n{MATERIAL}",
        shown,
        form=form,
        reply=reply,
        nonce=row_nonce(secret, [told, str(VERSION), *shown.values()]),
        max_tokens=max_tokens,
    )


def _is_spaced(character: str) -> bool:
    """Say whether a character belongs to a script in which words have edges."""
    return bool(re.match(rf"\w(?<![{UNSPACED}])", character))


def _number_of(truth: Candidate, truths: Truths, seed: int) -> NumberChange | None:
    statement = truth.question.question
    document = truths.documents[truth.passages[0].document_id]
    return change_number(statement, f"{seed}\n{statement}", [document])


def _checked(candidate: Candidate, truths: Truths) -> Candidate:
    """Return the candidate, lost if it says what is true, or is no good statement."""
    words = same_words(candidate.question.question)
    if words in truths.said:
        return lose(candidate, "unchanged", "it is another true statement")
    if f" {words} " in f" {truths.documents[candidate.passages[0].document_id]} ":
        return lose(candidate, "unchanged", "it stands in the document")
    return check_fact(candidate)


def _false(truth: Candidate, kind: Change, statement: str, changed: Changed) -> Candidate:
    row = truth.question
    metadata = {
        "true": row.question,
        "change": {"kind": kind, "before": changed.before, "after": changed.after},
        **(row.metadata or {}),
    }
    return msgspec.structs.replace(truth, question=_row(row, kind, statement, metadata), loss=None)


def _unchanged(truth: Candidate, kind: Change, why: str, statement: str = "") -> Candidate:
    row = truth.question
    question = _row(row, kind, statement, {"true": row.question})
    return lose(msgspec.structs.replace(truth, question=question, loss=None), "unchanged", why)


def _row(truth: Question, kind: Change, statement: str, metadata: dict[str, object]) -> Question:
    return msgspec.structs.replace(
        truth,
        id="",
        question=statement,
        reference="false",
        tags={"fact": "false", "change": kind},
        metadata=metadata,
    )
