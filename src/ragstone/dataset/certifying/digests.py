"""SHA-256 of values, in hexadecimal."""

import hashlib

import msgspec

DIGITS = 16  # hexadecimal, of a shortened digest


def digest(content: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


def short_digest(values: object) -> str:
    """Return the first 16 digits of the SHA-256 of values as JSON."""
    return digest(msgspec.json.encode(values, order="sorted"))[:DIGITS]
