"""Good questions -> the same with a planted defect, and how well critics find them."""

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple, get_args

import msgspec
import numpy as np
from numpy.random import Generator

from ragstone.features.build._critic import Critic
from ragstone.features.build.certificate.funnel import share_of
from ragstone.kernel.config import Section, convert_section, parse_toml, shipped
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.dataset.candidate import Candidate
from ragstone.kernel.dataset.certificate import FILTER, CriticMeasured, Defect
from ragstone.kernel.records import references

UNSPACED = ("zh", "ja", "th", "lo", "km", "my")
FEWEST_OF_HAN, FEWEST_OF_OTHERS = 2, 4  # characters of a subject in a script without spaces
LEADING_VOWELS = "เแโใไ"  # Thai writes them before the letter that they belong to
SHORTEST = 4  # letters of a word that can be a subject where names are not written with capitals
STEM = 5  # letters that the forms of a word share
CONNECTOR = 3  # letters of a word that joins two names: Battle of Hastings
LONGEST_QUESTION = 500  # characters of one in which a subject is looked for
KEPT = 2  # words that a question must keep

_WORD = re.compile(r"\S+")
_SENTENCE_BEFORE = re.compile(r"[^.!?:\s]\s+\Z")


class DefectWords(Section, frozen=True, kw_only=True):
    """Words for defects in one language; what each is for is said in library/defects.toml."""

    it: str
    articles: list[str]
    above: str
    language: tuple[str, str]
    title: str
    given: str


class _Languages(Section, frozen=True, kw_only=True):
    languages: dict[str, DefectWords]


class _Span(NamedTuple):
    start: int
    end: int
    behind_article: bool = False


def defect_phrases(lang: str | None) -> DefectWords:
    """Return the words of a language; those of English for a language that has none."""
    known = _known()
    return known.get(lang or "en", known["en"])


def dangle(question: str, text: str, lang: str | None) -> str:
    """Return the question with a pronoun for what it is about, so that it cannot stand alone.

    What it is about: its longest name, in a script with capitals; otherwise the longest part that it shares
    with the text. Where there is none, the question points at "the passage above", in its language.
    """
    forms = defect_phrases(lang)
    span = _shared_part(question, text) if lang in UNSPACED else _named_words(question, text, forms.articles)
    if span is None:
        if lang in UNSPACED:
            return forms.above + question
        body = question.rstrip(" ?.!؟。？")
        return f"{body}, {forms.above}{question[len(body) :].rstrip() or '?'}"
    subject = question[span.start : span.end]
    it = forms.it if span.start else forms.it[0].upper() + forms.it[1:]
    rest = question[span.end :]
    if lang in UNSPACED:
        return question[: span.start] + it + rest.replace(subject, forms.it)
    again = re.compile(rf"(?<!\S){re.escape(subject)}(?=[\s?.,;:!]|\Z)")
    return question[: span.start] + it + again.sub(lambda _: forms.it, rest)


def _named_words(question: str, text: str, articles: Collection[str]) -> _Span | None:
    """Return the span of a question's longest name, or of the longest run of words that the text has too."""
    tokens = [(match.start(), _bare(match[0])) for match in _WORD.finditer(question)]
    tokens = [(question.find(word, start), word) for start, word in tokens if word]
    stems = {_bare(word).casefold()[:STEM] for word in text.split()}
    named = [_is_name(word, at == 0, text) for at, (_, word) in enumerate(tokens)]
    for at, (_, word) in enumerate(tokens[1:], 1):
        named[at] |= named[at - 1] and any(character.isdigit() for character in word)
    shared = [
        len(word) >= SHORTEST and word.casefold()[:STEM] in stems and at > 0
        for at, (_, word) in enumerate(tokens)
    ]
    spans = _spans(tokens, named, articles, joined=True)
    if spans:
        return max(spans, key=lambda span: span.end - span.start)
    # What stands behind an article is a noun; a run without one may be a verb.
    spans = _spans(tokens, shared, articles, joined=False)
    return max(spans, key=lambda span: (span.behind_article, span.end - span.start), default=None)


def _runs(tokens: Sequence[tuple[int, str]], marks: Sequence[bool], *, joined: bool) -> list[tuple[int, int]]:
    """Return the runs of marked words as first and last; joined: over a short word between two of them."""
    runs: list[tuple[int, int]] = []
    for at in (at for at, marked in enumerate(marks) if marked):
        before = runs[-1][1] if runs else -9
        gap = at - before
        if gap == 1 or (joined and gap == 2 and len(tokens[at - 1][1]) <= CONNECTOR):
            runs[-1] = (runs[-1][0], at)
        else:
            runs.append((at, at))
    return runs


def _spans(
    tokens: Sequence[tuple[int, str]], marks: Sequence[bool], articles: Collection[str], *, joined: bool
) -> list[_Span]:
    """Return the spans of runs of marked words, with the article before each, that leave enough words."""
    spans = []
    for first, last in _runs(tokens, marks, joined=joined):
        behind_article = first > 0 and tokens[first - 1][1].casefold() in articles
        start = first - behind_article
        if len(tokens) - (last - start + 1) >= KEPT:
            spans.append(_Span(tokens[start][0], tokens[last][0] + len(tokens[last][1]), behind_article))
    return spans


def _is_name(word: str, is_first: bool, text: str) -> bool:
    """Return whether a word is written as a name; the first one only if the text does so in a sentence."""
    if not any(character.isupper() for character in word):
        return False
    if not is_first:
        return True
    places = (match.start() for match in re.finditer(re.escape(word), text))
    return any(_SENTENCE_BEFORE.search(text[max(0, at - 4) : at]) for at in places)


def _bare(word: str) -> str:
    """Return a word without the punctuation around it."""
    start, end = 0, len(word)
    while start < end and unicodedata.category(word[start])[0] in "PZ":
        start += 1
    while end > start and unicodedata.category(word[end - 1])[0] in "PZ":
        end -= 1
    return word[start:end]


def _shared_part(question: str, text: str) -> _Span | None:
    """Return the longest span of a question that the text has too, of whole characters and Latin words."""
    start, end = _longest_shared(question[:LONGEST_QUESTION], text)
    while start < end and (_cuts(question, start) or unicodedata.category(question[start])[0] in "ZP"):
        start += 1
    while _cuts(question, end) and unicodedata.category(question[end])[0] == "M":
        end += 1
    while end > start and (_cuts(question, end) or unicodedata.category(question[end - 1])[0] in "ZP"):
        end -= 1
    han = any("\u3040" <= character <= "\u9fff" for character in question[start:end])
    return _Span(start, end) if end - start >= (FEWEST_OF_HAN if han else FEWEST_OF_OTHERS) else None


def _longest_shared(question: str, text: str) -> tuple[int, int]:
    """Return where the longest part begins and ends that a text has too; of several the first.

    What is shared at one length is shared at each shorter one, so lengths are tried by halves: a few looks at
    the text, however often it repeats a letter. `difflib` takes the square of such a text.
    """
    best, too_long = (0, 0), len(question) + 1
    while too_long - (length := best[1] - best[0]) > 1:
        size = (length + too_long) // 2
        starts: dict[str, int] = {}
        for at in range(len(question) - size + 1):
            starts.setdefault(question[at : at + size], at)
        shared = [starts.get(text[at : at + size]) for at in range(len(text) - size + 1)]
        start = min((at for at in shared if at is not None), default=None)
        best, too_long = (best, size) if start is None else ((start, start + size), too_long)
    return best


def _cuts(text: str, at: int) -> bool:
    """Return whether a place lies inside a character with its marks, or inside a Latin word."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    in_word = before.isascii() and before.isalnum() and after.isascii() and after.isalnum()
    return in_word or before in LEADING_VOWELS or unicodedata.category(after)[0] == "M"


@cache
def _known() -> dict[str, DefectWords]:
    text = shipped("ragstone.features.build", "library", "defects.toml").read_text("utf-8")
    file = Path("defects.toml")
    return convert_section({"languages": parse_toml(text, file)}, _Languages, file, text).languages


KINDS: tuple[Defect, ...] = get_args(Defect)

# What the critics that ship are there to find; any other critic is measured on all kinds.
OWN_KINDS: dict[str, tuple[Defect, ...]] = {
    "groundedness": ("wrong_answer", "wrong_document"),
    "relevance": ("trivial",),
    "stand_alone": ("dangling_reference",),
}
ALIKE = 0.5  # the share of their words from which two answers may say the same
LONGEST_TITLE = 120  # characters
NEAREST = 5  # answers of the most similar length, of which a wrong one is drawn


class PlantedDefect(msgspec.Struct, frozen=True, kw_only=True):
    """A question made bad in a known way, and the good one that it was made of."""

    kind: Defect
    original: Candidate
    planted: Candidate


Plant = Callable[[Candidate, Sequence[Candidate], Generator], Candidate | None]


def plant_defects(candidates: Sequence[Candidate], n: int, seed: int) -> list[PlantedDefect]:
    """Return up to n planted defects, of all kinds in turn, each made of another candidate.

    candidates: of a build, after `critique`; used are those with an answer that reached the critics, whatever
    these said of them: to leave out what they rejected would hide their false alarms. Fewer than n where
    there are fewer of them; a kind that cannot be planted (a wrong document, where there is one only) leaves
    its turn to the others. Planted candidates bear no loss and no scores, and the id `ORIGINAL:KIND`.
    """
    rng = np.random.default_rng(seed)
    sound = [
        candidate
        for candidate in candidates
        if candidate.question.answerable is not False
        and references(candidate.question)
        and (
            candidate.loss is None
            or candidate.loss.reason in ("low_score", "not_criticised")
            or candidate.question.scores
        )
    ]
    unused = [sound[at] for at in rng.permutation(len(sound))]
    kinds = list(KINDS)
    defects: list[PlantedDefect] = []
    # Two defects that read the same would be one observation: a critic says the same of both.
    tried: set[tuple[Defect, str]] = set()
    while kinds and len(defects) < n:
        kind = kinds.pop(0)
        for at, original in enumerate(unused):
            planted = PLANTERS[kind](original, sound, rng)
            if planted is not None and (kind, planted.question.question) not in tried:
                tried.add((kind, planted.question.question))
                defects.append(PlantedDefect(kind=kind, original=original, planted=planted))
                del unused[at]
                kinds.append(kind)
                break
    return defects


def measure_critics(
    judged: Sequence[tuple[PlantedDefect, Candidate]], critics: Sequence[Critic], threshold: int
) -> list[CriticMeasured]:
    """Return the precision and recall of all critics together (`filter`), then of each, by planted defects.

    judged: each defect, made of a candidate that `critique` has judged, and its planted candidate as
    `critique` returned it. A critic rejects what it scores below the threshold; the filter, what any critic
    does. A critic is measured on the kinds that it is there to find (see OWN_KINDS). For each first over its
    kinds (`kind` None), then by kind; nothing of kinds that no defect is of.

    False alarms are counted on the originals, as many as there are defects: precision is that of a pile of
    which one half is defects. An original may really be bad, and to reject it right: so the precision is a
    lower bound. What has no usable score is in neither count, but in n_failed. Intervals are Wilson's at
    95 %; that of precision is a little wide, since the number of rejected is not fixed beforehand.
    """
    owners = {FILTER: KINDS} | {critic.name: OWN_KINDS.get(critic.name, KINDS) for critic in critics}
    rows = []
    for name, own in owners.items():
        names = [critic.name for critic in critics] if name == FILTER else [name]
        outcomes = [
            (
                defect.kind,
                _rejected(planted, names, threshold),
                _rejected(defect.original, names, threshold),
            )
            for defect, planted in judged
            if defect.kind in own
        ]
        for kind in (None, *own):
            part = [outcome for outcome in outcomes if kind in (None, outcome[0])]
            rows += [_measured(name, kind, part)] if part else []
    return rows


def _measured(
    name: str, kind: Defect | None, outcomes: Sequence[tuple[Defect, bool | None, bool | None]]
) -> CriticMeasured:
    """Return the counts of one critic. outcomes: whether each defect, and its original, was rejected."""
    planted, sound = [outcome[1] for outcome in outcomes], [outcome[2] for outcome in outcomes]
    n_caught, n_rejected = planted.count(True), sound.count(True)
    n_defects, n_sound = len(planted) - planted.count(None), len(sound) - sound.count(None)
    return CriticMeasured(
        critic=name,
        kind=kind,
        n_defects=n_defects,
        n_caught=n_caught,
        n_sound=n_sound,
        n_rejected=n_rejected,
        n_failed=planted.count(None) + sound.count(None),
        recall=share_of(n_caught, n_defects),
        precision=share_of(n_caught, n_caught + n_rejected),
    )


def _rejected(candidate: Candidate, critics: Sequence[str], threshold: int) -> bool | None:
    """Return whether one of these critics rejects a candidate; None where one that might gave no score."""
    scores = candidate.question.scores or {}
    if any(scores[name] < threshold for name in critics if name in scores):
        return True
    return False if all(name in scores for name in critics) else None


def plant_wrong_answer(original: Candidate, others: Sequence[Candidate], rng: Generator) -> Candidate | None:
    """Return the candidate with another number in its answer or, without a number, another one's answer.

    The other question is of the same kind and language, its answer of similar length and of other words, and
    without a number too where there is such a one.
    """
    right = references(original.question)
    if _has_number(right[0]):
        return _planted(original, "wrong_answer", reference=_other_number(right[0], rng))
    answers = {references(other.question)[0] for other in others if _alike(other, original)}
    pool = sorted(answers, key=lambda text: (_has_number(text), abs(len(text) - len(right[0])), text))
    nearest = list(islice((text for text in pool if _differ(text, right)), NEAREST))
    if not nearest:
        return None
    nearest = [text for text in nearest if _has_number(text) == _has_number(nearest[0])]
    return _planted(original, "wrong_answer", reference=nearest[rng.integers(len(nearest))])


def plant_wrong_document(
    original: Candidate, others: Sequence[Candidate], rng: Generator
) -> Candidate | None:
    """Return the candidate with the passage of another document, one that does not hold its answer."""
    own = {passage.document_id for passage in original.passages}
    right = [tokenize(text) for text in references(original.question)]
    for at in rng.permutation(len(others)):
        passages = others[at].passages
        if own & {passage.document_id for passage in passages} or not _alike(others[at], original):
            continue
        texts = [f" {' '.join(tokenize(passage.text))} " for passage in passages]
        if not any(f" {' '.join(answer)} " in text for text in texts for answer in right):
            planted = _planted(original, "wrong_document", evidence=None)
            return msgspec.structs.replace(planted, passages=passages)
    return None


def plant_dangling(original: Candidate, _others: Sequence[Candidate], _rng: Generator) -> Candidate | None:
    """Return the candidate with a pronoun for what it asks about; see dangling.py."""
    text = "\n".join(passage.text for passage in original.passages)
    question = dangle(original.question.question, text, _lang(original))
    return _planted(original, "dangling_reference", question=question)


def plant_trivial(original: Candidate, _others: Sequence[Candidate], rng: Generator) -> Candidate | None:
    """Return a question on the same passage that nobody needs answered, in its language.

    It gives its answer away or, where the passage has a title, asks for its language or a word of the title.
    """
    phrases = defect_phrases(_lang(original))
    answer = references(original.question)[0]
    forms = [(phrases.given.replace("{answer}", answer), answer)]
    title = " ".join((original.passages[0].title or "").split()) if original.passages else ""
    if 0 < len(title) <= LONGEST_TITLE:
        question, language = phrases.language
        forms += [(question.replace("{title}", title), language)]
        forms += [(phrases.title.replace("{title}", title), title.split()[0])]
    question, reference = forms[rng.integers(len(forms))]
    return _planted(original, "trivial", question=question, reference=reference, evidence=None)


PLANTERS: dict[Defect, Plant] = {
    "wrong_answer": plant_wrong_answer,
    "wrong_document": plant_wrong_document,
    "dangling_reference": plant_dangling,
    "trivial": plant_trivial,
}


def _planted(original: Candidate, kind: Defect, **changed: object) -> Candidate:
    question = original.question
    changed |= {"id": f"{question.id}:{kind}", "scores": None, "metadata": {"planted": kind}}
    return Candidate(question=msgspec.structs.replace(question, **changed), passages=original.passages)


def _alike(other: Candidate, original: Candidate) -> bool:
    """Return whether two candidates are of one kind and language."""
    return (other.question.kind, _lang(other)) == (original.question.kind, _lang(original))


def _lang(candidate: Candidate) -> str | None:
    first = candidate.passages[0].lang if candidate.passages else None
    return candidate.question.lang or first


def _differ(text: str, right: Sequence[str]) -> bool:
    """Return whether an answer says something else than each of the right ones, by its words."""
    tokens = set(tokenize(text))
    if not tokens:
        return False
    for other in (set(tokenize(answer)) for answer in right):
        if tokens <= other or other <= tokens or len(tokens & other) / len(tokens | other) >= ALIKE:
            return False
    return True


def _other_number(text: str, rng: Generator) -> str:
    """Return a text with its first number changed: its last digit that is not 0 becomes another but 0."""
    start = next(at for at, character in enumerate(text) if character.isdecimal())
    end = start
    while end < len(text) and text[end].isdecimal():
        end += 1
    at = max((at for at in range(start, end) if _digit(text[at])), default=end - 1)
    old = _digit(text[at])
    new = (old + int(rng.integers(1, 9)) - 1) % 9 + 1 if old else int(rng.integers(1, 10))
    return text[:at] + chr(ord(text[at]) - old + new) + text[at + 1 :]


def _has_number(text: str) -> bool:
    return any(character.isdecimal() for character in text)


def _digit(character: str) -> int:
    return int(character) if character.isdecimal() else 0
