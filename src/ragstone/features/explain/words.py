"""Explanations -> what a terminal or an agent reads."""

from collections.abc import Sequence
from textwrap import fill

from ragstone.features.explain.explaining import Explanation, Group, explain
from ragstone.kernel.errors import plural
from ragstone.kernel.version import __version__

WIDTH = 80
DOCS = (
    f"https://github.com/ragstone/ragstone/blob/v{__version__}/docs"  # an installation has no docs of its own
)
HEADS: dict[Group, str] = {
    "error": "Errors that people meet",
    "status": "Statuses of a judgement",
    "cause": "Causes of a lost point",
    "gate": "Outcomes of gates",
    "exit code": "Exit codes",
    "note": "Notes of reports",
    "error class": "Classes of errors",
}


def explained_text(explanations: Sequence[Explanation]) -> str:
    """Return explanations in plain lines, one paragraph each."""
    return "\n\n".join("\n".join(_lines(each)) for each in explanations)


def explain_in_texts(text: str) -> list[str]:
    """Return what explain finds, each explanation in plain lines. Raises DataError as explain does."""
    return [explained_text([each]) for each in explain(text)]


def listed_text(explanations: Sequence[Explanation], *, whole: bool = False) -> str:
    """Return the codes by group. whole: each on a line with its title, the codes of notes too."""
    parts = []
    for group, head in HEADS.items():
        of_group = [each for each in explanations if each.group == group]
        if whole:
            width = max((len(each.code) for each in of_group), default=0)
            lines = [f"  {each.code:<{width}}  {each.title}" for each in of_group]
            parts.append("\n".join([head, *lines, ""]))
        elif group == "note":
            parts.append(f"{head}: {plural(len(of_group), 'code')}. --all lists them.")
        else:
            parts.append(_wrapped(head, ", ".join(each.code for each in of_group)))
    return "\n".join(parts).rstrip()


def _lines(explanation: Explanation) -> list[str]:
    kind = f"{explanation.group}, {explanation.error}" if explanation.error else explanation.group
    is_note = explanation.group == "note" or explanation.numbers
    lines = [_wrapped(f"{explanation.code} ({kind})", explanation.title)]
    lines += [_wrapped("  Message", message) for message in explanation.messages]
    lines += [_wrapped("  Words" if is_note else "  Meaning", explanation.meaning)]
    lines += [_wrapped(f"    {{{name}}}", what) for name, what in explanation.numbers.items()]
    lines += [_wrapped("  When", explanation.when)]
    if explanation.never_beside:
        lines.append(_wrapped("  Never beside", ", ".join(explanation.never_beside)))
    if explanation.do:
        lines.append(_wrapped("  Do", explanation.do))
    lines += [f"    {line}".rstrip() for line in explanation.example.splitlines()]
    return [*lines, f"  Docs: {DOCS}/{explanation.page}"]


def _wrapped(head: str, text: str) -> str:
    return fill(
        f"{head}: {text}", WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
