"""Which cause blame finds for faults planted in an agent: the assistant of examples, without a model.

    python -m benchmarks.blame_agents [TRIALS]

The agent's own loop plans by words, calls its tools (the table of crops, the weather from a local server,
documents by BM25) and quotes what they bring. Each question is asked once without a fault and once with each:
another tool is called, an argument is another one, the tool fails, the reply is written without what the tool
brought, the document is not found. All that is one sheet, which a judge that compares figures and words
scores and `ragstone.blame` explains, with the expected steps in the questions and without. A trial draws
QUESTIONS of the questions, gives a share of them the planted fault and a few each of the others, and counts
causes. The table of causes by fault first, then 200 trials of each; some three minutes on one core.
"""

import asyncio
import csv
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from random import Random

import msgspec
from benchmarks.planning import EXAMPLES, FARM, TODAY
from tests.support.open_meteo import PLACES, daily_weather, serving
from tests.support.planted_faults import LEAD

import ragstone
from farm_tools.crops import crops_tool
from farm_tools.open_meteo import WeatherOptions
from farm_tools.weather import weather_tool
from ragstone.features.blame._points import COMPONENTS, CountedPoint, Points, share_out
from ragstone.kernel.corpus.tags import load_tags
from ragstone.kernel.embedding.gathering import Gathered
from ragstone.kernel.embedding.opening import open_embedder
from ragstone.kernel.records import Answer, Context, Document, Judgement, Question, Step, Turn
from ragstone.kernel.retrieval.bm25 import bm25_over
from ragstone.kernel.runs.blamed import read_causes
from ragstone.kernel.runs.causes import Caused, SystemBlame
from ragstone.kernel.tables import read_rows, write_rows
from ragstone_assistant._scope import scope_guard
from ragstone_assistant.answering.answering import Answering
from ragstone_assistant.answering.documents import documents_tool
from ragstone_assistant.answering.prompting import load_answering_prompt
from ragstone_assistant.conversation import Asked, Emit, Passage, silent
from ragstone_assistant.planning.actions import SEARCH, menu_of
from ragstone_assistant.planning.loop import Agent, reply_to
from ragstone_assistant.planning.slots import Know, know_by_words
from ragstone_assistant.planning.state import AgentState, ChosenAction, WrittenReply
from ragstone_assistant.planning.words import words_chooser, write_by_words
from ragstone_assistant.tool import Observation, Situation

PACK = Path(__file__).parents[2] / "shared" / "data" / "agxqa"
SOUND, MISSED = "sound", "not retrieved"
OF_TOOLS = ("wrong tool", "wrong arguments", "tool failed", "right result ignored")
TRIALS, QUESTIONS, PLANTED, BACKGROUND, OF_DOCUMENTS = 200, 100, 0.3, 0.04, 60
CROPS = {
    "How deep do the roots of {} grow?": ("root_depth_min_m", "root_depth_max_m"),
    "How many days does {} need until harvest?": ("growing_period_days",),
    "How much salt in the soil does {} tolerate?": ("soil_salinity_threshold_ds_m",),
}
OTHERS = {
    "crop_table": ("crop", ["maize", "onion", "cotton", "tea", "rice", "lentil"]),
    "weather": ("place", ["Nakuru", "Kisumu", "Nashik", "Cusco", "Thiès", "Asyut", "Dodoma"]),
}
UNHEARD = ("I could not find anything about that.", "It depends on the season.", "About 3.4, as a rule.")
EVEN = {"nothing planted": {}, "tools and retriever, one size": {"tool failed": 0.12, MISSED: 0.16}}
TOML = """[run]
name = "agent"
[questions]
path = "questions.jsonl"
[answer]
sheet = "sheet.jsonl"
[judge]
judges = ["benchmarks.blame_agents:says_it"]
"""


def says_it(answer: str, reference: str) -> float:
    """Return 1 if the answer has every figure of the reference and half of its words, else 0."""
    wanted, said = _said(reference), set(_said(answer))
    figures = all(one in said for one in wanted if isinstance(one, float))
    return float(figures and sum(one in said for one in wanted) >= 0.5 * len(wanted))


def _said(text: str) -> list[float | str]:
    found = re.findall(r"\d+(?:\.\d+)?|[^\W\d_]+", text.casefold())
    return [float(one) if one[0].isdigit() else one for one in found]


def tool_questions() -> list[Question]:
    """Return what tools are asked: the right answer, and the call that brings it."""
    with (EXAMPLES / "crops.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = []
    for crop in dict.fromkeys(row["crop"] for row in rows):
        for text, columns in CROPS.items():
            own = [row for row in rows if row["crop"] == crop and all(row[name] for name in columns)]
            figures = {" to ".join(row[name] for name in columns) for row in own}
            if len(figures) == 1:
                found.append(_question(text.format(crop), figures.pop(), "crop_table", crop))
    for place, latitude, longitude, *_ in PLACES:
        if [one[0] for one in PLACES].count(place) > 1:  # the assistant asks back which one is meant
            continue
        for later, day in enumerate(("today", "tomorrow")):
            told = daily_weather(latitude, longitude, TODAY + timedelta(days=later))
            range_told = f"{told['temperature_2m_min']} to {told['temperature_2m_max']} °C"
            text = f"What will the weather be in {place} {day}?"
            found.append(_question(text, range_told, "weather", place))
    return found


def _question(text: str, reference: str, tool: str, value: str) -> Question:
    step = {"tool": tool, "arguments": {OTHERS[tool][0]: value}}
    return Question(id=text, question=text, reference=reference, metadata={"expected_steps": [step]})


def document_questions() -> list[Question]:
    """Return questions on the documents of the example, evenly spaced."""
    rows = [row for row in read_rows(PACK / "questions.jsonl", Question) if row.answerable]
    return [
        msgspec.structs.replace(row, metadata={"expected_steps": [SEARCH]})
        for row in rows[:: max(1, len(rows) // OF_DOCUMENTS)]
    ]


def planted(agent: Agent, fault: str, draw: Random) -> Agent:
    """Return the agent with a fault in its first step, its tools or its reply."""

    async def choose(state: AgentState) -> ChosenAction:
        chosen = await agent.choose(state)
        if state.taken or chosen.action not in OTHERS:
            return chosen
        same = fault == "wrong arguments"
        action = next(name for name in OTHERS if (name == chosen.action) is same)
        key, values = OTHERS[action]
        given = chosen.arguments if same else {}
        value = draw.choice([one for one in values if one != given.get(key)])
        return msgspec.structs.replace(chosen, action=action, arguments={**given, key: value})

    async def write(_state: AgentState, _emit: Emit) -> WrittenReply:
        return WrittenReply(text=draw.choice(UNHEARD))

    async def fail(_arguments: object, _situation: Situation) -> Observation:
        return Observation(text="The service did not answer (HTTP 503).", failed=True)

    if fault in ("wrong tool", "wrong arguments"):
        return msgspec.structs.replace(agent, choose=choose)
    if fault == "right result ignored":
        return msgspec.structs.replace(agent, write=write)
    if fault == "tool failed":
        tools = agent.menu.tools
        failing = {name: msgspec.structs.replace(tools[name], call=fail) for name in OTHERS}
        menu = msgspec.structs.replace(agent.menu, tools={**tools, **failing})
        return msgspec.structs.replace(agent, menu=menu)
    return agent


async def asked(agent: Agent, one: Question, system: str, know: Know) -> Answer:
    """Return the agent's answer, as the row of a sheet."""
    thread = Asked(turns=(Turn("user", one.question),))
    said = await reply_to(agent, thread, "en", TODAY, silent, known=know(thread))
    steps = []
    for step in said.steps:
        if step.action in (*OTHERS, SEARCH):
            came = "error" if step.status == "failed" else "result"
            told = {"tool": step.action, "arguments": step.arguments, came: step.observation}
            steps.append(msgspec.convert(told, Step))
    contexts = [Context(text=one.text, document_id=one.document_id) for one in said.passages]
    searched = any(step.tool == SEARCH for step in steps)
    return Answer(
        question_id=one.id,
        system=system,
        answer=said.text,
        steps=steps,
        contexts=contexts if searched else None,
    )


async def sheet() -> tuple[list[Question], list[Answer]]:
    """Return the questions, and the answers of the agent with each fault, one system a fault."""
    tags, embedder = load_tags(EXAMPLES / "tags.toml"), open_embedder("packaged")
    documents = [*read_rows(EXAMPLES / "documents" / "irrigation-agxqa.jsonl", Document)]
    rank, hidden = bm25_over([one.text for one in documents]), set[str]()

    async def search(question: str, k: int, _filters: Mapping[str, str]) -> list[Passage]:
        found = (documents[hit[0]] for hit in rank([question], k + 1, None)[0])
        return [
            Passage(chunk_id=one.id, document_id=one.id, text=one.text, title=one.title or "")
            for one in found
            if one.id not in hidden
        ][:k]

    questions, answers = [*tool_questions(), *document_questions()], []
    answering = Answering(
        stream=None, prompt=load_answering_prompt("cited"), secret=b"", embed=embedder, context_tokens=0
    )
    know = know_by_words(tags, FARM)
    with serving(today=TODAY) as server:
        async with weather_tool(WeatherOptions(**server.options())) as weather:
            quoting = documents_tool(search, answering, k=5, tags=tags, examples=FARM.searches())
            menu = menu_of([quoting, weather, crops_tool(EXAMPLES / "crops.csv")], FARM.slots)
            choose = words_chooser(menu.tools, Gathered(embedder), scope_guard(FARM, [], embedder))
            agent = Agent(
                menu=menu, choose=choose, write=write_by_words, domain=FARM, most_steps=5, time_limit_s=20
            )
            for one in questions:
                for fault in (SOUND, MISSED) if one.document_ids else (SOUND, *OF_TOOLS):
                    hidden = {*(one.document_ids or ())} if fault == MISSED else set()
                    faulty = planted(agent, fault, Random(f"{one.id} {fault}"))
                    answers.append(await asked(faulty, one, fault, know))
    return questions, answers


class Pool(msgspec.Struct, frozen=True):
    """What blame makes of every (question, fault): whether the point is lost, and its cause."""

    lost: dict[tuple[str, str], bool]
    causes: dict[tuple[str, str], Caused]

    def trial(self, rates: Mapping[str, float], seed: int) -> SystemBlame:
        """Return the blame of an agent that has these faults at these rates."""
        draw = Random(seed)
        names = [*dict.fromkeys(name for name, _ in self.lost)]
        drawn = []
        for name in draw.sample(names, QUESTIONS):
            likely = {fault: rate for fault, rate in rates.items() if (name, fault) in self.lost}
            faults = [*likely, SOUND]
            drawn.append((name, draw.choices(faults, [*likely.values(), 1 - sum(likely.values())])[0]))
        counted = [CountedPoint(question_id=key[0], lost=self.lost[key]) for key in drawn]
        points = Points(lead=LEAD, counted=counted, left_out={}, components=COMPONENTS)
        return share_out(points, [self.causes[key] for key in drawn if key in self.causes], {}, seed=seed)


def blamed(questions: Iterable[Question], answers: Iterable[Answer]) -> Pool:
    """Return what a whole run and its blame say."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder / "questions.jsonl", questions, Question)
        write_rows(folder / "sheet.jsonl", answers, Answer)
        (folder / "ragstone.toml").write_text(TOML)
        settings = ragstone.load_settings(folder / "ragstone.toml")
        ragstone.run(settings)
        run = folder / "runs" / "agent"
        ragstone.blame(run, settings=settings)
        lost = {
            (row.question_id, row.system): not row.score
            for row in read_rows(run / "judgements.jsonl", Judgement)
            if row.score is not None and row.judge == "says_it"
        }
        causes = {(row.question_id, row.system): row for rows in read_causes(run).values() for row in rows}
    return Pool(lost, causes)


def show(pool: Pool, n_trials: int) -> None:
    for fault in (SOUND, *OF_TOOLS, MISSED):
        of = Counter(row.cause for (_, system), row in pool.causes.items() if system == fault)
        n_asked = sum(system == fault for _, system in pool.lost)
        print(f"  {fault:22} {sum(of.values()):3} of {n_asked} lost: {dict(of.most_common())}")
    background = dict.fromkeys((*OF_TOOLS, MISSED), BACKGROUND)
    settings = {fault: ({**background, fault: PLANTED}, fault) for fault in (*OF_TOOLS, MISSED)}
    beside = {
        f"{fault}, documents missed": ({**background, MISSED: 0.2, fault: PLANTED}, fault)
        for fault in OF_TOOLS
    }
    for told, (rates, right) in {**settings, **beside}.items():
        trials = [pool.trial(rates, seed) for seed in range(n_trials)]
        first = Counter[str | None](next(iter(one.causes), None) for one in trials)
        component = Counter(one.largest.first if one.largest else None for one in trials)
        print(f"  {told:40} right {first[right] / n_trials:6.1%}  {dict(first)}  {dict(component)}")
    for told, rates in EVEN.items():
        trials = [pool.trial(rates, seed) for seed in range(n_trials)]
        sure = Counter(
            one.largest.first for one in trials if one.largest and one.largest.verdict == "largest"
        )
        print(f"  {told}: called the largest beyond chance {dict(sure)} of {n_trials}")


def main() -> None:
    n_trials = int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS
    questions, answers = asyncio.run(sheet())
    print(f"{len(questions)} questions, {len(answers)} answers\nwith the expected steps")
    show(blamed(questions, answers), n_trials)
    print("without")
    show(blamed([msgspec.structs.replace(one, metadata=None) for one in questions], answers), n_trials)


if __name__ == "__main__":
    main()
