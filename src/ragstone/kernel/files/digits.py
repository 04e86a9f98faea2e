"""Digits that a file holds where a whole number should be -> the number."""

MOST_DIGITS = 15  # Python refuses to read more than 4,300, and nothing that is counted needs these


def whole_number(text: str | None, default: int = 0) -> int:
    """Return the number that a text of digits writes; the default for any other text, and for long ones."""
    return int(text) if text and text.isdecimal() and len(text) <= MOST_DIGITS else default
