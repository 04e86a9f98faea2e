import pytest

from ragstone.dataset.factual.changes import Changed, check_change, same_words


@pytest.mark.parametrize(
    ("before", "after", "kind", "lang", "changed"),
    [
        ("It costs 5 euros.", "It costs 7 euros.", "number", "en", Changed("5", "7")),
        ("It is in Delhi.", "It is in Mumbai.", "entity", "en", Changed("Delhi", "Mumbai")),
        ("The fee rises.", "The fee falls.", "relation", "en", Changed("rises", "falls")),
        ("She can't pay.", "She can pay.", "negation", "en", Changed("can't", "can")),
        ("银行接受信用卡。", "银行不接受信用卡。", "negation", "zh", Changed("", "不")),
        ("银行在北京。", "银行在上海。", "entity", "zh", Changed("北 京", "上 海")),
        ("Bien que cher, il sert.", "Bien que laid, il sert.", "entity", "fr", Changed("cher", "laid")),
    ],
)
def test_the_change_asked_for_is_found(before, after, kind, lang, changed):
    assert check_change(before, after, kind, lang) == changed


@pytest.mark.parametrize(
    ("before", "after", "kind", "why"),
    [
        ("It is in Delhi.", "It is  in DELHI!", "entity", "nothing was changed"),
        (
            "The fee rises with it.",
            "Another sentence was written instead here.",
            "relation",
            "words were changed",
        ),
        ("A b c d e f g h i j.", "A x c d e f g h y j.", "entity", "2 places"),
        ("It costs 5 euros.", "It costs 7 dollars.", "number", "something else than a number"),
        ("It costs 5 euros.", "It costs 7 euros.", "entity", "a number was changed"),
        ("It costs 5 euros.", "It costs 7 euros.", "relation", "a number was changed"),
        ("It costs 5 euros.", "It does not cost 5 euros.", "entity", "a negation was changed"),
        ("It rises with age.", "It never rises with age.", "relation", "a negation was changed"),
        ("It is in Delhi.", "It is in Mumbai.", "negation", "no negation"),
        ("Now Paris grows fast.", "Now Rome grows fast.", "relation", "a name was changed"),
        ("It is in old Delhi.", "It is in Delhi.", "entity", "put in or taken out"),
        ("It is in old Delhi.", "It is in Delhi.", "relation", "put in or taken out"),
        (
            "It asks to block a sum.",
            "It asks not to a sum.",
            "negation",
            "more than a negation was taken out: block",
        ),
    ],
)
def test_another_change_is_named(before, after, kind, why):
    found = check_change(before, after, kind, "en")
    assert isinstance(found, str)
    assert why in found


def test_words_are_the_same_whatever_their_case_and_punctuation():
    assert same_words("The fee — 5 €, is LOW!") == same_words("the fee 5 is low")
    assert same_words("यह ऋण ४५ दिनों में है।") != same_words("यह ऋण ५५ दिनों में है।")
    assert same_words("मान्य है") == "मान्य है"
