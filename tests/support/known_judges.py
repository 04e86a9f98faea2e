"""Models that judge with known error rates, for the bench of judges: answers say whether they are right."""

import hashlib
import json
import re
from collections.abc import Mapping

from tests.support.scripts import Body, Script, fit_schema, prompt_of

ANSWER = re.compile(r"case (\d+) is (good|bad)")

JUDGE = """
name       = "NAME"
version    = 1
metric     = "correctness"
kind       = "boolean"
inputs     = ["question", "reference", "answer"]
scale      = [0, 1]
source     = "made for tests"
prompt     = "Is {answer} to {question} right? The reference: {reference}."

[prompts]
strict     = "Strictly: is {answer} to {question} right? The reference: {reference}."

[[examples]]
question   = "Where?"
reference  = "Rome"
answer     = "In Rome"
expected   = true
reason     = "It says the same."
"""


def labelled_sheet(path, n=80, n_bad=30, contained=20):
    """Write n answers, the first n_bad of them bad, as one sheet with labels.

    Of the first `contained` good answers the reference stands in them: containment is right on these and on
    all bad ones.
    """
    rows = []
    for at in range(n):
        bad = at < n_bad
        found = not bad and at - n_bad < contained
        rows.append(
            {
                "question": f"What is case {at}?",
                "reference": f"case {at} is good" if found else "something else altogether",
                "answer": f"case {at} is {'bad' if bad else 'good'}",
                "human_label": int(not bad),
            }
        )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def errs(model: str, case: int, rate: float, salt: str = "") -> bool:
    """Return whether a model is wrong on a case: the same at each call, independent from model to model."""
    digest = hashlib.blake2b(f"{model} {case} {salt}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") / 2**32 < rate


def judging(rates: Mapping[str, float], *, with_examples: Mapping[str, float] | None = None) -> Script:
    """Return a script: model -> how often it is wrong; with_examples: where it is shown an example."""

    def script(body: Body) -> str:
        prompt = prompt_of(body)
        case, truth = ANSWER.findall(prompt)[-1]
        model = body["model"]
        shown = with_examples is not None and "In Rome" in prompt
        rate = (with_examples or {}).get(model, rates[model]) if shown else rates[model]
        right = (truth == "good") != errs(model, int(case), rate)
        made = json.loads(fit_schema(body))
        as_text = isinstance(made.get("verdict"), str)  # the layout contexts_first
        verdict = str(right).lower() if as_text else right
        made.update({"verdict": verdict} if "verdict" in made else {"score": 100 * right})
        return json.dumps(made)

    return script
