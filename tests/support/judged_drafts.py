"""A yes/no judge that is wrong as its prompt tells it, forty labelled answers, and a project around them.

A prompt with the word "lenient" calls the bad answers of cases divisible by three good; one with "blind" says
false of every third good one. Everything else is judged rightly.
"""

import json

from tests.support.known_judges import ANSWER, labelled_sheet
from tests.support.scripts import Body, fit_schema, prompt_of

from ragstone.kernel.config import load_settings

JUDGE = """\
# A judge to be developed.
name       = "mine"
version    = 1
metric     = "correctness"
kind       = "boolean"
inputs     = ["question", "reference", "answer"]
scale      = [0, 1]
source     = "made for tests"
prompt     = \"\"\"
Is {answer} to {question} right? The reference: {reference}.
version = 7
WORDS
\"\"\"
"""


def judge_text(words: str) -> str:
    return JUDGE.replace("WORDS", words)


def verdict_of(prompt: str) -> bool:
    case, truth = ANSWER.findall(prompt)[-1]
    third = int(case) % 3 == 0
    if truth == "good":
        return not ("blind" in prompt and third)
    return "lenient" in prompt and third


def judging(body: Body) -> str:
    made = json.loads(fit_schema(body))
    return json.dumps({**made, "verdict": verdict_of(prompt_of(body)), "reason": "<b>Because</b> & so."})


def project(folder, fake_openai, words="lenient", more=""):
    """Write ragstone.toml, judges/mine.toml, labelled.jsonl; return the settings."""
    (folder / "judges").mkdir()
    (folder / "judges" / "mine.toml").write_text(judge_text(words))
    labelled_sheet(folder / "labelled.jsonl", n=40, n_bad=15)
    (folder / "ragstone.toml").write_text(
        f'[judge]\nmodel = "openai/fake"\n[agree]\nsheet = "labelled.jsonl"\n{more}\n' + fake_openai.toml()
    )
    fake_openai.script = judging
    return load_settings(folder / "ragstone.toml")
