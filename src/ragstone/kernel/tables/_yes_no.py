"""Labels that say right or wrong, in the languages in which people label: word -> 1 or 0."""

import unicodedata

_RIGHT = {
    "en": "true;yes;correct;right;1;pass;passed",
    "de": "richtig;korrekt;wahr;ja;zutreffend;bestanden",
    "es": "sí;si;correcto;correcta;verdadero;verdadera;cierto",
    "fr": "oui;exact;exacte;correcte;juste;vrai;vraie",
    "it": "sì;corretto;corretta;giusto;giusta;vero;vera",
    "pt": "sim;correto;correta;certo;certa;verdadeiro;verdadeira",
    "nl": "juist;waar",
    "sv da nb": "rätt;riktig;riktigt;korrekt;rigtig;sann;sant",
    "pl": "poprawnie;poprawna;poprawne;prawda;prawidłowo",
    "ru": "да;верно;правильно;истина;верный;правильный",
    "tr": "evet;doğru",
    "ar": "نعم;صحيح;صحيحة",
    "hi": "हाँ;हां;सही",
    "sw": "ndiyo;sahihi;kweli",
    "zh": "是;对;對;正确;正確",
    "ja": "はい;正しい;正解",
    "ko": "예;네;맞음;정답;참",
}
_WRONG = {
    "en": "false;no;incorrect;wrong;0;fail;failed",
    "de": "falsch;inkorrekt;unwahr;nein;unzutreffend;nicht bestanden",
    "es": "incorrecto;incorrecta;falso;falsa;erróneo;errónea",
    "fr": "non;inexact;inexacte;incorrecte;faux;fausse",
    "it": "scorretto;scorretta;sbagliato;sbagliata;errato;errata;falso;falsa",
    "pt": "não;nao;incorreto;incorreta;errado;errada;falso;falsa",
    "nl": "nee;onjuist;onwaar;fout",
    "sv da nb": "nej;nei;fel;feil;forkert;falsk;falskt;inkorrekt",
    "pl": "nie;niepoprawnie;niepoprawna;niepoprawne;fałsz;nieprawda;nieprawidłowo",
    "ru": "нет;неверно;неправильно;ложь;неверный;неправильный",
    "tr": "hayır;yanlış",
    "ar": "لا;خطأ;خاطئ;خاطئة",
    "hi": "नहीं;गलत;ग़लत",
    "sw": "hapana;si sahihi;si kweli",
    "zh": "否;不是;错;錯;错误;錯誤;不对;不對;不正确;不正確",
    "ja": "いいえ;間違い;不正解;正しくない",
    "ko": "아니요;아니오;틀림;오답;거짓",
}


def _folded(word: str) -> str:
    return unicodedata.normalize("NFC", word.strip().casefold())


YES, NO = (
    frozenset(_folded(word) for words in table.values() for word in words.split(";"))
    for table in (_RIGHT, _WRONG)
)


def as_yes_no(word: str) -> bool | None:
    """Return whether a label says right; None for a word that says neither right nor wrong."""
    folded = _folded(word)
    return True if folded in YES else False if folded in NO else None
