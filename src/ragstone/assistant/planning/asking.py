"""What a tool could do nothing without -> the question back, in the user's language."""

from ragstone.assistant.languages import phrase
from ragstone.assistant.planning.slots import ASKABLE
from ragstone.assistant.planning.state import State

LISTED = "- "  # before each of several places that the user chooses from
MOST_LISTED, MOST_QUESTION = 4, 300  # lines and characters of a question back


def asking(state: State) -> str:
    """Return what the last tool tells the user is missing, and behind it the question; "" for nothing.

    Of a list of places, as many as have room.
    """
    called = [taken.observation for taken in state.taken if taken.observation is not None]
    missing = called[-1].missing if called else None
    if missing not in ASKABLE:
        return ""
    lines = [line for line in called[-1].told.splitlines() if line]
    listed = [line for line in lines if line.startswith(LISTED)]
    question = phrase("which_place" if listed and missing == "place" else f"ask_{missing}", state.lang)
    kept = [line for line in lines if line not in listed] + listed[:MOST_LISTED]
    while kept and len("\n".join([*kept, question])) > MOST_QUESTION:
        kept.pop()
    return "\n".join([*kept, question])
