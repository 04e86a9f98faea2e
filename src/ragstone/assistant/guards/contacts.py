"""Links, addresses and telephone numbers in a reply: only those of approved sources stay."""

import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import urlsplit

from ragstone.assistant.languages import phrase
from ragstone.dataset.masking.network import find_emails
from ragstone.dataset.masking.phones import find_phones
from ragstone.dataset.masking.span import Span, folded

_IMAGE = re.compile(r"!\[[^\]]*\]\s*(?:\([^)]*\)|\[[^\]]*\])")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<url>[^)\s]*)[^)]*\)")
_REFERENCE = re.compile(r"^\s*\[[^\]]+\]:\s*\S+.*$", re.MULTILINE)
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
_BARE = re.compile(
    rf"\b(?:[\w-]{{1,63}}(?:\.|\s?[\[(]\s?(?:\.|dot)\s?[\])]\s?))+(?:{_DOMAINS})\b(?:[/?#:][^\s<>\"']*)?",
    re.IGNORECASE,
)
_TRAILING = ".,;:!?)]}»”’'\"。।۔؟"


def without_contacts(text: str, lang: str, approved: Iterable[str | None] = ()) -> str:
    """Return a reply without HTML, images, links, e-mail addresses and telephone numbers.

    approved: addresses; a link to the host of one of them stays, as plain text. Where an address or a number
    stood, the reader is pointed to the source (in `lang`): what a document says of whom to call can be read
    there, and a reply cannot be made to send people elsewhere.
    """
    hosts = {host for address in approved if (host := _host(address or ""))}
    see = phrase("see_source", lang)
    text = _TAG.sub("", _SCRIPT.sub("", _IMAGE.sub("", text)))
    text = _REFERENCE.sub("", text)
    text = _LINK.sub(lambda found: f"{found['text']} {found['url']}".strip(), text)
    text = _URL.sub(lambda found: _kept(found[0], hosts, see), text)
    text = _without(find_emails, text, see)
    text = _BARE.sub(lambda found: _kept(found[0], hosts, see), text)
    return _without(find_phones, text, see)


def _without(find: Callable[[str], Iterator[Span]], text: str, see: str) -> str:
    for span in reversed(list(find(folded(text)))):
        text = text[: span.start] + see + text[span.end :]
    return text


def _kept(found: str, hosts: set[str], see: str) -> str:
    address = found
    while address[-1:] in tuple(_TRAILING) and not (address[-1] == ")" and "(" in address):
        address = address[:-1]
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
