"""`ragstone schema`: a JSON Schema, for editors and for programs that read what commands print."""

from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from ragstone.kernel.console.printing import say, show_json


def schema(
    name: Annotated[
        str | None, typer.Argument(help="settings, judge, a kind of row, or a result; without it, all names.")
    ] = None,
    *,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write it to a file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
) -> None:
    """Print the JSON Schema of ragstone.toml, a judge file, rows, or what a command prints with --json.

    Editors complete and check a TOML file that begins with `#:schema ./ragstone.schema.json`.

    Examples:

    - `ragstone schema`
    - `ragstone schema settings -o ragstone.schema.json`
    - `ragstone schema judge`
    """
    from ragstone.features.schema.schemas import FILES, ROWS, schema_names, schema_of
    from ragstone.kernel.errors import ConfigError
    from ragstone.kernel.tables import check_place

    if name is None:
        if output is not None:
            raise ConfigError(f"-o {output}: name the schema to write, for example: ragstone schema settings")
        results = [each for each in schema_names() if each not in (*FILES, *ROWS)]
        for title, names in (("Files", FILES), ("Rows", ROWS), ("What --json prints", results)):
            typer.echo(
                fill(f"{title}: {', '.join(names)}", 80, subsequent_indent="  ", break_on_hyphens=False)
            )
        return
    made = schema_of(name)
    if output is None:
        show_json(made)
        return
    import msgspec

    check_place(output, force=force)
    output.write_bytes(msgspec.json.format(msgspec.json.encode(made), indent=2) + b"\n")
    say(f"Schema: {output}")
