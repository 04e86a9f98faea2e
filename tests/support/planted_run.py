"""A project with a planted fault, as files and a scripted endpoint; retriever, door and judges are real.

Every document tells in which year something opened. One that the retriever is to miss calls it by another
name, which the scripted model knows. The model and the three judges err as planted_faults.Rates says, each
time in the same way when the same is asked.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.support.fake_openai import FakeOpenAI
from tests.support.planted_faults import Rates
from tests.support.scripts import Body, fenced, prompt_of

from ragstone.kernel.config import Settings, load_settings

JUDGE = """name = "{name}"
version = 1
kind = "boolean"
metric = "{metric}"
inputs = {inputs}
scale = [0, 1]
source = "own; for tests"
prompt = "{told}"
"""
JUDGES = {
    "lead": ("correctness", ["question", "reference", "answer"], "LEAD: {answer} {reference} {question}"),
    "second": ("correctness", ["question", "reference", "answer"], "SECOND: {answer} {reference} {question}"),
    "support": ("faithfulness", ["answer", "contexts"], "SUPPORT: {answer} {contexts}"),
}
TOML = """[run]
name = "planted"
[documents]
paths = ["documents.jsonl"]
[questions]
path = "questions.jsonl"
[chunk]
method = "whole"
[retrieve]
k = 3
[answer]
model = "openai/fake"
[judge]
model = "openai/fake"
judges = ["lead.toml", "support.toml", "no_refusal"]
[blame]
second = "second.toml"
"""


@dataclass(frozen=True)
class Thing:
    """What one question is about."""

    name: str
    year: int
    known: bool
    ignores: bool


def plant_run(folder: Path, fake: FakeOpenAI, rates: Rates, seed: int, n: int = 60) -> Settings:
    """Write a project with a fault, let the endpoint play its model and judges, and return its settings."""
    draw = Random(seed)
    things = []
    documents, questions = [], []
    for at in range(n):
        name, year = f"brelk{at}ur", 1000 + at
        shown = f"mirov{at}ax" if draw.random() < rates.missed else name
        answerable = draw.random() >= rates.unanswerable
        things.append(Thing(name, year, draw.random() < rates.known, draw.random() < rates.ignores))
        said = 5000 + at if draw.random() < rates.wrong_reference else year
        documents.append(
            {"id": f"d{at}", "text": f"The {shown} opened in {year}." if answerable else f"Empty {at}."}
        )
        question: dict[str, object] = {"id": f"q{at}", "question": f"When did the {name} open?"}
        if answerable:
            question |= {"reference": str(said), "document_ids": [f"d{at}"]}
        else:
            question |= {"answerable": False}
        questions.append(question)
    for file, rows in (("documents", documents), ("questions", questions)):
        (folder / f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for judge, (metric, inputs, told) in JUDGES.items():
        text = JUDGE.format(name=judge, metric=metric, inputs=json.dumps(inputs), told=told)
        (folder / f"{judge}.toml").write_text(text)
    (folder / "ragstone.toml").write_text(TOML + fake.toml())
    fake.script = Script({thing.name: thing for thing in things}, rates, seed)
    return load_settings(folder / "ragstone.toml")


class Script:
    """The endpoint: answers and judges at these rates."""

    def __init__(self, things: dict[str, Thing], rates: Rates, seed: int) -> None:
        self.things = things
        self.rates = rates
        self.seed = seed

    def __call__(self, body: Body) -> str:
        prompt = prompt_of(body)
        if not body.get("response_format"):
            return self.answer(prompt)
        nonce = re.findall(r'The code is "(\w+)"', prompt)[-1]
        return json.dumps({"nonce": nonce, "reason": "as told", "verdict": self.verdict(prompt)})

    def happens(self, rate: float, *about: object) -> bool:
        return Random(f"{self.seed} {about}").random() < rate

    def answer(self, prompt: str) -> str:
        thing = self.things[re.findall(r"the (\w+) open", prompt)[-1]]
        closed, has = "no passages to read" in prompt, str(thing.year) in prompt
        heeds = not thing.ignores and not closed
        if has and heeds:
            others = [year for year in re.findall(r"opened in (\d+)", prompt) if year != str(thing.year)]
            misread = bool(others) and self.happens(self.rates.misreads, thing)
            return others[0] if misread else str(thing.year)
        if heeds and self.happens(self.rates.gives_up, thing):
            return "The documents do not answer this question."
        if thing.known:
            return str(thing.year)
        return (
            str(7000 + thing.year) if self.happens(0.7, thing, "memory") else str(8000 + thing.year + closed)
        )

    def verdict(self, prompt: str) -> bool:
        said, rates = fenced("answer", prompt), self.rates
        if "SUPPORT:" in prompt:
            supported = said in fenced("contexts", prompt)
            return supported != self.happens(rates.support, said, fenced("contexts", prompt))
        about = said, fenced("reference", prompt), fenced("question", prompt)
        matches = said == fenced("reference", prompt)
        if "SECOND:" in prompt:
            return matches != self.happens(rates.second, "second", about)
        return not self.happens(rates.harsh, about) if matches else self.happens(rates.lenient, about)
