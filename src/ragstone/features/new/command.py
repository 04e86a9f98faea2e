"""`ragstone new`: a folder to start from."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ragstone.features.new.starter import copy_starter
from ragstone.kernel.console.options import DocumentPaths
from ragstone.kernel.console.printing import say

Questions = Annotated[Path | None, typer.Option("--questions", help="Your questions; needs --documents.")]


def new(
    folder: Annotated[Path, typer.Argument(help="The folder to make.")],
    *,
    documents: DocumentPaths = None,
    questions: Questions = None,
) -> None:
    """Make a folder with a commented ragstone.toml, ready for `ragstone run`.

    --documents and --questions point it at your own files. Without them, it contains a small example data
    set.

    Examples:

    - `ragstone new my-project`
    - `ragstone new my-project --documents handbook/ --questions questions.csv`
    """
    from ragstone.features.new._own_data import seen_from, write_own_settings
    from ragstone.features.new.default_model import PACKAGED, choose_model
    from ragstone.kernel.errors import ConfigError

    if questions is not None and not documents:
        raise ConfigError("--questions needs the documents that answer them: add --documents FILE_OR_FOLDER.")
    chosen, why = choose_model()
    writes_questions = documents is not None and questions is None
    model = None if chosen == PACKAGED and not writes_questions else chosen
    if documents:
        write_own_settings(folder, model, documents, questions)
    else:
        copy_starter(folder, model)
    is_here = folder.resolve() == Path.cwd()
    made = "Made this folder a project" if is_here else f"Made {folder}"
    enter = "" if is_here else f"cd {shlex.quote(str(folder))} && "
    if model is None:
        say(
            f"{made}. It calls no model: answers are quoted from the documents, and judges compare "
            "words. Lines of ragstone.toml that begin with `# model` show how to name one."
        )
    else:
        say(f"{made}. It asks {model} ({why}); `model` in [run] of ragstone.toml names it.")
    if documents and questions is None:
        sources = " ".join(shlex.quote(seen_from(folder, path)) for path in documents)
        say("Next, have questions written, and name their file in [questions] of ragstone.toml:")
        say(f"{enter}ragstone build questions {sources} --count 20")
    else:
        say(f"Next: {enter}ragstone run")
