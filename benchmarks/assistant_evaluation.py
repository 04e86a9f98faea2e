"""How good the assistant's answers are, by model and prompt, and on its examples without a model.

    python -m benchmarks.assistant_evaluation MODEL… --judge MODEL
    python -m benchmarks.assistant_evaluation --examples

--examples: the questions of examples/manual-assistant and of examples/assistant/coverage.jsonl, asked as the
examples ship; no model is asked. Right is a quote that contains what the row of the question expects, or,
where it expects nothing, any citation; a question that the documents do not answer is right without a
citation.

Asked are questions of ../shared/data/agxqa, evenly spaced, and questions about farming that the documents of
examples/assistant do not hold, by retrieval and generation without the agent. What was answered is judged by
`--judge`. The table: how many were answered; of these, how many are faithful (every statement supported by
the passages) and relevant; both together with answered, of all questions; and how many were not answered.
Every call is kept in the ledger of `--folder`, so that a second run asks nothing.

The knowledge base is built first, if it is not there: `ragstone assistant build` in a copy of
examples/assistant.
"""

import argparse
import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

import ragstone
from ragstone.kernel.config import Settings, choose, load_settings
from ragstone.kernel.engine.session import open_session
from ragstone.kernel.records import Answer, Context, Judgement, Turn
from ragstone.kernel.runs.breakdown import is_right
from ragstone.kernel.statistics import wilson_interval
from ragstone.kernel.tables import write_rows
from ragstone_assistant.assistant import open_assistant
from ragstone_assistant.conversation import Asked, silent
from ragstone_assistant.knowledge.knowledge_base import KnowledgeBase

ROOT = Path(__file__).parents[1]
PACK = ROOT.parent / "shared" / "data" / "agxqa" / "questions.jsonl"
PROMPTS = ("cited", "brief")
JUDGES = ("faithfulness", "relevance", "context_overlap", "containment")
NOT_HELD = (
    "Which breed of dairy goat gives the most milk?",
    "How is coffee fermented after picking?",
    "How many eggs does a hen lay in a year?",
    "How do I graft an apple tree?",
    "What is the gestation period of a sow?",
    "How is vanilla pollinated by hand?",
    "How do I keep weevils out of stored beans?",
    "At what age can a calf be weaned?",
)


EXAMPLES = {
    "a software manual": ("manual-assistant", "questions.jsonl"),
    "doses of crops, the farm": ("assistant", "coverage.jsonl"),
}


class ExampleQuestion(msgspec.Struct):
    """A question of an example, as far as it is looked at here."""

    question: str
    answerable: bool
    expect: dict[str, list[str]] = {}


class Held(msgspec.Struct):
    """A question of the pack."""

    id: str
    question: str
    reference_answer: str | list[str]


def questions(limit: int) -> list[Answer]:
    """Return what is asked, as rows without an answer."""
    rows = [msgspec.json.decode(line, type=Held) for line in PACK.read_bytes().splitlines()]
    some = [rows[int(n * len(rows) / limit)] for n in range(limit)]
    held = [
        Answer(
            question_id=row.id,
            answer="",
            question=row.question,
            reference=row.reference_answer,
            answerable=True,
        )
        for row in some
    ]
    return held + [
        Answer(question_id=f"not-held-{n}", answer="", question=text, answerable=False)
        for n, text in enumerate(NOT_HELD, 1)
    ]


async def answers_of(model: str, prompt: str, rows: Sequence[Answer], settings: Settings) -> list[Answer]:
    """Return the assistant's answers; `metadata` tells of what kind each reply is."""
    chosen = choose(settings, "assistant", model=model, prompt=prompt)
    found = []
    async with open_session(chosen) as session, open_assistant(chosen, session) as assistant:
        await _built(assistant.knowledge, chosen)
        for row in rows:
            said = await assistant.answer(row.question or "", {}, "en", silent)
            contexts = [
                Context(text=each.text, id=each.chunk_id, document_id=each.document_id)
                for each in said.passages
            ]
            found.append(
                msgspec.structs.replace(
                    row,
                    answer=said.text,
                    system=f"{model.rpartition('/')[2]} {prompt}",
                    contexts=contexts,
                    usage=said.usage,
                    metadata={"kind": said.kind},
                )
            )
    return found


async def _built(knowledge: KnowledgeBase, settings: Settings) -> None:
    if not knowledge.documents():
        await knowledge.build([settings.path(path) for path in settings.documents.paths], lambda *_: None)


def share(successes: int, n: int) -> str:
    """Return a proportion with its interval, as the tables show it."""
    if not n:
        return "–"
    low, high = wilson_interval(successes, n)
    return f"{successes}/{n} = {successes / n:.2f} ({low:.2f} to {high:.2f})"


def table(answers: Sequence[Answer], judgements: Sequence[Judgement]) -> list[list[str]]:
    """Return a row for each system; the first row names the columns."""
    right: dict[tuple[str, str, str], bool] = {}
    for row in judgements:
        if row.score is not None:
            bar = row.score >= 1 if row.judge == "faithfulness" else is_right(row.score, row.scale)
            right[row.system, row.question_id, row.judge] = bar
    heads = ["system", "answered", "faithful", "relevant", "answered × relevant", "answered × faithful"]
    heads += ["unanswered", "holds the reference", "not held, and declined", "words from the passages"]
    rows = [heads]
    for system in dict.fromkeys(answer.system for answer in answers):
        own = [answer for answer in answers if answer.system == system]
        held = [answer for answer in own if answer.answerable]
        said = [answer for answer in held if _answered(answer)]

        def judged(judge: str, system: str = system, said: Sequence[Answer] = said) -> list[bool]:
            found = (right.get((system, answer.question_id, judge)) for answer in said)
            return [each for each in found if each is not None]

        faithful, relevant = judged("faithfulness"), judged("relevance")
        reference, overlap = judged("containment"), judged("context_overlap")
        missing = [answer for answer in own if not answer.answerable]
        rows.append(
            [
                system,
                share(len(said), len(held)),
                share(sum(faithful), len(faithful)),
                share(sum(relevant), len(relevant)),
                share(sum(relevant), len(held)),
                share(sum(faithful), len(held)),
                share(len(held) - len(said), len(held)),
                share(sum(reference), len(held)),
                share(sum(not _answered(answer) for answer in missing), len(missing)),
                share(sum(overlap), len(overlap)),
            ]
        )
    return rows


def example_rows(folder: Path) -> list[list[str]]:
    """Return a row for each example; the first row names the columns."""
    rows = [["example", "answered right, of those that the documents answer", "declined, of the others"]]
    for title, (name, file) in EXAMPLES.items():
        copy = folder / name
        shutil.copytree(ROOT / "examples" / name, copy, dirs_exist_ok=True)
        lines = (copy / file).read_bytes().splitlines()
        asked = [msgspec.json.decode(line, type=ExampleQuestion) for line in lines]
        right = asyncio.run(_right(asked, load_settings(copy / "ragstone.toml")))
        held = [ok for row, ok in zip(asked, right, strict=True) if row.answerable]
        others = [ok for row, ok in zip(asked, right, strict=True) if not row.answerable]
        rows.append([title, share(sum(held), len(held)), share(sum(others), len(others))])
    return rows


async def _right(asked: Sequence[ExampleQuestion], settings: Settings) -> list[bool]:
    """Return for each question whether the reply is right."""
    right: list[bool] = []
    async with open_session(settings) as session, open_assistant(settings, session) as assistant:
        await _built(assistant.knowledge, settings)
        for row in asked:
            said = await assistant.respond(Asked(turns=(Turn("user", row.question),)), silent)
            parts = row.expect.get("contains_any", [])
            answers = any(part in said.text for part in parts) if parts else bool(said.citations)
            right.append(answers if row.answerable else not said.citations)
    return right


def _answered(answer: Answer) -> bool:
    return (answer.metadata or {}).get("kind") == "answer"


def main() -> None:
    """Ask, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--judge", help="the model that judges")
    parser.add_argument("--examples", action="store_true", help="the examples, without a model")
    parser.add_argument("--limit", type=int, default=24)
    parser.add_argument("--folder", type=Path, default=ROOT / ".ragstone" / "assistant-evaluation")
    given = parser.parse_args()
    if given.examples:
        for row in example_rows(given.folder.with_name(f"{given.folder.name}-examples")):
            print("| " + " | ".join(row) + " |")
    if not given.models:
        return
    if given.judge is None:
        parser.error("name the model that judges: --judge MODEL")
    if not given.folder.exists():
        shutil.copytree(
            ROOT / "examples" / "assistant", given.folder, ignore=shutil.ignore_patterns(".ragstone", "logs")
        )
    settings = load_settings(given.folder / "ragstone.toml")
    asked = questions(given.limit)
    answers = [
        answer
        for model in given.models
        for prompt in PROMPTS
        for answer in asyncio.run(answers_of(model, prompt, asked, settings))
    ]
    write_rows(given.folder / "answers.jsonl", answers, Answer, force=True)
    said = [answer for answer in answers if _answered(answer)]
    judgements = ragstone.judge(said, judges=JUDGES, model=given.judge, settings=settings)
    write_rows(given.folder / "judgements.jsonl", judgements, Judgement, force=True)
    for row in table(answers, judgements):
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
