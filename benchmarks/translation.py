"""How well chrF of the way back tells a translation from that of another question: xquad, en -> es -> en.

    python benchmarks/translation.py ../shared/data/xquad/questions.jsonl [N]

Needs the program apertium with its pair eng-spa. Some 0.3 s a question and way on one core; 200 by default.
"""

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ragstone.features.translate.translating import translate
from ragstone.kernel.config import Settings
from ragstone.kernel.judging.lexical import chrf
from ragstone.kernel.records import Question
from ragstone.kernel.tables import read_rows

N = 200
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


def translated(rows: Sequence[Question], to: str, folder: str) -> list[str]:
    """Return Apertium's translations of the questions, in their order."""
    made = translate(rows, to=to, by="apertium", back="none", settings=Settings(root=folder))
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
    english, spanish = chosen(path, n)
    source = [row.question for row in english]
    people = [row.question for row in spanish]
    with TemporaryDirectory() as folder:
        made = translated(english, "es", folder)
        again = [
            Question(id=row.id, question=text, lang="es") for row, text in zip(english, made, strict=True)
        ]
        show("by Apertium, back by Apertium", translated(again, "en", folder), source)
        show("by people, back by Apertium", translated(spanish, "en", folder), source)
    scores = [chrf(one, other) for one, other in zip(made, people, strict=True)]
    print(f"Apertium's Spanish against that of people: chrF {np.mean(scores):.3f}")


if __name__ == "__main__":
    main()
