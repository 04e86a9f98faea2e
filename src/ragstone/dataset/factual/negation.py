"""Negations of a sentence, in some thirty languages: how many there are, so that a change of them is seen."""

import unicodedata
from collections.abc import Sequence

from ragstone.corpus.tokens import tokenize

# Words that deny, of languages with spaces.
WORDS = {
    "en": "not no never none neither nor cannot without nobody nothing nowhere unable",
    "de": "nicht kein keine keiner keinen keinem keines nie niemals ohne weder nichts niemand",
    "nl": "niet geen nooit zonder noch niets niemand",
    "fr": "ne n pas non jamais sans aucun aucune ni rien personne",
    "es": "no nunca jamás sin ningún ninguna ninguno ni nada nadie tampoco",
    "pt": "não nunca jamais sem nenhum nenhuma nem nada ninguém",
    "it": "non mai senza nessun nessuno nessuna né niente",
    "ro": "nu niciodată fără niciun nicio nici",
    "ca": "no mai sense cap ni",
    "sv": "inte ej aldrig utan ingen inget inga",
    "da": "ikke aldrig uden ingen intet",
    "no": "ikke aldri uten ingen intet",
    "pl": "nie nigdy bez żaden żadna żadne ani",
    "cs": "ne není nejsou nikdy bez žádný žádná žádné ani",
    "sk": "nie nikdy bez žiadny žiadna žiadne ani",
    "ru": "не нет никогда без ни нельзя никакой никто ничего",
    "uk": "не ні немає ніколи без жоден жодна ніхто нічого",
    "bg": "не няма никога без нито",
    "el": "δεν δε μη μην όχι ποτέ χωρίς κανένας καμία κανένα",
    "tr": "değil değildir yok yoktur olmayan asla hiç",
    "hu": "nem ne sem nincs soha nélkül",
    "fi": "ei en et emme ette eivät ilman älä",
    "vi": "không chẳng chưa đừng chớ",
    "id": "tidak bukan jangan belum tanpa tak",
    "sw": "si hakuna hapana sio bila kamwe",
    "hi": "नहीं न ना मत बिना नही",
    "bn": "না নয় নি নেই ছাড়া নন",
    "ar": "لا لم لن ليس ليست غير ما دون بدون لست",
    "he": "לא אין אינו אינה אינם בלי אל",
    "fa": "نه نیست نیستند بدون هیچ نمی ن",
    "ur": "نہیں نہ مت بغیر",
}
# Of languages that deny with a part of a word, or that have no spaces: found inside words.
PARTS = {
    "zh": "不 没 沒 未 无 無 非 勿 莫",
    "ja": "ない なく なか ません ず ぬ 不 無 非 未",
    "ko": "않 안 아니 못 없 말 불 비",
    "th": "ไม่ มิ ไร้",
    "en": "n't n’t",
}
# Of languages that deny with an affix: what one form of a word has, at its start or behind its stem.
AFFIXES = {
    "tr": ("ma", "me", "mı", "mi", "mu", "mü", "sız", "siz", "suz", "süz"),
    "cs": ("ne",),
    "sk": ("ne",),
    "sw": ("ha", "hu", "si"),
    "fa": ("ن", "نمی"),
    "en": ("un", "in", "im", "non", "dis"),
    "de": ("un",),
}
_ALL = frozenset(word for words in WORDS.values() for word in words.split())
STEM = 2  # characters that two forms of a word share, at least


def count_negations(text: str, lang: str | None) -> int:
    """Return how many negations a text has; of a language that is not known here, words of all that are."""
    code = (lang or "")[:2]
    folded = unicodedata.normalize("NFC", text).casefold()
    n_parts = sum(folded.count(part) for part in PARTS.get(code, "").split())
    if code in PARTS and code not in WORDS:
        return n_parts
    known = frozenset(WORDS[code].split()) if code in WORDS else _ALL
    return n_parts + sum(word in known for word in tokenize(folded))


def is_negated(before: Sequence[str], after: Sequence[str], lang: str | None) -> bool:
    """Say whether one of two runs of words denies what the other says.

    It has more negations, or a word with an affix that denies where the other has it without.
    """
    if count_negations(" ".join(before), lang) != count_negations(" ".join(after), lang):
        return True
    affixes = AFFIXES.get((lang or "")[:2], ())
    return any(_denies(a, b, affixes) or _denies(b, a, affixes) for a in before for b in after)


def _denies(word: str, plain: str, affixes: Sequence[str]) -> bool:
    """Say whether a word is another one with an affix: `invalid` and `valid`, `vermez` and `verir`."""
    word, plain = word.casefold(), plain.casefold()
    n_same = next((at for at, (a, b) in enumerate(zip(word, plain, strict=False)) if a != b), len(plain))
    more, less = word[n_same:], plain[n_same:]
    for affix in affixes:
        rest = word.removeprefix(affix)
        if rest != word and len(rest) > STEM and rest[: STEM + 1] == plain[: STEM + 1]:
            return True
        if n_same >= STEM and more.startswith(affix) and not less.startswith(affix[0]):
            return True
    return False
