"""Where an endpoint's key comes from: an environment variable, or a file that holds nothing else.

A key is read when the endpoint is opened, goes into the request's header, and is written nowhere.
"""

import base64
import functools
import logging
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import unquote

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.errors import ConfigError

DEFAULT_VARIABLE = "OPENAI_API_KEY"
SHORT = 8  # a shorter secret may be a part of common words, and is hidden where it stands alone
HEAD = 12  # so many of its first characters are hidden as all of it is: half a key is too much
_BASE64 = "[A-Za-z0-9+/_-]"
_REST = r"(?:[\w~+/=-]|\.(?=\w)|%[0-9A-Fa-f]{2})*+"

LOG = logging.getLogger(__name__)


def find_key(settings: ModelSettings, default: str = DEFAULT_VARIABLE) -> tuple[str, str]:
    """Return the key that the settings name, empty where there is none, and what to do about that.

    default: the variable that holds it where they name none. A file that others may read is warned about.
    Raises ConfigError where the settings name two places.
    """
    if settings.api_key_file is None:
        variable = settings.api_key_env or default
        key, source = os.environ.get(variable, "").strip(), f"the environment variable {variable}"
        remedy = f"Set {source}"
    elif settings.api_key_env is not None:
        raise ConfigError("api_key_env and api_key_file are both given for one model. Keep one of them.")
    else:
        file = Path(settings.api_key_file)
        key, remedy = _from_file(file)
        source = str(file)
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        return "", f"Write only the key into {source}: it holds spaces, lines or characters that no key has"
    return key, remedy


def _from_file(file: Path) -> tuple[str, str]:
    try:
        if os.name == "posix" and file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            _warn_of_readers(file)
        key = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as mistake:
        why = mistake.strerror if isinstance(mistake, OSError) else "it is not text"
        return "", f"Write it into the file {file} ({why}), which api_key_file names"
    return key, f"Write it into the file {file}, which is empty"


@functools.cache  # once for each file, however often its model is opened
def _warn_of_readers(file: Path) -> None:
    LOG.warning("%s: other users of this machine can read this key. Run: chmod 600 %s", file, file)


def without_password(address: str) -> str:
    """Return an address as it may be shown."""
    return re.sub(r"//[^/?#]*@", "//", address)


def passwords_in(address: str) -> list[str]:
    """Return what an address tells that must not be shown: its password, also as it is sent in a header."""
    user, _, password = address.partition("//")[2].partition("/")[0].rpartition("@")[0].partition(":")
    sent = base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    return [sent, password, unquote(password)] if password else []


def hide(text: str, secrets: Iterable[str], address: str = "") -> str:
    """Return words without secrets: as they are, percent-encoded, escaped, in hex, in base64 alone or behind
    other bytes; and without what begins with their first 12 characters. address: whose password is one too.
    """
    for secret in filter(None, [*secrets, *passwords_in(address)]):
        text = _forms(secret).sub("[the key]", text)
    return text


@functools.lru_cache(maxsize=64)
def _forms(secret: str) -> re.Pattern[str]:
    """Return what finds a secret, in time linear in the text: no step of it can be gone another way."""
    plain = f"{re.escape(secret)}|{_escaped(secret)}"
    if len(secret) < SHORT:
        return re.compile(rf"(?<![\w-])(?:{plain})(?![\w-])")
    in_hex = secret.encode().hex()
    forms = [plain, _escaped(secret[:HEAD]) + _REST, f"(?i:{in_hex[: 2 * HEAD]})[0-9A-Fa-f]*+"]
    return re.compile("|".join([*forms, *_in_base64(secret.encode())]))


def _in_base64(secret: bytes) -> Iterator[str]:
    """Yield what finds a secret in base64, by how many bytes there are before it beyond whole threes."""
    for n_before in range(3):
        whole = base64.b64encode(bytes(n_before) + secret + bytes(2)).decode()
        begins = -(-8 * n_before // 6)
        core = whole[begins : 8 * (n_before + len(secret)) // 6][: HEAD * 4 // 3]
        pattern = _escaped(core, {"+": "-", "/": "_"})
        yield rf"{_BASE64}{{0,{begins}}}{pattern}(?:{_BASE64}|=|%[0-9A-Fa-f]{{2}})*+"


def _escaped(text: str, other: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return what finds a text, each of its characters as it is or escaped as in an address, JSON or HTML.

    other: character -> what may stand for it.
    """
    import html  # its table of 2,231 entities is read where a call has failed, not at each start

    patterns = []
    for char in text:
        ways = {char, other.get(char, char), html.escape(char)} | ({f"\\{char}"} if char in '"/\\' else set())
        code = ord(char)
        percent = "".join(f"%(?:25)?{byte:02x}" for byte in char.encode())
        coded = rf"{percent}|\\u{code:04x}|&#x0*+{code:x};|&#0*+{code};"
        plain = "|".join(re.escape(form) for form in sorted(ways, key=len, reverse=True))
        patterns.append(f"(?>(?i:{coded})|{plain})")
    return "".join(patterns)
