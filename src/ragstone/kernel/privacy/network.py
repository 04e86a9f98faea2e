"""Addresses and keys of machines and accounts: e-mail, URLs with secrets, keys, IP, MAC, coordinates."""

import ipaddress
import re
from collections.abc import Iterator
from functools import cache

from ragstone.kernel.privacy.span import BLANK, ENDS, UNSPACED, WORD, Hints, Span, load_words

# What stands before the @ has a longest length (RFC 5321 allows 64): else each sign of a run is read from
# each other one.
_EMAIL = re.compile(
    rf"(?<![.%+-])(?<!{WORD})(?=[^\s@]{{1,129}}+@)(?:{WORD}++|[.!#$%&'*+/=?^`{{|}}~-]++)++(?<={WORD})@(?!\d+\.\d)"
    rf"(?:{WORD}(?:(?:{WORD}|-)*{WORD})?\.)+(?:(?!\d){WORD}){{2,}}{ENDS}(?!@)"
)
_QUOTED_EMAIL = re.compile(
    rf"\"[^\"@\n{BLANK}]{{1,64}}+\"@(?!\d+\.\d)"
    rf"(?:{WORD}(?:(?:{WORD}|-)*{WORD})?\.)+(?:(?!\d){WORD}){{2,}}{ENDS}(?!@)"
)
# Hosts of other scripts. Their letters have marks, or go on without a space into the next word: there only a
# list of domains tells the end, and of what stands before the @ four characters are taken for a name.
_MARKED = rf"(?:{WORD}|[\u0300-\u036f\u0900-\u0963\u0966-\u0dff])"
_LETTERS = f"[{UNSPACED}]"
_HOST_LETTER = rf"(?:{_MARKED}|{_LETTERS}|-)"
_UNSPACED_DOMAINS = (
    "中国|中國|公司|网络|網絡|香港|台灣|台湾|新加坡|澳門|在线|中文网|网址|网站|网店|商城|商店|集团|我爱你"
    "|政务|政府|机构|公益|慈善|商标|广东|广告|手机|移动|信息|娱乐|游戏|招聘|购物|时尚|企业|健康|世界"
    "|みんな|コム|ストア|セール|クラウド|한국|닷컴|닷넷|ไทย|คอม|ລາວ"
)
_FOREIGN_EMAIL = re.compile(
    rf"(?:(?<!{_MARKED})(?<![.%+-])(?:{_MARKED}|[.%+-]){{1,64}}+|{_LETTERS}{{1,4}})@"
    rf"(?:{_HOST_LETTER}{{1,63}}+\.)+(?:{_UNSPACED_DOMAINS}|(?=[^\0-\x7f]){_MARKED}{{2,}}(?!{_MARKED}))(?!@)"
)
_SPELLED_EMAIL = re.compile(
    r"(?<![\w.%+-])[\w.+-]+ ?(?:[\[({]\s?at\s?[\])}]|@) ?[\w-]+"
    r"(?: ?(?:[\[({]\s?(?:dot|punkt|punto|point)\s?[\])}]|\.) ?[\w-]+)*"
    r" ?(?:[\[({]\s?(?:dot|punkt|punto|point)\s?[\])}]|\.) ?[^\W\d_]{2,}(?!\w)",
    re.IGNORECASE,
)
_OF_MACHINES = re.compile(r"(?:git|hg|svn)@(?:github|gitlab|bitbucket)\.", re.IGNORECASE)

_URL = re.compile(
    r"(?:https?|ftp|wss?|[a-z]{1,12}sql|mongodb(?:\+srv)?|redis|amqp)://[^\s<>\"'\0]+", re.IGNORECASE
)
_URL_SECRET = re.compile(
    r"//[^/@\s:]+:[^/@\s]+@|[?&#;](?:(?:access|auth|id|refresh|session|reset|csrf|api|security)?[_-]?token"
    r"|api[_-]?key|key|sig(?:nature)?|secret|client[_-]secret|pass(?:word|wd)?|pwd|auth|jwt|session(?:id)?"
    r"|sid|phpsessid|jsessionid|x-amz-(?:signature|credential|security-token)|otp|invite)=[^&#\s]{4,}",
    re.IGNORECASE,
)
_KEYS = re.compile(
    r"(?<![\w-])(?:eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*|sk-(?:ant-|proj-|or-)?[\w-]{16,}|gh[pousr]_\w{20,}"
    r"|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{35}"
    r"|ya29\.[\w-]{20,}|hf_\w{20,}|npm_\w{30,}|pypi-[\w-]{30,}|[rsp]k_(?:live|test)_\w{10,}|whsec_\w{16,}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|dop_v1_\w{40,}|shp(?:at|ss|ca)_\w{20,}"
    r"|[MN][\w-]{23}\.[\w-]{6}\.[\w-]{27,})"
    r"(?![\w-])"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
)
_NAMED_SECRET = re.compile(
    r"(?<![^\W_])(?:bearer|basic|(?:api|access|secret|private|auth|license|client)[ _-]?(?:key|token"
    r"|secret)"
    r"|token|secret|pass(?:word|wd|code|phrase)|pwd|passwort|kennwort|contraseña|clave|senha|parola|şifre"
    r"|mot de passe|wachtwoord|пароль|hasło|lösenord|पासवर्ड|كلمة المرور|密码|密碼|パスワード|비밀번호"
    r"|kata sandi|nenosiri|mật khẩu|รหัสผ่าน)(?![^\W_])[\"']?"
    r"(?:\s*(?:is|es|ist|est|è|é|:|=|है|是|は)\s*|\s+)[\"'`]?(?P<value>(?!:)[^\s\"'`,;<>\0]{6,})",
    re.IGNORECASE,
)
# A secret holds a digit and something else: words of a sentence hold none, and plain numbers are years.
_SECRETIVE = re.compile(r"(?=\D*\d)(?=.*[^\d.,%/?!-])")
_PIN = re.compile(
    r"(?<![^\W_])(?:pin|otp|cvv2?|cvc2?|mpin|tpin|tan|one[ -]time (?:password|code)|verification code"
    r"|security code"
    r"|код из смс|验证码|認証番号)(?![^\W_])(?:\s*+(?:code|number|no\.?|#))?+\s*+(?:ist|is|est|es|:|=|was"
    r"|-|是)?+\s*+"
    r"(?P<value>\d{3,8})(?!(?:[^\W\d]|[.,%])*+\d|\w)",
    re.IGNORECASE,
)
_PIN_CODE_OF_INDIA = re.compile(r"pin\s*code.*\d{6}", re.IGNORECASE | re.DOTALL)

_IPV4 = re.compile(r"(?<![\w.-])(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?![\w-]|\.\d)")
_NUMBERED = re.compile(
    r"(?:\bv|version|ver\.?|release|build|firmware|section|sec\.?|clause|article|chapter|rule|para\w{0,10}+|§"
    r"|step|item"
    r"|table|figure|abschnitt|sección|artículo|раздел|版本|第)\s*+$",
    re.IGNORECASE,
)
_IPV6 = re.compile(r"(?<![\w:.])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])", re.IGNORECASE)
_IPV4_HINT, _MAC_HINT = re.compile(r"\.\d{1,3}\."), re.compile(r"\.[0-9a-fA-F]{4}\.")
_MAC = re.compile(
    r"(?<![\w:-])(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})"
    r"(?![\w:-])",
    re.IGNORECASE,
)
_DECIMALS = r"-?\d{1,3}\.\d{4,}"
_COORDINATES = re.compile(
    rf"(?<![\w.])(?P<lat>{_DECIMALS})\s?°?\s?[NS]?\s?[,;\s]\s?(?P<lon>{_DECIMALS})(?:\s?°?\s?[EW]\b"
    rf"|\b)(?!\.\d)"
    r"|(?<![\w.])\d{1,2}\s?°\s?\d{1,2}\s?['′]\s?\d{1,2}(?:[.,]\d+)?\s?(?:\"|″|'')\s?[NS]?[,;\s]*"
    r"\d{1,3}\s?°\s?\d{1,2}\s?['′]\s?\d{1,2}(?:[.,]\d+)?\s?(?:\"|″|'')\s?[EWO]?"
    r"|\blat(?:itude)?\s*+[:=]?+\s*+(?P<lat2>-?\d{1,2}\.\d{2,})\W+(?:and\s+)?(?:lon|lng|long)(?:itude)?"
    r"\s*+[:=]?+\s*+(?P<lon2>-?\d{1,3}\.\d{2,})",
    re.IGNORECASE,
)
_DECIMAL = re.compile(r"\.\d\d")
_NOBODYS = ("127.", "0.", "255.", "224.", "239.")


def find_emails(text: str) -> Iterator[Span]:
    """Yield e-mail addresses, also written "name (at) example (dot) org"."""
    if "@" in text:
        forms = [_EMAIL]
        forms += [_QUOTED_EMAIL] if '"@' in text else []
        forms += [] if text.isascii() else [_FOREIGN_EMAIL]
        for match in (each for form in forms for each in form.finditer(text)):
            if not _OF_MACHINES.match(match[0]):
                # The name begins behind `//a.example/?mail=` of a web address, and behind quotes.
                name = match[0].rpartition("@")[0]
                end = max(map(name.rfind, "/?=&")) + 1 if "//" in name or "?" in name else 0
                end = end if end < len(name) else 0
                start = match.start() + end + len(name[end:]) - len(name[end:].lstrip("`'*{|/=?&!#$^~"))
                yield Span(start, match.end(), "email", text[start : match.end()].casefold())
    low = text.casefold()
    if any(sign in low for sign in ("(at)", "[at]", "{at}", "( at )", "[ at ]", "{ at }")):
        for match in _SPELLED_EMAIL.finditer(text):
            value = re.sub(r"[\[({]?\s?(?:dot|punkt|punto|point)\s?[\])}]", ".", match[0].casefold())
            yield Span(*match.span(), "email", re.sub(r"[\[({]\s?at\s?[\])}]", "@", value).replace(" ", ""))


def find_secrets(text: str) -> Iterator[Span]:
    """Yield URLs that hold a password or token, keys by their form, and what is called password or PIN."""
    taken, low = bytearray(len(text)), text.casefold()
    for span in [*_in_urls(text), *_keys(text, low), *_named(text, low)]:
        if not taken[span.start]:
            taken[span.start : span.end] = b"\1" * (span.end - span.start)
            yield span


def _in_urls(text: str) -> Iterator[Span]:
    for match in _URL.finditer(text) if "://" in text else ():
        if _URL_SECRET.search(match[0]):
            value = match[0].rstrip(".,;:!?)]}")
            yield Span(match.start(), match.start() + len(value), "url", value)


def _keys(text: str, low: str) -> Iterator[Span]:
    if _hints()["keys"].any_in(low):
        for match in _KEYS.finditer(text):
            yield Span(*match.span(), "secret", match[0])


def _named(text: str, low: str) -> Iterator[Span]:
    if _hints()["named"].any_in(low):
        for match in _NAMED_SECRET.finditer(text):
            value, start = match["value"].rstrip(".?)"), match.start("value")
            if len(value) >= 6 and _SECRETIVE.match(value):
                yield Span(start, start + len(value), "secret", value)
    if _hints()["pins"].any_in(low):
        for match in _PIN.finditer(text):
            if not _PIN_CODE_OF_INDIA.match(match[0]):
                yield Span(*match.span("value"), "secret", match["value"])


@cache
def _hints() -> dict[str, Hints]:
    return {key: Hints.of(listed) for key, listed in load_words("secrets.toml").items()}


def find_hosts(text: str) -> Iterator[Span]:
    """Yield IP and MAC addresses; not those of nobody (loopback, masks), nor numbers of versions and "
    "sections."""
    for match in _IPV4.finditer(text) if _IPV4_HINT.search(text) else ():
        parts = match.groups()
        is_one = all(int(part) < 256 and str(int(part)) == part for part in parts)
        is_numbering = all(len(part) == 1 for part in parts) or _NUMBERED.search(text[: match.start()][-20:])
        if is_one and not is_numbering and not match[0].startswith(_NOBODYS):
            yield Span(*match.span(), "ip", match[0])
    colons = text.count(":")
    is_mac = colons >= 5 or text.count("-") >= 5 or _MAC_HINT.search(text)
    for match in _MAC.finditer(text) if is_mac else ():
        if re.search("[a-f]", match[0], re.IGNORECASE) or ":" in match[0]:
            yield Span(*match.span(), "mac", re.sub(r"[:.-]", "", match[0]).casefold())
    for match in _IPV6.finditer(text) if colons >= 2 else ():
        address = _ipv6(match[0])
        if address is not None and not (address.is_loopback or address.is_unspecified):
            yield Span(*match.span(), "ip", address.compressed)


def _ipv6(written: str) -> ipaddress.IPv6Address | None:
    if BLANK in written or not re.search(r"\d", written) or len(written) < 6:
        return None
    if not re.search(r"[0-9a-f]{3}|[a-f]", written, re.IGNORECASE):  # a ratio: "1:2::3:6"
        return None
    try:
        return ipaddress.IPv6Address(written)
    except ValueError:
        return None


def find_coordinates(text: str) -> Iterator[Span]:
    """Yield places on the earth given to 11 metres or better, or named latitude and longitude."""
    for match in _COORDINATES.finditer(text) if "°" in text or _DECIMAL.search(text) else ():
        lat, lon = match["lat"] or match["lat2"], match["lon"] or match["lon2"]
        if lat is None or (abs(float(lat)) <= 90 and abs(float(lon)) <= 180):
            yield Span(*match.span(), "coordinates", "".join(match[0].split()))
