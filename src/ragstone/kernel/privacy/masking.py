"""Personal data in texts -> placeholders such as `[email]`, the same for the same value."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import msgspec

from ragstone.kernel.errors import ConfigError
from ragstone.kernel.privacy.normalised import unescaped, without_invisible
from ragstone.kernel.privacy.span import BLANK, Span, blanked, folded

KINDS = (
    "account",
    "card",
    "coordinates",
    "email",
    "iban",
    "id",
    "ip",
    "mac",
    "masked",
    "name",
    "phone",
    "secret",
    "url",
)

_DIGIT_OR_SIGN = re.compile(r"[\d@]|://|\[at|\(at|:[0-9a-f]*:|-----BEGIN", re.IGNORECASE)
_LONG_NUMBER = re.compile(r"\d(?:[\s().\-/]{0,3}\d){5}")  # six digits: all accounts, cards and telephones
_PLACEHOLDER = re.compile(rf"\[(?:{'|'.join(KINDS)})(?:-\d+|{BLANK}\d+)?\]")
MARKED = re.compile(rf"\[({'|'.join(KINDS)}){BLANK}(\d+)\]")
Find = Callable[[str], Iterator[Span]]
OwnWords = re.Pattern[str]
"""What finds a user's own words, see own_words."""

MOST_ROUNDS = 3  # what is masked changes what stands beside it; two find all in texts of people
LIKELY = 2000  # characters of a text that may come again: the name of a tool, a passage of the documents
MOST_NAMES = 50  # of a row that are looked for in all of it; where they are given away, all are masked
SHORTEST_NAME = 3  # letters of a part of a name that is looked for elsewhere in the row


class Masked(msgspec.Struct, frozen=True):
    """A text without personal data, and how many places of each kind were masked in it."""

    text: str
    found: dict[str, int]


def mask_personal_data(text: str, own: OwnWords | None = None) -> Masked:
    """Return the text with personal data as typed placeholders, and how many of each kind there were.

    One value of a kind becomes `[phone]`; where there are several, they become `[phone-1]`, `[phone-2]` by
    first appearance, the same value always the same. Masked text comes back as it is, and so does text
    without personal data. own: words of the user (see own_words). What is recognised, and what is not, stands
    in docs/how-to/sampling.md.
    """
    return mask_texts([text], own)[0]


def mask_texts(texts: Sequence[str], own: OwnWords | None = None) -> list[Masked]:
    """Return the texts of one row masked together: the same value has the same placeholder in all of them.

    A name that one text gives away is masked in the others too.
    """
    values = MaskedValues()
    once = list(dict.fromkeys(texts))
    marked, counts_of_texts = values.mark(once, own)
    if not values.numbers:
        return [Masked(text, {}) for text in texts]
    finished = {
        text: Masked(
            MARKED.sub(lambda mark: _placeholder(mark, values.numbers), now), dict(sorted(counts.items()))
        )
        for text, now, counts in zip(once, marked, counts_of_texts, strict=True)
    }
    return [finished[text] for text in texts]


class MaskedValues:
    """What was masked in the texts of one row so far.

    numbers: kind -> value -> its number, from `first` on. originals: kind and number -> the value as it was
    first written.
    """

    def __init__(self, first: int = 1) -> None:
        self.numbers: dict[str, dict[str, int]] = defaultdict(dict)
        self.originals: dict[tuple[str, int], str] = {}
        self._first = first

    def mark(
        self, texts: Sequence[str], own: OwnWords | None, keep: str = ""
    ) -> tuple[list[str], list[Counter[str]]]:
        """Return the texts with a mark in each place of personal data, and how many there were of each kind.

        keep: what is never a part of such a place.
        """
        counts: list[Counter[str]] = [Counter() for _ in texts]
        now = [text.replace(BLANK, "\ufffd") if BLANK in text else text for text in texts]
        changed = [True] * len(now)
        for _ in range(MOST_ROUNDS):
            # What held nothing and has not changed holds nothing now.
            spans_of = [
                (_spans(text, own, keep) if len(text) > LIKELY else list(_spans_once(text, own, keep)))
                if new
                else []
                for text, new in zip(now, changed, strict=True)
            ]
            names = {span.value for spans in spans_of for span in spans if span.kind == "name"}
            if names:
                names |= self.numbers["name"].keys() if "name" in self.numbers else set()
                names = set(sorted(names)[:MOST_NAMES])
                spans_of = [
                    _with_names(text, spans, names) for text, spans in zip(now, spans_of, strict=True)
                ]
            changed = [bool(spans) for spans in spans_of]
            if not any(changed):
                break
            for at, spans in enumerate(spans_of):
                counts[at].update(span.kind for span in spans)
                now[at] = self._replaced(now[at], spans)
        return now, counts

    def _replaced(self, text: str, spans: Sequence[Span]) -> str:
        pieces, last = [], 0
        for span in spans:
            known = self.numbers[span.kind]
            number = known.setdefault(span.value, self._first + len(known))
            # An expression of the user's may reach over a mark.
            written = MARKED.sub(
                lambda mark: self.originals[mark[1], int(mark[2])], text[span.start : span.end]
            )
            self.originals.setdefault((span.kind, number), written)
            pieces += [text[last : span.start], f"[{span.kind}{BLANK}{number}]"]
            last = span.end
        return "".join([*pieces, text[last:]])


class _Finders(NamedTuple):
    """What finds personal data in texts with a digit or a sign, in the order of claims; and names in all.

    others: those that find something in a text without a long number too.
    """

    numbers: tuple[Find, ...]
    others: tuple[Find, ...]
    names: Find


@cache
def _finders() -> _Finders:
    """Return the finders; they are imported here, for their patterns take 0.1 s to compile."""
    from ragstone.kernel.privacy._names import find_names
    from ragstone.kernel.privacy._numbers import find_cards, find_ibans, find_ids
    from ragstone.kernel.privacy.network import find_coordinates, find_emails, find_hosts, find_secrets
    from ragstone.kernel.privacy.phones import find_accounts, find_phones

    # What proves itself goes before what its words explain.
    proven = (find_secrets, find_emails, find_ibans, find_cards, find_ids, find_hosts, find_coordinates)
    others = (find_secrets, find_emails, find_ibans, find_ids, find_hosts, find_coordinates)
    return _Finders((*proven, find_accounts, find_phones), others, find_names)


def _spans(text: str, own: OwnWords | None, keep: str) -> list[Span]:
    """Return the places of personal data, in order, none of which overlap.

    It is looked for as a reader sees the text: without what is invisible; then, in what is left, with escapes
    undone. An escape says where a value ends too (`token=a%20b`), so the text is read as it is first.
    """
    plain = text.replace(keep, BLANK * len(keep)) if keep else text
    seen = without_invisible(plain)
    spans = _spans_seen(plain, own) if seen is None else list(map(seen.original, _spans_seen(seen.text, own)))
    meant = unescaped(blanked(plain, spans) if spans else plain)
    if meant is not None:
        spans += map(meant.original, _spans_seen(meant.text, own))
    return sorted(spans)


def _spans_seen(text: str, own: OwnWords | None) -> list[Span]:
    plain = folded(text)
    if "[" in plain:
        plain = _PLACEHOLDER.sub(lambda match: BLANK * len(match[0]), plain)
    spans: list[Span] = []
    if own is not None:
        spans += find_own(plain, own)
        plain = blanked(plain, spans)
    if _DIGIT_OR_SIGN.search(plain):
        finders = _finders()
        for find in finders.numbers if _LONG_NUMBER.search(plain) else finders.others:
            here = list(_apart(find(plain), plain))
            if here:
                spans += here
                plain = blanked(plain, here)
    return [*spans, *_apart(_finders().names(plain), plain)]


@lru_cache(maxsize=2048)
def _spans_once(text: str, own: OwnWords | None, keep: str) -> tuple[Span, ...]:
    return tuple(_spans(text, own, keep))


def _apart(spans: Iterator[Span], plain: str) -> Iterator[Span]:
    """Yield the spans that hold nothing claimed, from the left; of those that overlap the longest first."""
    end = -1
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if span.start >= end and span.end > span.start and BLANK not in plain[span.start : span.end]:
            yield span
            end = span.end


def _with_names(text: str, spans: list[Span], names: set[str]) -> list[Span]:
    """Return the spans with the other places where the names stand, or parts of them with a capital."""
    plain = blanked(folded(text), spans)
    if "[" in plain:
        plain = _PLACEHOLDER.sub(lambda match: BLANK * len(match[0]), plain)
    more = []
    for name in sorted(names, key=lambda one: (-len(one), one)):
        whole = rf"(?<!\w){re.escape(name)}(?!\w)".replace(r"\ ", r"[\s.]+")
        parts = [part for part in name.split() if len(part) >= SHORTEST_NAME] if " " in name else []
        for pattern, is_part in (
            (whole, False),
            *((rf"(?<!\w){re.escape(part)}(?!\w)", True) for part in parts),
        ):
            more += [
                Span(*match.span(), "name", name)
                for match in re.finditer(pattern, plain, re.IGNORECASE)
                if not is_part or match[0][0].isupper()
            ]
    return sorted(_of_whole(span, names) for span in [*spans, *_apart(iter(more), plain)])


def _of_whole(span: Span, names: set[str]) -> Span:
    """Return the place of "John" as one of "John Smith", where the row knows one such name."""
    parts = set(span.value.split())
    wholes = [name for name in names if parts < set(name.split())] if span.kind == "name" else []
    return span._replace(value=wholes[0]) if len(wholes) == 1 else span


def _placeholder(mark: re.Match[str], numbers: dict[str, dict[str, int]]) -> str:
    kind = mark[1]
    return f"[{kind}-{mark[2]}]" if len(numbers[kind]) > 1 else f"[{kind}]"


def own_words(listed: Sequence[str]) -> OwnWords | None:
    """Return what finds these words, whole and in any case; one between slashes is a regular expression.

    None for an empty list. Raises ConfigError for an expression that is none or that matches nothing at all.
    """
    parts = []
    for listed_word in listed:
        if len(listed_word) > 2 and listed_word[0] == listed_word[-1] == "/":
            parts.append(f"(?:{_checked(listed_word[1:-1])})")
        elif listed_word.strip():
            parts.append(rf"(?<!\w){re.escape(listed_word.strip())}(?!\w)")
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def _checked(expression: str) -> str:
    try:
        compiled = re.compile(expression)
    except re.error as mistake:
        raise ConfigError(f"[sample] mask: /{expression}/ is not a regular expression ({mistake}).") from None
    if compiled.match(""):
        raise ConfigError(f"[sample] mask: /{expression}/ matches an empty text. Write \\d+ instead of \\d*.")
    if compiled.groupindex or re.search(r"\\[1-9]", expression):
        raise ConfigError(f"[sample] mask: /{expression}/: groups with names or numbers cannot be used here.")
    return expression


def find_own(text: str, own: OwnWords) -> Iterator[Span]:
    """Yield where the user's words stand."""
    for match in own.finditer(text):
        if match.end() > match.start():
            yield Span(*match.span(), "masked", match[0].casefold())
