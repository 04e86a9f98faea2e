"""Questions that repeat an earlier one: in the same words, or in nearly the same."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from ragstone.dataset.candidate import Candidate, lose
from ragstone.dataset.wording import content_of, exact_form, function_words
from ragstone.records import Question, references

# "Did A beat B" and "did B beat A" have the same words. Of neighbours in a ring, a phrase that moved breaks
# at most three pairs, two words that changed places four; neighbours that did are moved both, and no others.
BROKEN_PAIRS = 3
LONGEST = 2000  # characters: a longer text is hardly a question, and repeats only what is the same throughout
COMPARED = 16  # orders of the same words, so that a crafted file cannot take the square of its size


class Repeat(msgspec.Struct, frozen=True):
    """A text, and the earlier one that it repeats. exact: in the same words."""

    number: int
    of: int
    exact: bool


def repeated(texts: Sequence[str]) -> list[int | None]:
    """Return for each text the number of the earlier one that it repeats, None where it repeats none.

    The earlier one repeats none itself. A repetition has the same words, in whatever case and punctuation; or
    differs by politeness, articles and other function words, plurals, and the order of phrases. Texts that
    differ by a number, a name, a negation or any other word are no repetitions. Time grows with the number of
    texts; texts of one language are expected, see `mark_repeats`.
    """
    found: list[int | None] = [None] * len(texts)
    for repeat in find_repeats(texts):
        found[repeat.number] = repeat.of
    return found


def find_repeats(texts: Sequence[str]) -> Iterator[Repeat]:
    """Yield what `repeated` returns, with how it is repeated, in order."""
    first: dict[str, int] = {}
    orders: dict[tuple[str, ...], list[tuple[int, list[str]]]] = defaultdict(list)
    for number, text in enumerate(texts):
        form = exact_form(text) if len(text) <= LONGEST else text
        earlier = first.get(form)
        if earlier is not None:
            yield Repeat(number, earlier, exact=True)
            continue
        if len(text) > LONGEST:
            first[form] = number
            continue
        content = content_of(text)
        known = orders[tuple(sorted(content))]
        of = next((n for n, other in known[:COMPARED] if _same_order(content, other)), None)
        first[form] = number if of is None else of
        if of is None:
            known.append((number, content))
        else:
            yield Repeat(number, of, exact=False)


def mark_repeats(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, those that repeat an earlier one of their language lost.

    Lost ones are not compared. The detail names the first of the group, by its id or in its words; where the
    answers come from different documents it says so, for one question that has two answers is ambiguous.
    """
    marked = list(candidates)
    by_language: dict[str | None, list[int]] = defaultdict(list)
    for number, candidate in enumerate(candidates):
        if candidate.loss is None:
            by_language[candidate.question.lang].append(number)
    for numbers in by_language.values():
        for repeat in find_repeats([candidates[number].question.question for number in numbers]):
            number, of = numbers[repeat.number], candidates[numbers[repeat.of]].question
            detail = _described(candidates[number].question, of)
            marked[number] = lose(marked[number], "duplicate" if repeat.exact else "near_duplicate", detail)
    return marked


def _described(question: Question, first: Question) -> str:
    name = first.id or first.question
    documents = set(question.document_ids or ()), set(first.document_ids or ())
    if references(question) == references(first) or documents[0] == documents[1]:
        return name
    return f"{name} (of another document, with another answer: the question is ambiguous)"


def _same_order(content: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether the same words stand in the same order, or in one that moving a phrase can explain.

    Function words may stand anywhere: "what year was it founded" and "tell me what year it was founded".
    """
    if not content:
        return False
    moving = function_words()
    one, two = ([word for word in words if word not in moving] for words in (content, other))
    n_moved = sum(left != right for left, right in zip(one, two, strict=True))
    if n_moved == 0 or len(one) == 2:
        return True
    pairs = _neighbours(one)
    n_kept = len(pairs & _neighbours(two))
    return n_moved > 2 and n_kept >= max(len(pairs) - BROKEN_PAIRS, 1)


def _neighbours(content: Sequence[str]) -> set[tuple[str, str]]:
    return set(pairwise([*content, content[0]]))
