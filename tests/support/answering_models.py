"""Models that answer from what they are shown, in known ways, for the bench of answerers."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from tests.support.scripts import Body, Script, prompt_of

FACT = re.compile(r"The key of case (\d+) is (key\d+)\.")
ASKED = re.compile(r"What is the key of case (\d+)\?")
REFUSAL = "The documents do not answer this question."


def case_files(folder: Path, n: int, *, unanswerable: int = 0) -> None:
    """Write n documents, each with the key of its case, and a question on each; then unanswerable questions.

    All documents share the words of all questions, so that BM25 finds distractors; the number of its case
    puts a question's own document first.
    """
    documents = [
        {"id": f"d{at}", "text": f"The key of case {at} is key{at}. It was found in case {at}."}
        for at in range(n)
    ]
    questions = [
        {
            "id": f"q{at}",
            "question": f"What is the key of case {at}?",
            "reference": f"key{at}",
            "document_ids": [f"d{at}"],
            "lang": "en" if at % 2 else "de",
        }
        for at in range(n)
    ]
    questions += [
        {"id": f"u{at}", "question": f"What is the key of case {at}?", "answerable": False}
        for at in range(n, n + unanswerable)
    ]
    for name, rows in (("documents", documents), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def reading(
    knows: Mapping[str, set[int]] | None = None, blind: Mapping[str, set[int]] | None = None
) -> Script:
    """Return a script: a model copies the key that stands in its passages, and else says what it knows.

    knows: model -> cases whose key it knows by itself, which it says only when it is shown no passages.
    blind: model -> cases that it refuses although the key is there. It refuses what it cannot answer.
    """

    def script(body: Body) -> str:
        prompt = prompt_of(body)
        model = body["model"]
        case = ASKED.findall(prompt)[-1]
        found = dict(FACT.findall(prompt))
        if case in found and int(case) not in (blind or {}).get(model, set()):
            return found[case]
        if not found and int(case) in (knows or {}).get(model, set()):
            return f"key{case}"
        return REFUSAL if found else "I do not know."

    return script
