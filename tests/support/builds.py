"""A build of ten candidates that tests count by hand, and parts to make others of."""

import msgspec

from ragstone.features.build._built import Built
from ragstone.features.build.certificate.funnel import share_of
from ragstone.kernel.config import BuildSection
from ragstone.kernel.dataset.candidate import Candidate, Loss, SourcePassage
from ragstone.kernel.dataset.certificate import CriticMeasured
from ragstone.kernel.records import Evidence, Question, Usage

TEXTS = {
    "d1": "Rust is treated with fungicide. Sow wheat in October, and test the soil each year. Reap in July.",
    "d2": "Der Mais braucht zur Blüte am meisten Wasser. Man sät ihn im April, wenn der Boden warm ist.",
    "d4": "The barn is red.",
}


def passage(document_id: str, start: int = 0, end: int | None = None) -> SourcePassage:
    """Return a passage of one of the documents."""
    text = TEXTS[document_id]
    end = len(text) if end is None else end
    topic = {"d1": "wheat", "d2": "maize"}.get(document_id)
    return SourcePassage(
        document_id=document_id,
        start=start,
        end=end,
        text=text[start:end],
        title=document_id.upper(),
        lang="de" if document_id == "d2" else "en",
        topic=topic,
        document_length=len(text),
    )


def candidate(
    name: str,
    question: str,
    reference: str | None = "an answer",
    *,
    of: SourcePassage | None = None,
    span: tuple[int, int] | None = None,
    lost: str | None = None,
    detail: str | None = None,
    scores: dict[str, float] | None = None,
    tags: dict[str, str] | None = None,
    metadata: dict[str, object] | None = None,
    answerable: bool | None = None,
    kind: str = "open",
) -> Candidate:
    """Return a candidate of the document that its name begins with; span: of its evidence in the document."""
    document_id = name.partition("#")[0]
    source = of or passage(document_id)
    row = Question(
        id=name,
        question=question,
        reference=reference,
        evidence=[Evidence(document_id=document_id, start=span[0], end=span[1])] if span else None,
        document_ids=None if answerable is False else [document_id],
        answerable=answerable,
        kind=kind,  # type: ignore[arg-type]
        lang=source.lang,
        tags=tags or {"style": "factoid"},
        scores=scores,
        metadata=metadata,
    )
    return Candidate(
        question=row, passages=(source,), loss=Loss(reason=lost, detail=detail) if lost else None
    )


def scored(groundedness: float, relevance: float) -> dict[str, float]:
    """Return the scores of two critics."""
    return {"groundedness": groundedness, "relevance": relevance}


KNOWN = {"style": "factoid", "closed_book": "known"}
UNKNOWN = {"style": "factoid", "closed_book": "unknown"}
EXACT, FUZZY = {"evidence_found": "exact"}, {"evidence_found": "fuzzy"}
REASONS = {"rationales": {"groundedness": "The first sentence says so.", "relevance": "Farmers ask this."}}

TEN = [
    candidate(
        "d1#1",
        "How is rust treated?",
        "with fungicide",
        span=(0, 31),
        scores=scored(5, 4),
        tags=UNKNOWN,
        metadata={**EXACT, **REASONS, "closed_book": {"answer": "I do not know", "correct": False}},
    ),
    candidate(
        "d1#2",
        "In which month is it reaped?",
        "July",
        span=(83, 96),
        scores=scored(4, 4),
        tags=KNOWN,
        metadata={**EXACT, "closed_book": {"answer": "July", "correct": True, "guessable": True}},
    ),
    candidate("d1#3", "Why?", lost="low_score", detail="groundedness 3, less than 4", scores=scored(3, 5)),
    candidate("d1#4", "How is rust to be treated?", lost="near_duplicate", detail="d1#1"),
    candidate(
        "d2#1",
        "Wann braucht Mais Wasser?",
        "zur Blüte",
        of=passage("d2", 0, 45),
        span=(38, 44),
        scores=scored(5, 5),
        tags={"style": "bloom", "level": "remember"},
        metadata={**FUZZY, "closed_book": {"status": "timeout", "error": "no reply in 60 s"}},
    ),
    candidate("d2#2", "Wie warm?", lost="no_evidence", detail="“im Mai”"),
    candidate("d2#3", "When is it sown?", lost="wrong_language", detail="en, not de"),
    candidate(
        "d2#4", "Was wächst?", lost="low_score", detail="relevance 2, less than 4", scores=scored(4, 2)
    ),
    candidate(
        "d2#5",
        "Wie viel Dünger braucht Mais?",
        None,
        scores=scored(5, 4),
        tags={"style": "negative"},
        answerable=False,
        metadata={"wrong_answer": "im April", "tempting": {"document_id": "d2", "start": 46, "end": 66}},
    ),
    candidate("d1#5", "When is wheat sown?", "October", lost="beyond_count", scores=scored(5, 5)),
]

FAILED = [
    Loss(reason="call_failed", detail="timeout: no reply in 60 s"),
    Loss(reason="call_failed", detail="unparsable: no JSON object"),
]


def measured(
    critic: str, kind: str | None, caught: tuple[int, int], rejected: tuple[int, int]
) -> CriticMeasured:
    """Return a measurement: caught of the defects, rejected of the sound questions."""
    return CriticMeasured(
        critic=critic,
        kind=kind,  # type: ignore[arg-type]
        n_caught=caught[0],
        n_defects=caught[1],
        n_rejected=rejected[0],
        n_sound=rejected[1],
        recall=share_of(*caught),
        precision=share_of(caught[0], caught[0] + rejected[0]),
    )


MEASURED = [
    measured("filter", None, (18, 20), (2, 20)),
    measured("filter", "wrong_answer", (10, 10), (1, 10)),
    measured("filter", "trivial", (8, 10), (1, 10)),
    measured("groundedness", None, (10, 20), (0, 20)),
    measured("groundedness", "wrong_answer", (10, 10), (0, 10)),
    measured("groundedness", "trivial", (0, 10), (0, 10)),
]


def build_of(candidates: list[Candidate], /, **changed: object) -> Built:
    """Return a build that wrote these candidates, of four documents: one is empty, one gave no question."""
    built = Built(
        kind="questions",
        declared=BuildSection(
            model="openai/gpt-4o-mini",
            audience="farmers",
            styles=["factoid", "bloom"],
            levels=["remember"],
            critics=["groundedness", "relevance"],
            count=6,
            closed_book="tag",
            negatives=1,
        ),
        seed=7,
        models={"writer": "openai/gpt-4o-mini", "critic": "openai/gpt-4o"},
        document_ids=["d1", "d2", "d3", "d4"],
        empty=["d3"],
        split=["d2"],
        passages=[passage("d1"), passage("d2", 0, 45), passage("d2", 46), passage("d4")],
        n_asked=12,
        candidates=candidates,
        failed=FAILED,
        critics=MEASURED,
        usage=Usage(input=12_000, output=900, calls=30),
        cost_usd=0.0125,
    )
    return msgspec.structs.replace(built, **changed)


def ten() -> Built:
    """Return the build of the ten."""
    return build_of(TEN)


def facts() -> Built:
    """Return a build of five facts: two true ones and one false one accepted, two lost."""
    rows = [
        candidate(
            "d1#1", "Rust is treated with fungicide.", "true", kind="true_false", tags={"fact": "true"}
        ),
        candidate("d1#2", "Wheat is sown in October.", "true", kind="true_false", tags={"fact": "true"}),
        candidate(
            "d1#3",
            "Wheat is sown in June.",
            "false",
            kind="true_false",
            tags={"fact": "false", "change": "number"},
        ),
        candidate(
            "d1#4",
            "Wheat is not sown.",
            "false",
            kind="true_false",
            tags={"fact": "false", "change": "negation"},
            lost="unchanged",
        ),
        candidate("d2#1", "", "true", kind="true_false", tags={"fact": "true"}, lost="empty"),
    ]
    declared = msgspec.convert({"facts": {"falsify": ["number", "negation"]}}, BuildSection)
    return build_of(rows, kind="facts", declared=declared, critics=[], failed=[], n_asked=6)
