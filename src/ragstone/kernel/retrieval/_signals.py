"""A question and what may be quoted -> the signals by which a quote is taken for its answer."""

import math
import re
from collections import Counter
from collections.abc import Sequence, Set
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.corpus.tokens import function_words, tokenize
from ragstone.kernel.retrieval._candidates import Candidate, terms_of
from ragstone.kernel.retrieval._phrases import asked_kind, contrary_words, shown_kinds

FUNCTION_WORD = 0.3  # of the weight of another word that as many sentences hold
BESIDE = 0.3  # what a word of the question counts that stands in the title or the sentence before
NEAR = 4  # words within which two neighbouring words of the question are near in a sentence
KINDS = ("number", "date", "person", "place", "reason", "manner")

SIGNALS = (
    "held",
    "beside",
    "words",
    "words_beside",
    "passage",
    "passage_words",
    "unknown",
    "worst_missing",
    "missing_name",
    "missing_number",
    "pairs",
    "window",
    "novel",
    "length",
    "first_passage",
    "rank",
    "first_sentence",
    "leans",
    "list",
    "contrary",
    "margin",
    "passage_margin",
    "asked_words",
    "begins",
    "no_kind",
    "says_all",
    *(f"{kind}_{end}" for kind in KINDS for end in ("asked", "shown")),
)

_NAME = re.compile(r"(?<=\s)[^\W\d_a-z]\w+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def signals_of(
    question: str, candidates: Sequence[Candidate], passages: Sequence[Set[str]]
) -> NDArray[np.float64]:
    """Return the signals of each candidate: shape (n_candidates, n_signals), in the order of SIGNALS.

    passages: the terms of each, with those of its title.
    """
    tokens = tokenize(question)
    terms = list(dict.fromkeys(terms_of(question)))
    light = {term for word in function_words().intersection(tokens) for term in terms_of(word)}
    weights = _weights(terms, light, [set(one.terms) for one in candidates])
    content = [term for term in terms if term not in light] or terms
    total, total_content = sum(weights.values()) or 1.0, sum(weights[term] for term in content) or 1.0
    kind = asked_kind(tokens)
    names = {term for word in _NAME.findall(question) for term in terms_of(word)} - light
    numbers = set(_NUMBER.findall(question))
    anywhere: Set[str] = set().union(*passages) if passages else set()
    unknown = sum(weights[term] for term in content if term not in anywhere) / total_content
    passage_share = [sum(weights[t] for t in content if t in held) / total_content for held in passages]
    pairs = [(a, b) for a, b in pairwise(terms) if a not in light and b not in light]
    contrary = contrary_words(tokens) > 0
    held = np.array([sum(weights[t] for t in terms if t in set(one.terms)) / total for one in candidates])
    rows = []
    for number, one in enumerate(candidates):
        own = set(one.terms)
        here = passages[one.passage]
        missing = [term for term in content if term not in here]
        beside = sum(weights[t] for t in terms if t in one.beside and t not in own) / total
        in_words = sum(t in own for t in content) / len(content)
        places: dict[str, list[int]] = {}
        for at, term in enumerate(one.terms):
            if term in weights:
                places.setdefault(term, []).append(at)
        near = sum(
            any(abs(i - j) <= NEAR for i in places.get(a, ()) for j in places.get(b, ())) for a, b in pairs
        )
        of_content = sorted(at for term in content for at in places.get(term, ())[:1])
        spread = (of_content[-1] - of_content[0] + 1) / len(of_content) if len(of_content) > 1 else 3.0
        new = [t for t in one.terms if t not in weights and t not in light]
        others = np.delete(held, number)
        other_passages = [share for at, share in enumerate(passage_share) if at != one.passage]
        shown = _shown(one, set(tokens), numbers, set(terms))
        says_all = kind == "" or kind == "thing" or kind in shown
        rows.append(
            [
                held[number],
                beside,
                in_words,
                sum(t in own or t in one.beside for t in content) / len(content),
                passage_share[one.passage],
                1 - len(missing) / len(content),
                unknown,
                max((weights[t] for t in missing), default=0.0) / total_content,
                float(any(n not in here for n in names)),
                float(any(n not in one.text for n in numbers)),
                near / len(pairs) if pairs else 0.5,
                min(spread, 8.0),
                math.log1p(len(new)),
                math.log1p(len(one.tokens)),
                float(one.passage == 0),
                1 / (1 + one.passage),
                float(one.place == 0),
                float(one.leans),
                float(one.is_list),
                float((contrary_words(one.tokens) > 0) != contrary),
                held[number] - (others.max() if len(others) else 0.0),
                passage_share[one.passage] - max(other_passages, default=0.0),
                math.log1p(len(content)),
                float(bool(one.terms) and next((t for t in one.terms if t not in light), "") in weights),
                float(kind == ""),
                float(says_all),
                *(
                    value
                    for name in KINDS
                    for value in (float(kind == name), float(kind == name and name in shown))
                ),
            ]
        )
    return np.array(rows, dtype=np.float64).reshape(len(candidates), len(SIGNALS))


def _shown(one: Candidate, asked: Set[str], numbers: Set[str], terms: Set[str]) -> set[str]:
    """Return the kinds of answer that a candidate gives and the question does not hold."""
    shown = shown_kinds([token for token in one.tokens if token not in asked])
    new = [number for number in _NUMBER.findall(one.text) if number not in numbers]
    kinds = set()
    if new or "number" in shown:
        kinds.add("number")
    if "date" in shown or any(len(n) == 4 and n.isdigit() for n in new):
        kinds.add("date")
    names = [word for word in _NAME.findall(one.text) if not set(terms_of(word)) <= terms]
    if names or not any(c.isupper() for c in one.text):
        kinds |= {"person", "place"}
    if "reason" in shown:
        kinds.add("reason")
    if "manner" in shown or one.is_list or "`" in one.text:
        kinds.add("manner")
    return kinds


def _weights(terms: Sequence[str], light: Set[str], sentences: Sequence[Set[str]]) -> dict[str, float]:
    """Return the weight of each term of the question: the rarer in these sentences, the more.

    It is flatter than BM25's, so that words which the only sentence holds still count. Function
    words are rare too where documents never ask ("how many"), so a list tells them.
    """
    wanted = set(terms)
    counts = Counter(term for held in sentences for term in wanted & held)
    n = len(sentences)
    return {
        term: math.log(1 + (n + 1) / (counts[term] + 1)) * (FUNCTION_WORD if term in light else 1)
        for term in terms
    }
