"""A run with two failure modes that are known, and an endpoint that reads its rows.

96 answers about crops: 14 refuse, 12 are about another crop than the question, 4 are wrong without a pattern.
"""

import json
import random
import re
from pathlib import Path

from tests.support.command import ragstone
from tests.support.fake_openai import FakeOpenAI
from tests.support.scripts import Body, fenced, prompt_of

from ragstone.kernel.records import Answer, Context
from ragstone.kernel.tables import write_rows

RUN = "runs/mine"
N, REFUSING, OTHER_CROP, BY_CHANCE = 96, range(14), range(14, 26), range(26, 30)
CROPS = ("maize", "wheat", "beans", "millet", "sorghum", "cassava")


def planted_answers(
    refusing: range = REFUSING, other: range = OTHER_CROP, chance: range = BY_CHANCE
) -> list[Answer]:
    """Return the answers, in an order that says nothing."""
    rows = []
    for at in range(N):
        crop = CROPS[at % len(CROPS)]
        text = f"Sow {crop} {at + 3} cm deep when the rains begin."
        said = text
        if at in refusing:
            said = "I am sorry, but the documents do not say."
        elif at in other:
            said = f"Rice seedlings need paddies with {at} others around them."
        rows.append(
            Answer(
                question_id=f"q{at}",
                system="farm",
                question=f"How deep is {crop} sown on plot {at}?",
                answer=said,
                reference=f"{at + 3} cm" + (" wide" if at in chance else ""),
                contexts=[Context(text=f"On plot {at}: {text}", document_id=f"d{at}")],
            )
        )
    random.Random(7).shuffle(rows)
    return rows


def write_moded_run(folder: Path, rows: list[Answer] | None = None) -> Path:
    """Write the answers, judged by a measure that finds the reference, into the project of a folder."""
    write_rows(folder / "answers.jsonl", rows or planted_answers(), Answer, force=True)
    ran = ragstone("judge", "answers.jsonl", "--judge", "containment", "-o", RUN)
    assert ran.code == 0, ran.err
    return folder / RUN


def fill_labels(path: Path, refusing: range = REFUSING) -> None:
    """Fill in the scores of a queue for the mode that refuses, as somebody would who is never wrong."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["score"] = int(int(row["question_id"][1:]) in refusing)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def tell_modes(fake: FakeOpenAI, *, invents: bool = False) -> None:
    """Let the endpoint read the rows. invents: its quotes are in no row."""

    def script(body: Body) -> str:
        prompt = prompt_of(body)
        nonce = re.findall(r'The code is "(\w+)"', prompt)[-1]
        if "You read answers" in prompt:
            rows = []
            for n in range(1, 6):
                text = fenced(f"row_{n}", prompt)
                answer = next(iter(re.findall(r"^answer: (.*)$", text, re.MULTILINE)), "")
                what = "about another crop" if "Rice" in answer else "refuses" if "sorry" in answer else ""
                quote = "words that nobody wrote" if invents else answer[:25]
                rows += [{"row": n, "what": what, "quote": quote}] if what else []
            return json.dumps({"nonce": nonce, "rows": rows})
        if "Group those" in prompt:
            listed = re.findall(r"^(\d+)\. (.+)$", fenced("notes", prompt), re.MULTILINE)
            groups = [
                {
                    "name": name,
                    "statement": f"The answer {what}.",
                    "notes": [int(number) for number, said in listed if said == what],
                }
                for name, what in (("Another crop", "about another crop"), ("No answer", "refuses"))
            ]
            return json.dumps({"nonce": nonce, "groups": groups})
        wanted = "Rice" if "another crop" in prompt else "sorry"
        verdict = wanted in fenced("answer", prompt)
        return json.dumps({"nonce": nonce, "reason": "as it reads", "verdict": verdict})

    fake.script = script
