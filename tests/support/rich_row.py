"""A run whose first row has all that a page of a row shows: systems, turns, tools, calls, labels, notes."""

import gzip
from pathlib import Path

import msgspec

from ragstone.kernel.judging import summarise
from ragstone.kernel.llm.prompt import Message
from ragstone.kernel.records import (
    NO_MODEL,
    Answer,
    Context,
    Document,
    Evidence,
    Judgement,
    Label,
    Question,
    Status,
    Step,
    Turn,
    Usage,
    Verdict,
)
from ragstone.kernel.runs.asked import CALLS_FILE, AskedCall
from ragstone.kernel.runs.notes import NOTES, Note
from ragstone.kernel.stages.notes import judgements_alone
from ragstone.kernel.tables import write_rows

MODEL = "openai/gpt-4o-mini"
TEXT = (
    "Maize is most sensitive to lack of water in the two weeks around flowering. In these weeks it uses up "
    "to 8 mm a day. A field of medium soil holds 120 mm that plants can reach, so without rain it is empty "
    "after fifteen days. Irrigate before half of it is used. Later, when the grains are "
    "dented, water no longer pays."
)
DOCUMENTS = [
    Document(id="water", title="Water for maize", text=TEXT),
    Document(
        id="soil", title="Soil tests", text="Test the soil each third year, in autumn, before it is limed."
    ),
]
EVIDENCE = "Irrigate before half of it is used."
QUESTIONS = [
    Question(
        id="q 1/a",
        question="When should maize on a medium soil be irrigated, and how much water does it use at "
        "flowering?",
        reference="Before half of the reachable 120 mm are used; up to 8 mm a day at flowering.",
        document_ids=["water"],
        evidence=[
            Evidence(
                document_id="water", start=TEXT.index(EVIDENCE), end=TEXT.index(EVIDENCE) + len(EVIDENCE)
            )
        ],
        tags={"crop": "maize", "month": "July"},
    ),
    *(
        Question(
            id=f"q{at}",
            question=f"How is field {at} tested?",
            reference="each third year",
            document_ids=["soil"],
        )
        for at in range(2, 7)
    ),
]
SYSTEMS = {
    "hybrid": "Irrigate before half of the 120 mm that the soil holds is used. At flowering, maize uses up "
    "to 8 mm a day.",
    "bm25": "Irrigate when half of the 120 mm that the soil holds is used. At flowering, maize uses about "
    "12 mm a day. Sow early.",
    "agent": "Irrigate before half of the 120 mm that the soil holds is used; it uses up to 8 mm a day at "
    "flowering.",
}
STEPS = [
    Step(
        tool="weather",
        arguments={
            "place": "Nakuru",
            "days": 10,
            "units": "metric",
            "fields": ["rain", "evaporation"],
            "source": "open-meteo",
        },
        result='{"rain_mm": [0, 2, 0, 0, 0, 1, 0, 0, 0], "evaporation_mm": [6, 6, 5, 7, 7, 6, 6, 7, 7, 8]}',
        seconds=0.42,
        thought="I need the rain of the next days.",
    ),
    Step(tool="soil_map", arguments={"place": "Nakuru"}, error="HTTP 503: the map is down", seconds=2.0),
]
CONTEXTS = [Context(text=row.text, document_id=row.id, score=2.0 - at) for at, row in enumerate(DOCUMENTS)]


def _answers() -> list[Answer]:
    first = [
        Answer(
            question_id="q 1/a",
            system=system,
            answer=text,
            contexts=CONTEXTS,
            latency_s=0.8 + at,
            cost_usd=0.0004 * (at + 1),
            usage=Usage(input=900, output=60),
            steps=STEPS if system == "agent" else None,
            turns=[
                Turn(role="user", content="I grow maize near Nakuru."),
                Turn(role="assistant", content="Good. What do you want to know?"),
                Turn(role="user", content=QUESTIONS[0].question),
                Turn(role="assistant", content="", tool_calls=STEPS),
                Turn(role="assistant", content=text, contexts=CONTEXTS[:1]),
            ]
            if system == "agent"
            else None,
        )
        for at, (system, text) in enumerate(SYSTEMS.items())
    ]
    return first + [
        Answer(question_id=row.id, system=system, answer="Each third year.", contexts=CONTEXTS[1:])
        for row in QUESTIONS[1:]
        for system in SYSTEMS
    ]


ANSWERS = _answers()


def _judged(row: Answer, judge: str, metric: str, score: float | None, **more: object) -> Judgement:
    status: Status = "scored" if score is not None else "unparsable"
    return Judgement(
        question_id=row.question_id,
        system=row.system,
        judge=judge,
        metric=metric,
        model=MODEL if judge != "containment" else NO_MODEL,
        prompt_version=1,
        status=status,
        score=score,
        **more,  # type: ignore[arg-type]
    )


def judgements(rows: list[Answer]) -> list[Judgement]:
    """Return three judgements an answer: a grade with its reason, one by statements, and a baseline."""
    made = []
    for at, row in enumerate(rows):
        wrong = row.system == "bm25" and row.question_id == "q 1/a"
        statements = [part.strip() for part in row.answer.split(".") if part.strip()]
        verdicts = [
            Verdict(
                id=number,
                statement=f"{statement}.",
                supported=not (wrong and number > 1),
                context=1 if not (wrong and number > 1) else None,
                reason="The contexts say up to 8 mm a day." if wrong and number > 1 else None,
            )
            for number, statement in enumerate(statements, 1)
        ]
        reason = (
            "It says when half is used, not before, and 12 mm in place of 8."
            if wrong
            else "Both parts are right."
        )
        made += [
            _judged(row, "grade", "correctness", 2 if wrong else 5 - at % 2, scale=(1, 5), rationale=reason),
            _judged(row, "support", "faithfulness", 1 / 3 if wrong else 1, scale=(0, 1), verdicts=verdicts),
            _judged(row, "containment", "correctness", 0.4 if wrong else 0.9, scale=(0, 1)),
        ]
    made[1] = _judged(
        rows[0], "support", "faithfulness", None, scale=(0, 1), error="the reply was cut off at 256 tokens"
    )
    return made


def write_rich_run(project: Path, name: str = "rich") -> Path:
    """Write the run into a project's folder runs, with its calls, a note, and labels of two people."""
    folder = project / "runs" / name
    folder.mkdir(parents=True)
    rows = judgements(ANSWERS)
    write_rows(folder / "documents.jsonl", DOCUMENTS, Document)
    write_rows(folder / "questions.jsonl", QUESTIONS, Question)
    write_rows(folder / "answers.jsonl", ANSWERS, Answer)
    write_rows(folder / "judgements.jsonl", rows, Judgement)
    summary = judgements_alone(name, summarise(rows), [])
    (folder / "summary.json").write_bytes(msgspec.json.encode(summary))
    write_calls(folder, [row for row in ANSWERS if row.question_id == "q 1/a"])
    note = Note(
        id="5f2a9c01b3de",
        question_id="q 1/a",
        text="12 mm is of cotton.",
        author="ann",
        at="2026-11-20T10:00:00Z",
        system="bm25",
        tags=["wrong number"],
    )
    (folder / NOTES).write_bytes(msgspec.json.encode(note) + b"\n")
    labels = project / "labels"
    labels.mkdir(exist_ok=True)
    write_rows(labels / "sheet.jsonl", list(people()), Label)
    return folder


def people() -> list[Label]:
    """Return labels: two of answers of the run, one of an answer that the system no longer gives."""
    own = {"question_id": "q 1/a", "metric": "correctness"}
    carried = {"answer": SYSTEMS["bm25"]}
    return [
        Label(
            **own, system="bm25", score=2, annotator="ben", rationale="The number is wrong.", metadata=carried
        ),  # type: ignore[arg-type]
        Label(**own, system="hybrid", score=5, annotator="ann"),  # type: ignore[arg-type]
        Label(**own, system="agent", score=1, annotator="eve", metadata={"answer": "I do not know."}),  # type: ignore[arg-type]
    ]


def write_calls(folder: Path, answers: list[Answer]) -> None:
    """Write what was asked of models for some answers."""
    with gzip.open(folder / CALLS_FILE, "wb") as file:
        for row in answers:
            asked = (
                Message("system", "Answer from the passages alone."),
                Message("user", f"[1] {TEXT}\n\nQuestion: {QUESTIONS[0].question}"),
                Message("assistant", row.answer),
            )
            call = AskedCall(question_id=row.question_id, systems=[row.system], model=MODEL, messages=asked)
            file.write(msgspec.json.encode(call) + b"\n")
