"""Passages of different documents that share a rare name or term: what a multi-hop question goes along."""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import permutations

import msgspec
from numpy.random import Generator

from ragstone.kernel.corpus.tokens import function_words, search_terms, tokenize
from ragstone.kernel.dataset.candidate import SourcePassage
from ragstone.kernel.records import Question, references

MOST_CHAINS = 3  # that a passage is part of, so that no few passages make all questions
# Of the terms of the shorter text: two passages that share more say the same, and one of them is enough. The
# nearest of another document shares 0.38 (median) in agxqa, 0.43 in phoenix_docs, 0.24 in xquad; copies 0.9.
TOO_ALIKE = 0.6
RARE = 4  # documents that speak of a link, at most; in large corpora RARE_SHARE of them, up to MOST_RARE
RARE_SHARE, MOST_RARE = 0.01, 20  # every two passages that hold a link are a pair: the square of this
SHORTEST_LINK = 4  # letters of a link of one word; a script without case: 2
TITLED = 2.0  # times as good is a link that one document is named after and the other only mentions

_WORD = r"[^\W\d_][\w'’.-]*"
_RUNS = re.compile(rf"{_WORD}(?:[ \u00a0]{_WORD})*")
# Of the languages that write them with capitals; they link all that happened then.
_DATES = frozenset(
    (
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday",
        "saturday", "sunday", "januar", "februar", "märz", "mai", "juni", "juli", "oktober", "dezember",
        "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag",
    )
)  # fmt: skip
_SMALL = re.compile(r"(?<![\w-])[^\W\d_][\w’'-]*")
_ENDS = re.compile(r"(?:^|[.!?:;\n…।。][\"'”’»)\]\d]*+|[-*#>|\"“„«(])[^\S\n]*$")


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """Passages in the order of the hops, and what links each to the next: one link fewer than passages.

    links: as the text writes them; empty for passages that are only near each other.
    """

    passages: tuple[SourcePassage, ...]
    links: tuple[str, ...] = ()


def chain_passages(passages: Sequence[SourcePassage], hops: int, n: int, rng: Generator) -> list[Chain]:
    """Return up to n chains of `hops` passages, each of another document, linked by what both speak of.

    A link is a name that few documents hold (RARE, or RARE_SHARE of a large corpus, up to MOST_RARE); no
    model is asked. The passage whose title holds the link comes last, because the answer is to be there. The
    link of the last two is not in the first. No chain has the passages of another one, and no passage is in
    more than MOST_CHAINS. The rarest links come first, equal ones in an order of rng; fewer than n where
    there are no more.
    """
    linked = _linked(passages)
    chains: dict[frozenset[int], Chain] = {}
    used: Counter[int] = Counter()
    drawn = map(int, rng.permutation(len(passages)))
    order = sorted(drawn, key=lambda number: -max((link.worth for link in linked.of[number]), default=0.0))
    # Round by round, so that all passages have had their turn before one has its second.
    for most in range(1, MOST_CHAINS + 1):
        for at in order:
            if len(chains) >= n:
                return list(chains.values())
            full = {number for number, times in used.items() if times >= most}
            path = None if at in full else _path([at], [], hops, linked, passages, full=full, known=chains)
            if path:
                numbers, links = path
                chains[frozenset(numbers)] = Chain(
                    passages=tuple(passages[number] for number in numbers), links=tuple(links)
                )
                used.update(numbers)
    return list(chains.values())


def names_link(question: str, links: Sequence[str]) -> str | None:
    """Return the link that a question names, None where it names none."""
    plain = f" {' '.join(tokenize(question))} "
    return next((link for link in links if f" {' '.join(tokenize(link))} " in plain), None)


def suffices_alone(question: Question, passages: Sequence[SourcePassage]) -> SourcePassage | None:
    """Return a passage that has, of all words of a question and its answer, those that any passage has.

    Then the others add no word to it, and whoever reads it alone can answer. Words that say little are left
    out, and an inflected form is the same word (see search_terms). No model is asked. None where no passage
    is so, and where it has no word of the answer, or none of the question.
    """
    asked, answer = _content(question.question), _content("".join(references(question)[:1]))
    held = [set(search_terms(f"{passage.title or ''} {passage.text}")) for passage in passages]
    forms = {word: search_terms(word)[-1:] for word in asked | answer}
    words_of = [{word for word, form in forms.items() if terms.issuperset(form)} for terms in held]
    known = set[str]().union(*words_of)
    pairs = zip(passages, words_of, strict=True)
    return next((one for one, words in pairs if words == known and words & asked and words & answer), None)


def _content(text: str) -> set[str]:
    return {word for word in tokenize(text) if word not in function_words()}


def are_related(first: SourcePassage, other: SourcePassage) -> bool:
    """Return whether two passages are of different documents and one language, and do not say the same."""
    if first.document_id == other.document_id or first.lang != other.lang:
        return False
    terms, others = set(search_terms(first.text)), set(search_terms(other.text))
    fewer = min(len(terms), len(others))
    return fewer > 0 and len(terms & others) / fewer < TOO_ALIKE


class _Link(msgspec.Struct, frozen=True):
    """A way from one passage to another: the better the greater `worth`."""

    to: int
    name: str
    folded: str
    worth: float


def _path(
    numbers: list[int],
    links: list[str],
    hops: int,
    linked: "_Links",
    passages: Sequence[SourcePassage],
    *,
    full: Container[int],
    known: Container[frozenset[int]],
) -> tuple[list[int], list[str]] | None:
    """Return the passages and links of a chain that goes on from these, None where none does.

    full: passages that may not be part of it. known: chains that are there already.
    """
    if len(numbers) == hops:
        return None if frozenset(numbers) in known else (numbers, links)
    documents = {passages[number].document_id for number in numbers}
    for link in linked.of[numbers[-1]]:
        other = passages[link.to]
        fits = (
            link.to not in full
            and other.document_id not in documents
            and not any(link.folded in linked.terms[number] for number in numbers[:-1])
            and are_related(passages[numbers[-1]], other)
        )
        if not fits:
            continue
        path = _path([*numbers, link.to], [*links, link.name], hops, linked, passages, full=full, known=known)
        if path:
            return path
    return None


class _Links(msgspec.Struct, frozen=True):
    """terms: of each passage, folded -> as written. of: from each passage, the best first."""

    terms: list[dict[str, str]]
    of: list[list[_Link]]


def _linked(passages: Sequence[SourcePassage]) -> _Links:
    terms = _names([passage.text for passage in passages])
    titles = [f" {' '.join(tokenize(passage.title or ''))} " for passage in passages]
    holders: dict[str, list[int]] = defaultdict(list)
    for number, names in enumerate(terms):
        for folded in names:
            holders[folded].append(number)
    n_documents = len({passage.document_id for passage in passages})
    most = min(max(RARE, min(MOST_RARE, round(RARE_SHARE * n_documents))), max(2, n_documents // 2))
    ways: list[dict[int, list[_Link]]] = [defaultdict(list) for _ in passages]
    for folded, numbers in holders.items():
        n = len({passages[number].document_id for number in numbers})
        if not 2 <= n <= most:
            continue
        is_about = {number: f" {folded} " in titles[number] for number in numbers}
        for start, end in permutations(numbers, 2):
            if passages[start].document_id == passages[end].document_id or is_about[start] > is_about[end]:
                continue
            worth = (TITLED if is_about[end] > is_about[start] else 1.0) * (1 + folded.count(" ")) / n
            ways[start][end].append(_Link(end, terms[start][folded], folded, worth))
    return _Links(terms, [_best_first(way.values()) for way in ways])


def _best_first(several: Iterable[list[_Link]]) -> list[_Link]:
    """Return the best link to each passage, best first: those that share more names are nearer."""
    best = [
        msgspec.structs.replace(max(links, key=lambda link: (link.worth, link.folded)), worth=total)
        for links in several
        for total in [sum(link.worth for link in links)]
    ]
    return sorted(best, key=lambda link: (-link.worth, link.to))


def _names(texts: Sequence[str]) -> list[dict[str, str]]:
    """Return the names of each text, folded -> as written.

    A name is written with capitals. A word that the texts also write small, or with a capital only where
    sentences begin, is none. Scripts without capitals have no names here.
    """
    found = [list(_capitalised(text)) for text in texts]
    small = {word for text in texts for word in _SMALL.findall(text) if word[0].islower()}
    inside = {words[-1] for names in found for words, begins in names if not begins or len(words) > 1}
    usual = small | _DATES
    return [
        {
            " ".join(tokenize(name)): name
            for words, _ in names
            if (name := _without_usual(words, usual))
            and (" " in name or (name in inside and len(name) >= SHORTEST_LINK))
        }
        for names in found
    ]


def _without_usual(words: list[str], usual: set[str]) -> str:
    """Return a name without the usual words that it begins with: "The Normans", "In June"."""
    while words and words[0].lower() in usual:
        words = words[1:]
    while words and words[-1].lower() in _DATES:
        words = words[:-1]
    return " ".join(words)


def _capitalised(text: str) -> Iterator[tuple[list[str], bool]]:
    """Yield runs of words with capitals, and whether a sentence (a heading, a list item) begins with them."""
    for run in _RUNS.finditer(text):
        name: list[str] = []
        is_first = begins = bool(_ENDS.search(text[max(0, run.start() - 6) : run.start()]))
        for word in [*run[0].split(), ""]:
            plain = word.rstrip(".'’-").removesuffix("'s").removesuffix("’s")
            is_capital = plain[:1].isupper()
            if is_capital:
                begins = is_first if not name else begins
                name.append(plain)
            if name and not (is_capital and word == plain):
                yield name, begins
                name = []
            is_first = word.endswith(".")
