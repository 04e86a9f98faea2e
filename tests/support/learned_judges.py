"""A yes/no judge with a known bias, a model that can be cured of it in one way, and labelled answers.

The judge calls the bad answers of cases divisible by three good. The cure is what the model must be shown or
told: `prompt`, instructions with the word "strictly", which the same model proposes when it is asked;
`examples`, any labelled answer as an example; None, nothing helps.
"""

import json
import random

from tests.support.judged_drafts import JUDGE
from tests.support.known_judges import ANSWER
from tests.support.scripts import Body, Script, fit_schema, prompt_of

from ragstone.kernel.config import Settings, load_settings

STRICT = "Say whether {answer} answers {question} as {reference} does, taken strictly."
REASON = "A bad case is bad, whatever its number."


def learning_model(cure: str | None = None, proposed: str = STRICT) -> Script:
    """Return a script: the biased judge, and the proposer of prompts."""

    def script(body: Body) -> str:
        made, prompt = json.loads(fit_schema(body)), prompt_of(body)
        if "analysis" in made:
            return json.dumps({**made, "analysis": "It is lenient.", "prompt": proposed})
        case, truth = ANSWER.findall(prompt)[-1]
        cured = {"prompt": "strictly" in prompt, "examples": "Examples, each" in prompt}
        lenient = int(case) % 3 == 0 and not cured.get(cure or "", False)
        right = truth == "good" or lenient
        return json.dumps({**made, "verdict": right, "reason": "So it seems."})

    return script


CURED_BY_PROMPT = learning_model("prompt")  # for the server in a process of its own


def labelled_cases(path, n=120, share_bad=0.5, *, contained=False, seed=0, shuffled=False):
    """Write n labelled answers to questions of their own.

    contained: the reference stands in the good answers, so that measures of words tell them; else they tell
    nothing. shuffled: labels
    are dealt out anew, so that they say nothing of the answers.
    """
    draw = random.Random(seed)
    numbers = draw.sample(range(100_000), n)
    bad = [at < share_bad * n for at in range(n)]
    labels = [int(not one) for one in bad]
    if shuffled:
        draw.shuffle(labels)
    rows = [
        {
            "question": f"What is case {case}?",
            "reference": f"case {case} is good" if contained else "xyz",
            "answer": f"case {case} is {'bad' if is_bad else 'good'}",
            "human_label": label,
            "rationale": REASON,
        }
        for case, is_bad, label in zip(numbers, bad, labels, strict=True)
    ]
    draw.shuffle(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def learning_project(
    folder, fake_openai, *, cure: str | None = None, judge: str = JUDGE, **cases: object
) -> Settings:
    """Write ragstone.toml, judges/mine.toml and labelled.jsonl; return the settings."""
    (folder / "judges").mkdir(parents=True)
    (folder / "judges" / "mine.toml").write_text(judge.replace("WORDS", ""))
    labelled_cases(folder / "labelled.jsonl", **cases)
    (folder / "ragstone.toml").write_text('[judge]\nmodel = "openai/fake"\n' + fake_openai.toml())
    fake_openai.script = learning_model(cure)
    return load_settings(folder / "ragstone.toml")
