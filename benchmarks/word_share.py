"""How the extractive system chose until 2026-11: the sentence that holds the largest share of the question.

`benchmarks.extractive` prints it beside the reader of today; nothing else uses it.
"""

import math
from collections import Counter
from collections.abc import Sequence

from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.corpus.tokens import function_words, search_terms, tokenize

FUNCTION_WORD, BESIDE, FIRST, THRESHOLD = 0.3, 0.3, 0.3, 0.34


def quote_by_share(question: str, passages: Sequence[str], most: int = 2) -> tuple[list[str], float]:
    """Return the sentences, best first, none below the threshold; and the share of the best one."""
    asked, spoken = set(_terms(question)), tokenize(question)
    light = {term for word in function_words().intersection(spoken) for term in _terms(word)}
    rows: list[tuple[int, str, set[str], set[str]]] = []
    for number, passage in enumerate(passages):
        before: set[str] = set()
        for start, end in sentence_spans(passage):
            text = passage[start:end]
            terms = set(_terms(text))
            if text.rstrip("\"'”)*_ ")[-1:] not in ("?", "？", ":", "："):
                rows.append((number, text, terms, before))
            before = terms
    counts = Counter(term for row in rows for term in asked & row[2])
    weights = {
        term: math.log(1 + (len(rows) + 1) / (counts[term] + 1)) * (FUNCTION_WORD if term in light else 1)
        for term in asked
    }
    total = sum(weights.values()) or 1
    scored = [
        (
            (sum(weights[t] for t in asked & own) + BESIDE * sum(weights[t] for t in (asked & beside) - own))
            / total,
            n,
            text,
        )
        for n, text, own, beside in rows
        if own - asked
    ]
    scored.sort(key=lambda row: row[0] + FIRST * (row[1] == 0), reverse=True)
    if not scored or scored[0][0] < THRESHOLD:
        return [], scored[0][0] if scored else 0.0
    return [text for share, _, text in scored[:most] if share >= THRESHOLD], scored[0][0]


def _terms(text: str) -> list[str]:
    terms: list[str] = []
    for term in search_terms(text):
        if term.endswith("*"):
            terms[-1] = term
        else:
            terms.append(term)
    return terms
