"""Which part of a labelled set a question is in: one to develop judges with, one that stays closed."""

import hashlib
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping
from typing import Literal, get_args

from ragstone.kernel.dataset.split import Side

Part = Literal["dev", "test", "neither"]


PARTS: tuple[Part, ...] = get_args(Part)


Node = str
"""What is placed: a question by its text, a question by its id, or a document; see nodes_of."""


TEST_SHARE = 0.5


DIGEST_BYTES = 8


def nodes_of(question_id: str, text: str | None, documents: Iterable[str] = ()) -> list[Node]:
    """Return what ties a question to others, itself first: its text, its id, and its documents.

    The text stays the same where a file is renumbered, and rows of one question share it though each has an
    id of its own; letter case and spaces do not matter.
    """
    own = [f"id {_digest(question_id)}"]
    if text and text.strip():
        own.insert(0, f"text {_digest(' '.join(text.casefold().split()))}")
    return [*own, *sorted(f"document {_digest(name)}" for name in set(documents))]


def place_questions(
    questions: Iterable[Collection[Node]], known: Mapping[Node, Part], seed: int, share: float = TEST_SHARE
) -> dict[Node, Part]:
    """Return the part of every node, known ones as they were.

    questions: each as nodes_of gives it. Questions tied by a document, or by a chain of them, come to one
    part. Those that touch nothing known are placed by a hash of their smallest node, keyed by the seed: so
    neither the order of rows nor labels that come later change where a question is. One that ties both parts
    is in neither. share: of test.
    """
    parts = dict(known)
    by_name: dict[Node, list[Node]] = {}
    for nodes in map(list, questions):  # rows of one question may each have an id of their own
        by_name[nodes[0]] = [*dict.fromkeys([*by_name.get(nodes[0], ()), *nodes])]
    touching: dict[Node, list[Node]] = defaultdict(list)
    for name in sorted(by_name):
        for node in by_name[name]:
            touching[node].append(name)
    _spread(parts, by_name, touching, [name for name in sorted(by_name) if _sides(parts, by_name[name])])
    for name in sorted(by_name):
        if name not in parts:
            first = min(_tied(name, by_name, touching, parts))
            key = seed.to_bytes(16, "big", signed=True)
            digest = hashlib.blake2b(first.encode(), digest_size=8, key=key).digest()
            parts[name] = "test" if int.from_bytes(digest, "big") / 2**64 < share else "dev"
            _spread(parts, by_name, touching, [name])
    return parts


def _spread(
    parts: dict[Node, Part],
    by_name: Mapping[Node, list[Node]],
    touching: Mapping[Node, list[Node]],
    start: list[Node],
) -> None:
    """Give what is tied to placed nodes their part, one step after the other."""
    waiting = deque(start)
    while waiting:
        nodes = by_name[waiting.popleft()]
        sides = _sides(parts, nodes)
        part = parts.get(nodes[0]) or (sides.pop() if len(sides) == 1 else "neither")
        # A document of a question in neither part stays free: other questions about it may be placed.
        fresh = [node for node in nodes if node not in parts]
        if part == "neither":
            fresh = [node for node in fresh if not node.startswith("document ")]
        parts |= dict.fromkeys(fresh, part)
        if part != "neither":
            waiting.extend(name for node in fresh for name in touching[node] if name != nodes[0])


def _sides(parts: Mapping[Node, Part], nodes: Collection[Node]) -> set[Side]:
    return {part for node in nodes if (part := parts.get(node)) in ("dev", "test")}


def _tied(
    name: Node,
    by_name: Mapping[Node, list[Node]],
    touching: Mapping[Node, list[Node]],
    parts: Mapping[Node, Part],
) -> set[Node]:
    """Return all nodes that are tied to a question and not placed."""
    tied: set[Node] = set()
    waiting = [name]
    while waiting:
        for node in by_name[waiting.pop()]:
            if node not in tied and node not in parts:
                tied.add(node)
                waiting.extend(touching[node])
    return tied


def _digest(text: str) -> str:
    return hashlib.blake2b(
        text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES, person=b"part"
    ).hexdigest()
