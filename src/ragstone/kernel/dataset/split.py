"""Questions -> those to develop with and those to test with, no document on both sides."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from ragstone.kernel.errors import takes_rows
from ragstone.kernel.records import Question

Side = Literal["dev", "test"]
Node = tuple[Literal["document", "question"], str]


def documents_of(question: Question) -> set[str]:
    """Return the ids of the documents that a question rests on: named, of its evidence, or tempting it."""
    names = {*(question.document_ids or ()), *(span.document_id for span in question.evidence or ())}
    tempting = (question.metadata or {}).get("tempting")  # of one that no document answers
    if isinstance(tempting, dict) and isinstance(tempting.get("document_id"), str):
        names.add(tempting["document_id"])
    return names


@takes_rows(questions=Question)
def split_questions(questions: Sequence[Question], test_share: float, seed: int) -> dict[str, Side]:
    """Return the side of each question, by its id.

    Questions that share a document are on one side, and so are those tied by others (a question about A and
    B ties A's and B's). A question without a document is free. test_share: of the questions, in [0, 1]; the
    test side is as near to it as whole groups allow, hence within half of the largest group, and may be empty
    where all groups are large. Which groups it is made of is drawn by the seed; the order of rows does not
    matter. Raises ValueError for a share outside [0, 1].
    """
    if not 0 <= test_share <= 1:
        raise ValueError(f"test_share {test_share}: give a share of the questions, 0 to 1")
    groups = _tied(questions)
    groups = [groups[n] for n in np.random.default_rng(seed).permutation(len(groups))]
    tested = _chosen([len(group) for group in groups], test_share * sum(map(len, groups)))
    return {name: "test" if n in tested else "dev" for n, group in enumerate(groups) for name in group}


def _tied(questions: Iterable[Question]) -> list[list[str]]:
    """Return the ids of questions that must be on one side, in the order of characters."""
    parents: dict[Node, Node] = {}
    for question in questions:
        root = _root(parents, ("question", question.id))
        for document_id in documents_of(question):
            parents[_root(parents, ("document", document_id))] = root
    groups = defaultdict(list)
    for node in sorted(parents):
        if node[0] == "question":
            groups[_root(parents, node)].append(node[1])
    return sorted(groups.values())


def _root(parents: dict[Node, Node], node: Node) -> Node:
    """Return the node that stands for all nodes tied to this one (union-find with path halving)."""
    parents.setdefault(node, node)
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


def _chosen(sizes: Sequence[int], target: float) -> set[int]:
    """Return the numbers of groups whose sizes add up to what is nearest to the target.

    The first that fit where they come as near as any, else such as do.
    """
    fitting, total = set(), 0
    for number, size in enumerate(sizes):
        if total + size <= target:
            fitting.add(number)
            total += size
    return fitting if target - total < 0.5 else _nearest(sizes, target)


def _nearest(sizes: Sequence[int], target: float) -> set[int]:
    """Return the same, by the sums that can be reached (subset sum): bit s of a number is set where s can be.

    Groups of one size are alike, so that 20,000 questions take some hundred steps and not one a group.
    """
    alike = defaultdict(list)
    for number, size in enumerate(sizes):
        alike[size].append(number)
    bundles = [(size, n) for size, numbers in sorted(alike.items()) for n in _powers(len(numbers))]
    reached = [1]
    for size, n_groups in bundles:
        reached.append(reached[-1] | reached[-1] << size * n_groups)
    total = min((s for s in range(sum(sizes) + 1) if reached[-1] >> s & 1), key=lambda s: abs(s - target))
    taken = set()
    for before, (size, n_groups) in zip(reached[-2::-1], bundles[::-1], strict=True):
        if not before >> total & 1:
            total -= size * n_groups
            taken |= {alike[size].pop() for _ in range(n_groups)}
    return taken


def _powers(count: int) -> list[int]:
    """Return numbers that add up to the count, such that some of them add up to each number below it."""
    powers, power = [], 1
    while power <= count:
        powers.append(power)
        count -= power
        power *= 2
    return [*powers, count] if count else powers
