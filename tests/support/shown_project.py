"""A project with a bit of everything, the same on every machine: what the pictures of the workbench show.

Two runs of the starter's questions by a scripted model, with a prompt each, and the demo's run, which asks no
model; a queue that one person has labelled in part; report cards; traces of an assistant; a monitor of six
weeks. Nothing in it tells the time at which it was made.
"""

import json
import os
import shutil
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock
from zlib import crc32

import msgspec
from tests.support.fake_openai import serving
from tests.support.monitor_store import fill, row
from tests.support.scripts import Body, fenced, fit_schema, prompt_of
from tests.support.spans import as_protobuf, request, span
from tests.support.workbench import Client, create_workbench, opened

import ragstone
from ragstone.features.new import copy_starter
from ragstone.features.run.pipeline import run
from ragstone.kernel.config import Settings, load_settings
from ragstone.kernel.llm import _openai
from ragstone.kernel.records import Label
from ragstone.kernel.tables import write_rows

MODEL = "openai/gpt-4o-mini"
NOW = 1_795_000_000.0  # 18 November 2026
N = 40
DEMO, BEFORE, LAST = "starter", "gpt-4o-mini bare", "gpt-4o-mini strict"
QUEUE = "first"
SHOWN_TRACE = "5b8efff798038103d269b63381300000"
ENDPOINT = "llm.example.org/v1"  # in place of the address of the scripted model, which is another each time
JUDGES = ["correctness", "faithfulness", "relevance", "right", "no_refusal"]
TO_NOWHERE = "I cannot find that in the sources."


def now() -> float:
    """The clock of its workbench."""
    return NOW


def shown_project(folder: Path) -> Settings:
    """Write the project, and return its settings."""
    copy_starter(folder, None)
    every = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    rows = [question for question in every if question.get("reference")][:N]
    for at, question in enumerate(rows):
        question["tags"] = {"topic": ("nitrogen", "irrigation", "soil", "maize")[at % 4]}
    (folder / "questions.jsonl").write_text("".join(f"{json.dumps(question)}\n" for question in rows))
    with (
        serving() as fake,
        mock.patch.object(_openai, "time", SimpleNamespace(perf_counter=_clock())),
        mock.patch.dict(os.environ, {"OPENAI_API_KEY": "of-nobody"}),
    ):
        fake.script = _Model(rows)
        own = (folder / "ragstone.toml").read_text()
        (folder / "ragstone.toml").write_text(
            f'{own}\n[workbench]\nannotator = "Ana"\n{fake.toml(MODEL)}max_concurrency = 1\n'
            "price_usd_per_million = { input = 0.15, output = 0.60, cached = 0.075 }\n"
        )
        settings = load_settings(folder / "ragstone.toml")
        run(settings)
        for name, prompt, k in ((BEFORE, "bare", 3), (LAST, "strict", 5)):
            replaced = msgspec.structs.replace
            run(
                replaced(
                    settings,
                    run=replaced(settings.run, name=name),
                    retrieve=replaced(settings.retrieve, k=k),
                    answer=replaced(settings.answer, system=None, prompt=prompt, model=MODEL),
                    judge=replaced(settings.judge, judges=JUDGES, model=MODEL),
                )
            )
    endpoint = fake.base_url.removeprefix("http://")
    texts = [
        file for file in (folder / "runs").rglob("*") if file.suffix in (".json", ".jsonl", ".md", ".html")
    ]
    for file in (folder / "ragstone.toml", *texts):
        text = file.read_text("utf-8")
        file.write_text(
            text.replace(f"http://{endpoint}", f"https://{ENDPOINT}").replace(endpoint, ENDPOINT), "utf-8"
        )
    settings = load_settings(folder / "ragstone.toml")
    for at, name in enumerate((DEMO, BEFORE, LAST)):
        for file in (folder / "runs" / name).iterdir():
            os.utime(file, (NOW - 86_400 * (3 - at), NOW - 86_400 * (3 - at)))
    _write_cards(folder)
    _write_traces(folder, rows)
    _write_monitor(folder, rows)
    return settings


def label_some(client: Client, folder: Path) -> None:
    """Make the queue QUEUE of the first run, and label half of it."""
    form = {"name": QUEUE, "run": f"0/{LAST}", "judge": "correctness|correctness", "by": "random"}
    made = client.post("/workbench/label/new", json={**form, "n": 12}, headers={"Accept": "application/json"})
    assert made.status_code == 200, made.text
    queue = (f"/workbench/label/{QUEUE}/items/{at}" for at in range(12))
    items = [client.get(path, headers={"Accept": "application/json"}).json() for path in queue]
    answers = ragstone.read_run(folder / "runs" / LAST).answers
    ids = {answer.question: (answer.question_id, answer.system) for answer in answers}
    given = [
        {"question_id": name, "system": system, "score": int(at % 3 > 0)}
        for at, (name, system) in enumerate(ids[item["question"]] for item in items[:8])
    ]
    text = "".join(f"{json.dumps(label)}\n" for label in given)
    sent = {"file": "labels.jsonl", "text": text, "annotator": "ann"}
    taken = client.post(f"/workbench/label/{QUEUE}/import", json=sent, headers={"Accept": "application/json"})
    assert taken.status_code == 200, taken.text


def _clock() -> Any:  # noqa: ANN401
    """Return a clock by which the replies take 0.4, 0.5, ... 1.2 seconds, one after the other."""
    steps = count()
    at = [0.0]

    def read() -> float:
        step = next(steps)
        at[0] += 0.4 + (step // 2 % 9) / 10 if step % 2 else 0.0
        return at[0]

    return read


class _Model:
    """Answers most questions rightly, and judges by whether the answer holds the reference."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._references = {question["question"]: question["reference"] for question in rows}

    def __call__(self, body: Body) -> str:
        asked = str(body["messages"][-1]["content"])
        known = [said for question, said in self._references.items() if question in asked]
        reference = (fenced("reference", asked) or next(iter(known), "nothing")).strip()
        draw = crc32(f"{reference} {'from nothing' in prompt_of(body)}".encode()) % 10
        if "response_format" not in body:
            return {0: TO_NOWHERE, 1: "It depends on the soil."}.get(draw, f"The sources say: {reference}.")
        reply = json.loads(fit_schema(body))
        answer = fenced("answer", asked) or asked
        poor = reference.casefold() not in answer.casefold() or draw == 2
        score = 15 + 5 * (draw % 3) if poor else 100 - 5 * (draw % 4)
        return json.dumps(_scored(reply, score, f"The answer {'misses' if poor else 'names'} “{reference}”."))


def _scored(reply: dict[str, Any], score: int, reason: str) -> dict[str, Any]:
    """Return a reply with its numbers, truths and reasons set."""
    made: dict[str, Any] = {}
    for name, value in reply.items():
        match value:
            case bool():
                made[name] = score >= 50
            case dict():
                made[name] = _scored(value, score, reason)
            case list():
                made[name] = [_scored(one, score, reason) if isinstance(one, dict) else one for one in value]
            case int() if "score" in name or "percent" in name:
                made[name] = score
            case str() if name in ("reason", "reasoning", "rationale", "explanation"):
                made[name] = reason
            case _:
                made[name] = value
    return made


def _write_cards(folder: Path) -> None:
    """Write report cards of the judges of the last run, by labels of which some differ."""
    rows = ragstone.read_run(folder / "runs" / LAST).judgements
    judged = [
        judgement for judgement in rows if judgement.judge == "correctness" and judgement.score is not None
    ]
    labels = [
        Label(
            question_id=judgement.question_id,
            system=judgement.system,
            metric="correctness",
            score=float((judgement.score >= 50) != (at % 9 == 0)),
            annotator="ann",
        )
        for at, judgement in enumerate(judged)
    ]
    (folder / "labels").mkdir(exist_ok=True)
    write_rows(folder / "labels" / "sheet.jsonl", labels, Label)
    cards = ragstone.report_cards(judged, labels)
    (folder / "cards.json").write_bytes(msgspec.json.encode(list(cards)))


def _write_traces(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Write traces of an assistant that retrieves, asks a model, and calls a tool in each third."""
    for at, question in enumerate(rows[:12]):
        trace = f"{SHOWN_TRACE[:-5]}{at:05x}"
        kind = "openinference__span__kind"
        messages = {
            "llm__input_messages__0__message__role": "user",
            "llm__input_messages__0__message__content": question["question"],
            "llm__output_messages__0__message__role": "assistant",
            "llm__output_messages__0__message__content": f"The sources say: {question['reference']}.",
            "llm__model_name": "gpt-4o-mini",
        }
        spans = [
            span(
                1,
                trace=trace,
                **{kind: "CHAIN"},
                input__value=question["question"],
                output__value=f"The sources say: {question['reference']}.",
            ),
            span(
                2,
                trace=trace,
                parent=1,
                **{kind: "RETRIEVER"},
                input__value=question["question"],
                retrieval__documents__0__document__content=f"{question['reference']}, says the guide.",
            ),
            span(3, trace=trace, parent=1, **{kind: "LLM"}, **messages),
        ]
        if at % 3 == 0:
            spans.append(
                span(4, trace=trace, parent=3, **{kind: "TOOL"}, tool__name="weather", input__value="Omaha")
            )
        for made, name in zip(spans, ("assistant", "retrieve", "chat gpt-4o-mini", "weather"), strict=False):
            made["name"] = name
        ragstone.store_spans(as_protobuf(request(*spans)), folder / ".ragstone" / "traces")


def _write_monitor(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Write a monitor of six weeks."""
    logged = [
        row(
            f"x{at}",
            day=at // 5,
            answered=int(at % (4 if at > 150 else 9) > 0),
            faithfulness=0.9 if at % 7 else 0.3,
            question=rows[at % N]["question"],
            answer=rows[at % N]["reference"],
            crop=("maize", "wheat", "beans")[at % 3],
        )
        for at in range(210)
    ]
    fill(folder / ".ragstone" / "monitor", logged).close()


def copied(source: Path, folder: Path) -> Settings:
    """Copy the project with the times of its files; return the settings of the copy."""
    shutil.copytree(source, folder, copy_function=shutil.copy2)
    return load_settings(folder / "ragstone.toml")


def client_of(settings: Settings) -> Client:
    """Return a client of its workbench, whose clock stands still."""
    return opened(create_workbench(settings, now))
