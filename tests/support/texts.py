"""Texts of files and cards without what each day and each machine has of its own."""

import re


def undated(text: str) -> str:
    """Return a text without its dates, and without who wrote it."""
    text = re.sub(r"\((\d{4}-\d\d-\d\d), [^)]+\)", "(DAY, SOMEBODY)", text)
    return re.sub(r"by [^,]+, \d{4}-\d\d-\d\d", "by SOMEBODY, DAY", text)


def lines_with(text: str, *parts: str) -> str:
    """Return the lines that hold one of these parts, in their order."""
    return "\n".join(line for line in text.splitlines() if any(part in line for part in parts))


def element(html: str, part: str) -> str:
    """Return the text of the first element of a page that holds a part."""
    found = re.search(rf">([^<>]*{re.escape(part)}[^<>]*)<", html)
    assert found is not None, f"no element holds {part!r}"
    return " ".join(found[1].split())
