"""What keeps the assistant to its documents: guards over passages and replies."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from urllib.parse import urlsplit

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.llm.untrusted import plays_a_turn
from ragstone.kernel.privacy.network import find_emails
from ragstone.kernel.privacy.phones import find_phones
from ragstone.kernel.privacy.span import UNSPACED, WORD, Span, folded
from ragstone_assistant.languages import phrase

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


def before_none_of(firsts: Iterable[str], seconds: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for one of the first in `said(text)`, unless one of the second follows, one word later
    at most."""
    first, second = _any_of(firsts), list(seconds)
    return re.compile(rf"{first}(?!(?:\S+ )?{_any_of(second)[1:]})" if second else first)


def _any_of(phrases: Iterable[str]) -> str:
    written = {_pattern(phrase) for phrase in phrases}
    return f" (?:{'|'.join(sorted(written, key=len, reverse=True))})"


def _pattern(phrase: str) -> str:
    parts = [
        re.escape(" ".join(tokenize(word))) + (r"\S*" if word.endswith("*") else "")
        for word in phrase.split()
    ]
    return " ".join(parts) + " "


# Each takes what is open and broken off too, as it is: what a bracket does not close, no bracket in it does.
_IMAGE = re.compile(r"!\[[^\]]*+(?:\](?P<whole>\((?P<url>[^)\s]*+)(?P<title>[^)]*+)\))?+)?+")
_REFERRED_IMAGE = re.compile(r"!\[(?P<text>[^\]]*+)(?:\](?P<whole>\[[^\]]*+\])?+)?+")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*+)(?:\](?P<whole>\((?P<url>[^)\s]*+)(?P<title>[^)]*+)\))?+)?+")
_LINK_TITLE = re.compile(r"""\s*+(?:"[^"]*+"|'[^']*+'|\([^()]*+)?+\s*+""")
_MARKS_ALONE = re.compile(r"[\d\s,;–-]*")  # "at once![1][2]" shows no image
_REFERENCE = re.compile(
    r"^[^\S\n]*+\[[^\]\n]++\]:\s++(?!`)(?=[/#.<]|\S{0,300}?(?://|@|:\S|[^\W\d]\.[a-z]{2}))\S++"
    r"""(?:\s++(?:"[^"\n]*+"|'[^'\n]*+'|\([^)\n]*+\)))?+[^\S\n]*+$""",
    re.MULTILINE | re.IGNORECASE,
)
# What a browser takes for a tag has its name right behind the sign: "i < m and n > 3" is none.
_SCRIPT = re.compile(
    r"<(script|style|iframe|object|svg)(?=\s*+/?+(?:>|\Z)|[\s/][^<>]{0,300}=).*?(?:<\s*/\s*\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_HTML_TAG = re.compile(
    r"<(?:(?P<declared>!--|![a-z\[]|\?[a-z])|/?(?P<name>[a-z][\w:.-]*+))(?P<rest>[^<>]*+)(?P<end>>|\Z)",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    r"""[\s/"'](?:on[a-z]{3,20}|(?:xlink:)?href|src(?:set|doc)?|style|class|id|(?:form)?action)\s*+=""",
    re.IGNORECASE,
)
_ELEMENT = re.compile(
    "a|abbr|address|animate|area|article|aside|audio|b|base|bdi|bdo|big|blink|blockquote|body|br"
    "|button|canvas|caption|center|cite|code|col|colgroup|data|datalist|dd|del|details|dfn|dialog|dir"
    "|div|dl|dt|em|embed|fieldset|figcaption|figure|font|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6"
    "|head|header|hgroup|hr|html|i|iframe|img|image|input|ins|kbd|label|legend|li|link|main|map|mark"
    "|marquee|math|menu|meta|meter|nav|nobr|noframes|noscript|object|ol|optgroup|option|output|p"
    "|param|picture|plaintext|pre|progress|q|rp|rt|ruby|s|samp|script|search|section|select|slot"
    "|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea"
    "|tfoot|th|thead|time|title|tr|track|tt|u|ul|var|video|wbr|xmp",
    re.IGNORECASE,
)
_DOMAINS = (
    "com|org|net|info|biz|io|co|edu|gov|int|ai|app|dev|xyz|top|site|online|shop|club|link|click|live|me|tv|ly|gl|to"
    "|us|uk|eu|de|fr|es|it|pt|ru|cn|in|pk|bd|np|ke|tz|ug|rw|et|ng|gh|za|zm|zw|mw|mz|ma|dz|tn|eg|sa|ae|mx|br|ar|pe"
)
# "charged.It is" and "1.To open" lack a blank; "farm.it" is an address.
_NO_BLANK = re.compile(
    r"(?:\w*[^\W\dA-Z_]\.(?=[A-Z][a-z])|\d+\.)"
    r"(?i:in|it|to|me|us|de|es|et|ma|sa|eg|ai|top|site|online|shop|club|link|click|live|app)"
)
_ALONE = "(?<![A-Za-z0-9])"  # "as follows: 3 kg" and "profile:" end like schemes
# Scripts without spaces go on right behind an address: "见fao.org，每亩施3公斤", "https://fao.org에서".
_PATH = rf"[^\s<>\"'\u3000-\u303f\uff00-\uff65”’»{UNSPACED}]"
_ADDRESS = rf"(?:{_PATH}+|[^\s<>\"'/?#\u3000-\u303f\uff00-\uff65”’»]++(?:[/?#]{_PATH}*+)?+)"
_URL = re.compile(
    rf"(?:(?:https?|ftp|{_ALONE}wss?)\s?:\s?//?|{_ALONE}(?:https?:(?=[\w\[])|mailto:|whatsapp://|blob:|file:/"
    r"|data:(?=[a-z]{1,20}/[\w.+-]{1,60}[;,]|[;,])|(?:tel|sms):(?=\+?[().-]{0,3}(?:\d[().-]{0,3}){3})"
    rf"|(?:java|vb)script:(?=[^\s<>\"']{{0,300}}?[(=`;%\\])))/*{_ADDRESS}",
    re.IGNORECASE,
)
_DOT = r"(?:\.|\s?[\[(]\s?(?:\.|dot)\s?[\])]\s?)"
_BARE = re.compile(
    rf"(?<!{WORD})(?:(?:(?:{WORD}|[_-]){{1,63}}+|[{UNSPACED}]{{1,63}}+){_DOT})++"
    rf"(?P<whole>(?:{_DOMAINS})(?!{WORD})(?:[/?#:]{_PATH}*+)?+)?+",
    re.IGNORECASE,
)
_DOMAIN = re.compile(rf"{_DOT}(?:{_DOMAINS})(?!{WORD})", re.IGNORECASE)
_TRAILING = ".,;:!?)]}»”’'\"。।۔؟،؛"


def without_contacts(text: str, lang: str, approved: Iterable[str | None] = ()) -> str:
    """Return a reply without HTML, images, links, e-mail addresses and telephone numbers.

    approved: addresses; a link to the host of one of them stays, as plain text. Where an address or a number
    stood, the reader is pointed to the source (in `lang`): what a document says of whom to call can be read
    there, and a reply cannot be made to send people elsewhere.
    """
    hosts = {host for address in approved if (host := _host(address or ""))}
    see = phrase("see_source", lang)
    text = _each(
        _REFERRED_IMAGE, "]", text, lambda link: link[0] if _MARKS_ALONE.fullmatch(link["text"]) else ""
    )
    text = _each(_IMAGE, ")", text, lambda link: "" if _is_link(link) else link[0])
    text = _HTML_TAG.sub(lambda tag: "" if _is_tag(tag) else tag[0], _SCRIPT.sub("", text))
    text = _REFERENCE.sub("", text)
    text = _each(_LINK, ")", text, lambda link: _text_of_link(link) if _is_link(link) else link[0])
    text = _URL.sub(lambda tag: _approved_or_pointer(tag[0], hosts, see), text)
    text = _without(find_emails, text, see)
    text = _BARE.sub(lambda tag: _names_with_dots(tag, hosts, see), text)
    return _without(find_phones, text, see)


def _is_link(match: re.Match[str]) -> bool:
    """Say whether an address stands between the round brackets, with a title or alone: no remark of words."""
    return bool(match["url"]) and _LINK_TITLE.fullmatch(match["title"]) is not None


def _text_of_link(match: re.Match[str]) -> str:
    """Return the text of a link, and its address if that names a host: `routing.html` leads a reader nowhere.

    Where the text is the address, it is said once.
    """
    text, url = match["text"].strip(), match["url"]
    leads_out = ":" in url or url.startswith("//") or _DOMAIN.search(url) or any(find_phones(url))
    return text if text and (not leads_out or _bare(text) == _bare(url)) else f"{text} {url}".strip()


def _bare(address: str) -> str:
    return address.partition("://")[2] or address


def _is_tag(match: re.Match[str]) -> bool:
    """Say whether it is HTML: not `<your name>` nor "a <b and c", which a reader would miss."""
    if match["declared"]:
        return True
    name, rest = match["name"], match["rest"]
    is_whole = not rest.strip(" /\n\t") or (len(name) > 1 and "=" in rest)
    is_element = bool(match["end"]) and is_whole and _ELEMENT.fullmatch(name) is not None
    return is_element or _ATTRIBUTE.search(rest) is not None


def _each(pattern: re.Pattern[str], close: str, text: str, new: Callable[[re.Match[str]], str]) -> str:
    """Replace what a pattern finds whole; behind the last closing sign nothing is looked for."""
    end = text.rfind(close) + 1
    match = pattern.sub(lambda match: match[0] if match["whole"] is None else new(match), text[:end])
    return match + text[end:]


def _without(find: Callable[[str], Iterator[Span]], text: str, see: str) -> str:
    pieces, last = [], 0
    for span in sorted(find(folded(text))):
        if span.start >= last:
            pieces += [text[last : span.start], see]
            last = span.end
    return "".join([*pieces, text[last:]])


def _names_with_dots(match: re.Match[str], hosts: set[str], see: str) -> str:
    """Return what stands for names with dots between them, the last of which need not be a domain."""
    if match["whole"] is not None:
        whole = match[0]
        return whole if _NO_BLANK.fullmatch(whole) else _approved_or_pointer(whole, hosts, see)
    domains = list(_DOMAIN.finditer(match[0]))
    end = domains[-1].end() if domains else 0
    return _approved_or_pointer(match[0][:end], hosts, see) + match[0][end:] if end else match[0]


def _approved_or_pointer(address_text: str, hosts: set[str], see: str) -> str:
    address = address_text.rstrip(_TRAILING.replace(")", "") if "(" in address_text else _TRAILING)
    return address_text if _host(address) in hosts else see + address_text[len(address) :]


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
_TURN = re.compile(
    r"^\W*(?:system|assistant|user|developer|human|ai)(?:\W*\n|\s*+[:#\]](?!\s*+[\[{]\s*+\Z))", re.IGNORECASE
)
# What gives an order only where a sentence begins with it: "lawyers take new instructions" gives none.
_ORDER = re.compile(
    r"^\W*+(?:(?:new|updated|hidden) instructions?|reply with|pretend to be|you are an? (?:ai|llm))\b",
    re.IGNORECASE,
)
_ROLE = re.compile(r"""["']?role["']?\s*[:=]\s*["']?(?:system|assistant|user|tool)""", re.IGNORECASE)
_PROMPT_TAG = re.compile(
    r"</?\s*(?:contexts?|passages?|question|system|instructions?|observation|tool)\b[^>\n]{0,40}>",
    re.IGNORECASE,
)


@lru_cache(maxsize=512)  # 3 ms a passage; the same ones are found again and again
def without_instructions(text: str) -> str:
    """Return a text with `[…]` in place of each sentence that speaks to a model, and of HTML comments."""
    text = _without_comments(text)
    parts, end = [], 0
    for start, stop in sentence_spans(text):
        if speaks_to_model(text[start:stop]):
            parts.append(text[end:start] + LEFT_OUT)
            end = stop
    return "".join(parts) + text[end:]


def _without_comments(text: str) -> str:
    pieces, at = [], 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin + 4)) >= 0:
        pieces += [text[at:begin], LEFT_OUT]
        at = end + 3
    return "".join([*pieces, text[at:]])


def speaks_to_model(sentence: str) -> bool:
    """Say whether a sentence gives orders to a model, plays a turn of a chat, or hides its letters.

    Hidden: letters of the Latin script and look-alikes of the Cyrillic in one word. One such word is a slip
    of the keyboard in many a text; it hides something if its order shows with the look-alikes undone.
    """
    if (
        plays_a_turn(sentence)
        or _TURN.match(sentence)
        or _ORDER.match(sentence)
        or _ROLE.search(sentence)
        or _PROMPT_TAG.search(sentence)
    ):
        return True
    plain = said(sentence)
    return _gives_orders(plain) or _hides_orders(plain)


def _gives_orders(plain: str) -> bool:
    return any(pattern.search(plain) for pattern in _orders())


_LOOK_ALIKES = str.maketrans("авеіјкмнорѕтухԁһӏ", "abeijkmhopstyxdhl")


def _hides_orders(plain: str) -> bool:
    if plain.isascii():
        return False
    mixed = [word for word in plain.split() if {"LATIN", "CYRILLIC"} <= {_script(letter) for letter in word}]
    return len(mixed) > 1 or (bool(mixed) and _gives_orders(plain.translate(_LOOK_ALIKES)))


def _script(letter: str) -> str:
    return unicodedata.name(letter, "?").split(maxsplit=1)[0]


@cache
def _orders() -> list[re.Pattern[str]]:
    patterns = []
    for table in read_library("ragstone_assistant", "instructions.toml").values():
        patterns += [any_of(table["phrases"]), near(table["orders"], table["matters"])]
    return patterns
