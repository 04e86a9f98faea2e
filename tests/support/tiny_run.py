"""A tiny run that has one of everything: every kind of row, several statuses, right-to-left text."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.support.plain_rows import judgement_row

from ragstone.kernel.agreement.card import Baseline, ReportCard
from ragstone.kernel.judging.summary import MetricSummary, summarise
from ragstone.kernel.records import (
    Answer,
    Context,
    Document,
    Evidence,
    Judgement,
    Question,
    Ranking,
    RankingItem,
    Usage,
    Verdict,
)
from ragstone.kernel.retrieval.evaluate import evaluate_rankings
from ragstone.kernel.runs.breakdown import FoundAndRight
from ragstone.kernel.runs.summary import Calls, RunSummary
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.tables import write_rows

MODEL = "openai/gpt-4o-mini"

DOCUMENTS = [
    Document(id="wheat", title="Wheat", text="Rust is treated with fungicide. Sow in October."),
    Document(id="maize", title="Maize", text="Maize needs water most at flowering."),
    Document(id="soil", text="Test the soil each third year."),
]
QUESTIONS = [
    Question(
        id="q1",
        question="How is rust treated?",
        reference="with fungicide",
        document_ids=["wheat"],
        evidence=[Evidence(document_id="wheat", start=0, end=31)],
        tags={"crop": "wheat"},
    ),
    Question(
        id="q2", question="متى يحتاج الذرة إلى الماء؟", reference=["عند الإزهار"], document_ids=["maize"]
    ),
    Question(id="q3", question="Who won the cup?", answerable=False),
    Question(id="q4 & 5", question="When is wheat sown?", reference="October", document_ids=["wheat"]),
]


def _ranking(question_id: str, *documents: str) -> Ranking:
    items = [RankingItem(document_id=name, score=2.5 - place) for place, name in enumerate(documents)]
    return Ranking(question_id=question_id, retriever="bm25", items=items)


RANKINGS = [
    _ranking("q1", "wheat", "soil"),
    _ranking("q2", "soil", "maize"),
    _ranking("q3", "soil", "wheat"),
    _ranking("q4 & 5", "soil", "maize"),
]


def _answer(question_id: str, answer: str, *documents: str) -> Answer:
    texts = {document.id: document.text for document in DOCUMENTS}
    contexts = [Context(text=texts[name], document_id=name, score=1.0) for name in documents]
    return Answer(question_id=question_id, system="rag", answer=answer, contexts=contexts, latency_s=0.25)


ANSWERS = [
    _answer("q1", "With fungicide.", "wheat", "soil"),
    _answer("q2", "عند الإزهار", "soil", "maize"),
    _answer("q3", "I do not know.", "soil"),
    Answer(question_id="q4 & 5", system="rag", answer="", contexts=[], error="HTTP 503"),
]


def judgement(question_id: str, judge: str, score: float | None, **fields: object) -> Judgement:
    """Return a judgement; `status` among the fields says why there is no score."""
    model = "none" if judge == "containment" else MODEL
    named = {"system": "rag", "judge": judge, "metric": judge, "model": model, "scale": (0, 1)}
    return judgement_row(question_id=question_id, score=score, **{**named, **fields})  # type: ignore[arg-type]


VERDICTS = [
    Verdict(id=1, statement="Fungicide treats rust.", supported=True, reason="Context 1 says so."),
    Verdict(id=2, statement="It is cheap.", supported=False, reason="No context says so."),
]
JUDGEMENTS = [
    judgement("q1", "correctness", 1, rationale="Same point as the reference."),
    judgement("q2", "correctness", 0, rationale="Another point than the reference."),
    judgement("q3", "correctness", None, status="not_applicable"),
    judgement("q4 & 5", "correctness", None, status="app_error"),
    judgement("q1", "faithfulness", 0.5, verdicts=VERDICTS),
    judgement("q2", "faithfulness", None, status="unparsable", error="no JSON object in the reply"),
    judgement("q3", "faithfulness", None, status="timeout"),
    judgement("q4 & 5", "faithfulness", None, status="app_error"),
    judgement("q1", "containment", 1),
    judgement("q2", "containment", 1),
    judgement("q3", "containment", None, status="not_applicable"),
    judgement("q4 & 5", "containment", None, status="app_error"),
]


def interval(value: float, low: float, high: float, n: int) -> Estimate:
    """Return an estimate with this interval."""
    return Estimate(value=value, low=low, high=high, n=n, method="bootstrap")


def card(better: bool | None, judge: str = "correctness") -> ReportCard:
    """Return a report card on 40 labels, of which the judge met 30 and a constant answer 28."""
    constant = Baseline(
        name="always right",
        n=40,
        exact_agreement=interval(0.7, 0.55, 0.82, 40),
        judge=0.75,
        difference=interval(0.05, -0.1, 0.2, 40),
        better=better,
    )
    return ReportCard(
        judge=judge,
        metric=judge,
        model=MODEL,
        prompt_version=1,
        n=40,
        statuses={"scored": 40, "timeout": 2},
        n_unlabelled=3,
        n_tied=1,
        n_unjudged=0,
        scale=(0, 1),
        threshold=None,
        agreement={"exact agreement": interval(0.75, 0.6, 0.86, 40), "kappa": interval(-0.1, -0.3, 0.1, 40)},
        categories=[0.0, 1.0],
        confusion=[[4, 8], [2, 26]],
        constant=constant,
        no_model=None,
        humans=None,
        by_system=[],
        better_than_baseline=better,
        verdict="What the card says in words.",
        notes=["1 answer was left out, on which annotators tied."],
    )


def summary_of(judgements: list[Judgement]) -> RunSummary:
    """Return the summary of a run with these judgements and nothing else."""
    metrics: list[MetricSummary] = summarise(judgements)
    return RunSummary(
        name="Wheat and maize",
        version="0.1.0",
        models={"answer": MODEL, "judge": MODEL},
        counts={"answers": len(ANSWERS), "judgements": len(judgements)},
        retrieval=[],
        metrics=metrics,
        cards=[],
        calls=Calls(),
        notes=[],
    )


@pytest.fixture
def summary() -> RunSummary:
    """Return the summary of the tiny run."""
    return msgspec.structs.replace(
        summary_of(JUDGEMENTS),
        counts={"documents": 3, "questions": 4, "rankings": 4, "answers": 4, "judgements": 12},
        retrieval=[evaluate_rankings(RANKINGS, QUESTIONS)],
        blame=[
            FoundAndRight(
                system="rag",
                judge="correctness",
                metric="correctness",
                model=MODEL,
                found_right=1,
                found_wrong=1,
                missed_right=0,
                missed_wrong=0,
                n_left_out=2,
            )
        ],
        calls=Calls(
            made=6,
            from_ledger=2,
            failed={"timeout": 1},
            usage=Usage(input=12000, output=800, cached=3000, calls=8),
        ),
        notes=["1 answer is missing because the application failed; see `app_error`."],
    )


WriteRun = Callable[..., Path]


@pytest.fixture
def write_run(tmp_path: Path, summary: RunSummary) -> WriteRun:
    """Give a function that writes the tiny run, with some files replaced or (None) left out."""

    def write(**changed: object) -> Path:
        folder = tmp_path / "run"
        folder.mkdir(exist_ok=True)
        rows = {
            "documents": (DOCUMENTS, Document),
            "questions": (QUESTIONS, Question),
            "rankings": (RANKINGS, Ranking),
            "answers": (ANSWERS, Answer),
            "judgements": (JUDGEMENTS, Judgement),
        }
        for name, (given, row_type) in rows.items():
            kept = changed.get(name, given)
            if kept is not None:
                write_rows(folder / f"{name}.jsonl", kept, row_type, force=True)  # type: ignore[arg-type]
        written = changed.get("summary", summary)
        if written is not None:
            (folder / "summary.json").write_bytes(msgspec.json.encode(written))
        manifest = {"seed": 0, "data": {"questions": "blake2b:12ab"}}
        (folder / "manifest.json").write_bytes(msgspec.json.encode(manifest))
        return folder

    return write
