"""What is known of a lost point -> its cause, the component that has to answer for it, and the evidence."""

import msgspec

from ragstone.features.blame._asked import short
from ragstone.features.blame._departures import StepFault
from ragstone.features.blame._passages import HeldAnswer
from ragstone.features.blame._points import CountedPoint
from ragstone.features.blame._steps import AgentSteps
from ragstone.kernel.document.numbers import percent
from ragstone.kernel.runs.causes import Cause, Caused, Component


class KnownAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, and what is known of it; each None where nobody has told.

    right: by the judge. refused: it states nothing. supported: by the contexts that it was made from.
    lacking: the words that no context has, where a judge of words decided on support.
    """

    text: str
    right: bool | None = None
    refused: bool | None = None
    supported: bool | None = None
    lacking: str | None = None


class PointFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one point that is lost, or that judge and second opinion disagree on.

    answer: the one that the point is about. relevant: the documents that hold the answer; found: whether one
    of them was among the contexts. held: whether the contexts have the answer, of a document the part with
    it; None where nobody can tell. gold: the answer of the same model with the relevant passages in hand,
    None where it was not asked. reference: whether these passages support the reference. memory: what the
    model says without any context; same: whether that is what `observed` says. second: whose the second
    opinion is. steps: what an agent did, None where the answer carries no steps. stale: why the evidence no
    longer holds; unclear: why that cannot be told; each empty where it is not so.
    """

    point: CountedPoint
    answer: KnownAnswer
    relevant: list[str] = []
    found: bool | None = None
    held: HeldAnswer | None = None
    gold: KnownAnswer | None = None
    reference: bool | None = None
    memory: str | None = None
    same: bool | None = None
    second: str = ""
    steps: AgentSteps | None = None
    stale: str = ""
    unclear: str = ""

    @property
    def brought(self) -> bool | None:
        """Whether the contexts have the answer, or else, where that is unknown, one of its documents.

        That they lack it counts only where it is known which documents they are from.
        """
        if self.held is None or (self.found is None and not self.held.held):
            return self.found
        return self.held.held


class Assigned(msgspec.Struct, frozen=True):
    """A cause, its component and the evidence."""

    cause: Cause
    component: Component
    because: str


def find_cause(facts: PointFacts, system: str) -> Caused:
    """Return the cause of a point: the first of these that the facts show.

    An unanswerable question was answered; its evidence is stale; the reference is doubtful; the judge is; an
    agent's steps explain it; it is unclear whether the documents still hold the answer; the retriever brought
    nothing of use; the model refused; it did not use what it had, or went beyond it. That the reference goes
    before the judge matters where people give a point that a judge takes away because it compares with a
    wrong reference: then judge and people disagree, and the dataset is the reason.
    """
    rules = (_unanswerable, _stale, _reference, _judge, _steps, _unclear, _retrieval, _refusal)
    cause = next((caused for caused in (rule(facts) for rule in rules) if caused), None) or _use(facts)
    return Caused(
        question_id=facts.point.question_id,
        system=system,
        cause=cause.cause,
        component=cause.component,
        because=cause.because,
    )


def observed(facts: PointFacts) -> KnownAnswer:
    """Return the answer that tells what model and prompt make of the right passages.

    That is the answer itself where it was made from them. Where the retriever did not bring them, or nobody
    can tell, it is the answer with them in hand, if there is one.
    """
    return facts.answer if facts.brought or _in_hand(facts) is None else _in_hand(facts) or facts.answer


def needs_memory(facts: PointFacts) -> bool:
    """Return whether the closed-book answer decides between two causes."""
    cause = find_cause(facts, "")
    undecided = (cause.cause, cause.component) == ("cannot tell", "model + prompt")
    return undecided and facts.point.lost and observed(facts).supported is False


def _in_hand(facts: PointFacts) -> KnownAnswer | None:
    """Return the answer with the relevant passages in hand, if the judge has told whether it is right."""
    return facts.gold if facts.gold is not None and facts.gold.right is not None else None


def _unanswerable(facts: PointFacts) -> Assigned | None:
    if facts.point.answerable:
        return None
    reason = f"The documents do not answer this question, but the system did: {_quoted(facts.answer)}."
    return Assigned("answered though unanswerable", "model + prompt", reason)


def _stale(facts: PointFacts) -> Assigned | None:
    if not facts.point.lost or not facts.stale:
        return None
    return Assigned("stale evidence", "dataset", facts.stale)


def _reference(facts: PointFacts) -> Assigned | None:
    if not facts.point.lost or facts.reference is not False:
        return None
    gold, where = _in_hand(facts), _documents(facts)
    words = facts.answer.lacking is not None
    lacks = "lacks words or numbers of" if words else "does not support"
    if gold is None:
        if not (facts.brought and facts.answer.supported):
            return None
        share = "Most" if facts.answer.lacking else "All"
        keeps = f"{share} of the answer's words are in" if words else "The answer keeps to"
        reason = f"{keeps} what was retrieved, including {where}, which {lacks} the reference."
        return Assigned("reference doubtful", "dataset", reason)
    if gold.right or (gold.supported is False and not gold.refused):
        return None
    instead = "the model finds no answer there" if gold.refused else f"they say {_quoted(gold)}"
    lack = "lack words or numbers of" if words else "do not support"
    reason = f"The passages of {where} {lack} the reference; {instead}."
    return Assigned("reference doubtful", "dataset", reason)


def _judge(facts: PointFacts) -> Assigned | None:
    if not facts.point.doubted:
        return None
    judge, second = ("takes", "gives") if facts.point.lost else ("gives", "takes")
    other = f"people {second[:-1]}" if facts.second == "people" else f"{facts.second} {second}"
    reason = f"The judge {judge} this point, and {other} it: {_quoted(facts.answer)}."
    return Assigned("judge doubtful", "judge", reason)


def _steps(facts: PointFacts) -> Assigned | None:
    """Return what an agent's steps show: the first departure from those that were expected, if any were.

    What tools brought, or failed to bring, counts only where the relevant document was not among the
    contexts: else the other rules tell what became of it.
    """
    steps = facts.steps
    if steps is None:
        return None
    if steps.departure is not None:
        return _of_step(steps.departure)
    if facts.brought:
        return None
    if steps.holds:
        reason = f"{steps.brought}, which holds the reference; the answer does not: {_quoted(facts.answer)}."
        return Assigned("right result ignored", "model + prompt", reason)
    if steps.failed is not None:
        return _of_step(steps.failed)
    if facts.brought is False or _in_hand(facts) is not None:
        return None
    taken = "No expected call is missing or failed" if steps.expected else "No call failed"
    held = "no result contains" if steps.holds is False else "it is unknown whether a result contains"
    return Assigned("cannot tell", "cannot tell", f"{taken}, and {held} the reference.")


def _of_step(fault: StepFault) -> Assigned:
    components: dict[Cause, Component] = {"tool failed": "tools", "expected steps doubtful": "dataset"}
    return Assigned(fault.cause, components.get(fault.cause, "model + prompt"), fault.because)


def _unclear(facts: PointFacts) -> Assigned | None:
    """Return that nobody can tell, unless the right passages gave the answer, or the contexts held it."""
    gold = _in_hand(facts)
    if not facts.point.lost or not facts.unclear or facts.brought or (gold is not None and gold.right):
        return None
    reason = f"{facts.unclear} Whether the documents still hold the answer is unknown."
    return Assigned("cannot tell", "cannot tell", reason)


def _retrieval(facts: PointFacts) -> Assigned | None:
    gold, where = _in_hand(facts), _documents(facts)
    if facts.brought or (gold is not None and not gold.right):
        return None
    if facts.brought is None:
        known = f"Given {where}, the answer is right, but" if gold else "No model was asked again, and"
        reason = f"{known} it is unknown whether a relevant document was among the contexts."
        return Assigned("cannot tell", "cannot tell", reason)
    ending = (
        f"given that document, the answer is right: {_quoted(gold)}"
        if gold
        else "no model was asked again with that document"
    )
    return Assigned("not retrieved", "retriever", f"{_missing(facts)}; {ending}.")


def _refusal(facts: PointFacts) -> Assigned | None:
    if not observed(facts).refused:
        return None
    had = _had(facts) if facts.brought else _still(facts)
    reason = f"{had}, but the answer refuses: {_quoted(observed(facts))}."
    return Assigned("refused though answerable", "model + prompt", reason)


def _use(facts: PointFacts) -> Assigned:
    seen = observed(facts)
    had = _had(facts) if facts.brought else _still(facts)
    passages = "the contexts" if seen is facts.answer else "what it was given"
    if seen.supported:
        share = "most" if seen.lacking else "all"
        of_words = f"the answer is wrong, though {share} of its words are in {passages}"
        keeps = of_words if seen.lacking is not None else f"the answer keeps to {passages} but is wrong"
        reason = f"{had}; {keeps}: {_quoted(seen)}."
        return Assigned("retrieved but not used", "model + prompt", reason)
    if seen.supported is None:
        reason = f"{had}, but the answer is wrong: {_quoted(seen)}. It is unknown what it is based on."
        return Assigned("cannot tell", "model + prompt", reason)
    if seen.lacking:
        beyond = f"{had}; the answer {_quoted(seen)} has words that are not in {passages} ({seen.lacking})"
    elif seen is facts.answer:
        beyond = f"{had}; the contexts do not support the answer {_quoted(seen)}"
    else:
        beyond = f"{had} and goes beyond {passages}: {_quoted(seen)}"
    if facts.same is None:
        reason = f"{beyond}. Whether it is from memory or invented was not tested."
        return Assigned("cannot tell", "model + prompt", reason)
    if facts.same:
        return Assigned(
            "answered from memory",
            "model + prompt",
            f"{beyond}, which the model also gives without any contexts.",
        )
    reason = f"{beyond}; without any contexts it says “{short(facts.memory or '')}”."
    return Assigned("invented", "model + prompt", reason)


def _had(facts: PointFacts) -> str:
    """Return what the contexts had of the answer, in words."""
    if facts.found:
        return f"{_capital(_documents(facts))} was among the contexts"
    beside = f", though not from {_documents(facts)}" if facts.relevant else ""
    return f"The contexts contain the reference{beside}"


def _missing(facts: PointFacts) -> str:
    """Return what the contexts lacked of the answer, in words."""
    where, held = _capital(_documents(facts)), facts.held
    if not facts.found or held is None:
        return f"{where} was not among the contexts"
    if held.by == "evidence":
        return f"A part of {_documents(facts)} was among the contexts, but not the one with the evidence"
    if held.by == "reference":
        return (
            f"A part of {_documents(facts)} was among the contexts, but not one that contains the reference"
        )
    return (
        f"A part of {_documents(facts)} was among the contexts, which have {percent(held.in_contexts)} of "
        f"the reference's words; the whole document has {percent(held.in_document)}"
    )


def _still(facts: PointFacts) -> str:
    if facts.brought is None:
        return "Given the right passages, the answer is still wrong"
    return f"{_missing(facts)}; given that document, the answer is still wrong"


def _documents(facts: PointFacts) -> str:
    """Return the relevant documents in words."""
    if not facts.relevant:
        return "the relevant document"
    more = len(facts.relevant) - 1
    return f"document {facts.relevant[0]}" + (f" (or one of {more} others)" if more else "")


def _quoted(answer: KnownAnswer) -> str:
    return f"“{short(answer.text)}”" if answer.text.strip() else "nothing"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
