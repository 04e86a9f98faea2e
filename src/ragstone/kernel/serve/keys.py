"""Keys of those who may ask: read from a file, held as digests, compared in constant time."""

import base64
import hashlib
import hmac
import os
from collections.abc import Mapping
from pathlib import Path

from ragstone.kernel.config import parse_toml
from ragstone.kernel.errors import ConfigError

SHORTEST = 16
MAKE_ONE = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"

Keys = dict[str, bytes]
"""Name -> SHA-256 of the key."""


def read_keys(path: Path) -> dict[str, str]:
    """Return name -> key, of a file of `name = "key"` lines.

    Raises ConfigError for a file that cannot be read or holds no key, for a key that is no text, shorter than
    16 characters.
    """
    try:
        table = parse_toml(path.read_text(encoding="utf-8-sig"), path)
    except (OSError, UnicodeDecodeError) as mistake:
        raise ConfigError(f"keys_file {path}: cannot be read ({mistake}).") from None
    except ConfigError as mistake:
        raise ConfigError(f'keys_file {mistake} Each line is name = "key".') from None
    if not table:
        raise ConfigError(f'keys_file {path}: has no key. Add a line name = "key". {MAKE_ONE}')
    for name, key in table.items():
        if not isinstance(key, str) or len(key) < SHORTEST:
            raise ConfigError(
                f"keys_file {path}: {name} is not a string of at least {SHORTEST} characters. {MAKE_ONE}"
            )
    return table


def key_of_variable(variable: str, setting: str) -> str:
    """Return the key that an environment variable holds. setting: that names it. Raises ConfigError."""
    key = os.environ.get(variable, "").strip()
    if len(key) < SHORTEST:
        raise ConfigError(
            f"{setting}: the environment variable {variable} holds no key of at least {SHORTEST} "
            f"characters. {MAKE_ONE}"
        )
    return key


def digests(keys: Mapping[str, str]) -> Keys:
    """Return the keys as they are held in memory. Raises ConfigError where two are the same."""
    held = {name: _digest(key) for name, key in keys.items()}
    for name, digest in held.items():
        twins = [other for other in held if other != name and held[other] == digest]
        if twins:
            raise ConfigError(f"the keys of {name} and {twins[0]} are the same: give each a different one.")
    return held


def name_of(keys: Keys, header: str | None) -> str | None:
    """Return whose key an `Authorization` header carries; None for no key and for a wrong one.

    All keys are compared, each in constant time, so that the time taken tells nothing.
    """
    scheme, _, sent = (header or "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    digest = _digest(sent.strip())
    names = [name for name, known in keys.items() if hmac.compare_digest(known, digest)]
    return names[0] if names else None


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def as_bearer(header: str | None) -> str | None:
    """Return a header by which a browser gives a password as one that gives it as a key; others unchanged.

    The user name is not looked at. Raises nothing: what cannot be read is no key.
    """
    scheme, _, encoded = (header or "").partition(" ")
    if scheme.lower() != "basic":
        return header
    try:
        decoded = base64.b64decode(encoded.strip(), validate=True).decode("utf-8", "surrogateescape")
    except ValueError:
        return None
    return f"Bearer {decoded.partition(':')[2]}"
