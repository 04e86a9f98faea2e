"""What an answer says of a statement: that it is true, that it is false, or neither."""

import re
import unicodedata

from ragstone.judging.summary import Said
from ragstone.records import alternatives

# Of scripts with spaces.
WORDS = {
    True: """true correct accurate; verdadero verdadera cierto cierta verdad correcto correcta; verdadeiro
        verdadeira verdade correto correta; vrai vraie exact exacte; vero vera corretto corretta; wahr richtig
        stimmt korrekt zutreffend; waar juist klopt; верно правда истина истинно правильно вірно правильне;
        prawda prawdziwe; doğru; đúng; benar; kweli sahihi; सही सत्य सच; সত্য সঠিক; صحيح صحيحة صحيحا صواب حقيقي
        حقيقية;
        σωστό αληθές adevărat corect""",
    False: """false untrue incorrect inaccurate wrong; falso falsa incorrecto incorrecta mentira; incorreto
        incorreta errado errada; faux fausse inexact inexacte; errato errata sbagliato sbagliata scorretto
        scorretta; falsch unwahr unrichtig; onwaar onjuist; неверно ложь ложно неправда неправильно
        невірно хибно; fałsz nieprawda fałszywe; yanlış; sai; salah;
        uongo; गलत असत्य झूठ; মিথ্যা ভুল; خطأ خاطئ خاطئة خاطئا كاذب كاذبة; λάθος ψευδές fals incorect""",
}

NEGATIONS = """not isn't isnt wasn't aren't doesn't don't never hardly cannot can't far no nicht kein keine
    keineswegs kaum pas non não niet не nie không tidak غير ليس ليست नहीं değil নয় δεν nu"""

AFTER = "नहीं değil নয়"  # of these, the negations that stand behind what they deny
NEXT = "nicht niet"  # and those that may stand right behind it: `das stimmt nicht`
BEFORE_COPULA = (
    "is are was were ist sind war est sont was zijn"  # `that it is not treated is true` denies nothing
)
COPULA_FIRST = "not isn't isnt wasn't aren't nicht pas niet"  # negations that stand behind their copula
REACH = 4  # words between a negation and what it denies, itself counted: `no es del todo cierto`

# Of scripts without spaces, found anywhere in a clause, the longest first.
PARTS = {
    False: """不正确 不正確 不对 不對 不是真的 不属实 不屬實 不准确 不真实 是假的 错误 錯誤 正しくない 誤り
        間違い
        거짓 틀린 틀렸 ไม่จริง ไม่ถูกต้อง เท็จ""",
    True: """正确 正確 是真的 属实 屬實 没有错 没错 不是错误 并非错误 不是假的 正しい 사실 맞습니다
        ถูกต้อง จริง""",
}

# What says it only if it is all that a clause says.
ALONE = {
    True: """yes sí si sim oui ja да так tak evet có ya ndiyo हाँ हां जी نعم はい 네 是 是的 对 對 对的 真 참 ใช่
        ถูก t 1""",
    False: """no não non nein nee нет ні nie hayır không tidak hapana नहीं لا いいえ 아니요
        不是 否 错 錯 假 偽 ไม่ใช่ ผิด f 0""",
}

# A clause that holds one of these leaves it open.
DOUBTS = """whether|if|unsure|uncertain|unclear|maybe|perhaps|possibly|may be|might|could be|partly|partially
    half true|cannot say|cannot tell|cannot confirm|cannot determine|can't say|can't tell|not say|not state
    not mention|not known|not sure|not clear|don't know|do not know|no evidence|n't say|n't state|n't mention
    depends
    sé si|saber si|quizás|quizá|tal vez|puede ser|podría|parcialmente|en parte|no está claro|depende|no dice
    ob|vielleicht|möglicherweise|könnte|teilweise|unklar|nicht sicher|halb wahr|nicht klar|teils
    si c'est|si cela|si cette|si l'affirmation|peut-être|peut être|pourrait|partiellement|en partie
    pas clair|dit pas
    forse|potrebbe|parzialmente|in parte|se sia|se è|non è chiaro|non dice
    talvez|pode ser|poderia|em parte|se é|não está claro|não diz
    misschien|mogelijk|zou kunnen|gedeeltelijk|deels|of dit|of het|of deze|onduidelijk
    शायद|संभवतः|आंशिक|पता नहीं|हो सकता|कि क्या|स्पष्ट नहीं
    ربما|قد يكون|قد تكون|جزئيا|ما إذا|إذا كان|إذا كانت|غير واضح|لا أعرف
    labda|huenda|sijui|kama ni"""
DOUBTS_UNSPACED = "也许|或许|可能|部分|是否|不确定|不清楚|无法"

# A clause behind the first that begins with one of these may take it back.
BUT = """but however although though pero aunque aber jedoch doch mais ma però mas porém maar लेकिन परंतु لكن
    ولكن lakini"""
BUT_UNSPACED = ("但", "不过", "然而")

SWAHILI = ("si kweli", "si sahihi")  # `si` alone is a word of other languages
_NEGATIONS, _AFTER, _NEXT = (frozenset(words.split()) for words in (NEGATIONS, AFTER, NEXT))
_COPULAS, _COPULA_FIRST = frozenset(BEFORE_COPULA.split()), frozenset(COPULA_FIRST.split())
_WORDS = {word: value for value, words in WORDS.items() for word in words.replace(";", " ").split()}
_PARTS = [
    *((phrase, False) for phrase in SWAHILI),
    *sorted(
        ((part, value) for value, parts in PARTS.items() for part in parts.split()),
        key=lambda one: -len(one[0]),
    ),
]
_ALONE = {word: value for value, words in ALONE.items() for word in words.split()}
_BUT = frozenset(BUT.split())
_DOUBT = re.compile(
    rf"(?<!\w)(?:{'|'.join(re.sub(chr(10) + ' *', '|', DOUBTS).split('|'))})(?!\w)|{DOUBTS_UNSPACED}"
)
_SENTENCE_END = re.compile(r"([.!?\n。！？।؟]+)")
_CLAUSE = re.compile(r"[.,;:!?\n。，、；：！？।؟،؛—()*\"“”«»„]+")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^“”]*”|«[^«»]*»|„[^„“”]*[“”]|「[^「」]*」")
_VOWELS = re.compile("[\u064b-\u0652]")  # of Arabic, that may be written or not


def says_true(answer: str, statement: str | None = None) -> bool | None:
    """Return whether an answer says that a statement is true; None if it says neither, or both.

    The first clause that says anything decides (`False, because the true value is ...` says false), unless
    it leaves it open (`It may be true`), or a later one takes it back (`but ... is false`). What the answer
    asks (`Is it true that ...? No.`), quotes, or repeats of the `statement` says nothing. Case, form and
    language do not matter, as far as the words are known: those of some twenty languages.
    """
    text = _folded(answer)
    asserted = _without_questions(text)
    if statement and (repeated := _folded(statement).strip(" .。।")):
        asserted = asserted.replace(repeated, " ")
    found = _first_said(_QUOTED.sub(" ", asserted))
    return found if found is not None or not _QUOTED.search(asserted) else _first_said(asserted)


def what_is_said(answer: str, statement: str | None = None) -> Said:
    """Return what an answer says of a statement, in a word."""
    found = says_true(answer, statement)
    return "neither" if found is None else "true" if found else "false"


def truth_of(reference: str | list[str] | None) -> bool | None:
    """Return whether a reference is the word true, or false; None for any other."""
    said = {text.strip().casefold() for text in alternatives(reference)}
    return said == {"true"} if len(said) == 1 and said <= {"true", "false"} else None


def _folded(text: str) -> str:
    return _VOWELS.sub("", unicodedata.normalize("NFC", text).casefold().replace("’", "'"))


def _without_questions(text: str) -> str:
    """Return a text without its sentences that end in a question mark."""
    parts = [*_SENTENCE_END.split(text), ""]
    kept = [(said, end) for said, end in zip(parts[::2], parts[1::2], strict=True) if not {*end} & {*"?？؟"}]
    return "".join(said + end for said, end in kept)


def _first_said(text: str) -> bool | None:
    found: bool | None = None
    for clause in filter(None, map(str.strip, _CLAUSE.split(text))):
        said = _said_in(clause)
        if found is not None:
            if said == {not found} and (clause.split()[0] in _BUT or clause.startswith(BUT_UNSPACED)):
                return None
        elif said:
            if len(said) > 1 or _DOUBT.search(clause):
                return None
            found = said.pop()
    return found


def _said_in(clause: str) -> set[bool]:
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
    behind = words[at + 1 : at + 1 + REACH]
    if not _AFTER.isdisjoint(behind) or not _NEXT.isdisjoint(behind[:1]):
        return True
    for place in range(at - 1, max(-1, at - 1 - REACH), -1):
        word = words[place]
        if word in _NEGATIONS - _AFTER:
            return word not in _COPULA_FIRST or _COPULAS.isdisjoint(words[place + 1 : at])
    return False
