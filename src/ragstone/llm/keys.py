"""Where an endpoint's key comes from: an environment variable, or a file that holds nothing else.

A key is read when the endpoint is opened, goes into the request's header, and is written nowhere.
"""

import base64
import functools
import logging
import os
import re
import stat
from pathlib import Path
from urllib.parse import unquote

from ragstone.config import ModelSettings
from ragstone.errors import ConfigError

DEFAULT_VARIABLE = "OPENAI_API_KEY"
OTHERS = stat.S_IRWXG | stat.S_IRWXO

LOG = logging.getLogger(__name__)


def find_key(settings: ModelSettings, default: str = DEFAULT_VARIABLE) -> tuple[str, str]:
    """Return the key that the settings name, empty where there is none, and what to do about that.

    default: the variable that holds it where they name none. A file that others may read is warned about.
    Raises ConfigError where the settings name two places.
    """
    if settings.api_key_file is None:
        variable = settings.api_key_env or default
        key, place = os.environ.get(variable, "").strip(), f"the environment variable {variable}"
        remedy = f"Set {place}"
    elif settings.api_key_env is not None:
        raise ConfigError("api_key_env and api_key_file are both given for one model. Keep one of them.")
    else:
        file = Path(settings.api_key_file)
        key, remedy = _from_file(file)
        place = str(file)
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        return "", f"Write the key alone into {place}: it holds spaces, lines or characters that no key has"
    return key, remedy


def _from_file(file: Path) -> tuple[str, str]:
    try:
        if os.name == "posix" and file.stat().st_mode & OTHERS:
            _warn_of_readers(file)
        key = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as mistake:
        why = mistake.strerror if isinstance(mistake, OSError) else "it is no text"
        return "", f"Write it into the file {file} ({why}), which api_key_file names"
    return key, f"Write it into the file {file}, which is empty"


@functools.cache  # once for each file, however often its model is opened
def _warn_of_readers(file: Path) -> None:
    LOG.warning("%s: other users of this machine can read this key. Run: chmod 600 %s", file, file)


def without_password(address: str) -> str:
    """Return an address as it may be shown."""
    return re.sub(r"//[^/@]*@", "//", address)


def passwords_in(address: str) -> list[str]:
    """Return what an address tells that must not be shown: its password, also as it is sent in a header."""
    user, _, password = address.partition("//")[2].partition("/")[0].rpartition("@")[0].partition(":")
    sent = base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    return [sent, password, unquote(password)] if password else []
