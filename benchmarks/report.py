"""The report of a large run: how long it takes to build, how large it is, how soon a browser shows it.

    python -m benchmarks.report [QUESTIONS] [SYSTEMS]

10,000 questions by default, of one system, with five contexts each, four judges (one with statements), their
rationales, tags, and what was asked of models. Prints a table. The browser is Debian's Chromium, through
playwright; without it only the build is measured. The least of three is shown.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from ragstone.features.report.page import write_markdown, write_report
from ragstone.features.run._breakdown import distributions, means_by_tag, rank_systems
from ragstone.kernel.engine.call_log import open_call_log
from ragstone.kernel.judging import summarise
from ragstone.kernel.llm.call_trace import Exchange
from ragstone.kernel.llm.prompt import Message
from ragstone.kernel.records import (
    Answer,
    Context,
    Document,
    Judgement,
    Question,
    Ranking,
    RankingItem,
    Verdict,
)
from ragstone.kernel.retrieval.evaluate import evaluate_rankings
from ragstone.kernel.runs.headlines import common_headline
from ragstone.kernel.runs.summary import Calls, RunSummary
from ragstone.kernel.tables import write_rows

MODEL = "openai/gpt-4o-mini"
N_QUESTIONS = 10_000
N_CONTEXTS = 5
SENTENCES = 6  # of a context: some 500 characters
REPEATS = 3
TEXT = """rust wheat maize soil nitrogen phosphorus sowing harvest irrigation flowering seedling fungicide
the of in a with before after when each per hectare kilogram field farmer drought rain root leaf stem yield
spacing variety season month early late apply treat remove water test store dry moisture pest weed"""
WORDS = TEXT.split()
TAGS = {
    "crop": ["wheat", "maize", "rice", "cassava", "tomato", "coffee"],
    "month": [f"{month:02}" for month in range(1, 13)],
}
LANGS = ["en", "sw", "hi"]
INSTRUCTIONS = "Judge whether the answer says what the reference says. " * 25
RUBRIC = {"correctness": (0, 1), "relevance": (0, 3), "faithfulness": (0, 1)}


class Rows(msgspec.Struct):
    """A made-up run."""

    documents: list[Document]
    questions: list[Question]
    rankings: list[Ranking]
    answers: list[Answer]
    judgements: list[Judgement]


def make_rows(n_questions: int, n_systems: int) -> Rows:
    """Return the rows of a run, the same for the same numbers."""
    chance = random.Random(7)
    documents = [
        Document(
            id=f"d{n}", title=sentence(chance, 4), text=" ".join(sentence(chance) for _ in range(SENTENCES))
        )
        for n in range(max(n_questions, 20))
    ]
    questions: list[Question] = []
    rankings: list[Ranking] = []
    answers: list[Answer] = []
    judgements: list[Judgement] = []
    for n in range(n_questions):
        document = documents[n]
        question = Question(
            id=f"q{n}",
            question=sentence(chance, 10).rstrip(".") + "?",
            reference=document.text.split(". ")[0] + ".",
            document_ids=[document.id],
            tags={tag: chance.choice(values) for tag, values in TAGS.items()},
            lang=chance.choice(LANGS),
        )
        found = chance.sample(documents, N_CONTEXTS - 1)
        if chance.random() < 0.8:
            found.insert(chance.randrange(N_CONTEXTS), document)
        else:
            found.append(chance.choice(documents))
        questions.append(question)
        items = [RankingItem(document_id=one.id, score=5.0 - at) for at, one in enumerate(found)]
        rankings.append(Ranking(question_id=question.id, retriever="bm25", items=items))
        for system in range(n_systems):
            answer = Answer(
                question_id=question.id,
                system=f"system {system + 1}" if n_systems > 1 else "bm25/strict/small",
                answer=" ".join(sentence(chance) for _ in range(2)),
                contexts=[Context(document_id=one.id, text=one.text, score=1.0) for one in found],
                latency_s=0.5,
            )
            answers.append(answer)
            judgements += judged(answer, found, chance, 0.75 - 0.08 * system)
    return Rows(documents, questions, rankings, answers, judgements)


def judged(answer: Answer, found: list[Document], chance: random.Random, right: float) -> Iterator[Judgement]:
    """Yield four judgements: three of a rubric, one of them with statements, and a baseline."""
    for judge, scale in RUBRIC.items():
        failed = chance.random() < 0.02
        score = float(scale[1] if chance.random() < right else chance.randint(*scale))
        context = chance.randrange(N_CONTEXTS)
        verdicts = [
            Verdict(
                id=n,
                statement=chance.choice(found[context].text.split(". ")),
                supported=chance.random() < right,
                reason=sentence(chance, 8),
                context=context + 1,
            )
            for n in range(1, 5)
        ]
        yield Judgement(
            question_id=answer.question_id,
            system=answer.system,
            judge=judge,
            metric=judge,
            status="unparsable" if failed else "scored",
            score=None if failed else score,
            scale=scale,
            model=MODEL,
            prompt_version=1,
            rationale=None if failed else " ".join(sentence(chance) for _ in range(2)),
            verdicts=verdicts if judge == "faithfulness" and not failed else None,
            error="no JSON object in the reply" if failed else None,
        )
    yield Judgement(
        question_id=answer.question_id,
        system=answer.system,
        judge="containment",
        metric="correctness",
        status="scored",
        score=float(chance.random() < right),
        scale=(0, 1),
        model="none",
        prompt_version=1,
    )


def sentence(chance: random.Random, n_words: int = 13) -> str:
    """Return words that make no sense, with a capital and a full stop."""
    return " ".join(chance.choices(WORDS, k=n_words)).capitalize() + "."


def summary_of(rows: Rows, n_systems: int) -> RunSummary:
    """Return the numbers of a run, as the pipeline works them out."""
    metrics = summarise(rows.judgements)
    summary = RunSummary(
        name="Ten thousand questions" if len(rows.questions) == N_QUESTIONS else "A made-up run",
        version="0",
        models={"answer": MODEL, "judge": MODEL},
        counts={"questions": len(rows.questions), "answers": len(rows.answers)},
        retrieval=[evaluate_rankings(rows.rankings, rows.questions)],
        metrics=metrics,
        cards=[],
        calls=Calls(made=len(rows.judgements)),
        notes=["These rows were made up to measure the report."],
        distributions=distributions(rows.judgements),
        by_tag=means_by_tag(rows.judgements, rows.questions, rows.answers),
    )
    lead = common_headline(summary)
    board = rank_systems(lead, rows.judgements) if lead and n_systems > 1 else None
    return msgspec.structs.replace(summary, systems=board)


def write_run(folder: Path, n_questions: int, n_systems: int) -> None:
    """Write a run folder as `ragstone run` does, prompts and replies included."""
    rows = make_rows(n_questions, n_systems)
    folder.mkdir(parents=True, exist_ok=True)
    for name, of, row_type in (
        ("documents", rows.documents, Document),
        ("questions", rows.questions, Question),
        ("rankings", rows.rankings, Ranking),
        ("answers", rows.answers, Answer),
        ("judgements", rows.judgements, Judgement),
    ):
        write_rows(folder / f"{name}.jsonl", of, row_type, force=True)
    (folder / "summary.json").write_bytes(msgspec.json.encode(summary_of(rows, n_systems)))
    by_answer = {(answer.question_id, answer.system): answer for answer in rows.answers}
    asked = {question.id: question for question in rows.questions}
    with open_call_log(folder) as log:
        for row in rows.judgements:
            if row.model != "none":
                answer = by_answer[row.question_id, row.system]
                heard = [exchange_of(row, answer, asked[row.question_id])]
                log.keep(heard, question_id=row.question_id, systems=[row.system], judges=[row.judge])


def exchange_of(row: Judgement, answer: Answer, question: Question) -> Exchange:
    """Return what a judge was asked and said."""
    contexts = "\n\n".join(f"[{n}] {context.text}" for n, context in enumerate(answer.contexts or [], 1))
    code = f"{hash(row.question_id) & 0xFFFFFFFF:08x}"
    texts = {"question": question.question, "contexts": contexts, "answer": answer.answer}
    shown = "\n\n".join(f"<{name} {code}>\n{text}\n</{name} {code}>" for name, text in texts.items())
    reply = msgspec.json.encode({"nonce": code, "reason": row.rationale, "score": row.score}).decode()
    messages = (
        Message("system", row.judge + ". " + INSTRUCTIONS),
        Message("user", f'{shown}\n\nThe code is "{code}".'),
        Message("assistant", reply if row.score is not None else f"I would say: {row.error}"),
    )
    return Exchange(model=MODEL, messages=messages)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds that work takes, by the clock and of this process."""
    start, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - used


# What a reader does, and the script that returns how many milliseconds it took.
ACTS = {
    "filter by result": "#tool-result = low",
    "sort by the lowest score": "#tool-sort = lowest",
    "search, the first time": "#tool-search = fungicide",
    "search again": "#tool-search = nitrogen",
}
CHOOSE = """async ([name, value]) => {
    const control = document.querySelector(name), shown = document.getElementById("shown");
    const before = performance.now();
    const done = new Promise((ready) => {
        new MutationObserver(() => ready()).observe(shown, { childList: true });
    });
    control.value = value;
    control.dispatchEvent(new Event(control.tagName === "INPUT" ? "input" : "change"));
    await done;
    document.body.offsetHeight;
    return performance.now() - before;
}"""
OPEN = """async () => {
    const question = document.querySelector(".question");
    const before = performance.now();
    question.open = true;
    while (!question.querySelector(".opened")) await new Promise((ready) => setTimeout(ready, 0));
    document.body.offsetHeight;
    return performance.now() - before;
}"""
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
PAINT = "performance.getEntriesByType('paint').find((one) => one.name === 'first-contentful-paint').startTime"


def in_browser(path: Path) -> dict[str, float]:
    """Return seconds: to the first paint, until the list stands, and of what a reader does."""
    from tests.support.browser import opened_tab

    found: dict[str, float] = {}
    with opened_tab() as tab:
        tab.open(path)
        tab.page.wait_for_selector(".question")
        found["first paint"] = tab.run(PAINT) / 1e3
        found["all of it loaded"] = tab.run(LOADED) / 1e3
        found["open a question"] = tab.run(OPEN) / 1e3
        for name, act in ACTS.items():
            found[name] = tab.page.evaluate(CHOOSE, act.split(" = ")) / 1e3
        if tab.complaints or tab.requests:
            raise RuntimeError(f"the page complained or asked: {tab.complaints} {tab.requests}")
    return found


def main() -> None:
    n_questions = int(sys.argv[1]) if len(sys.argv) > 1 else N_QUESTIONS
    n_systems = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        write_run(folder, n_questions, n_systems)
        built = [timed(lambda: write_report(folder)) for _ in range(REPEATS)]
        lines = {"build report.html, s": min(wall for wall, _ in built)}
        lines["build report.html, CPU s"] = min(cpu for _, cpu in built)
        lines["build report.md, s"], _ = timed(lambda: write_markdown(folder))
        lines["report.html, MB"] = (folder / "report.html").stat().st_size / 1e6
        lines["calls.jsonl.gz, MB"] = (folder / "calls.jsonl.gz").stat().st_size / 1e6
        seen = [in_browser(folder / "report.html") for _ in range(REPEATS)]
        lines |= {f"{name}, s": min(one[name] for one in seen) for name in seen[0]}
    print(f"| {n_questions:,} questions, {n_systems} system(s) | |\n|---|---:|")
    for name, value in lines.items():
        print(f"| {name} | {value:.2f} |")


if __name__ == "__main__":
    main()
