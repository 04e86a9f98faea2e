"""How users of a log write, as numbers; conversations that are alike in them; and these numbers in words."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.dataset.standing import why_left_out
from ragstone.kernel.statistics import Codes, Floats

Traits = NDArray[np.float64]
"""(n, 6): of each conversation the columns of NAMES."""

NAMES = ("words", "turns", "small", "bare", "polite", "typos")
OF_A_TURN = (0, 2, 3, 4, 5)  # those that one turn alone has
MOST_KINDS = 5  # of users of one language
SEEN = np.array([0.5, 0.5, 0.3, 0.3, 0.3, 0.05])  # the least standard deviation of each: less is not seen
BLUR = 0.3  # standard deviations
APART = 0.1  # by which the silhouette is above that of data without kinds
CLEARER = 0.05  # by which that of more kinds is above that of fewer
REFERENCES = 10  # draws of data without kinds
LOOKED_AT = 300  # conversations whose silhouette is taken
RESTARTS = 5
FREQUENT, RARE, SHORTEST = (
    5,
    2,
    5,
)  # a typing mistake: a word of 5 letters, there twice at most, near a frequent one
MANY_TURNS = 2.2  # from which on users are said to go on asking
OFTEN_MISTYPED, SELDOM = 0.02, 0.1  # of the words, of the turns
CLEAR = 0.5  # standard deviations by which users differ from all, so that it is said of them

_FIRST_LETTER = re.compile(r"[^\W\d_]")
_ENDED = re.compile(r"[.?!…。？！؟।\"')\]]\s*$")
_POLITE = re.compile(
    r"\b(?:please|pls|thanks?|thank you|kindly|hello|hi|hey|dear|good (?:morning|day|evening)|bitte|danke|"
    r"hallo|guten (?:tag|morgen|abend)|por favor|gracias|hola|buen[oa]s|s['’]il (?:vous|te) pla[iî]t|merci|"
    r"bonjour|obrigad[oa]|ol[aá]|per favore|grazie|buongiorno|ciao|alstublieft|dank|tafadhali|asante|"
    r"habari)\b"
    r"|कृपया|धन्यवाद|नमस्ते|请|谢谢|你好|من فضلك|شكرا",
    re.IGNORECASE,
)


class Spelling(msgspec.Struct, frozen=True):
    """The words of a log: how often each is there, and the frequent ones by what is left without a letter."""

    counts: Counter[str]
    near: dict[str, set[str]]

    def is_mistake(self, word: str) -> bool:
        """Return whether a rare word is one letter away from a frequent one, other than by its end."""
        if len(word) < SHORTEST or self.counts[word] > RARE or not word.isalpha():
            return False
        others = set[str]().union(*(self.near.get(part, ()) for part in _parts(word)))
        return any(
            word[:-1] != other[:-1] and not word.startswith(other) and not other.startswith(word)
            for other in others - {word}
        )


def spelling_of(conversations: Iterable[Sequence[str]]) -> Spelling:
    """Return the words of a log."""
    counts = Counter(word for turns in conversations for turn in turns for word in tokenize(turn))
    near: dict[str, set[str]] = {}
    for word, n in counts.items():
        if n >= FREQUENT and len(word) >= SHORTEST and word.isalpha():
            for part in _parts(word):
                near.setdefault(part, set()).add(word)
    return Spelling(counts, near)


def _parts(word: str) -> Iterator[str]:
    yield word
    yield from (word[:at] + word[at + 1 :] for at in range(len(word)))


def traits_of(conversations: Sequence[Sequence[str]], spelling: Spelling) -> Traits:
    """Return the traits of each conversation, of the turns of its user; none is empty.

    words: the mean logarithm of the words of a turn; turns: the logarithm of their number; small, bare,
    polite: the share of turns that begin with a small letter, end without a mark, greet, thank or say please;
    typos: the share of words that look mistyped, see Spelling.
    """
    return np.array([_traits(turns, spelling) for turns in conversations], dtype=np.float64).reshape(
        -1, len(NAMES)
    )


def _traits(turns: Sequence[str], spelling: Spelling) -> list[float]:
    words = [tokenize(turn) for turn in turns]
    firsts = [match[0] for turn in turns if (match := _FIRST_LETTER.search(turn))]
    n_words = sum(map(len, words)) or 1
    return [
        float(np.mean([np.log1p(len(some)) for some in words])),
        float(np.log(len(turns))),
        sum(letter.islower() for letter in firsts) / max(1, len(firsts)),
        sum(not _ENDED.search(turn) for turn in turns) / len(turns),
        sum(bool(_POLITE.search(turn)) for turn in turns) / len(turns),
        sum(spelling.is_mistake(word) for some in words for word in some) / n_words,
    ]


class Kinds(msgspec.Struct, frozen=True, eq=False):
    """Kinds of users: the scale of the traits, and the centre of each kind in it, (k, 6)."""

    mean: Floats
    sd: Floats
    centres: Floats

    def of(self, traits: Traits) -> Codes:
        """Return the kind of each conversation: the nearest centre."""
        scaled = (traits - self.mean) / self.sd
        return np.asarray(np.argmin(distances(scaled, self.centres), axis=1), dtype=np.intp)


def kinds_of(traits: Traits, n: int | None, seed: int) -> Kinds:
    """Return the kinds of users: n, or as many as are clearly apart, else one.

    k-means from k-means++ starts (Arthur and Vassilvitskii 2007), on traits in standard deviations; the
    silhouette is Rousseeuw's (1987), and has to be above that of a normal distribution of their covariance.
    """
    mean, sd = traits.mean(axis=0), np.maximum(traits.std(axis=0), SEEN)
    scaled, rng = (traits - mean) / sd, np.random.default_rng(seed)
    if n is not None:
        return Kinds(mean, sd, _centres(scaled, min(n, len(scaled)), rng))
    # Counts of few words have few values, and each would look like a kind.
    scaled = scaled + rng.normal(scale=BLUR, size=scaled.shape)
    some = scaled[rng.permutation(len(scaled))[:LOOKED_AT]]
    # A normal distribution with their covariance has no kinds, however many traits vary (Liu et al. 2008).
    spread = np.atleast_2d(np.cov(scaled.T))
    references = [rng.multivariate_normal(np.zeros(len(NAMES)), spread, len(some)) for _ in range(REFERENCES)]
    best, centres = 0.0, scaled.mean(axis=0, keepdims=True)
    for k in range(2, min(MOST_KINDS, len(scaled) // 10) + 1):
        tried = _centres(scaled, k, rng)
        value = _silhouette(some, np.argmin(distances(some, tried), axis=1))
        chance = max(
            _silhouette(points, np.argmin(distances(points, _centres(points, k, rng)), axis=1))
            for points in references
        )
        if value > chance + APART and value > best + CLEARER:
            best, centres = value, tried
    return Kinds(mean, sd, centres)


def _centres(points: Floats, k: int, rng: np.random.Generator) -> Floats:
    best, cost = points[:1], np.inf
    for _ in range(RESTARTS):
        centres = points[rng.integers(len(points))][None]
        while len(centres) < k:
            far = distances(points, centres).min(axis=1) ** 2
            chance = far / far.sum() if far.sum() > 0 else None
            centres = np.vstack([centres, points[rng.choice(len(points), p=chance)]])
        nearest: Codes | None = None
        for _step in range(50):
            labels = np.argmin(distances(points, centres), axis=1)
            if nearest is not None and np.array_equal(labels, nearest):
                break
            nearest = labels
            is_in = (labels[:, None] == np.arange(k)).astype(np.float64)
            sizes = is_in.sum(axis=0)[:, None]
            centres = np.where(sizes > 0, is_in.T @ points / np.maximum(sizes, 1), centres)
        total = float((distances(points, centres).min(axis=1) ** 2).sum())
        if total < cost:
            best, cost = centres, total
    counts = np.bincount(np.argmin(distances(points, best), axis=1), minlength=len(best))
    return np.asarray(best[np.argsort(-counts, kind="stable")])


def distances(points: Floats, others: Floats) -> Floats:
    """Return the Euclidean distance of each point to each of the others."""
    return np.asarray(np.linalg.norm(points[:, None] - others[None], axis=2))


def _silhouette(points: Floats, labels: Codes) -> float:
    kinds = np.unique(labels)
    if len(kinds) < 2:
        return 0.0
    between = distances(points, points)
    means = np.stack([between[:, labels == kind].sum(axis=1) for kind in kinds], axis=1)
    sizes = np.array([np.sum(labels == kind) for kind in kinds])
    own = labels[:, None] == kinds[None]
    inner = means[own] / np.maximum(sizes[np.argmax(own, axis=1)] - 1, 1)
    outer = np.where(own, np.inf, means / sizes).min(axis=1)
    return float(np.mean((outer - inner) / np.maximum(np.maximum(outer, inner), 1e-12)))


def energy_distance(points: Floats, others: Floats) -> float:
    """Return how far two samples are apart, 0 or more (Székely and Rizzo 2004), in standard deviations."""
    between = distances(points, others).mean()
    return float(2 * between - distances(points, points).mean() - distances(others, others).mean())


def style_of(kind: Traits) -> str:
    """Return how users of a kind write, (n, 6), as words that a model can follow."""
    words, turns, small, bare, polite, typos = kind.mean(axis=0)
    parts = [f"about {max(1, round(np.expm1(words)))} words in a message"]
    parts += ["begins with a small letter"] if small > CLEAR else []
    parts += ["no full stop or question mark at the end"] if bare > CLEAR else ["ends sentences with a mark"]
    parts += ["greets, says please or thanks"] if polite > CLEAR else []
    parts += ["does not greet or thank"] if polite < SELDOM else []
    parts += [f"mistypes about one word in {round(1 / typos)}"] if typos > OFTEN_MISTYPED else []
    parts += ["goes on asking"] if np.exp(turns) > MANY_TURNS else []
    return "; ".join(parts)


def name_of(kind: Traits, everyone: Traits) -> str:
    """Return what sets users of a kind apart from all, in two or three words."""
    sd = np.maximum(everyone.std(axis=0), 0.05)
    apart = (kind.mean(axis=0) - everyone.mean(axis=0)) / sd
    named = [
        (abs(value), high if value > 0 else low)
        for value, low, high in zip(apart.tolist(), *_NAMED, strict=True)
        if abs(value) >= CLEAR and (high if value > 0 else low)
    ]
    return " ".join(name for _, name in sorted(named, reverse=True)[:3]) or "usual"


_NAMED = (
    ("short", "one question", "capitals", "punctuated", "plain", ""),
    ("long", "asks on", "lower case", "unpunctuated", "polite", "mistyped"),
)


def substantial(turns: Sequence[str]) -> str | None:
    """Return the first turn of a conversation that can be asked alone, None where there is none."""
    return next((turn for turn in turns if why_left_out(turn) is None), None)
