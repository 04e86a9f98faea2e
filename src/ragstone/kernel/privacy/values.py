"""Personal data in what programs hand to each other: values with names, JSON in texts, objects and lists."""

import hmac
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from ragstone.kernel.privacy.masking import OwnWords, mask_personal_data, mask_texts

SHORT = 40  # characters of a value of which its name may say what it is: {"phone": "5551234"}
DEEPEST = 200  # objects and lists in each other
LONG_NUMBER = 1_000_000  # a number that is smaller is an amount

DIGEST_DIGITS = 16

_DIGIT = re.compile(r"\d")


def digest_of(secret: bytes, name: str, what: Literal["conversation", "user"] = "conversation") -> str:
    """Return what a conversation or a person is called, by which nobody learns its name."""
    keyed = hmac.new(secret, f"{what}\0{name}".encode("utf-8", "surrogatepass"), "sha256")
    return keyed.hexdigest()[:DIGEST_DIGITS]


def mask_values(value: Any, own: OwnWords | None = None) -> Any:  # noqa: ANN401 - what any tool takes
    """Return a value with all texts in it masked together, wherever they stand in its objects and lists.

    See mask_fields; half of a surrogate pair, which no file can hold, becomes U+FFFD.
    """
    return _with_texts(value, iter(mask_fields(list(_fields("", value)), own)))


def mask_fields(fields: Sequence[tuple[str, str]], own: OwnWords | None = None) -> list[str]:
    """Return the texts of fields masked together, each given with its name.

    A short text with a digit is read behind its name, which may say that it is a telephone. A text that is a
    JSON object or list stays one: the values in it are masked, and of numbers those of 7 digits and more.
    """
    inside = [_json_in(name, text) for name, text in fields]
    if not any(inside):
        return _masked(fields, own)
    flat: list[tuple[str, str]] = []
    for field, field_texts in zip(fields, inside, strict=True):
        flat += [field] if field_texts is None else field_texts.fields
    masked, texts = iter(mask_fields(flat, own)), []
    for (_, text), field_texts in zip(fields, inside, strict=True):
        if field_texts is None:
            texts.append(next(masked))
        else:
            new = _with_texts(field_texts.value, masked)
            texts.append(text if new == field_texts.value else msgspec.json.encode(new).decode())
    return texts


def _masked(fields: Sequence[tuple[str, str]], own: OwnWords | None) -> list[str]:
    named = [(name, text, f"{name}: {text}") for name, text in fields]
    is_told = [bool(name) and len(text) <= SHORT and bool(_DIGIT.search(text)) for name, text in fields]
    masked = mask_texts(
        [both if is_secret else text for (_, text, both), is_secret in zip(named, is_told, strict=True)], own
    )
    texts = []
    for (name, text, _), is_secret, masked_field in zip(named, is_told, masked, strict=True):
        if not is_secret:
            texts.append(masked_field.text)
        elif masked_field.text.startswith(f"{name}: "):
            texts.append(masked_field.text[len(name) + 2 :])
        else:  # something of the name was masked, or reaches into the text
            texts.append(mask_personal_data(text, own).text)
    return texts


class _JsonText(NamedTuple):
    """What a text is in JSON, and the fields in it."""

    value: dict[str, Any] | list[Any]
    fields: list[tuple[str, str]]


def _json_in(name: str, text: str) -> _JsonText | None:
    """Return what a text is in JSON; None for any other text, and for what is nested too deeply to be one."""
    if text[:1] not in ("{", "["):
        return None
    try:
        value = msgspec.json.decode(text)
        return _JsonText(value, list(_fields(name, value)))
    except (msgspec.DecodeError, RecursionError):
        return None


def _fields(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    """Yield the texts of a value with their names; those of a list have the list's. Raises RecursionError."""
    if depth > DEEPEST:
        raise RecursionError
    if isinstance(value, str):
        yield (
            name,
            value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace"),
        )
    elif isinstance(value, int) and abs(value) >= LONG_NUMBER:
        yield name, str(value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _fields(str(key), inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _fields(name, inner, depth + 1)


def _with_texts(value: Any, texts: Iterator[str]) -> Any:  # noqa: ANN401
    """Return a value with these in place of its texts, which come in the order of `_fields`."""
    if isinstance(value, str):
        return next(texts)
    if isinstance(value, int) and abs(value) >= LONG_NUMBER:
        text = next(texts)
        return value if text == str(value) else text
    if isinstance(value, Mapping):
        return {name: _with_texts(inner, texts) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_with_texts(inner, texts) for inner in value]
    return value
