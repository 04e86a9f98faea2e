"""A run of three questions, answered and judged by a scripted model, on which prompts are tried.

The model answers `quiet`, and `LOUD` where its prompt holds the word "shout". The judge `tone` says true
of an answer that is LOUD, and of every one where its own prompt holds the word "lenient".
"""

import json
from pathlib import Path

from tests.support.fake_openai import FakeOpenAI
from tests.support.scripts import Body, fit_schema, prompt_of

from ragstone.features.run.pipeline import run
from ragstone.kernel.config import Settings, load_settings

JUDGE = '''\
name       = "tone"
version    = 1
kind       = "boolean"
inputs     = ["question", "answer"]
scale      = [0, 1]
source     = "made for tests"
prompt     = """
Is {answer} to {question} loud? Be strict.
"""
'''
PROMPT = '''\
name       = "my_strict"
version    = 1
max_tokens = 64
prompt     = """
Answer {question} from {contexts}. WORDS
"""
'''
CONFIG = """
[run]
name = "mine"
model = "openai/fake"
[documents]
paths = ["texts"]
[questions]
path = "questions.jsonl"
[judge]
judges = ["judges/tone.toml", "containment"]
"""


def prompt_text(words: str) -> str:
    return PROMPT.replace("WORDS", words)


def judge_text(words: str) -> str:
    return JUDGE.replace("strict", words)


def answering(body: Body) -> str:
    prompt = prompt_of(body)
    if "loud?" not in prompt:
        return "LOUD" if "shout" in prompt else "quiet"
    verdict = "lenient" in prompt or "LOUD" in prompt
    return json.dumps({**json.loads(fit_schema(body)), "verdict": verdict, "reason": "<b>Because</b> & so."})


def tried_run(folder: Path, fake_openai: FakeOpenAI) -> Settings:
    """Write a project and its run `runs/mine`; return the settings."""
    (folder / "texts").mkdir(parents=True)
    (folder / "texts" / "one.txt").write_text("The moon is quiet. The sun is LOUD. The sea is both.")
    rows = [
        {"id": name, "question": f"How is the {name}?", "reference": loud}
        for name, loud in (("moon", "quiet"), ("sun", "LOUD"), ("sea", "both"))
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "judges").mkdir()
    (folder / "judges" / "tone.toml").write_text(JUDGE)
    (folder / "ragstone.toml").write_text(CONFIG + fake_openai.toml())
    fake_openai.script = answering
    settings = load_settings(folder / "ragstone.toml")
    run(settings)
    return settings


def files_in(folder: Path) -> dict[str, bytes]:
    """Return what stands in a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
