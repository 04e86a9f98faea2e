"""A small set under review, and its decisions."""

import itertools

from ragstone.features.review.applying import quote
from ragstone.features.review.decisions import Decision, Quoted, Values, digest_of
from ragstone.kernel.records import Document, Evidence, Question

RUST = "Rust 🌾 is treated with fungicide. Sow wheat in October. Reap in July."
MAIS = "मक्का अप्रैल में बोया जाता है। कटाई सितंबर में होती है।"
DOCUMENTS = [Document(id="d1", text=RUST, lang="en"), Document(id="d2", text=MAIS, lang="hi")]
TEXTS = {one.id: one.text for one in DOCUMENTS}


def span(document_id: str, words: str) -> Evidence:
    """Return where words stand in a document."""
    start = TEXTS[document_id].index(words)
    return Evidence(document_id=document_id, start=start, end=start + len(words))


def quoted(document_id: str, words: str) -> Quoted:
    """Return evidence with its words."""
    return quote([span(document_id, words)], TEXTS.get)[0]  # type: ignore[index]


TREATED = "treated with fungicide"
QUESTIONS = [
    Question(
        id="d1#1",
        question="How is rust treated?",
        reference="with fungicide",
        evidence=[span("d1", TREATED)],
        document_ids=["d1"],
        lang="en",
        scores={"groundedness": 5.0, "relevance": 4.0},
    ),
    Question(
        id="d1#2",
        question="When is wheat sown?",
        reference="in October",
        evidence=[span("d1", "Sow wheat in October")],
        document_ids=["d1"],
        lang="en",
        scores={"groundedness": 5.0, "relevance": 2.0},
        metadata={"lost": {"step": "criticise", "reason": "low_score", "detail": "relevance 2 < 4: dull"}},
    ),
    Question(
        id="d2#1",
        question="मक्का कब बोया जाता है?",
        reference="अप्रैल में",
        evidence=[span("d2", "अप्रैल में बोया जाता है")],
        document_ids=["d2"],
        lang="hi",
        scores={"groundedness": 4.0, "relevance": 5.0},
    ),
]
BY_ID = {one.id: one for one in QUESTIONS}

_numbers = itertools.count(1)


def decide(name: str, decision: str, person: str = "ana", now: Question | None = None, **given) -> Decision:
    """Return a decision on one of the questions as it stands `now`, with the evidence that was shown."""
    now = now or BY_ID[name]
    shown = {}
    if decision != "undo":
        shown = {"seen": digest_of(now)}
        if "evidence" not in given:
            shown["evidence"] = quote(now.evidence, TEXTS.get)
    return Decision(
        id=given.pop("id", f"id-{next(_numbers)}"),
        question_id=name,
        decision=decision,
        person=person,
        **{**shown, **given},
    )


def edit(name: str, person: str = "ana", now: Question | None = None, **after) -> Decision:
    """Return an edit of these fields; evidence is given as Quoted."""
    now = now or BY_ID[name]
    spans = dict(after)
    quoted_after = quote(now.evidence, TEXTS.get)
    if "evidence" in after:
        quoted_after = after["evidence"]
        spans["evidence"] = [one.span() for one in quoted_after] if quoted_after else None
    before = Values(**{field: getattr(now, field) for field in after})
    return decide(name, "edit", person, now, before=before, after=Values(**spans), evidence=quoted_after)
