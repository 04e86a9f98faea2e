"""A request as a JSON template with places for a question, and values read out of a JSON reply by path."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast
from urllib.parse import quote

from ragstone.errors import ConfigError
from ragstone.llm.prompt import CallFailed

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
Values = Mapping[str, str | int | None]
Pick = Callable[[Json], list[Json]]

PLACE = re.compile(r"\{(\w[\w.-]*)\}")
SHOWN = 12


def places_in(template: Json) -> set[str]:
    """Return the names that stand in braces in the texts of a template."""
    return {name for text in _texts(template) for name in PLACE.findall(text)}


def fill(template: Json, values: Values) -> Json:
    """Return the template with its places filled.

    A text that is one place alone becomes the value itself: a number stays a number, and what is unknown
    becomes null. Within a longer text the value is written out, and what is unknown is left away.
    """
    match template:
        case str():
            whole = PLACE.fullmatch(template)
            if whole:
                return values.get(whole[1])
            return PLACE.sub(lambda place: _written(values.get(place[1])), template)
        case Mapping():
            return {key: fill(value, values) for key, value in template.items()}
        case Sequence():
            return [fill(value, values) for value in template]
        case _:
            return template


def fill_url(url: str, values: Values) -> str:
    """Return the address with its places filled, as they must be written there."""
    return PLACE.sub(lambda place: quote(_written(values.get(place[1])), safe=""), url)


def compile_path(path: str, where: str) -> Pick:
    """Return a function that finds all values at a JSONPath (RFC 9535), in order.

    where: what the path is of, for the message. Raises ConfigError for a path that is none; the function
    raises CallFailed for a reply that is nested too deeply to be searched.
    """
    import jsonpath  # 0.1 s, and only services behind HTTP need it

    try:
        compiled = jsonpath.compile(path)
    except jsonpath.JSONPathError as mistake:
        reason = str(mistake).splitlines()[0]
        raise ConfigError(
            f"{where} = {path!r} is no JSONPath ({reason}). Write e.g. '$.results[*]'."
        ) from None

    def pick(reply: Json) -> list[Json]:
        if isinstance(reply, str):  # the library would take it for JSON text
            return [reply] if path.strip() == "$" else []
        try:
            return cast(list[Json], compiled.findall(reply))
        except RecursionError:
            raise CallFailed("unparsable", f"{where}: the reply is nested too deeply to be read") from None

    return pick


def described(reply: Json) -> str:
    """Return what a JSON value holds, in a few words: its keys, or what it is."""
    match reply:
        case Mapping():
            keys = ", ".join(list(reply)[:SHOWN]) or "none"
            return f"an object with the keys {keys}"
        case str():
            return f"the text {reply[:60]!r}"
        case Sequence():
            return f"a list of {len(reply)}" + (f", the first {_first(reply[0])}" if reply else "")
        case None:
            return "null"
        case _:
            return repr(reply)


def _first(item: Json) -> str:
    """Return what a list begins with; of a list no more than its length, for it may be nested deep."""
    if isinstance(item, Sequence) and not isinstance(item, str):
        return f"a list of {len(item)}"
    return described(item)


def _texts(template: Json) -> Iterator[str]:
    match template:
        case str():
            yield template
        case Mapping():
            for value in template.values():
                yield from _texts(value)
        case Sequence():
            for value in template:
                yield from _texts(value)


def _written(value: str | int | None) -> str:
    return "" if value is None else str(value)
