"""What an answer says of a statement: true, false, or neither; in many languages."""

import re
import unicodedata

# Of scripts with spaces: words, or words in a row. Those that hold others (not true) are looked for first.
WORDS = {
    True: """true correct accurate; verdadero verdadera cierto cierta verdad correcto correcta; verdadeiro
        verdadeira verdade correto correta; vrai vraie exact exacte; vero vera corretto corretta; wahr richtig
        korrekt zutreffend; waar juist; верно правда истина истинно правильно вірно правильне; prawda
        prawdziwe; doğru; đúng; benar; kweli sahihi; सही सत्य सच; সত্য সঠিক; صحيح صحيحة صواب; σωστό αληθές
        adevărat corect""",
    False: """false untrue incorrect inaccurate wrong; falso falsa incorrecto incorrecta; incorreto incorreta
        errado errada; faux fausse inexact inexacte; errato errata; falsch unwahr unrichtig; onwaar onjuist;
        неверно ложь ложно неправда неправильно невірно хибно; fałsz nieprawda fałszywe; yanlış; sai; salah;
        uongo; गलत असत्य झूठ; মিথ্যা ভুল; خطأ خاطئ خاطئة; λάθος ψευδές fals incorect""",
}
NEGATIONS = """not isn't isnt no nicht pas non não niet не nie không tidak غير ليس ليست नहीं değil নয় δεν nu"""
AFTER = "नहीं değil নয়"  # of these, the negations that stand behind what they deny
REACH = 4  # words between a negation and what it denies, itself counted: `no es del todo cierto`

# Of scripts without spaces, found anywhere in a clause; those that hold others are looked for first.
PARTS = {
    False: """不正确 不正確 不对 不對 不是真的 不属实 不屬實 错误 錯誤 正しくない 誤り 間違い
        거짓 틀린 틀렸 ไม่จริง ไม่ถูกต้อง เท็จ""",
    True: "正确 正確 是真的 属实 屬實 正しい 사실 맞습니다 ถูกต้อง จริง",
}
# What says it only if it is all that a clause says.
ALONE = {
    True: """yes sí si sim oui ja да так tak evet có ya ndiyo हाँ हां نعم はい 네 是 对 對 真 참 ใช่ ถูก t 1""",
    False: """no não non nein nee нет ні nie hayır không tidak hapana नहीं لا いいえ 아니요
        不是 否 错 錯 假 偽 ไม่ใช่ ผิด f 0""",
}
SWAHILI = ("si kweli", "si sahihi")  # `si` alone is a word of other languages

_NEGATIONS, _AFTER = frozenset(NEGATIONS.split()), frozenset(AFTER.split())
_WORDS = {word: value for value, words in WORDS.items() for word in words.replace(";", " ").split()}
_PARTS = [
    *((phrase, False) for phrase in SWAHILI),
    *((part, value) for value, parts in PARTS.items() for part in parts.split()),
]
_ALONE = {word: value for value, words in ALONE.items() for word in words.split()}
_CLAUSE = re.compile(r"[.,;:!?\n。，、；：！？।؟،—()*\"“”«»]+")


def says_true(answer: str) -> bool | None:
    """Return whether an answer says that a statement is true; None if it says neither, or both.

    The first clause that says anything decides (`False, because the true value is ...` says false). Case,
    form and language do not matter, as far as the words are known: those of some twenty languages.
    """
    text = unicodedata.normalize("NFC", answer).casefold()
    for clause in _CLAUSE.split(text):
        said = _said(clause.strip())
        if said:
            return said.pop() if len(said) == 1 else None
    return None


def _said(clause: str) -> set[bool]:
    """Return all that one clause says."""
    if clause in _ALONE:
        return {_ALONE[clause]}
    said = set()
    for part, value in _PARTS:
        if part in clause:
            said.add(value)
            clause = clause.replace(part, " ")
    words = clause.split()
    return said | {_WORDS[word] != _denied(words, at) for at, word in enumerate(words) if word in _WORDS}


def _denied(words: list[str], at: int) -> bool:
    before, behind = words[max(0, at - REACH) : at], words[at + 1 : at + 1 + REACH]
    return not (_NEGATIONS - _AFTER).isdisjoint(before) or not _AFTER.isdisjoint(behind)
