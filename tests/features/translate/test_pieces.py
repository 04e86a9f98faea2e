import pytest

from ragstone.features.translate._pieces import find_missing, missing_numbers


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
