"""Names of people, places and organisations: found by their capitals, or listed by a model."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Annotated, NamedTuple

import msgspec

from ragstone.config import read_library
from ragstone.dataset.asking import asking_words
from ragstone.dataset.wording import function_words
from ragstone.llm import MATERIAL, Ask, Prompt, fenced_prompt, row_nonce
from ragstone.records import Document

VERSION = 1  # of the prompt below; a change of wording is a new one
SHOWN = 4000  # characters of a document in one call
MOST_NAMES = 40
MAX_TOKENS = 400

SHORTEST = 3  # letters of a name that is found by its capital
# A word that stands in small letters as well is a name only where that is rare: "brown", but not "Warsaw".
SMALL_SHARE = 0.05
# Of a phrase, all words but the last: "Super Bowl", but not "Current Account" where small ones are current.
RARELY_SMALL = 0.25
MOST_CAPITALS = 0.7  # "Who was Marie Curie?" has two of three, a title nearly all
# Languages that write nouns with a capital: there only two words with capitals in a row are taken for names.
CAPITAL_NOUNS = frozenset({"de", "lb"})

WORD = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f]+[^\W\d_]*)*")
LEFT_ALONE = re.compile(
    r"```.*?```|~~~.*?~~~|`[^`\n]+`|(?:https?|ftp)://\S+|www\.\S+"
    r"|(?:(?<!\S)|(?<=`)(?!`))\S[^\s@]*+@\S+\.\w++"
    r"|(?<!\w)(?<!\w[/\\])(?:\w++[/\\])++\w++\.\w{1,5}\b",
    re.DOTALL,
)
_CODE = re.compile(r"```.*?```|~~~.*?~~~|`[^`\n]+`", re.DOTALL)
_CLOSED = r"[\s\"'“”‘’«»()\[\]*#>\-–—•]"
_OPENS = re.compile(rf"(?<!{_CLOSED})(?:\A|(?<=[.!?:;…।。])|(?={_CLOSED}*\n)){_CLOSED}*+$")

TOLD = (
    "You list the names in a text: of people, places, organisations, works and products, exactly as they are "
    "spelled in it. No common words, no dates, no numbers. An empty list where there is none."
)
FORM = '{"nonce": the code, "names": [names]}'


class NamesReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The names that a model finds in a text."""

    names: Annotated[list[Annotated[str, msgspec.Meta(max_length=80)]], msgspec.Meta(max_length=MOST_NAMES)]


class Found(NamedTuple):
    """Names as they are swapped.

    words: each a name by itself, wherever it stands. phrases: of two words and more that are common ones by
    themselves ("Super Bowl"). small: words that the texts have in small letters.
    """

    words: list[str]
    phrases: list[str]
    small: frozenset[str]


class Seen(NamedTuple):
    """A word with a capital, and whether a sentence begins with it."""

    text: str
    opens: bool


async def list_names(document: Document, *, ask: Ask, secret: bytes) -> list[str]:
    """Return the names that a model finds in a document, those that do stand in its text, each once.

    In the order of the text; a long document takes a call for each 4,000 characters. For scripts without
    capitals. Raises CallFailed.
    """
    found: dict[str, int] = {}
    for start in range(0, len(document.text), SHOWN):
        reply = await ask(names_prompt(document.text[start : start + SHOWN], secret))
        for given in reply.value.names:
            name = " ".join(given.split())
            place = document.text.find(name)
            if WORD.search(name) and len(name) >= 2 and place >= 0:
                found.setdefault(name, place)
    return sorted(found, key=lambda name: (found[name], name))


def names_prompt(text: str, secret: bytes) -> Prompt:
    """Return the call that lists the names of a text."""
    return fenced_prompt(
        f"{TOLD}\n\n{MATERIAL}",
        {"text": text},
        form=FORM,
        reply=NamesReply,
        nonce=row_nonce(secret, [TOLD, str(VERSION), text]),
        max_tokens=MAX_TOKENS,
    )


def find_names(
    texts: Iterable[tuple[str, str | None]], asked: Iterable[tuple[str, str | None]], given: Sequence[str]
) -> Found:
    """Return the names of texts and of questions, found by their capitals, and those given.

    A text comes with its language. A word is a name where it has a capital in the middle of a sentence, or
    beside such a word, and hardly ever stands in small letters; in German, where it mostly stands beside such
    a word. Not weekdays, months, titles, words that begin sentences; nor words all in capitals (PIN, UHF):
    these are terms as often as names; nor what stands in code, which would no longer be what the text speaks
    of. Small letters in questions say nothing, for people write names so. Of scripts without capitals only
    given ones are names.
    """
    heard = _Heard()
    for text, lang in texts:
        heard.hear(text, lang)
        heard.small.update(word for word in WORD.findall(_plain(text)) if word.islower())
    for text, lang in asked:
        heard.hear(text, lang)
    small = heard.small
    words = {word for word in heard.certain if small[word.lower()] <= SMALL_SHARE * heard.large[word]}
    words |= {
        word for word, n in heard.beside.items() if 2 * n >= heard.large[word] and not small[word.lower()]
    }
    words |= {word for name in given for word in WORD.findall(name) if _stands_alone(word, small)}
    words -= heard.coded
    everything = "\n".join(heard.plains)
    phrases = {
        one
        for one in heard.phrases
        if " " in one
        and one.lower() not in everything
        and all(small[word.lower()] <= RARELY_SMALL * heard.large[word] for word in one.split()[:-1])
    }
    phrases |= {" ".join(name.split()) for name in given}
    left = words | heard.coded
    apart = sorted(phrase for phrase in phrases if left.isdisjoint(WORD.findall(phrase)))
    return Found(sorted(words), apart, frozenset(small))


class _Heard:
    """What texts say of their words with capitals.

    large: how often each has one; beside: in how many places it follows, or is followed by, another; certain:
    names by where they stand; phrases: runs of words with capitals; coded: words of code.
    """

    def __init__(self) -> None:
        self.small: Counter[str] = Counter()
        self.large: Counter[str] = Counter()
        self.beside: Counter[str] = Counter()
        self.certain: set[str] = set()
        self.phrases: set[str] = set()
        self.coded: set[str] = set()
        self.plains: list[str] = []

    def hear(self, text: str, lang: str | None) -> None:
        """Take note of a text."""
        self.coded.update(word for code in _CODE.findall(text) for word in WORD.findall(code))
        self.plains.append(_plain(text))
        if lang not in CAPITAL_NOUNS and not _capitals_tell(self.plains[-1]):
            return
        for run in _runs(self.plains[-1]):
            self.large.update(one.text for one in run)
            told = [one.text for one in run if not one.opens]
            if lang not in CAPITAL_NOUNS:
                self.certain.update((one.text for one in run) if len(run) > 1 else told)
                self.phrases.add(" ".join(told))
            elif len(told) > 1:
                self.beside.update(told)


def _plain(text: str) -> str:
    """Return a text with blanks for its code, addresses and paths."""
    return LEFT_ALONE.sub(lambda found: " " * len(found[0]), text)


def is_no_name(word: str) -> bool:
    """Return whether a word has its capital for another reason: a month, a title, the first of a sentence."""
    return word.casefold() in _not_names()


@cache
def months() -> frozenset[str]:
    """Return the names of the months in many languages, in small letters."""
    return frozenset(_library()["months"].casefold().split())


def _runs(text: str) -> Iterator[list[Seen]]:
    """Yield the words with a capital that follow each other with nothing but a space between them."""
    run: list[Seen] = []
    end = -1
    for found in WORD.finditer(text):
        if not found[0][0].isupper() or (len(found[0]) > 1 and found[0].removesuffix("s").isupper()):
            continue
        if run and text[end : found.start()] != " ":
            yield run
            run = []
        end = found.end()
        if len(found[0]) >= SHORTEST and not is_no_name(found[0]):
            run.append(Seen(found[0], _opens(text, found.start())))
    if run:
        yield run


def _capitals_tell(text: str) -> bool:
    """Return whether capitals say something: not in a title of which nearly all words have one."""
    words: list[str] = [found[0] for found in WORD.finditer(text) if not _opens(text, found.start())]
    return sum(word[0].isupper() for word in words) <= MOST_CAPITALS * len(words)


def _opens(text: str, start: int) -> bool:
    """Return whether a sentence begins with the word at this place."""
    return _OPENS.search(text[max(0, start - 12) : start]) is not None


def _stands_alone(word: str, small: Counter[str]) -> bool:
    """Return whether a word of a given name is a name wherever it stands."""
    return len(word) >= 2 and not is_no_name(word) and not small[word.lower()]


@cache
def _not_names() -> frozenset[str]:
    return frozenset(" ".join(_library().values()).casefold().split()) | function_words() | asking_words()


@cache
def _library() -> dict[str, str]:
    return msgspec.convert(read_library("ragstone.dataset", "not_names.toml"), dict[str, str])
