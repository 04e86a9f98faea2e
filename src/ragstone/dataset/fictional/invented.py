"""Names that nobody has, yet that can be spoken, in the script of the name that they stand for."""

import hashlib
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

TRIES = 200  # short words of a large corpus are taken; further tries have more syllables


class Sounds(NamedTuple):
    """What the syllables of a script are made of; `codas` may end a word."""

    onsets: str
    vowels: str
    codas: str


SOUNDS = {
    "LATIN": Sounds("b d f g h k l m n p r s t v z br dr gr kr tr pl st v l m r", "a e i o u a e o",
                    "n r l s k th m nd rn lk x"),
    "CYRILLIC": Sounds("б в г д з к л м н п р с т ф бр др гр кр тр", "а е и о у", "н р л с к м т рн"),
    "GREEK": Sounds("β γ δ ζ κ λ μ ν π ρ σ τ φ", "α ε ι ο", "ν ρ λ"),
    "ARABIC": Sounds("ب د ر ز س ط ف ق ك ل م ن ه", "ا و ي", "ن ر ل م د"),
    "DEVANAGARI": Sounds("क ग च ज त द न प ब म र ल व स", "ा ि ी ु े ो", "न र ल म"),
    "BENGALI": Sounds("ক গ চ জ ত দ ন প ব ম র ল স", "া ি ী ু ে ো", "ন র ল ম"),
    "CJK": Sounds("塔 维 洛 卡 莫 莱 诺 萨 贝 多 鲁 菲 佐 米 里", "兰 文 斯 林 达 尔 克 森", "城 川 野"),
    "KATAKANA": Sounds("タ ベ ロ カ モ レ ノ サ ド ル フィ ゾ ミ リ", "ン ラ ス ル ト", "ン ス ル"),
    "HANGUL": Sounds("타 벨 로 카 모 레 노 사 도 루 피 조 미 리", "란 벤 스 린 다 르", "산 주 원"),
    "THAI": Sounds("ก ค ต น บ ป ม ร ล ว ส", "า ี ู ิ", "น ม ง ล"),
}  # fmt: skip
SAME_SCRIPT = {"HIRAGANA": "KATAKANA"}


def script_of(text: str) -> str:
    """Return the script of a text's first letter, a key of SOUNDS; LATIN where there is none of them."""
    for character in text:
        if character.isalpha():
            script = unicodedata.name(character, "LATIN").split()[0]
            script = SAME_SCRIPT.get(script, script)
            return script if script in SOUNDS else "LATIN"
    return "LATIN"


def invent(original: str, key: str, is_free: Callable[[str], bool]) -> str:
    """Return an invented word for an original one, drawn by the key; `is_free` says whether one may be taken.

    It has the original's script and capital, a vowel at its end where that has one, and two or three
    syllables, more where short ones are taken.
    """
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    rng = np.random.default_rng(int.from_bytes(digest))
    sounds = SOUNDS[script_of(original)]
    for n_tries in range(TRIES * 10):
        n_syllables = 2 + int(rng.integers(3) == 0) + n_tries // TRIES
        word = "".join(_syllable(sounds, rng) for _ in range(n_syllables))
        # A stem that ends in a vowel takes other endings: Syria, Syrian.
        word += "" if original[-1:].casefold() in sounds.vowels.split() else _one_of(sounds.codas, rng)
        word = word.capitalize() if original[:1].isupper() else word
        if is_free(word):
            return word
    raise ValueError(f"no word is free for {original!r}: every invented one is a word of the documents")


def _syllable(sounds: Sounds, rng: np.random.Generator) -> str:
    return f"{_one_of(sounds.onsets, rng)}{_one_of(sounds.vowels, rng)}"


def _one_of(listed: str, rng: np.random.Generator) -> str:
    choices = listed.split()
    return choices[int(rng.integers(len(choices)))]
