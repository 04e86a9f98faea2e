import pytest

from ragstone.kernel.translation.checks import find_fault, share_left

QUESTION = "Which of the farmers sowed the wheat in this valley?"
SPANISH = "¿Cuál de los campesinos sembró el trigo en este valle?"


def test_a_good_translation_has_no_fault():
    assert find_fault(QUESTION, SPANISH, "es") is None


@pytest.mark.parametrize(
    ("translated", "reason"),
    [
        ("  ", "empty_translation"),
        (QUESTION, "untranslated"),
        (QUESTION.upper(), "untranslated"),
        ("Welcher der Bauern hat in diesem Tal den Weizen gesät?", "other_language"),
        ("किस किसान ने इस घाटी में गेहूँ बोया था?", "other_language"),
        ("¿Cuál fue?", "odd_length"),
        (SPANISH + " Esto lo sabe todo el mundo, pero nadie lo dice." * 5, "odd_length"),
    ],
)
def test_a_bad_translation_has_its_reason(translated, reason):
    assert find_fault(QUESTION, translated, "es").reason == reason


def test_a_name_may_stay():
    assert find_fault("Jared Allen", "Jared Allen", "es") is None


@pytest.mark.parametrize(
    ("text", "translated", "lang", "share"),
    [
        # Apertium's, in Devanagari but for five words.
        ("जेरेड एलन के पास कितने थे?", "जेरेड एलन کے پاس کتنے تھے؟", "ur", 0.4),
        ("How many touchdowns did Jared Allen have?", "जारेड एलन के कितने touchdowns थे?", "hi", 0.4),
        ("How many sacks did Jared Allen have?", "Jared Allen के कितने सैक थे, और कब और कहाँ?", "hi", 0.0),
        ("Quants punts van tenir?", "Quants puntos tuvieron?", "es", 0.0),
        ("Сколько очков?", "How many points?", "en", 0.0),
    ],
)
def test_words_that_are_left_in_another_script_are_seen(text, translated, lang, share):
    assert share_left(text, translated) == pytest.approx(share, abs=0.15)
    fault = find_fault(text, translated, lang)
    assert (fault is not None and fault.reason == "partly_translated") == (share > 0.1)


def test_chinese_is_shorter_and_that_is_no_fault():
    # 52 characters in English; 14 in Chinese, which count as 3 each: 42 of 52.
    assert find_fault(QUESTION, "这个山谷里的小麦是哪位农民播种的？", "zh") is None
