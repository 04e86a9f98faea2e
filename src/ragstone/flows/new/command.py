"""`ragstone new`: a folder to start from."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.console.printing import say
from ragstone.console.starter import copy_starter


def new(folder: Annotated[Path, typer.Argument(help="Where; made if it is not there.")]) -> None:
    """Make a folder with a commented ragstone.toml and a small data set, ready for `ragstone run`."""
    from ragstone.console.default_model import choose_model

    model, why = choose_model()
    copy_starter(folder, model)
    say(f"Made {folder}. It asks {model} ({why}); `model` in [run] of ragstone.toml names it.")
    say(f"Next: cd {folder} && ragstone run")
