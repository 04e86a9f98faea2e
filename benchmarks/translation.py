"""How well chrF of the way back tells a translation from that of another question: xquad, en -> es -> en.

    python benchmarks/translation.py ../shared/data/xquad/questions.jsonl [N] [TRANSLATOR]

TRANSLATOR: a model, or http as ragstone.toml has it; openai/gpt-4o-mini by default. 200 questions by default.
"""

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import numpy as np

from ragstone.features.translate.translating import translate
from ragstone.kernel.config import load_settings
from ragstone.kernel.judging.lexical import chrf
from ragstone.kernel.records import Question
from ragstone.kernel.tables import read_rows

N = 200
TRANSLATOR = "openai/gpt-4o-mini"
SHIFTS = (1, 7, 31, 77)  # whose translation stands in the place of the right one
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)


def chosen(path: Path, n: int) -> tuple[list[Question], list[Question]]:
    """Return n questions in English, and the same in Spanish as people translated them."""
    by_lang: dict[str, dict[str, Question]] = {"en": {}, "es": {}}
    for row in read_rows(path, Question):
        if row.lang in by_lang:
            name = str((row.metadata or {})["parallel_id"])
            by_lang[row.lang][name] = Question(id=name, question=row.question, lang=row.lang)
    names = sorted(by_lang["en"].keys() & by_lang["es"].keys())
    random.Random(0).shuffle(names)
    return [by_lang["en"][name] for name in names[:n]], [by_lang["es"][name] for name in names[:n]]


def translated(rows: Sequence[Question], to: str, by: str, folder: str) -> list[str]:
    """Return a translator's translations of the questions, in their order."""
    settings = msgspec.structs.replace(load_settings(), root=folder)
    made = translate(rows, to=to, by=by, back="none", settings=settings)
    assert made.questions is not None
    return [row.question for row in made.questions.every]


def show(name: str, back: Sequence[str], source: Sequence[str]) -> None:
    right = np.array([chrf(one, other) for one, other in zip(back, source, strict=True)])
    wrong = np.array(
        [chrf(back[(at + shift) % len(back)], source[at]) for shift in SHIFTS for at in range(len(source))]
    )
    print(f"{name}: chrF of the right one {right.mean():.3f}, of another's {wrong.mean():.3f}")
    for threshold in THRESHOLDS:
        lost, passed = (right < threshold).mean(), (wrong >= threshold).mean()
        print(f"  at {threshold:.2f}: {lost:6.1%} of the right ones lost, {passed:6.2%} of another's pass")


def main() -> None:
    path, n = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else N
    by = sys.argv[3] if len(sys.argv) > 3 else TRANSLATOR
    english, spanish = chosen(path, n)
    source = [row.question for row in english]
    people = [row.question for row in spanish]
    with TemporaryDirectory() as folder:
        made = translated(english, "es", by, folder)
        again = [
            Question(id=row.id, question=text, lang="es") for row, text in zip(english, made, strict=True)
        ]
        show(f"by {by}, back by {by}", translated(again, "en", by, folder), source)
        show(f"by people, back by {by}", translated(spanish, "en", by, folder), source)
    scores = [chrf(one, other) for one, other in zip(made, people, strict=True)]
    print(f"Spanish by {by} against that of people: chrF {np.mean(scores):.3f}")


if __name__ == "__main__":
    main()
