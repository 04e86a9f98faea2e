"""Does a value fit a JSON Schema?"""

import functools
from typing import Any

import msgspec

from ragstone.kernel.errors import optional_package
from ragstone.kernel.llm import CallFailed

MOST_SCHEMAS = 256


def misfit(value: object, schema: dict[str, Any], named: str) -> str | None:
    """Return where and why a value does not fit a schema, None if it does.

    named: what holds the schema, for messages. Raises CallFailed for what is no schema, MissingExtra.
    """
    with optional_package(f"a JSON Schema ({named})", "schema"):
        from referencing.exceptions import Unresolvable

        validator = _validator(msgspec.json.encode(schema), named)
    try:
        wrong = next(validator.iter_errors(value), None)
    except Unresolvable as mistake:
        raise CallFailed("error", f"{named} names a schema that is not in it: {mistake}") from None
    return None if wrong is None else f"{wrong.json_path}: {wrong.message[:200]}"


@functools.lru_cache(maxsize=MOST_SCHEMAS)  # rows share their schemas
def _validator(schema: bytes, named: str) -> Any:  # noqa: ANN401 - of a package that may be absent
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry

    table = msgspec.json.decode(schema)
    kind = validator_for(table)
    try:
        kind.check_schema(table)
    except SchemaError as mistake:
        raise CallFailed("error", f"{named} is not a JSON Schema: {mistake.message}") from None
    return kind(table, registry=Registry())  # which fetches nothing
