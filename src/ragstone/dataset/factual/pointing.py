"""Statements that point at what their reader does not see: "this fee", "they", "the text instructs"."""

import re
import unicodedata

# Words that point, wherever they stand: those of neighbouring languages that mean something else there are
# told apart by the language. A pronoun points only at the start: later in a sentence it has what it means.
POINTING = {
    "en": "this these those aforementioned",
    "de": "dieser diese dieses diesem diesen",
    "nl": "deze",
    "fr": "celui-ci celle-ci ceux-ci celles-ci",
    "es": "esto estos estas",
    "pt": "isto isso",
    "it": "questo questa questi queste",
    "ro": "acesta aceasta aceștia acestea",
    "pl": "ten ta",
}
FIRST = {
    "en": "it he she they him her its their that here such",
    "de": "er sie dort hier dadurch dies das",
    "nl": "hij zij deze dit dat hier",
    "fr": "il elle ils elles ce cet cette ces cela ceci",
    "es": "él ella ellos ellas esto eso este esta estos estas",
    "pt": "ele ela eles elas isto isso este esta estes estas",
    "it": "egli ella esso essa essi esse",
    "ro": "el ea ei ele acesta aceasta",
    "pl": "on ona ono oni one ten ta to",
    "ru": "он она оно они это этот эта эти",
    "uk": "він вона воно вони це цей ця ці",
    "el": "αυτός αυτή αυτό αυτοί αυτές αυτά",
    "tr": "o bu onlar bunlar",
    "vi": "nó họ",
    "id": "ini itu dia mereka",
    "sw": "hii hiyo hizi hizo huyu hawa",
    "hi": "यह ये वह वे इस इन इसके इसमें इनमें",
    "bn": "এটি এই এগুলো তিনি তারা সে",
    "ar": "هو هي هم هذا هذه هؤلاء",
    "he": "הוא היא הם הן זה זאת",
    "fa": "این آن آنها او",
}
# Scripts without spaces: what a statement may not begin with.
BEGINS = {"zh": "这 這 它 他 她 那", "ja": "これ それ この その 彼 彼女", "th": "มัน เขา นี่ สิ่งนี้"}
# "It is possible to ..." points at nothing.
EXPLETIVE = re.compile(
    r"it\s+(?:(?:is|was|will be|may be|can be)\s+(?:\w+\s+){1,3}(?:to|that|for|if|when)|takes|costs)\b"
)
# What a statement may not begin with, for it then says something of its text. Elsewhere in it such words are
# found by mentions.py, which is made for questions.
TEXTS = {
    "en": "the text|the passage|the excerpt|the paragraph|the context|the author",
    "de": "der text|die passage|der abschnitt|der autor",
    "nl": "de tekst|de passage",
    "fr": "le texte|le passage|l'auteur",
    "es": "el texto|el pasaje|el autor",
    "pt": "o texto|o trecho|a passagem|o autor",
    "it": "il testo|il brano|l'autore",
    "pl": "tekst|fragment",
    "ru": "текст|отрывок|автор|в тексте",
    "uk": "текст|уривок|автор|у тексті",
    "tr": "metin|bu metin",
    "vi": "văn bản|đoạn văn",
    "id": "teks ini",
    "ar": "النص|يذكر النص|يقول النص",
    "hi": "पाठ|यह पाठ",
    "zh": "本文|文章|该文|文中",
    "ja": "本文|文章|この文章",
}
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def points_elsewhere(statement: str, lang: str | None) -> str | None:
    """Return the words by which a statement points at what its reader does not see; None if it does not.

    lang: its language, which is not guessed: None is taken for English, and of one that is not known here
    nothing is found.
    """
    text = unicodedata.normalize("NFC", statement).casefold()
    code = (lang or "en")[:2]
    bare = text.lstrip("\"'“‘«„([ ")
    spaced = code not in BEGINS
    for start in (*BEGINS.get(code, "").split(), *TEXTS.get(code, "").split("|")):
        if start and bare.startswith(start) and not (spaced and bare[len(start) : len(start) + 1].isalnum()):
            return start
    words = _WORD.findall(text)
    if not words:
        return None
    if words[0] in FIRST.get(code, "").split() and not EXPLETIVE.match(bare):
        return str(words[0])
    pointing = set(POINTING.get(code, "").split())
    return next((word for word in words if word in pointing), None)
