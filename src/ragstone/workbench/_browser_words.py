"""What notes of a run say to somebody in a browser: the page's own buttons in place of commands and keys."""

import re
from collections.abc import Sequence

BROWSER_WORDS = (
    (
        re.compile(r"Label some of the answers and run: ragstone agree .*", re.DOTALL),
        "Label some of the answers: “Label answers” above begins.",
    ),
    (re.compile(r"--judge ([\w-]+)"), r"\1"),
    (re.compile(r"^The labels of \[agree\] sheet belong"), "The labels that the settings name belong"),
    (
        re.compile(
            r"Labels of this run's own answers would: choose some with `ragstone label`, and name them as "
            r"`labels` in \[agree\]\."
        ),
        "Labels of this run's own answers would: “Label answers” above chooses some.",
    ),
)


def browser_notes(notes: Sequence[str], *, may_label: bool) -> list[str]:
    """Return the notes for a page. may_label: whether it has the button that begins to label."""
    chosen = BROWSER_WORDS if may_label else ()
    texts = []
    for note in notes:
        text = note
        for pattern, in_browser in chosen:
            text = pattern.sub(in_browser, text)
        texts.append(text)
    return texts
