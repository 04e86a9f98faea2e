import pytest

from ragstone.dataset.factual.pointing import points_elsewhere


@pytest.mark.parametrize(
    ("statement", "lang", "words"),
    [
        ("Customers can use this facility.", "en", "this"),
        ("It has a fee of 5 euros.", "en", "it"),
        ("They need a form.", "en", "they"),
        ("The text instructs users to call.", "en", "the text"),
        ("Der Text nennt eine Gebühr.", "de", "der text"),
        ("Diese Bank vergibt Kredite.", "de", "diese"),
        ("Cette banque prête de l'argent.", "fr", "cette"),
        ("Ella vive en Lima.", "es", "ella"),
        ("Он родился в Москве.", "ru", "он"),
        ("यह बैंक ऋण देता है।", "hi", "यह"),
        ("هذا البنك يقرض.", "ar", "هذا"),
        ("文章说银行放贷。", "zh", "文章"),
        ("这家银行放贷。", "zh", "这"),
        ("その銀行は貸します。", "ja", "その"),
    ],
)
def test_a_statement_that_points_elsewhere_is_found(statement, lang, words):
    assert points_elsewhere(statement, lang) == words


@pytest.mark.parametrize(
    ("statement", "lang"),
    [
        ("It is possible to repay a car loan early.", "en"),
        ("It takes 3 days to open an account.", "en"),
        ("There are two kinds of account.", "en"),
        ("Customers who lose their card can block it.", "en"),
        ("Textbooks are sold in the shop.", "en"),
        ("Le compte courant est gratuit.", "fr"),
        ("Banken vergeben Kredite.", "de"),
        ("银行放贷。", "zh"),
        ("!", "en"),
    ],
)
def test_a_statement_that_stands_alone_is_left_alone(statement, lang):
    assert points_elsewhere(statement, lang) is None
