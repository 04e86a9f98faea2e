"""Whether planted defects measure critics truly: scripted critics of a known error, and what is said of them.

Run: python benchmarks/critics.py
"""

import asyncio
import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

from ragstone.features.build._critic import Critic, critic_names, load_critics
from ragstone.features.build._critique import critique, format_passages
from ragstone.features.build._defects import OWN_KINDS, PlantedDefect, measure_critics, plant_defects
from ragstone.kernel.dataset.candidate import Candidate, SourcePassage
from ragstone.kernel.dataset.certificate import FILTER, CriticMeasured
from ragstone.kernel.llm import Ask, Prompt, Reply
from ragstone.kernel.records import Question, Usage
from ragstone.kernel.statistics import Estimate

RIGHT = 0.9
THRESHOLD = 4
REPETITIONS = 200

# Three critics that err independently. A defect passes the filter where the critic that is there to find it
# misses it and neither of the others rejects it wrongly; a sound question where none rejects it wrongly.
TRUTH = {
    "recall": {FILTER: 1 - (1 - RIGHT) * RIGHT**2, "critic": RIGHT},
    "alarm": {FILTER: 1 - RIGHT**3, "critic": 1 - RIGHT},
}


class Coverage(NamedTuple):
    """How often an interval held the truth, and how wide it was on average."""

    held: int
    of: int
    width: float


def candidates(n: int) -> list[Candidate]:
    """Return n good questions, each on a document of its own; half of the answers are numbers."""
    made = []
    for at in range(n):
        answer = f"{at + 11} days" if at % 2 else f"by {_name(at, 'river')}"
        text = f"The town of {_name(at, 'town')} trades in {_name(at, 'goods')}. Its mail comes {answer}."
        passage = SourcePassage(
            document_id=f"d{at}", start=0, end=len(text), text=text, title=f"Annals {at}", lang="en"
        )
        asked = f"When does mail of class {at} reach the town of {_name(at, 'town')}?"
        question = Question(id=f"d{at}#1", question=asked, reference=answer)
        made.append(Candidate(question=question, passages=(passage,)))
    return made


def scripted(planted: Sequence[PlantedDefect], critics: Sequence[Critic], seed: int) -> Ask:
    """Return a model whose critics are right with probability RIGHT, drawn from what they are shown.

    A critic knows the defects that it is there to find by their text, and takes all else for sound.
    """
    bad = {
        critic.name: {
            _seen(critic, one.planted) for one in planted if one.kind in OWN_KINDS.get(critic.name, ())
        }
        for critic in critics
    }

    async def ask(prompt: Prompt) -> Reply:
        critic = next(one for one in critics if _opening(one) in prompt.messages[0].content)
        texts = dict(re.findall(r"<(\w+) \w+>\n(.*?)\n</\1 \w+>", prompt.messages[1].content, re.DOTALL))
        seen = tuple(texts[name] for name in ("context", "question", "answer") if name in texts)
        digest = hashlib.blake2b(repr((seed, critic.name, seen)).encode(), digest_size=8).digest()
        is_right = int.from_bytes(digest) / 2**64 < RIGHT
        score = 2 if (seen in bad[critic.name]) == is_right else 5
        assert prompt.reply is not None
        value = prompt.reply(reason="scripted", score=score)
        return Reply(text="", value=value, usage=Usage(), latency_s=0.0, cost_usd=0.0)

    return ask


async def measure(n: int, seed: int) -> list[CriticMeasured]:
    """Return what n planted defects say of scripted critics, by the same steps as a build."""
    critics = load_critics(critic_names())
    made = candidates(n)
    # Where a defect is planted does not depend on the scores; so the script can know them beforehand.
    ask = scripted(plant_defects(made, n, seed), critics, seed)

    async def judge(candidate: Candidate) -> Candidate:
        return await critique(
            candidate,
            critics,
            audience="clerks",
            threshold=THRESHOLD,
            ask=ask,
            secret=b"benchmark",
            one_call=False,
        )

    judged = [await judge(candidate) for candidate in made]
    defects = plant_defects(judged, n, seed)
    pairs = [(defect, await judge(defect.planted)) for defect in defects]
    return measure_critics(pairs, critics, THRESHOLD)


def truth_of(row: CriticMeasured) -> tuple[float, float]:
    """Return the true precision and recall of a row, where one half of what is judged are defects."""
    of = FILTER if row.critic == FILTER else "critic"
    recall, alarm = TRUTH["recall"][of], TRUTH["alarm"][of]
    return recall / (recall + alarm), recall


async def coverage(n: int, repetitions: int) -> dict[tuple[str, str], Coverage]:
    """Return for each critic and figure how often its interval held the truth."""
    found: dict[tuple[str, str], list[tuple[bool, float]]] = {}
    for seed in range(repetitions):
        for row in await measure(n, seed):
            if row.kind is None:
                for name, estimate, true in zip(
                    ("precision", "recall"), (row.precision, row.recall), truth_of(row), strict=True
                ):
                    if estimate is not None:
                        found.setdefault((row.critic, name), []).append(_held(estimate, true))
    return {
        key: Coverage(sum(held for held, _ in each), len(each), sum(width for _, width in each) / len(each))
        for key, each in found.items()
    }


def _held(estimate: Estimate, true: float) -> tuple[bool, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low <= true <= estimate.high, estimate.high - estimate.low


def _name(number: int, kind: str) -> str:
    return f"{kind.title()}{number}ham"


def _opening(critic: Critic) -> str:
    return critic.prompt.strip().split(".")[0].split("{")[0]


def _seen(critic: Critic, candidate: Candidate) -> tuple[str, ...]:
    texts = {
        "context": format_passages(candidate.passages),
        "question": candidate.question.question,
        "answer": str(candidate.question.reference),
    }
    return tuple(text for name, text in texts.items() if name in critic.inputs)


def _shown(estimate: Estimate | None) -> str:
    if estimate is None:
        return "none"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def main() -> None:
    print(f"Critics that are right {RIGHT:.0%} of the time; 400 planted defects")
    print(f"{'critic':<14}{'kind':<20}{'recall':<24}{'truth':<8}{'precision':<24}{'truth':<8}")
    for row in asyncio.run(measure(400, 0)):
        precision, recall = truth_of(row)
        kind = row.kind or "all its kinds"
        print(
            f"{row.critic:<14}{kind:<20}{_shown(row.recall):<24}{recall:<8.3f}"
            f"{_shown(row.precision):<24}{precision:<8.3f}"
        )
    print(f"\nHow often the 95 % interval holds the truth: {REPETITIONS} builds of 40 planted defects")
    print(f"{'critic':<14}{'figure':<12}{'held':<12}{'mean width':<10}")
    for (critic, figure), one in asyncio.run(coverage(40, REPETITIONS)).items():
        print(f"{critic:<14}{figure:<12}{one.held / one.of:<12.1%}{one.width:<10.3f}")


if __name__ == "__main__":
    main()
