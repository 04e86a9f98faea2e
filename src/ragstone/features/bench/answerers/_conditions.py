"""What an answering model may be given for a question, to tell what it makes of it."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from ragstone.kernel.config import Condition
from ragstone.kernel.records import Chunk, Context, Document, Question, Ranking
from ragstone.kernel.retrieval.relevance import Same, relevant_documents
from ragstone.kernel.systems.rag import contexts_of, gold_contexts

RETRIEVED: tuple[Condition, ...] = ("retrieved", "shuffled")
DISTRACTED: tuple[Condition, ...] = ("distractors", "gold+distractors")

Missing = Literal[
    "unanswerable",
    "without a document named",
    "whose documents the corpus lacks",
    "for which BM25 finds no other document",
    "with fewer than two passages retrieved",
]
"""Why a condition does not exist for a question, in the words that follow a number of questions."""


class Passages(msgspec.Struct, frozen=True, kw_only=True):
    """What the contexts of every condition are taken from.

    documents, chunks: by id; chunks_of: document id -> its chunks. retrieved: question id -> what the
    retriever brought, which `retrieved` and `shuffled` need. lexical: question id -> chunks by BM25, as many
    as search_depth says, so that n_distractors are left without those of the question's documents. same: see
    same_documents: a copy of a question's document is no distractor. seed: of the shuffling.
    """

    documents: Mapping[str, Document]
    chunks: Mapping[str, Chunk]
    chunks_of: Mapping[str, Sequence[Chunk]]
    retrieved: Mapping[str, Ranking] = {}
    lexical: Mapping[str, Ranking] = {}
    same: Mapping[str, str] = {}
    n_distractors: int = 3
    seed: int = 0


def contexts_under(condition: Condition, question: Question, passages: Passages) -> list[Context] | Missing:
    """Return what a model is given under a condition, best first, or why the condition does not exist.

    retrieved: as the retriever ranks them. shuffled: the same in another order, the same one each time for a
    question and seed. gold: see gold_contexts. distractors: the first n_distractors by BM25 that are of no
    document of the question, nor of a copy; fewer where BM25 finds fewer. gold+distractors: gold first. none:
    nothing. An unanswerable question has no gold, whatever documents it names, and these may distract. One
    that can be answered and names no document has no distractors: any passage might hold its answer.
    """
    match condition:
        case "none":
            return []
        case "retrieved":
            return _retrieved(question, passages)
        case "shuffled":
            return _shuffled(_retrieved(question, passages), f"{passages.seed} {question.id}")
        case "gold":
            return _gold(question, passages)
        case "distractors":
            return _distractors(question, passages)
        case "gold+distractors":
            gold, others = _gold(question, passages), _distractors(question, passages)
            if isinstance(gold, str):
                return gold
            return others if isinstance(others, str) else gold + others


def missing_under(
    condition: Condition, questions: Iterable[Question], passages: Passages
) -> dict[Missing, int]:
    """Return how many questions the condition does not exist for, by the reason; reasons sorted."""
    outcomes = (contexts_under(condition, question, passages) for question in questions)
    counts = Counter(reason for reason in outcomes if isinstance(reason, str))
    return dict(sorted(counts.items()))


def own_documents(question: Question, same: Same) -> set[str]:
    """Return what the documents that hold the answer count as; empty for an unanswerable question."""
    if question.answerable is False:
        return set()
    return {same.get(name, name) for name in relevant_documents(question)}


def search_depth(
    questions: Iterable[Question], chunks: Iterable[Chunk], same: Same, n_distractors: int
) -> int:
    """Return how many chunks BM25 must bring so that n_distractors are left for every question."""
    n_of = Counter(same.get(chunk.document_id, chunk.document_id) for chunk in chunks)
    own = (sum(n_of[name] for name in own_documents(question, same)) for question in questions)
    return n_distractors + max(own, default=0)


def _retrieved(question: Question, passages: Passages) -> list[Context]:
    ranking = passages.retrieved.get(question.id)
    return contexts_of(ranking, passages.chunks, passages.documents) if ranking else []


def _shuffled(contexts: list[Context], seed: str) -> list[Context] | Missing:
    if len(contexts) < 2:
        return "with fewer than two passages retrieved"
    draw = random.Random(seed)
    shuffled = contexts
    while shuffled == contexts and contexts.count(contexts[0]) < len(contexts):
        shuffled = draw.sample(contexts, len(contexts))
    return shuffled


def _gold(question: Question, passages: Passages) -> list[Context] | Missing:
    if question.answerable is False:
        return "unanswerable"
    if not relevant_documents(question):
        return "without a document named"
    contexts = gold_contexts(question, passages.documents, passages.chunks_of, passages.same)
    return contexts or "whose documents the corpus lacks"


def _distractors(question: Question, passages: Passages) -> list[Context] | Missing:
    if question.answerable is not False and not relevant_documents(question):
        return "without a document named"
    ranking = passages.lexical.get(question.id)
    if ranking is None:
        return "for which BM25 finds no other document"
    own = own_documents(question, passages.same)
    items = [
        item for item in ranking.items if passages.same.get(item.document_id, item.document_id) not in own
    ]
    if not items:
        return "for which BM25 finds no other document"
    nearest = msgspec.structs.replace(ranking, items=items[: passages.n_distractors])
    return contexts_of(nearest, passages.chunks, passages.documents)
