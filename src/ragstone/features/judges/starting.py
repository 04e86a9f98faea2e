"""The commented files that a judge of each kind is begun with."""

import re
from pathlib import Path

from ragstone.features.judges.kept_versions import FOLDER
from ragstone.kernel.config import Settings, shipped
from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.judging import judge_names
from ragstone.kernel.judging.judge import KINDS

NAME = '"NAME"'  # stands in the starting files for the judge's name
LONGEST_NAME = 60
NAMED = re.compile(rf"[a-z][a-z0-9_]{{0,{LONGEST_NAME - 1}}}")
MEANT = {
    "boolean": "Yes or no, with the reason: does the answer do what you ask for?",
    "rubric": "Grades by one or more criteria, each with a reason; for each grade you say what it means.",
    "percentage": "How much of something the answer has, 0 to 100, with the reason.",
    "classify": "One label of a few, with the reason; each label has a score.",
    "statements": "Takes the answer apart, and checks each statement against the contexts.",
    "citations": "Checks whether the passages that the answer cites support it.",
    "pairwise": "Says which of two systems' answers is better, asked in both orders.",
    "jury": "Several judges together: the mean, the median or the majority.",
    "cascade": "A cheap judge first, and a more expensive one only where the cheap one is unsure.",
    "stack": "Several judges, weighed by numbers that were fitted on people's labels.",
    "lexical": "Compares the words with those of the reference. No model.",
    "embedding": "Compares the meaning with that of the reference, with an embedding model.",
    "assertion": "Checks a fact of the answer: its length, a pattern, words, valid JSON. No model.",
    "steps": "Compares what an agent called with the steps that its row expects. No model.",
}
"""Kind -> what it is for. These may be begun in a browser; Python may not: whoever sends it would run it."""


def starting_text(kind: str, name: str) -> str:
    """Return the starting file of a kind for a judge of this name. Raises ConfigError for an unknown kind."""
    if kind not in KINDS:
        raise ConfigError(f"--kind {kind!r}. {nearest(kind, KINDS)}")
    return starter(f"{kind}.toml").replace(NAME, f'"{name}"').replace("NAME.py:NAME", f"{name}.py:{name}")


def starter(name: str) -> str:
    """Return one of the starting files as it ships."""
    return shipped("ragstone.features.judges", "starter_files", name).read_text("utf-8")


def is_untouched(text: str, name: str) -> bool:
    """Return whether a text is a starting file that nobody has changed: no version of a judge yet."""
    return any(starting_text(kind, name) == text for kind in MEANT)


def begin_judge(settings: Settings, kind: str, name: str, taken: set[str]) -> Path:
    """Write the starting file of a judge into the folder `judges`, and return it. No file is overwritten.

    taken: names of judges that there are. Raises ConfigError for a name that is none or is taken, and for a
    kind that cannot be begun here; OSError where nothing can be written.
    """
    if kind not in MEANT:
        raise ConfigError("Choose a kind.")
    if not NAMED.fullmatch(name):
        raise ConfigError(
            f"{name!r} is not a name for a judge. Use up to {LONGEST_NAME} lowercase letters, "
            "digits and underscores, beginning with a letter."
        )
    if name in judge_names():
        raise ConfigError(f"{name} comes with Ragstone. Choose another name, or open it and develop a copy.")
    file = settings.path(FOLDER) / f"{name}.toml"
    if name in taken or file.exists():
        raise ConfigError(f"There is a judge named {name} here. Choose another name.")
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("x", encoding="utf-8", newline="\n") as opened:
        opened.write(starting_text(kind, name))
    return file
