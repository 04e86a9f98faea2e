"""Names of people: which may be taken, under which form they are found, and which look like another one."""

import unicodedata

from ragstone.kernel.agreement.pairing import ADJUDICATOR
from ragstone.kernel.errors import DataError

LONGEST_NAME = 64
JOINERS = "\u200c\u200d"  # names of some scripts hold them
# Letters and marks that show nothing; the others that show nothing are of category C.
UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | frozenset(
    map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
TOGETHER = (
    {"LATIN", "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA"},
    {"LATIN", "CJK", "HANGUL"},
    {"LATIN", "CJK", "BOPOMOFO"},
)
"""Scripts that names mix, and whose letters are not taken for each other (UTS 39, highly restrictive)."""

# Letters that look Latin, beside the Latin one; a capital only where it looks so itself.
_LOOKS = {
    "АВЕЅІЈКМНОРСТУХҮԌԚԜӀ": "ABESIJKMHOPCTYXYGQWI",
    "аеѕіјорсухүԁԛԝһӏґ": "aesijopcyxydqwhlr",
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϺ": "ABEZHIKMNOPTYXCM",
    "αικνορτυχγϲϳ": "aikvoptuxycj",
    "ՍՏՕԼհոսցօգղքզ": "USOLhnugogqpq",
    "ᎪᏴᏟᎠᎬᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ": "ABCDEHJKLMPRSTVWZ",
    "ɑɡɩıɪʏʀʟɴʙʜ℮": "agiiiyrlnbhe",
}
_LATIN = str.maketrans(
    {one: plain for many, few in _LOOKS.items() for one, plain in zip(many, few, strict=True)}
)
_STROKES = str.maketrans({**dict.fromkeys("I1|", "l"), "0": "O", "5": "S", "’": "'", "‘": "'", "ʼ": "'"})


def name_key(name: str) -> str:
    """Return the form under which accounts are found and attempts are counted: in any case and spacing."""
    return unicodedata.normalize("NFKC", _plain(name).casefold())


def checked_name(name: str) -> str:
    """Return a name as it is kept. Raises DataError for one that is none."""
    plain = _plain(name)
    if not plain or len(plain) > LONGEST_NAME:
        raise DataError(f"A name has 1 to {LONGEST_NAME} characters.")
    # Control characters and marks of direction would make a name look like another one.
    if UNSEEN & {*plain} or any(
        unicodedata.category(sign)[0] == "C" and sign not in JOINERS for sign in plain
    ):
        raise DataError("A name has letters, digits, signs and single spaces only.")
    if "," in plain or _looks(plain)[0].startswith(ADJUDICATOR):
        raise DataError(
            f"A name has no comma, and does not begin with {ADJUDICATOR.strip()!r}: both mean something "
            "where labels are given."
        )
    scripts = {script for sign in plain if (script := _script(sign))}
    if len(scripts) > 1 and not any(scripts <= mixed for mixed in TOGETHER):
        names = " and ".join(sorted(script.capitalize() for script in scripts))
        raise DataError(
            f"A name is written in one script, and this one mixes {names}, whose letters may look alike."
        )
    return plain


def look_alike(name: str, other: str) -> bool:
    """Return whether somebody may take one name for the other."""
    return any(mine == theirs for mine, theirs in zip(_looks(name), _looks(other), strict=True))


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).split())


def _looks(name: str) -> tuple[str, str]:
    """Return what a name looks like: in whatever case, and as it is written, where I is l and rn is m."""
    latin = "".join(sign for sign in _plain(name) if sign not in JOINERS).translate(_LATIN)
    dashes = "".join("-" if unicodedata.category(sign) == "Pd" else sign for sign in latin)
    return name_key(dashes), dashes.translate(_STROKES).replace("rn", "m").replace("vv", "w")


def _script(sign: str) -> str | None:
    """Return the script of a letter or a digit that is none of ASCII's; None for what all scripts share."""
    if unicodedata.category(sign)[0] not in "LN" or "0" <= sign <= "9":
        return None
    first, *more = unicodedata.name(sign, "unknown").replace("-", " ").split()
    if first in ("MODIFIER", "SUPERSCRIPT"):
        return None
    return more[0] if first in ("EXTENDED", "HALFWIDTH") and more else first
