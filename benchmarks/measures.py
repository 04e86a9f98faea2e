"""All rank measures of many rankings, beside trec_eval: `python benchmarks/measures.py`.

10,000 questions x 100 results, random, 1 to 5 relevant documents each, recall, precision, hit and nDCG at
(1, 3, 5, 10, 100), MRR and MAP. Printed are the best and the median of ten runs in one process, taking turns:
ours from Ranking rows to one value a question; pytrec_eval (trec_eval in C) from the same rows, which
it needs as a dict of dicts, and from that dict alone. Then what the means, intervals and batches take on top,
the measures by characters, and how far the values of the two are apart at most.
"""

import gc
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import msgspec
import numpy as np
import pytrec_eval

from ragstone.kernel.records import Evidence, Question, Ranking
from ragstone.kernel.retrieval.evaluate import summarise_queries
from ragstone.kernel.retrieval.query_measures import QueryMeasures, measure_queries

N_QUESTIONS, DEPTH, N_DOCUMENTS, RUNS = 10_000, 100, 20_000, 10
KS = (1, 3, 5, 10, 100)
PEERS = {"recall": "recall", "precision": "P", "hit": "success", "ndcg": "ndcg_cut"}


def made_up() -> tuple[bytes, list[Question]]:
    """Return rankings as JSON lines, so that every run begins with fresh rows, and their questions."""
    rng = np.random.default_rng(0)
    rankings, questions = [], []
    for at in range(N_QUESTIONS):
        drawn = rng.choice(N_DOCUMENTS, DEPTH, replace=False).tolist()
        scores = np.sort(rng.random(DEPTH))[::-1].tolist()
        items = [
            {
                "document_id": f"document-{n}",
                "chunk_id": f"document-{n}#0",
                "start": 0,
                "end": 800,
                "score": s,
            }
            for n, s in zip(drawn, scores, strict=True)
        ]
        rankings.append({"question_id": f"q{at}", "retriever": "made up", "items": items})
        relevant = [f"document-{drawn[n]}" for n in rng.integers(0, DEPTH, rng.integers(1, 6)).tolist()]
        questions.append(
            Question(id=f"q{at}", question="?", document_ids=[*dict.fromkeys(relevant), "never found"])
        )
    return msgspec.json.encode(rankings), questions


def ours(rankings: list[Ranking], questions: list[Question]) -> QueryMeasures:
    return measure_queries(rankings, questions, ks=KS)


def as_dicts(rankings: list[Ranking]) -> dict[str, dict[str, float]]:
    return {row.question_id: {item.document_id: item.score for item in row.items} for row in rankings}


def evaluator(questions: list[Question]) -> Any:  # noqa: ANN401 - pytrec_eval has no types
    cuts = ",".join(map(str, KS))
    asked = {f"{name}.{cuts}" for name in PEERS.values()} | {"recip_rank", "map"}
    qrels = {question.id: dict.fromkeys(question.document_ids or [], 1) for question in questions}
    return pytrec_eval.RelevanceEvaluator(qrels, asked)


def seconds(work: Callable[[], object]) -> float:
    gc.collect()
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    encoded, questions = made_up()
    peer = evaluator(questions)
    times: dict[str, list[float]] = {"ragstone, from rows": [], "pytrec_eval, from rows": []}
    times["pytrec_eval, from dicts"] = []
    for _ in range(RUNS):
        rows = msgspec.json.decode(encoded, type=list[Ranking])
        times["ragstone, from rows"].append(seconds(lambda: ours(rows, questions)))  # noqa: B023
        rows = msgspec.json.decode(encoded, type=list[Ranking])
        times["pytrec_eval, from rows"].append(seconds(lambda: peer.evaluate(as_dicts(rows))))  # noqa: B023
        dicts = as_dicts(rows)
        times["pytrec_eval, from dicts"].append(seconds(lambda: peer.evaluate(dicts)))  # noqa: B023
    print(f"{N_QUESTIONS:,} questions x {DEPTH} results, measures at {KS}; seconds, {RUNS} runs")
    print(f"{'':<40}{'best':>7}{'median':>8}")
    for name, taken in times.items():
        print(f"{name:<40}{min(taken):>7.3f}{median(taken):>8.3f}")
    measured = ours(rows, questions)
    print(f"{'means, intervals and batches on top':<40}", end="")
    print(f"{min(seconds(lambda: summarise_queries(measured, questions)) for _ in range(3)):>7.3f}")
    with_evidence = [
        msgspec.structs.replace(
            question, evidence=[Evidence(document_id=(question.document_ids or [""])[0], start=700, end=900)]
        )
        for question in questions
    ]
    print(f"{'from rows, by characters too':<40}", end="")
    print(f"{min(seconds(lambda: ours(rows, with_evidence)) for _ in range(3)):>7.3f}")
    print(f"largest difference from pytrec_eval: {largest_difference(measured, peer.evaluate(dicts)):.1e}")


def largest_difference(measured: QueryMeasures, theirs: dict[str, dict[str, float]]) -> float:
    names = {f"{name}@{k}": f"{peer}_{k}" for name, peer in PEERS.items() for k in KS}
    names |= {"mrr": "recip_rank", "map": "map"}
    return max(
        abs(value - theirs[question][peer])
        for name, peer in names.items()
        for question, value in measured.values[name].items()
    )


if __name__ == "__main__":
    main()
