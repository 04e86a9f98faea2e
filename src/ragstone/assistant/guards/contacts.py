"""Links, addresses and telephone numbers in a reply: only those of approved sources stay."""

import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import urlsplit

from ragstone.assistant.languages import phrase
from ragstone.privacy.network import find_emails
from ragstone.privacy.phones import find_phones
from ragstone.privacy.span import Span, folded

# Each takes what is open and broken off too, as it is: what a bracket does not close, no bracket in it does.
_IMAGE = re.compile(r"!\[[^\]]*+(?:\]\s*+(?P<whole>\([^)]*+\))?+)?+")
_REFERRED_IMAGE = re.compile(r"!\[[^\]]*+(?:\]\s*+(?P<whole>\[[^\]]*+\])?+)?+")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*+)(?:\](?P<whole>\((?P<url>[^)\s]*+)[^)]*+\))?+)?+")
_REFERENCE = re.compile(r"^[^\S\n]*+\[[^\]\n]++\]:\s*+\S.*+$", re.MULTILINE)
_SCRIPT = re.compile(
    r"<\s*(script|style|iframe|object|svg)\b.*?(?:<\s*/\s*\1\s*>|\Z)", re.IGNORECASE | re.DOTALL
)
_TAG = re.compile(r"<\s*[!/?a-z][^<>]*(?:>|\Z)", re.IGNORECASE)
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
    text = _TAG.sub("", _SCRIPT.sub("", text))
    text = _REFERENCE.sub("", text)
    text = _each(_LINK, ")", text, lambda found: f"{found['text']} {found['url']}".strip())
    text = _URL.sub(lambda found: _kept(found[0], hosts, see), text)
    text = _without(find_emails, text, see)
    text = _BARE.sub(lambda found: _bare(found, hosts, see), text)
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


def _bare(found: re.Match[str], hosts: set[str], see: str) -> str:
    """Return what stands for names with dots between them, the last of which need not be a domain."""
    if found["whole"] is not None:
        return _kept(found[0], hosts, see)
    domains = list(_DOMAIN.finditer(found[0]))
    end = domains[-1].end() if domains else 0
    return _kept(found[0][:end], hosts, see) + found[0][end:] if end else found[0]


def _kept(found: str, hosts: set[str], see: str) -> str:
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
