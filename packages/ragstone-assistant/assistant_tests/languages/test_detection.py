import json

import pytest

from ragstone_assistant.languages import language_of

# Own wording, as people type: short, without question marks or accents now and then.
FRENCH = """Quand semer le maïs ?
Comment traiter la rouille du blé ?
quel engrais pour le manioc
Combien d'eau pour les tomates ?
mes poules ne pondent plus
Où acheter des semences ?
Pourquoi les feuilles jaunissent ?
c'est quoi le mildiou
Quelle est la meilleure variété de riz ?
Faut-il labourer avant la pluie ?
prix du mil au marché
Il y a des pucerons sur mes haricots
comment faire du compost
Le sol est trop acide
merci beaucoup
Bonjour""".splitlines()
SWAHILI = """Nipande mahindi lini?
Jinsi ya kutibu kutu ya ngano
mbolea gani kwa mihogo
Nyanya zinahitaji maji kiasi gani?
kuku wangu hawatagi mayai
Wapi naweza kununua mbegu?
Kwa nini majani yanakuwa ya njano?
viwavi jeshi ni nini
Mbegu bora ya mpunga ni ipi?
Je, nilime kabla ya mvua?
bei ya mtama sokoni
Kuna vidukari kwenye maharage yangu
namna ya kutengeneza mboji
Udongo una asidi nyingi
asante sana
Habari""".splitlines()


@pytest.mark.parametrize(("lang", "questions"), [("fr", FRENCH), ("sw", SWAHILI)])
def test_short_questions_are_recognised(lang, questions):
    wrong = [question for question in questions if language_of(question) != lang]
    assert len(wrong) <= 1, wrong  # of 16


def test_the_chosen_language_is_kept_to_where_it_is_one_of_ours():
    assert language_of("When do I sow maize?", chosen="sw") == "sw"
    assert language_of("¿Cuándo siembro el maíz?", chosen="xx") == "es"


def test_what_says_nothing_keeps_the_language_of_the_conversation():
    assert language_of("15-15-15", before="hi") == "hi"
    assert language_of("Kitale", before="sw") == "sw"
    assert language_of("👍", before="ar") == "ar"
    assert language_of("", before=None) == "en"


def test_another_language_keeps_that_of_the_conversation_else_english():
    german = "Wann soll ich auf meinem Feld den Mais aussäen und wie viel Dünger braucht er?"
    assert language_of(german) == "en"
    assert language_of(german, before="fr") == "fr"
    assert language_of("什么时候播种玉米?") == "en"


def test_the_script_that_most_letters_are_in_decides():
    assert language_of("मक्का में NPK कब डालें") == "hi"
    assert language_of("متى أزرع maize") == "ar"


@pytest.mark.pack
@pytest.mark.parametrize("lang", ["en", "es", "hi", "ar"])
def test_questions_of_xquad_and_their_first_four_words_are_recognised(shared_data, lang):
    with (shared_data / "xquad" / "questions.jsonl").open() as lines:
        asked = [row["question"] for row in map(json.loads, lines) if row["lang"] == lang]
    short = [" ".join(question.split()[:4]) for question in asked]
    assert sum(language_of(question) == lang for question in asked) == len(asked)
    assert sum(language_of(question) == lang for question in short) / len(short) > 0.98
