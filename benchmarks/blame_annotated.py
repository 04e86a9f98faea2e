"""Where blame puts a lost point, beside what people wrote of it, set by set.

    RAGSTONE_CHECKOUTS=DIR python -m benchmarks.blame_annotated [-v]

Read from DIR, by default ../.mirror, and never copied: clones of microsoft/AgentRx (f228165, MIT),
ag2ai/Agents_Failure_Attribution (f4d2b6d, MIT: Who&When) and amazon-science/MEMERAG (CC BY-NC 4.0) on GitHub,
each as DIR/OWNER+NAME/repo or DIR/NAME; and from ../shared/data: CLAP NQ, RAGTruth. What is missing is named.

How people's words become components. These rules were written before blame's output was seen, but for
AgentRx: the user was no component at first, and became *dataset* when that got a cause for it.

- AgentRx, root cause: *System Failure*, *Guardrails Triggered*: tools. *Underspecified User Intent*, *Intent
  Not Supported*: dataset, because the simulated user and its task are parts of the test set. All others are
  the agent's: model + prompt.
- Who&When, the agent that made the decisive mistake: `ComputerTerminal`, which runs code: tools. All others
  write text: model + prompt. The runs say nothing of expected calls.
- CLAP NQ, sentences that people marked as the answer: a wrong answer is the retriever's where no context
  has half of a marked sentence, else model + prompt. Blame gets the document's name and the reference, and no
  marks. The wrong answers are the first sentence of what BM25 finds first, if nobody marked half of it.
- RAGTruth and MEMERAG, answers with a span or sentence that people call unsupported: model + prompt. Baseless
  or added information: beyond the contexts. Conflicts, wrong reasoning: misread.

Half of each set, by the digest of the id, is `development`: rules were changed by its rows. The labels of
AgentRx, of both halves, had been read before, in a list of misses; see docs/decisions/0097. It takes a
minute on one core.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from benchmarks.blame_people import PUBLISHED, SHARED

import ragstone
from ragstone.kernel.judging.lexical import grounding
from ragstone.kernel.records import Answer, Context, Document, Question, Step, Turn
from ragstone.kernel.retrieval.bm25 import rank_by_bm25
from ragstone.kernel.runs.blamed import read_causes
from ragstone.kernel.runs.causes import Caused
from ragstone.kernel.statistics import auc_estimate, mean_estimates
from ragstone.kernel.tables import write_rows

CHECKOUTS = Path(os.environ.get("RAGSTONE_CHECKOUTS") or SHARED.parents[1] / ".mirror")
AGENT, SYSTEM = "model + prompt", "annotated"
OF_CATEGORY = {
    "system failure": "tools",
    "guardrails triggered": "tools",
    "underspecified user intent": "dataset",
    "intent not supported": "dataset",
}
TOML = """[run]
name = "annotated"
[questions]
path = "questions.jsonl"
[answer]
sheet = "answers.jsonl"
[judge]
judges = ["lost.toml", "grounding", "no_refusal"]
[blame]
judge = "lost"
"""
JUDGE = """name = "lost"
version = 1
kind = "function"
call = "benchmarks.blame_annotated:{}"
scale = [0, 1]
best = "highest"
source = "own"
"""
CHUNK = 300  # characters of a passage


class Labelled(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that is lost, and where people put it. group: what counts as one piece of evidence."""

    answer: Answer
    question: Question
    people: str
    group: str
    kind: str = ""

    @property
    def development(self) -> bool:
        return int(sha256(self.group.encode()).hexdigest(), 16) % 2 == 0


def lost(row: Answer, references: list[str]) -> float:
    """Return 0 for the answers of a set, which are lost, and of others whether they have the reference."""
    parts = [part.strip().casefold() for part in references[0].split(";")]
    return float(row.system != SYSTEM and all(part in row.answer.casefold() for part in parts))


def lost_alone(answer: str) -> float:
    """Return 0: the answer is lost, and has no reference."""
    return 0.0 * len(answer)


def blame(rows: Sequence[Labelled], documents: Sequence[Document] = ()) -> dict[str, Caused]:
    """Return the cause of each row by the id of its question. No model is asked."""
    alone = [row for row in rows if row.question.reference is None]
    if 0 < len(alone) < len(rows):
        rest = [row for row in rows if row.question.reference is not None]
        return {**blame(alone, documents), **blame(rest, documents)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        toml = TOML + ('[documents]\npaths = ["documents.jsonl"]\n' if documents else "")
        (folder / "ragstone.toml").write_text(toml)
        (folder / "lost.toml").write_text(JUDGE.format("lost_alone" if alone else "lost"))
        write_rows(folder / "questions.jsonl", [row.question for row in rows], Question)
        write_rows(folder / "answers.jsonl", [row.answer for row in rows], Answer)
        if documents:
            write_rows(folder / "documents.jsonl", documents, Document)
        settings = ragstone.load_settings(folder / "ragstone.toml")
        ragstone.run(settings)
        ragstone.blame(folder / "runs" / "annotated", settings=settings)
        return {key: of[0] for key, of in read_causes(folder / "runs" / "annotated").items()}


def checkout(owner_and_name: str) -> Path | None:
    """Return the clone of a repository; None, and say so, where it is missing."""
    places = (CHECKOUTS / owner_and_name.replace("/", "+") / "repo", CHECKOUTS / owner_and_name.split("/")[1])
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        print(f"{owner_and_name}: skipped, no clone under {CHECKOUTS}")
    return found


def stored(clone: Path, path: str) -> str:
    """Return the text of a file of a clone's last commit."""
    command = ["git", "-C", str(clone), "show", f"HEAD:{path}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def agentrx(clone: Path) -> list[Labelled]:
    """Return the failed runs of tau-bench's retail agent, with what was said and what the tools brought."""
    truth = {
        row["trajectory_id"]: row
        for row in json.loads(stored(clone, "data/ground_truth/tau_ground_truth.json"))
    }
    rows = []
    for run in json.loads(stored(clone, "data/tau_retail/tau_dataset_failed.json")):
        label, task = truth[run["task_id"]], run["info"]["task"]
        root = label["root_cause"]["failure_id"]
        category = next(f["failure_category"] for f in label["failures"] if f["failure_id"] == root)
        key = f"tau-retail-{run['task_id']}"
        turns, steps = tau_turns(run["traj"])
        said = [turn.content for turn in turns if turn.role == "assistant" and turn.content]
        expected = [{"tool": call["name"], "arguments": call["kwargs"]} for call in task["actions"]]
        outputs = "; ".join(task.get("outputs") or ()) or None
        rows.append(
            Labelled(
                answer=Answer(
                    question_id=key,
                    system=SYSTEM,
                    answer="\n".join(said),
                    turns=turns,
                    steps=steps,
                    metadata={"expected_steps": expected},
                ),
                question=Question(id=key, question=turns[0].content, reference=outputs),
                people=OF_CATEGORY.get(category.strip().casefold(), AGENT),
                group=key,
                kind=category,
            )
        )
    return rows


def tau_turns(messages: Iterable[Mapping[str, Any]]) -> tuple[list[Turn], list[Step]]:
    """Return the turns and the calls of a run of tau-bench, the system message left out."""
    turns: list[Turn] = []
    steps: list[Step] = []
    by_call: dict[str, int] = {}
    for message in messages:
        if message["role"] == "tool":
            at, text = by_call[message["tool_call_id"]], message["content"]
            came = {"error": text} if text.startswith("Error") else {"result": text}
            steps[at] = msgspec.structs.replace(steps[at], **came)
        elif message["role"] != "system":
            calls = [call for call in message.get("tool_calls") or () if call]
            for call in calls:
                by_call[call["id"]] = len(steps)
                function = call["function"]
                steps.append(Step(tool=function["name"], arguments=json.loads(function["arguments"])))
            made = [Step(tool=call["function"]["name"]) for call in calls]
            turns.append(Turn(message["role"], message.get("content") or "", tool_calls=made or None))
    return turns, steps


def who_and_when(clone: Path) -> list[Labelled]:
    """Return the failed runs in which a terminal ran code, as calls of it."""
    files = stored_names(clone, "Who&When")
    rows = []
    for path in files:
        run = json.loads(stored(clone, path))
        steps: list[Step] = []
        before = ""
        for message in run["history"]:
            who, text = (message.get("name") or message["role"]).replace("_", ""), message["content"]
            if who.lower().startswith("computerterminal"):
                failed = text.startswith("exitcode: ") and not text.startswith("exitcode: 0")
                came = {"error": text} if failed else {"result": text}
                steps.append(Step(tool="terminal", arguments={"code": before}, **came))
            before = text or before
        if steps:
            terminal = run["mistake_agent"].replace("_", "").lower().startswith("computerterminal")
            key = run["question_ID"]
            rows.append(
                Labelled(
                    answer=Answer(question_id=path, system=SYSTEM, answer=before, steps=steps),
                    question=Question(id=path, question=run["question"], reference=str(run["ground_truth"])),
                    people="tools" if terminal else AGENT,
                    group=key,
                )
            )
    return rows


def stored_names(clone: Path, folder: str) -> list[str]:
    command = ["git", "-C", str(clone), "ls-tree", "-r", "-z", "--name-only", "HEAD", folder]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    return [name for name in names if name.endswith(".json")]


def clapnq(top: int) -> tuple[list[Labelled], list[Document]]:
    """Return questions of CLAP NQ with wrong answers, from `top` passages, and its documents."""
    read = [json.loads(line) for line in _lines(SHARED / "clapnq" / "documents.jsonl")]
    documents = [Document(id=row["id"], text=row["text"], title=row.get("title")) for row in read]
    passages = [Context(document_id=row.id, text=text) for row in documents for text in cut(row.text)]
    rank = rank_by_bm25([passage.text for passage in passages])
    rows = []
    asked = [row for row in map(json.loads, _lines(SHARED / "clapnq" / "questions.jsonl")) if row["evidence"]]
    questions = [row["question"] for row in asked]

    async def ranking() -> list[list[tuple[int, float]]]:
        return [list(hits) for hits in await rank(questions, top, None)]

    ranked = asyncio.run(ranking())
    for row, hits in zip(asked, ranked, strict=True):
        marks = [mark for mark in row["evidence"] if mark.strip()]
        contexts = [passages[at] for at, _ in hits]
        answer = contexts[0].text.split(" . ")[0]
        if any(has_half(answer, mark) for mark in marks):
            continue
        held = any(has_half(context.text, mark) for context in contexts for mark in marks)
        rows.append(
            Labelled(
                answer=Answer(question_id=row["id"], system=SYSTEM, answer=answer, contexts=contexts),
                question=Question(
                    id=row["id"],
                    question=row["question"],
                    reference=row["references"],
                    document_ids=[row["document_id"]],
                ),
                people=AGENT if held else "retriever",
                group=row["document_id"],
            )
        )
    return rows, documents


def cut(text: str) -> Iterator[str]:
    """Return the passages of a text: words up to CHUNK characters."""
    passage = ""
    for word in text.split():
        if passage and len(passage) + len(word) >= CHUNK:
            yield passage
            passage = ""
        passage = f"{passage} {word}".strip()
    if passage:
        yield passage


def has_half(text: str, mark: str) -> bool:
    """Return whether half of the words of a marked sentence, in one piece, are in a text."""
    words = mark.split()
    half = (len(words) + 1) // 2
    around = f" {' '.join(text.split())} "
    return any(f" {' '.join(words[at : at + half])} " in around for at in range(len(words) - half + 1))


def ragtruth() -> list[Labelled]:
    """Return the answers with a marked span, and those without, kind `none`."""
    rows = []
    for row in map(json.loads, _lines(SHARED / "ragtruth" / "qa.jsonl")):
        spans = [span["type"] for span in row["human_spans"]]
        beyond = any("Baseless" in span for span in spans)
        kind = "none" if row["human_label"] else "beyond" if beyond else "misread"
        rows.append(
            _unsupported(row["id"], row["question"], [row["context"]], row["answer"], row["source_id"], kind)
        )
    return rows


def memerag(clone: Path) -> list[Labelled]:
    """Return the answers in five languages, by their sentences; those that people found hard are left out."""
    rows = []
    for lang in ("en", "de", "es", "fr", "hi"):
        for at, row in enumerate(map(json.loads, stored(clone, f"data/memerag/{lang}.jsonl").splitlines())):
            told = {sentence["factuality"] for sentence in row["answer"]}
            if "Challenging to determine" in told:
                continue
            added = any(
                sentence["fine_grained_factuality"] == "Adds new information" for sentence in row["answer"]
            )
            kind = "none" if told == {"Supported"} else "beyond" if added else "misread"
            key, group = f"{lang}-{at}", f"{lang}-{row['query_id']}"
            text = " ".join(sentence["sentence"] for sentence in row["answer"])
            rows.append(
                _unsupported(key, row["query"], [c["text"] for c in row["context"]], text, group, kind)
            )
    return rows


def _unsupported(
    key: str, question: str, contexts: Sequence[str], answer: str, group: str, kind: str
) -> Labelled:
    given = [Context(document_id=str(at), text=text) for at, text in enumerate(contexts)]
    named = [str(at) for at in range(len(contexts))]
    return Labelled(
        answer=Answer(question_id=key, system=SYSTEM, answer=answer, contexts=given),
        question=Question(id=key, question=question, document_ids=named),
        people=AGENT,
        group=group,
        kind=kind,
    )


def named_found(row: Labelled) -> bool:
    """Return whether a context is from a document that the question names."""
    wanted = row.question.document_ids or ()
    return any(context.document_id in wanted for context in row.answer.contexts or ())


def share(hits: Sequence[bool], rows: Sequence[Labelled]) -> str:
    """Return a share with its interval; rows of one group count as one piece of evidence."""
    if not rows:
        return "none"
    estimate = mean_estimates({"hit": [float(hit) for hit in hits]}, [row.group for row in rows])["hit"]
    low, high = estimate.low or 0.0, estimate.high or 0.0
    return f"{estimate.value:6.1%}  ({low:.0%} to {high:.0%})  {sum(hits)} of {len(hits)}"


def show(
    name: str, rows: Sequence[Labelled], causes: Mapping[str, Caused], trivial: Mapping[str, str]
) -> None:
    """Print a set's agreement by half, how often blame cannot tell, and rules that look at less."""
    n_read, rows = len(rows), [row for row in rows if row.question.id in causes]
    if len(rows) < n_read:
        print(f"{name}: {n_read - len(rows)} rows without a verdict of the judge are left out")
    print(f"{name}: {len(rows)} rows, by people: {dict(Counter(row.people for row in rows))}")
    for half in (True, False, None):
        some = [row for row in rows if half is None or row.development is half]
        got = [causes[row.question.id].component for row in some]
        hits = [row.people == component for row, component in zip(some, got, strict=True)]
        spoken = [(hit, row) for hit, row, of in zip(hits, some, got, strict=True) if of != "cannot tell"]
        title = {True: "development", False: "set aside", None: "all"}[half]
        print(f"  {title:12} {share(hits, some)}; says so in {len(spoken)} of {len(some)},", end=" ")
        print(f"right in {share([hit for hit, _ in spoken], [row for _, row in spoken]).strip()}")
    for rule, component in trivial.items():
        print(f"  {rule:38} {share([row.people == component for row in rows], rows)}")
    pairs = Counter(
        (row.people, causes[row.question.id].cause, causes[row.question.id].component) for row in rows
    )
    for (people, cause, component), n in sorted(pairs.items()):
        print(f"    people: {people}, blame: {component} ({cause}): {n}")
    if "-v" in sys.argv:
        for row in rows:
            caused = causes[row.question.id]
            if caused.component != row.people:
                print(
                    f"    {row.question.id} {row.kind}: {row.people} / {caused.component}: {caused.because}"
                )


def show_kinds(name: str, rows: Sequence[Labelled], causes: Mapping[str, Caused]) -> None:
    """Print which causes blame names, by what people marked; answers without a mark among them."""
    for half in (True, False):
        some = [row for row in rows if row.development is half and row.question.id in causes]
        print(f"{name}, {'development' if half else 'set aside'}: {len(some)} answers")
        for kind in ("beyond", "misread", "none"):
            of = Counter(causes[row.question.id].cause for row in some if row.kind == kind)
            print(f"  people: {kind:8} {sum(of.values()):4}  blame: {dict(of.most_common())}")
        for lang in dict.fromkeys(row.group.partition("-")[0] if name == "MEMERAG" else "" for row in some):
            chosen = [row for row in some if not lang or row.group.startswith(f"{lang}-")]
            marked = np.array([float(row.kind != "none") for row in chosen])
            words = np.array([-_grounding(row) for row in chosen])
            area = auc_estimate(marked, words, [row.group for row in chosen])
            if area is None:
                continue
            print(f"  AUROC of the words {lang}: {area.value:.2f}  ({area.low:.2f} to {area.high:.2f})")


def _grounding(row: Labelled) -> float:
    return grounding(row.answer.answer, "\n".join(context.text for context in row.answer.contexts or ()))


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def main() -> None:
    print(f"people's labels; no model is asked\n{PUBLISHED}")
    always = {"always model + prompt": AGENT}
    read: dict[str, Callable[[Path], list[Labelled]]] = {
        "microsoft/AgentRx": agentrx,
        "ag2ai/Agents_Failure_Attribution": who_and_when,
    }
    for repository, rows_of in read.items():
        if clone := checkout(repository):
            rows = rows_of(clone)
            show(repository, rows, blame(rows), always)
    if (SHARED / "clapnq").is_dir():
        for top in (1, 3):
            rows, documents = clapnq(top)
            show(f"CLAP NQ, {top} of 300 characters", rows, blame(rows, documents), always)
            hits = [(AGENT if named_found(row) else "retriever") == row.people for row in rows]
            print(f"  {'by the retrieved document alone':38} {share(hits, rows)}")
    if (SHARED / "ragtruth").is_dir():
        rows = ragtruth()
        show_kinds("RAGTruth", rows, blame(rows))
    if clone := checkout("amazon-science/MEMERAG"):
        rows = memerag(clone)
        show_kinds("MEMERAG", rows, blame(rows))


if __name__ == "__main__":
    main()
