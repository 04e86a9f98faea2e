"""How good the assistant's answers are, by model and prompt: `python -m benchmarks.assistant_evaluation
MODEL…`.

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
from ragstone.kernel.records import Answer, Context, Judgement
from ragstone.kernel.runs.causes import is_right
from ragstone.kernel.statistics import wilson_interval
from ragstone.kernel.tables import write_rows
from ragstone_assistant.assistant import open_assistant
from ragstone_assistant.conversation import silent
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


def _answered(answer: Answer) -> bool:
    return (answer.metadata or {}).get("kind") == "answer"


def main() -> None:
    """Ask, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--judge", required=True, help="the model that judges")
    parser.add_argument("--limit", type=int, default=24)
    parser.add_argument("--folder", type=Path, default=ROOT / ".ragstone" / "assistant-evaluation")
    given = parser.parse_args()
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
