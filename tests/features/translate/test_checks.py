import pytest

from ragstone.features.translate._checks import (
    find_fault,
    find_missing,
    missing_numbers,
    share_left,
)

PARTS = [
    "A sentence here. ",
    "Ein Wort",
    "\n",
    "\n\n",
    " \n \n",
    "```py\nx = 1\n```\n",
    "~~~\n",
    "1998",
    "   ",
    "你好。",
]


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


@pytest.mark.parametrize(
    ("text", "translated"),
    [
        ("It costs 3,500.50 dollars.", "Cuesta 3.500,50 dólares."),
        ("It costs 28,000 dollars.", "Cuesta 28 000 dólares."),
        ("Some 20,000 came.", "Vinieron unos 20 mil."),
        ("Some 20,000 came.", "约2万人来了。"),
        ("In 1998", "१९९८ में"),
        ("In 1998", "في عام ١٩٩٨"),
        ("born in 1856", "المولود في عام1856م"),
        ("in the 1930s", "en los años 30"),
        ("in the 1700s", "im 18. Jahrhundert"),
        ("3 of 12 months", "tres de los doce meses"),
        ("the season 1997/98", "la temporada 1997-98"),
    ],
)
def test_a_number_may_be_written_in_another_way(text, translated):
    assert missing_numbers(text, translated) == []


def test_a_number_that_is_another_is_missing():
    text, translated = "In 1914 there were 350 of 1,200.", "En 1941 había 350 de 1.300."
    assert missing_numbers(text, translated) == ["1914", "1200"]


def test_what_is_missing_is_named():
    assert find_missing(["Built in 1914?", "yes"], ["¿Construido?", "sí"]).detail == "1914"
    lost = find_missing(["Run `make` in {name}."], ["Ejecute `hacer` en {name}."])
    assert (lost.reason, lost.detail) == ("part_lost", "`make`")
    assert find_missing(["Run `make` in {name}."], ["En {name}, ejecute `make`."]) is None


def test_of_many_numbers_a_tenth_may_be_written_as_words():
    text = " ".join(str(number) for number in range(100, 120))  # 20 numbers: 2 may be missing
    assert find_missing([text], [text.replace("100", "cien").replace("101", "ciento uno")]) is None
    made = text.replace("100", "cien").replace("101", "ciento uno").replace("102", "ciento dos")
    assert find_missing([text], [made]).detail == "100, 101, 102"


def test_a_number_of_the_question_may_stand_in_the_reference():
    assert find_missing(["Built in 1914?", "yes"], ["¿Construido?", "sí, en 1914"]) is None
