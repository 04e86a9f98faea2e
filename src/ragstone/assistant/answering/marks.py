"""The marks of citations in a text, `[1]`: read as models write them, and written in one form."""

import re

_NUMBERS = r"\d{1,3}+(?:\s*+(?:,|;|،|and|y|et|و|और|na)\s*+\d{1,3}+)*+"
_WORD = r"(?:[^\W\d_]{1,12}+\.?+\s++)?+"  # "passage 1", "source 2", in whatever language
MARK = re.compile(rf"(?:(?<!\s)\s++)?+[\[【]\s*+\^?+{_WORD}{_NUMBERS}\s*+[\]】]")
_END = re.compile(r"(?<![.!?…।۔؟:;])[.!?…।۔؟:;]++[\"'”’»)\]*_]*+\s*+$")
_MISPLACED = re.compile(
    rf"(?P<end>(?<![.!?…।۔؟])[.!?…।۔؟]++[\"'”’»)*_]*+)(?P<marks>(?:{MARK.pattern})+)(?P<after>\s|$)"
)


def marks_in(text: str) -> list[int]:
    """Return the numbers of the marks in a text, each once, in order of first use; digits of any script."""
    found = (int(number) for mark in MARK.finditer(text) for number in re.findall(r"\d{1,3}", mark[0]))
    return list(dict.fromkeys(found))


def without_marks(text: str) -> str:
    """Return the text without its marks."""
    return MARK.sub("", text)


def with_marks(text: str, numbers: list[int]) -> str:
    """Return a sentence without marks with these, in front of the mark that ends it."""
    marks = " " + "".join(f"[{number}]" for number in numbers)
    end = _END.search(text)
    at = end.start() if end else len(text.rstrip())
    return text[:at].rstrip() + marks + text[at:]


def marks_before_ends(text: str, *, whole: bool = True) -> str:
    """Return the text with marks that stand behind the end of a sentence in front of it: `so.[1]`, `so. [1]`.

    They belong to the sentence before them; a splitter of sentences would give them to the next. whole: no
    more text follows, so that the end of the text is the end of its last word.
    """

    def moved(found: re.Match[str]) -> str:
        if not found["after"] and not whole:
            return found[0]
        return f"{found['marks'].rstrip()}{found['end']}{found['after']}"

    return _MISPLACED.sub(moved, text)
