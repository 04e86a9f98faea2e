"""What a translation says otherwise than its quote, in each of the languages."""

import pytest

from ragstone_assistant.answering._fidelity import find_difference
from ragstone_assistant.languages import SPOKEN

DOSE = "Maize needs 120 kg of nitrogen for each hectare."
DOSES = {
    "es": "El maíz necesita 120 kg de nitrógeno por cada hectárea.",
    "fr": "Le maïs a besoin de 120 kg d'azote par hectare.",
    "hi": "मक्का को प्रति हेक्टेयर 120 किलोग्राम नाइट्रोजन चाहिए।",
    "ar": "تحتاج الذرة إلى 120 كغ من النيتروجين للهكتار الواحد.",
    "sw": "Mahindi yanahitaji kilo 120 za nitrojeni kwa kila hekta.",
    "de": "Mais benötigt 120 kg Stickstoff pro Hektar.",
    "id": "Jagung membutuhkan 120 kg nitrogen per hektar.",
    "it": "Il mais ha bisogno di 120 kg di azoto per ettaro.",
    "nl": "Maïs heeft 120 kg stikstof per hectare nodig.",
    "pt": "O milho precisa de 120 kg de nitrogênio por hectare.",
    "ru": "Кукурузе нужно 120 кг азота на гектар.",
    "tr": "Mısır hektar başına 120 kg azota ihtiyaç duyar.",
    "vi": "Ngô cần 120 kg đạm cho mỗi hecta.",
    "zh": "玉米每公顷需要120公斤氮。",
}
RULE = "Do not irrigate before 15 May, and never apply more than two inches of water."
RULES = {  # language -> the rule, and the same without its first negation
    "es": (
        "No riegue antes del 15 de mayo y nunca aplique más de dos pulgadas de agua.",
        "No riegue",
        "Riegue",
    ),
    "fr": (
        "N'irriguez pas avant le 15 mai et n'appliquez jamais plus de deux pouces d'eau.",
        "N'irriguez pas",
        "Irriguez",
    ),
    "hi": ("15 मई से पहले सिंचाई न करें और कभी भी दो इंच से अधिक पानी न दें।", "सिंचाई न करें", "सिंचाई करें"),
    "ar": ("لا تسقِ قبل 15 مايو، ولا تضع أبدًا أكثر من بوصتين اثنتين من الماء.", "لا تسقِ", "اسقِ"),
    "sw": (
        "Usimwagilie kabla ya 15 Mei, na usitumie kamwe zaidi ya inchi mbili za maji.",
        "Usimwagilie",
        "Mwagilia",
    ),
    "de": (
        "Bewässern Sie nicht vor dem 15. Mai und geben Sie niemals mehr als zwei Zoll Wasser.",
        "Sie nicht vor",
        "Sie vor",
    ),
    "id": (
        "Jangan mengairi sebelum 15 Mei, dan jangan beri lebih dari dua inci air.",
        "Jangan mengairi",
        "Airi",
    ),
    "it": (
        "Non irrigare prima del 15 maggio e non applicare mai più di due pollici d'acqua.",
        "Non irrigare",
        "Irrigare",
    ),
    "nl": ("Irrigeer niet voor 15 mei en geef nooit meer dan twee inch water.", "Irrigeer niet", "Irrigeer"),
    "pt": (
        "Não irrigue antes de 15 de maio e nunca aplique mais de duas polegadas de água.",
        "Não irrigue",
        "Irrigue",
    ),
    "ru": (
        "Не поливайте до 15 мая и никогда не давайте больше двух дюймов воды.",
        "Не поливайте",
        "Поливайте",
    ),
    "tr": ("15 Mayıs'tan önce sulamayın ve asla iki inçten fazla su vermeyin.", "sulamayın", "sulayın"),
    "vi": (
        "Không tưới trước ngày 15 tháng 5 và không bao giờ dùng quá hai inch nước.",
        "Không tưới",
        "Hãy tưới",
    ),
    "zh": ("5月15日之前不要灌溉，也不要施用超过两英寸的水。", "之前不要", "之前请"),
}


def test_there_are_words_to_check_by_for_every_language():
    assert DOSES.keys() == RULES.keys() == set(SPOKEN) - {"en"}
    assert find_difference(DOSE, "Majs wymaga 120 kg azotu na hektar.", "en", "pl") == "unchecked"


@pytest.mark.parametrize("lang", sorted(DOSES))
def test_the_same_dose_passes_and_another_number_or_unit_does_not(lang):
    right = DOSES[lang]
    assert find_difference(DOSE, right, "en", lang) is None
    assert find_difference(right, DOSE, lang, "en") is None
    assert find_difference(DOSE, right.replace("120", "12"), "en", lang) == "numbers"
    assert find_difference(DOSE.replace("hectare", "acre"), right, "en", lang) == "units"
    assert find_difference(DOSE.replace(" kg", " g"), right, "en", lang) == "units"


@pytest.mark.parametrize("lang", sorted(RULES))
def test_a_lost_negation_and_another_month_are_seen(lang):
    right, negated, affirmed = RULES[lang]
    assert find_difference(RULE, right, "en", lang) is None
    assert negated in right
    assert find_difference(RULE, right.replace(negated, affirmed), "en", lang) in ("negations", "numbers")
    assert find_difference(RULE.replace("May", "March"), right, "en", lang) == "dates"


@pytest.mark.parametrize(
    ("text", "translated", "difference"),
    [
        # 10 and 20 have changed places: each number is there, and both doses are wrong.
        ("Give 10 kg of urea and 20 kg of potash.", "Dé 20 kg de urea y 10 kg de potasa.", "numbers"),
        ("Give 1.5 litres.", "Dé 1,5 litros a cada una.", None),
        ("Give 15 litres to each.", "Dé 1,5 litros a cada una.", "numbers"),
        ("Leave one inch of room for rain.", "Deje 1 pulgada de espacio para la lluvia.", None),
        ("Put two seeds in each hole, five cm deep.", "Ponga 2 semillas en cada hoyo, a 5 cm.", None),
        ("It may rain in June and July.", "Puede llover en junio y julio.", None),
        ("Use Watermark sensors for the field.", "Use sensores Watermark para el campo.", None),
        ("Use Watermark sensors for the field.", "Use sensores de humedad para el campo.", "names"),
        ("Put NPK on the field.", "Ponga DAP en el campo.", "names"),
        ("Put P2O5 on the wet field.", "Ponga fósforo en el campo mojado.", "names"),
        ("Spray it in the evening.", "Spray it in the evening.", "words"),
        ("Apply at most 40% of the water.", "Aplique como máximo el 40 % del agua.", None),
    ],
)  # fmt: skip
def test_differences_by_rule(text, translated, difference):
    assert find_difference(text, translated, "en", "es") == difference


def test_in_another_script_a_name_stays_in_its_own_letters():
    text = "Install two Watermark sensors in the field."
    assert find_difference(text, "खेत में दो Watermark सेंसर लगाएँ।", "en", "hi") is None
    assert find_difference(text, "खेत में दो वाटरमार्क सेंसर लगाएँ।", "en", "hi") == "names"
