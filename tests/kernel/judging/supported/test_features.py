"""Sentences against contexts, in ten languages."""

import pytest

from ragstone.kernel.judging.supported._features import read_passages, sentence_features, units_of


def lost(sentence: str, *contexts: str, lang: str = "en"):
    features = sentence_features(sentence, read_passages(contexts), lang)
    assert features is not None
    return features


# A passage, a sentence with another number, that number, a sentence with another word, that word.
TEXTS = {
    "en": (
        "Sow 20 kg of wheat in October.",
        "Sow 25 kg of wheat.",
        "25 kg",
        "Sow barley in October.",
        "barley",
    ),
    "de": ("Im Oktober 20 kg Weizen säen.", "Man soll 25 kg Weizen säen.", "25 kg", "Gerste säen.", "gerste"),
    "es": (
        "Siembre 20 kg de trigo en octubre.",
        "Siembre 25 kg de trigo.",
        "25 kg",
        "Siembre cebada.",
        "cebada",
    ),
    "fr": (
        "Semez 20 kg de blé en octobre.",
        "Semez 25 kg de blé.",
        "25 kg",
        "Semez du sarrasin.",
        "sarrasin",
    ),
    "ru": ("Сейте 20 кг пшеницы в октябре.", "Сейте 25 кг пшеницы.", "25", "Сейте ячмень.", "ячмень"),
    "ar": ("ازرع 20 كغ من القمح في أكتوبر.", "ازرع 25 كغ من القمح.", "25", "ازرع الشعير.", "شعير"),
    "hi": ("अक्टूबर में 20 किलो गेहूँ बोएँ।", "25 किलो गेहूँ बोएँ।", "25", "जौ बोएँ।", "जौ"),
    "tr": ("Ekim ayında 20 kg buğday ekin.", "25 kg buğday ekin.", "25 kg", "Arpa ekin.", "arpa"),
    "sw": (
        "Panda kilo 20 za ngano mwezi Oktoba.",
        "Panda kilo 25 za ngano.",
        "25",
        "Panda shayiri.",
        "shayiri",
    ),
    "zh": ("十月播种20公斤小麦。", "播种25公斤小麦。", "25", "播种大麦。", "大麦"),
}


@pytest.mark.parametrize("lang", TEXTS)
def test_another_number_and_another_word_are_found_in_ten_languages(lang):
    passage, numbered, number, worded, word = TEXTS[lang]
    assert lost(passage, passage, lang=lang).values == (0, 0, 0, 0, 0)
    assert lost(numbered, passage, lang=lang).numbers == [number]
    assert word in lost(worded, passage, lang=lang).words


def test_words_in_another_form_count_as_found():
    features = lost("The irrigated farm irrigates.", "Irrigation of farms.")
    assert not features.words or features.words == ["the"]
    assert features.values[0] < 1


def test_apart_is_what_the_two_best_neighbouring_sentences_lack():
    near = lost("Wheat needs lime.", "Wheat grows. It needs lime.")
    far = lost("Wheat needs lime.", "Wheat grows. Rain falls. Snow melts. It needs lime.")
    assert near.values[3] == 0 < far.values[3]


def test_the_first_word_and_german_nouns_are_no_names():
    assert lost("Kenya grows maize.", "Uganda grows maize.").names == []
    assert lost("In Kenya maize grows.", "In Uganda maize grows.").names == ["Kenya"]
    assert lost("In der Erde wächst Mais.", "Mais wächst.", lang="de").names == []


def test_the_context_with_most_words_is_named():
    assert lost("Wheat needs lime.", "Rain falls.", "Wheat needs lime and rain.").context == 2
    assert lost("Wheat needs lime.", "Snow.").context == 0


def test_scripts_without_spaces_are_compared_in_pairs():
    assert units_of("小麦") == ["小麦"]
    assert units_of("小麦x大麦") == ["小麦", "x", "大麦"]


def test_no_words_no_features():
    assert sentence_features("...", read_passages(("a",)), "en") is None
