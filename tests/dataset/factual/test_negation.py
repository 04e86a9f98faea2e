import pytest

from ragstone.dataset.factual.negation import count_negations, is_negated

PAIRS = {
    "en": ("The bank accepts cards.", "The bank does not accept cards."),
    "de": ("Das Konto ist gültig.", "Das Konto ist nicht gültig."),
    "nl": ("De rekening is geldig.", "De rekening is niet geldig."),
    "fr": ("Le compte est valable.", "Le compte n'est pas valable."),
    "es": ("La cuenta es válida.", "La cuenta no es válida."),
    "pt": ("A conta é válida.", "A conta não é válida."),
    "it": ("Il conto è valido.", "Il conto non è valido."),
    "ro": ("Contul este valid.", "Contul nu este valid."),
    "pl": ("Konto jest ważne.", "Konto nie jest ważne."),
    "cs": ("Účet je platný.", "Účet je neplatný."),
    "ru": ("Счёт действителен.", "Счёт не действителен."),
    "uk": ("Рахунок дійсний.", "Рахунок не дійсний."),
    "el": ("Ο λογαριασμός είναι έγκυρος.", "Ο λογαριασμός δεν είναι έγκυρος."),
    "tr": ("Kartlar kabul edilir.", "Kartlar kabul edilmez."),
    "vi": ("Tài khoản có hiệu lực.", "Tài khoản không có hiệu lực."),
    "id": ("Rekening itu berlaku.", "Rekening itu tidak berlaku."),
    "hi": ("यह खाता मान्य है।", "यह खाता मान्य नहीं है।"),
    "bn": ("হিসাবটি বৈধ।", "হিসাবটি বৈধ নয়।"),
    "ar": ("الحساب صالح.", "الحساب ليس صالحا."),
    "zh": ("银行接受信用卡。", "银行不接受信用卡。"),
    "ja": ("銀行はカードを受け付けます。", "銀行はカードを受け付けません。"),
    "ko": ("은행은 카드를 받습니다.", "은행은 카드를 받지 않습니다."),
    "th": ("ธนาคารรับบัตร", "ธนาคารไม่รับบัตร"),
    "sv": ("Kontot är giltigt.", "Kontot är inte giltigt."),
}


@pytest.mark.parametrize(("lang", "pair"), PAIRS.items())
def test_a_negation_that_comes_or_goes_is_seen_in_each_language(lang, pair):
    plain, denied = (sentence.rstrip(".。।").split() for sentence in pair)
    assert is_negated(plain, denied, lang)
    assert is_negated(denied, plain, lang)
    assert not is_negated(plain, plain, lang)


def test_affixes_deny_and_words_that_look_alike_do_not():
    assert is_negated(["valid"], ["invalid"], "en")
    assert is_negated(["gelir"], ["gelmez"], "tr")
    assert not is_negated(["rises"], ["falls"], "en")
    assert not is_negated(["Delhi"], ["Mumbai"], "en")


def test_of_an_unknown_language_the_words_of_all_are_counted():
    assert count_negations("Konto nie jest not valid", None) == 2
