"""A report card on every surface: what it says of ranking systems."""

import html

import pytest
from tests.features.report.test_page import Page
from tests.kernel.agreement.test_card_parts import card_of, several_systems
from tests.support.surfaces import page_text, shown

from ragstone.features.agree.words import card_document
from ragstone.kernel.document.markdown import render_markdown
from ragstone.kernel.document.notebook import render_html

RANKS_NONE = "It gives all 3 systems the same mean, so it does not rank them."


TIES = [
    # People: a 30, b 20, c 5 of 40, unless it is said otherwise. Pairs: ab, ac, bc.
    ({"a": (30, 7), "b": (20, 7), "c": (5, 7)}, RANKS_NONE, "By the judge: a = b = c."),
    ({"a": (30, 0), "b": (20, 0), "c": (5, 0)}, RANKS_NONE, "By the judge: a = b = c."),
    ({"a": (30, 40), "b": (20, 40), "c": (5, 40)}, RANKS_NONE, "By the judge: a = b = c."),
    (
        {"a": (30, 9), "b": (20, 9)},
        "It gives both systems the same mean, so it does not rank them.",
        "By the judge: a = b.",
    ),
    (
        {"a": (30, 20), "b": (20, 20), "c": (5, 5)},
        "it gives both systems the same mean in 1 of 3 pairs of systems.",
        "By the judge: a = b > c.",
    ),
    (
        {"a": (30, 5), "b": (20, 9), "c": (5, 5)},
        "its means reverse people's order in 1 of 3 pairs of systems, and are equal for both systems in 1.",
        "By the judge: b > a = c.",
    ),
    (
        {"a": (30, 1), "b": (20, 2), "c": (5, 3)},
        "its means reverse people's order in 3 of 3 pairs of systems.",
        "By the judge: c > b > a.",
    ),
    (
        {"a": (20, 20), "b": (20, 9), "c": (5, 5)},
        "its means keep people's order in all 2 pairs of systems whose means by people differ.",
        "By people: a = b > c.",
    ),
    (
        {"a": (20, 20), "b": (20, 20), "c": (5, 5)},
        "its means keep people's order in all 2 pairs of systems whose means by people differ.",
        "By people and by the judge: a = b > c.",
    ),
    (
        {"a": (20, 20), "b": (20, 9), "c": (20, 5)},
        "People give all 3 systems the same mean, so there is no order to compare.",
        "By people: a = b = c.",
    ),
]


SURFACES = {
    "terminal": lambda document: shown(document),
    "page": lambda document: page_text(document),
    "markdown": lambda document: html.unescape(render_markdown(document)).replace("\\", ""),
    "notebook": lambda document: Page(render_html([document])).text,
}


@pytest.mark.long
@pytest.mark.parametrize(("rates", "verdict", "order"), TIES)
@pytest.mark.parametrize("surface", SURFACES)
def test_a_tie_is_no_order_on_any_surface(surface, rates, verdict, order):
    card = card_of(*several_systems(rates))
    text = " ".join(SURFACES[surface](card_document(card)).split())
    assert verdict in text
    assert order in text
    assert ("in people's order." in text) is False


def test_a_best_system_is_spoken_of_only_where_somebody_names_one():
    said = {
        rates["a"][1]: "the judge's best is people's best" in shown(card_document(card_of(*rows)))
        for rates in ({"a": (30, 9), "b": (20, 9)}, {"a": (30, 20), "b": (20, 9)})
        if (rows := several_systems(rates))
    }
    assert said == {9: False, 20: True}
