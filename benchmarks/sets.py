"""Chains, personas, types of questions and repeats against what was planted: python -m benchmarks.sets

Tables of docs/explanation/sets.md. No model is asked: who speaks in the place of one is stated at each table.
Types of questions are compared with benchmarks/question_types.jsonl: 101 questions of six packs in three
languages, drawn by a seed and labelled by one reader by what they ask for, before the program typed them.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.random import Generator

from ragstone.features.build._chains import chain_passages
from ragstone.features.build._plan import cut_passages
from ragstone.features.check._types import type_of
from ragstone.features.check.sets import check_set
from ragstone.features.simulate._traits import OF_A_TURN, kinds_of, spelling_of, traits_of
from ragstone.features.simulate.distil import _swapped_p
from ragstone.kernel.dataset.repeats import repeated
from ragstone.kernel.records import Document, Question
from ragstone.kernel.statistics import Floats, wilson_interval

TYPED = Path(__file__).parent / "question_types.jsonl"
WORDS = [
    "field", "water", "seed", "soil", "crop", "leaf", "root", "rain", "month", "plant", "farm",
    "pump", "stone", "mill", "river", "road", "school", "market", "price", "stove", "roof", "goat",
    "sheep", "wool", "cheese", "bread", "grain", "store", "winter", "summer", "tool", "engine",
    "wheel", "bridge", "garden", "tree",
]  # fmt: skip
SYLLABLES = ["ba", "ki", "lo", "mu", "ra", "ne", "ti", "so", "va", "du", "pe", "zo", "hi", "gu", "fa", "re"]
CROPS = [
    "maize", "wheat", "beans", "rice", "sorghum", "millet", "barley", "cotton", "potato", "tomato",
    "cassava", "onion",
]  # fmt: skip
DEEDS = ["water", "sow", "harvest", "store", "weed", "feed", "spray", "prune"]


def share(k: int, n: int) -> str:
    """Return `0.95 (0.91 to 0.97), 190 of 200`, with Wilson's interval."""
    low, high = wilson_interval(k, n)
    return f"{k / n:.3f} ({low:.3f} to {high:.3f}), {k} of {n}"


def name(rng: Generator) -> str:
    """Return a name that nobody has."""
    return "".join(rng.choice(SYLLABLES) for _ in range(3)).capitalize() + str(
        rng.choice(["", " Bay", " Hill"])
    )


def sentence(rng: Generator, inside: str = "") -> str:
    """Return a sentence of small words, with a name in it where one is given."""
    words = ["".join(rng.choice(SYLLABLES, size=2)) + str(rng.choice(WORDS)) for _ in range(12)]
    if inside:
        words.insert(6, inside)
    return " ".join(words).capitalize().replace(inside.lower(), inside) + "."


def corpus(
    rng: Generator, hops: int, n_chains: int = 10, n_others: int = 40
) -> tuple[list[Document], set[frozenset[str]]]:
    """Return documents, some of them linked by names of their own, and which of them are.

    A sentence holds a link; every document has a name of its own as well, and one that half of them have.
    """
    usual, documents = name(rng), list[Document]()
    chains = set[frozenset[str]]()

    def document(links: list[str]) -> str:
        lines = [
            sentence(rng),
            sentence(rng, name(rng)),
            *(sentence(rng, link) for link in links),
            sentence(rng),
        ]
        lines += [sentence(rng, usual)] if len(documents) % 2 else []
        rng.shuffle(lines)
        documents.append(Document(id=f"d{len(documents)}", text=" ".join(lines), lang="en"))
        return documents[-1].id

    for _ in range(n_chains):
        links = [name(rng) for _ in range(hops - 1)]
        chains.add(
            frozenset(document([*links[max(0, at - 1) : at], *links[at : at + 1]]) for at in range(hops))
        )
    for _ in range(n_others):
        document([])
    return documents, chains


def chains(draws: int) -> Iterator[str]:
    """Say how many planted chains are found, and how many of those that are found were planted."""
    for hops in (2, 3):
        n_found = n_planted = n_given = 0
        for seed in range(draws):
            rng = np.random.default_rng([seed, hops])
            documents, planted = corpus(rng, hops)
            found = chain_passages(cut_passages(documents, 2400).passages, hops, 30, rng)
            given = {frozenset(passage.document_id for passage in chain.passages) for chain in found}
            n_found, n_planted, n_given = (
                n_found + len(given & planted),
                n_planted + len(planted),
                n_given + len(given),
            )
        yield f"| {hops} hops: planted chains that are found | {share(n_found, n_planted)} |"
        yield f"| {hops} hops: chains found that were planted | {share(n_found, n_given)} |"


def types(draws: int) -> Iterator[str]:
    """Say how often a type is the reader's, and how often shares are wrongly or rightly said to differ."""
    rows = [json.loads(line) for line in TYPED.read_text(encoding="utf-8").splitlines()]
    for lang in ("en", "de", "es"):
        right = [type_of(row["question"], lang) == row["type"] for row in rows if row["lang"] == lang]
        yield f"| type as the reader says, {lang} | {share(sum(right), len(right))} |"
    texts = {
        "how to": [
            f"How do I {deed} {crop} number {n}?" for n in range(9) for deed in DEEDS for crop in CROPS
        ],
        "what": [f"What is {crop} {n} worth?" for n in range(99) for crop in CROPS],
        "when": [f"When is {crop} {n} sold?" for n in range(99) for crop in CROPS],
        "yes or no": [f"Is {crop} {n} ripe?" for n in range(99) for crop in CROPS],
    }

    def drawn(rng: Generator, shares: list[float], n: int) -> list[str]:
        kinds = rng.choice(4, size=n, p=shares)
        return [str(rng.choice(list(texts.values())[kind])) for kind in kinds]

    log, cases = (
        [0.3, 0.4, 0.2, 0.1],
        {"the same shares": [0.3, 0.4, 0.2, 0.1], "no how to": [0.0, 0.7, 0.2, 0.1]},
    )
    for what, of_set in cases.items():
        n_fewer = n_more = 0
        for seed in range(draws):
            rng = np.random.default_rng([seed, 7])
            rows_of_set = [
                Question(id=str(at), question=text) for at, text in enumerate(drawn(rng, of_set, 60))
            ]
            check = check_set(rows_of_set, log=[{"question": text} for text in drawn(rng, log, 200)])
            n_fewer += any(one.differs == "fewer" and one.type == "procedure" for one in check.types)
            n_more += any(one.differs for one in check.types)
        counted = n_fewer if what == "no how to" else n_more
        said = "how to is said to be rarer" if what == "no how to" else "any type is said to differ"
        yield f"| {what} (60 questions, 200 of a log): {said} | {share(counted, draws)} |"


CHANGES: dict[str, Callable[[str], str]] = {
    "case and marks": lambda text: text.upper().replace("?", " ??"),
    "politeness": lambda text: f"Could you please tell me {text[0].lower()}{text[1:]}",
    "a missing article": lambda text: text.replace(" the ", " "),
    "another number": lambda text: text + " 7",
    "a negation": lambda text: (
        text.replace(" is ", " is not ").replace(" do ", " do not ").replace(" are ", " are not ")
    ),
}


def repeats() -> Iterator[str]:
    """Say how many planted repeats are found, and how many questions that only look alike."""
    rows = [
        json.loads(line)
        for line in TYPED.read_text(encoding="utf-8").splitlines()
        if json.loads(line)["lang"] == "en"
    ]
    questions = [row["question"] for row in rows if row["question"].endswith("?")]
    n_found = sum(of is not None for of in repeated(questions))
    yield f"| among {len(questions)} questions as they are | {n_found} found |"
    for what, change in CHANGES.items():
        changed = [(text, change(text)) for text in questions if change(text) != text]
        found = sum(repeated(list(pair))[1] == 0 for pair in changed)
        yield f"| {what}: told as a repeat | {share(found, len(changed))} |"


def talks(rng: Generator, kind: int) -> list[str]:
    """Return what a user of a kind writes: terse, polite, or asking on, with chance in each."""
    crop, deed = str(rng.choice(CROPS)), str(rng.choice(DEEDS))
    more = " ".join(str(word) for word in rng.choice(WORDS, size=int(rng.lognormal(1.2, 0.5))))
    if kind == 0:
        return [f"{deed} {crop} {more}"] * 1
    if kind == 1:
        text = f"Hello, please tell me how I should {deed} my {crop} this season, with {more} on my field?"
        return [text, "Thank you!"][: 1 + int(rng.random() < 0.5)]
    return [f"How do I {deed} {crop} {more}?", "And how often?", "Why is that so?", "What does it cost?"][
        : rng.integers(3, 5)
    ]


def agreement(kinds: list[int], found: list[int]) -> float:
    """Return the adjusted Rand index (Hubert and Arabie 1985)."""
    table = np.zeros((max(kinds) + 1, max(found) + 1))
    np.add.at(table, (kinds, found), 1)

    def pairs(counts: Floats) -> float:
        return float((counts * (counts - 1) / 2).sum())

    both, first, second = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    chance = first * second / pairs(np.array([float(len(kinds))]))
    return (both - chance) / ((first + second) / 2 - chance) if (first + second) / 2 != chance else 1.0


def personas(draws: int) -> Iterator[str]:
    """Say how well kinds of users are found on conversations set aside, and how often a likeness is said."""
    indices, n_kinds, n_split = [], [], 0
    for seed in range(draws):
        rng = np.random.default_rng([seed, 11])
        kinds = [int(kind) for kind in rng.choice(3, size=160, p=[0.5, 0.3, 0.2])]
        said = [talks(rng, kind) for kind in kinds]
        spelling = spelling_of(said)
        traits = traits_of(said, spelling)
        found = kinds_of(traits[:80], None, seed)
        n_kinds.append(len(found.centres))
        indices.append(agreement(kinds[80:], found.of(traits[80:]).tolist()))
        noise = traits_of([talks(rng, 0) for _ in range(80)], spelling)
        n_split += len(kinds_of(noise, None, seed).centres) > 1
    counts = f"{np.mean(n_kinds):.1f} ({min(n_kinds)} to {max(n_kinds)})"
    yield f"| kinds found of three, mean (least to most) | {counts} |"
    mean, least = np.mean(indices), min(indices)
    yield f"| adjusted Rand index on conversations set aside, mean (least) | {mean:.3f} ({least:.3f}) |"
    yield f"| one kind of users is split | {share(n_split, draws)} |"
    # Who speaks: a user of the kind, or of another one, in the place of a model.
    for what, mine, plain in (
        ("the persona writes as its users, the plain user as another kind", 0, 2),
        ("both write as another kind", 2, 2),
        ("both write as its users", 0, 0),
    ):
        n_closer = 0
        for seed in range(4 * draws):
            rng = np.random.default_rng([seed, 13])
            spelling = spelling_of([])
            sides = [
                traits_of([talks(rng, kind)[:1] for _ in range(n)], spelling)[:, OF_A_TURN]
                for kind, n in ((mine, 12), (plain, 12), (0, 40))
            ]
            sd = np.maximum(np.vstack(sides).std(axis=0), 0.05)
            mine_, plain_, users = (side / sd for side in sides)
            n_closer += _swapped_p(mine_, plain_, users, rng) <= 0.05
        yield f"| {what}: said to be closer | {share(n_closer, 4 * draws)} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=50)
    draws = parser.parse_args().draws
    for title, lines in (
        ("Chains of documents", chains(draws)),
        ("Types of questions", types(draws)),
        ("Repeats", repeats()),
        ("Personas", personas(draws)),
    ):
        print(f"\n| {title} | |\n| --- | --- |")
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
