"""What keeps the assistant to its documents: guards over passages and replies."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from urllib.parse import urlsplit

from ragstone.assistant.languages import phrase
from ragstone.config import read_library
from ragstone.corpus.sentences import sentence_spans
from ragstone.corpus.tokens import tokenize
from ragstone.llm.untrusted import plays_a_turn
from ragstone.privacy.network import find_emails
from ragstone.privacy.phones import find_phones
from ragstone.privacy.span import Span, folded

GAP = r"(?:\S+ ){0,4}?"  # words that may stand between two that belong together


@lru_cache(maxsize=1024)  # one guard after the other asks for the same sentence
def said(text: str) -> str:
    """Return the words of a text as the patterns here look at them: between single spaces."""
    return f" {' '.join(tokenize(text))} "


def any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for any of the phrases in `said(text)`; `*` at the end of a word: any ending."""
    return re.compile(_any_of(phrases))


def near(firsts: Iterable[str], seconds: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for one of each in `said(text)`, in any order, four words between them at most."""
    first, second = _any_of(firsts), _any_of(seconds)
    return re.compile(f"{first}{GAP}(?<= ){second[1:]}|{second}{GAP}(?<= ){first[1:]}")


def _any_of(phrases: Iterable[str]) -> str:
    written = {_pattern(phrase) for phrase in phrases}
    return f" (?:{'|'.join(sorted(written, key=len, reverse=True))})"


def _pattern(phrase: str) -> str:
    words = [
        re.escape(" ".join(tokenize(word))) + (r"\S*" if word.endswith("*") else "")
        for word in phrase.split()
    ]
    return " ".join(words) + " "


# Each takes what is open and broken off too, as it is: what a bracket does not close, no bracket in it does.
_IMAGE = re.compile(r"!\[[^\]]*+(?:\]\s*+(?P<whole>\([^)]*+\))?+)?+")
_REFERRED_IMAGE = re.compile(r"!\[[^\]]*+(?:\]\s*+(?P<whole>\[[^\]]*+\])?+)?+")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*+)(?:\](?P<whole>\((?P<url>[^)\s]*+)[^)]*+\))?+)?+")
_REFERENCE = re.compile(r"^[^\S\n]*+\[[^\]\n]++\]:\s*+\S.*+$", re.MULTILINE)
_SCRIPT = re.compile(
    r"<\s*(script|style|iframe|object|svg)\b.*?(?:<\s*/\s*\1\s*>|\Z)", re.IGNORECASE | re.DOTALL
)
_HTML_TAG = re.compile(r"<\s*[!/?a-z][^<>]*(?:>|\Z)", re.IGNORECASE)
_DOMAINS = (
    "com|org|net|info|biz|io|co|edu|gov|int|ai|app|dev|xyz|top|site|online|shop|club|link|click|live|me|tv|ly|gl|to"
    "|us|uk|eu|de|fr|es|it|pt|ru|cn|in|pk|bd|np|ke|tz|ug|rw|et|ng|gh|za|zm|zw|mw|mz|ma|dz|tn|eg|sa|ae|mx|br|ar|pe"
)
_URL = re.compile(
    r"(?:https?|ftp|wss?|tel|mailto|javascript|data|file|sms|whatsapp)\s?:\s?/{0,2}[^\s<>\"']+", re.IGNORECASE
)
_DOT = r"(?:\.|\s?[\[(]\s?(?:\.|dot)\s?[\])]\s?)"
_BARE = re.compile(
    rf"\b(?:[\w-]{{1,63}}+{_DOT})++(?P<whole>(?:{_DOMAINS})\b(?:[/?#:][^\s<>\"']*+)?+)?+", re.IGNORECASE
)
_DOMAIN = re.compile(rf"{_DOT}(?:{_DOMAINS})\b", re.IGNORECASE)
_TRAILING = ".,;:!?)]}»”’'\"。।۔؟"


def without_contacts(text: str, lang: str, approved: Iterable[str | None] = ()) -> str:
    """Return a reply without HTML, images, links, e-mail addresses and telephone numbers.

    approved: addresses; a link to the host of one of them stays, as plain text. Where an address or a number
    stood, the reader is pointed to the source (in `lang`): what a document says of whom to call can be read
    there, and a reply cannot be made to send people elsewhere.
    """
    hosts = {host for address in approved if (host := _host(address or ""))}
    see = phrase("see_source", lang)
    text = _each(_REFERRED_IMAGE, "]", text, lambda _: "")
    text = _each(_IMAGE, ")", text, lambda _: "")
    text = _HTML_TAG.sub("", _SCRIPT.sub("", text))
    text = _REFERENCE.sub("", text)
    text = _each(_LINK, ")", text, lambda found: f"{found['text']} {found['url']}".strip())
    text = _URL.sub(lambda found: _approved_or_pointer(found[0], hosts, see), text)
    text = _without(find_emails, text, see)
    text = _BARE.sub(lambda found: _names_with_dots(found, hosts, see), text)
    return _without(find_phones, text, see)


def _each(pattern: re.Pattern[str], close: str, text: str, new: Callable[[re.Match[str]], str]) -> str:
    """Replace what a pattern finds whole; behind the last closing sign nothing is looked for."""
    end = text.rfind(close) + 1
    found = pattern.sub(lambda found: found[0] if found["whole"] is None else new(found), text[:end])
    return found + text[end:]


def _without(find: Callable[[str], Iterator[Span]], text: str, see: str) -> str:
    pieces, last = [], 0
    for span in find(folded(text)):
        pieces += [text[last : span.start], see]
        last = span.end
    return "".join([*pieces, text[last:]])


def _names_with_dots(found: re.Match[str], hosts: set[str], see: str) -> str:
    """Return what stands for names with dots between them, the last of which need not be a domain."""
    if found["whole"] is not None:
        return _approved_or_pointer(found[0], hosts, see)
    domains = list(_DOMAIN.finditer(found[0]))
    end = domains[-1].end() if domains else 0
    return _approved_or_pointer(found[0][:end], hosts, see) + found[0][end:] if end else found[0]


def _approved_or_pointer(found: str, hosts: set[str], see: str) -> str:
    address = found.rstrip(_TRAILING.replace(")", "") if "(" in found else _TRAILING)
    return found if _host(address) in hosts else see + found[len(address) :]


def _host(address: str) -> str:
    """Return the host of an http address, with or without its scheme; "" where there is none."""
    scheme, _, rest = address.partition("://")
    if not rest:
        scheme, rest = "https", address
    if scheme.lower() not in ("http", "https"):
        return ""
    try:
        return (urlsplit(f"https://{rest}").hostname or "").removeprefix("www.")
    except ValueError:
        return ""


LEFT_OUT = "[…]"
_TURN = re.compile(r"^\W*(?:system|assistant|user|developer|human|ai)(?:\W*\n|\s*+[:#\]])", re.IGNORECASE)
_ROLE = re.compile(r"""["']?role["']?\s*[:=]\s*["']?(?:system|assistant|user|tool)""", re.IGNORECASE)
_PROMPT_TAG = re.compile(
    r"</?\s*(?:contexts?|passages?|question|system|instructions?|observation|tool)\b[^>\n]{0,40}>",
    re.IGNORECASE,
)


@lru_cache(maxsize=512)  # 3 ms a passage; the same ones are found again and again
def without_instructions(text: str) -> str:
    """Return a text with `[…]` in place of each sentence that speaks to a model, and of HTML comments."""
    text = _without_comments(text)
    kept, end = [], 0
    for start, stop in sentence_spans(text):
        if speaks_to_model(text[start:stop]):
            kept.append(text[end:start] + LEFT_OUT)
            end = stop
    return "".join(kept) + text[end:]


def _without_comments(text: str) -> str:
    pieces, at = [], 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin + 4)) >= 0:
        pieces += [text[at:begin], LEFT_OUT]
        at = end + 3
    return "".join([*pieces, text[at:]])


def speaks_to_model(sentence: str) -> bool:
    """Say whether a sentence gives orders to a model, plays a turn of a chat, or hides its letters.

    Hidden: letters of the Latin script and look-alikes of the Cyrillic in one word.
    """
    if (
        plays_a_turn(sentence)
        or _TURN.match(sentence)
        or _ROLE.search(sentence)
        or _PROMPT_TAG.search(sentence)
    ):
        return True
    words = said(sentence)
    return any(pattern.search(words) for pattern in _orders()) or _mixes_scripts(words)


def _mixes_scripts(words: str) -> bool:
    if words.isascii():
        return False
    return any({"LATIN", "CYRILLIC"} <= {_script(letter) for letter in word} for word in words.split())


def _script(letter: str) -> str:
    return unicodedata.name(letter, "?").split(maxsplit=1)[0]


@cache
def _orders() -> list[re.Pattern[str]]:
    found = []
    for table in read_library("ragstone.assistant", "instructions.toml").values():
        found += [any_of(table["phrases"]), near(table["orders"], table["matters"])]
    return found
