"""Texts that leave this machine -> the same with placeholders; and what comes back -> the values again."""

import re
from collections.abc import Sequence

from ragstone.kernel.privacy.masking import KINDS, MARKED, MaskedValues, OwnWords

_NUMBERED = re.compile(rf"\[({'|'.join(KINDS)})-(\d{{1,15}})\]", re.IGNORECASE)
FOUND_EVERYWHERE = ("name", "masked")  # kinds whose finders need no words beside a value
SHORTEST = 6  # letters and digits of a value that is looked for where nothing beside it says what it is
LONGEST = 100  # characters of one that may be grouped otherwise elsewhere, so that the search stays quick
_GAP = re.compile(r"[\s().\-/]")
_GAPS = r"[\s().\-/]{0,2}"


class ReversibleMask:
    """Placeholders such as `[email-1]` for the personal data of the texts of one call, and their values.

    A value has one placeholder in all of them, also where nothing beside it says what it is; one that is
    written in two ways comes back as it was written first. The numbers begin after those of placeholders
    that the texts hold already, which stay what they are.
    """

    def __init__(self, groups: Sequence[Sequence[str]], own: OwnWords | None = None, keep: str = "") -> None:
        """Mask groups of texts. A name is masked in the texts of the group that gives it away.

        own: words of the user, see own_words. keep: what is left as it is wherever it stands.
        """
        numbers = [int(match[2]) for texts in groups for text in texts for match in _NUMBERED.finditer(text)]
        values = MaskedValues(first=1 + max(numbers, default=0))
        marked = [values.mark(texts, own, keep)[0] for texts in groups]
        originals = sorted(values.originals.items(), key=lambda pair: -len(pair[1]))
        self._originals = {f"[{kind}-{n}]": written for (kind, n), written in originals}
        self.groups = marked
        """The groups of texts, masked."""
        if originals:
            repeated = [
                (f"[{kind}-{n}]", written)
                for (kind, n), written in originals
                # Long enough to be looked for where nothing beside it says what it is.
                if kind not in FOUND_EVERYWHERE and sum(map(str.isalnum, written)) >= SHORTEST
            ]
            self.groups = [[_finished(text, repeated, keep) for text in texts] for texts in marked]

    def restore(self, text: str) -> str:
        """Return a text with the values in place of their placeholders; others stay."""
        if not self._originals:
            return text
        return _NUMBERED.sub(lambda match: self._originals.get(match[0].lower(), match[0]), text)


def _finished(marked: str, repeated: Sequence[tuple[str, str]], keep: str) -> str:
    """Return a text with placeholders for its marks, and for the values that stand there once more."""

    def placeholder(match: re.Match[str]) -> str:
        if match[1]:
            return f"[{match[1]}-{match[2]}]"
        at = match.lastindex  # the groups of a mark are the first two; what is kept has none
        return match[0] if at is None else short[at - 3][0]

    for placed, written in repeated:
        if len(written) > LONGEST:
            marked = marked.replace(written, placed)
    short = [(placed, written) for placed, written in repeated if len(written) <= LONGEST]
    return _pattern([written for _, written in short], keep).sub(placeholder, marked)


def _pattern(values: Sequence[str], keep: str) -> re.Pattern[str]:
    """Return the pattern of a mark, of what is kept, each value however written: a group for each."""
    patterns = [MARKED.pattern, *([re.escape(keep)] if keep else [])]
    for value in values:
        characters = [re.escape(character) for character in value if not _GAP.match(character)]
        patterns.append(rf"((?<!\w){_GAPS.join(characters)}(?!\w))")
    return re.compile("|".join(patterns), re.IGNORECASE)
