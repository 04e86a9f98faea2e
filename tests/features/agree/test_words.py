"""The report card as a page and in the terminal: whole, self-contained, escaped, and in 100 columns."""

import re

import msgspec
from rich.cells import cell_len
from tests.features.report.test_page import Page
from tests.support.plain_rows import judgement_row
from tests.support.surfaces import shown as surface

from ragstone.features.agree.words import card_document, cards_document, reliability_plot, shade
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.document.html import render_page
from ragstone.kernel.document.numbers import percent, percent_range
from ragstone.kernel.records import Label


def cards(words: str = "b", top: float = 1) -> list[ReportCard]:
    """Cards of a judge on two systems and two languages, with two annotators and reasons."""
    judgements, labels = [], []
    for i in range(40):
        for system, score in (("a", (i % 5 < 3) * top), (words, (i % 5 < 2) * top)):
            judgements.append(
                judgement_row(
                    question_id=f"q{i} {words}",
                    system=system,
                    judge="judge",
                    model=words,
                    score=score if top == 1 else score * (0.5 + i / 100),
                    scale=(0, top),
                    rationale=f"judge: {words}",
                )
            )
            for who, grade in (("x", float(i % 5 < 3)), ("y", float(i % 5 < 3 and i != 1))):
                labels.append(
                    Label(
                        question_id=f"q{i} {words}",
                        system=system,
                        score=grade,
                        annotator=who,
                        rationale=f"person: {words}",
                        metadata={"question": f"{i} {words}", "answer": words, "lang": ("en", words)[i % 2]},
                    )
                )
    return report_cards(judgements, labels, resamples=200)


def shown(card: ReportCard) -> str:
    return surface(card_document(card))


def render_cards(found: list[ReportCard]) -> str:
    return render_page(cards_document(found))


def test_terminal_says_the_verdict_first_and_stays_within_100_columns():
    text = shown(cards()[0])
    assert all(cell_len(line) <= 100 for line in text.splitlines())
    verdict, measures, matrix = (
        text.index(words) for words in ("Better than", "exact agreement   ", "people \\ judge")
    )
    assert verdict < measures < matrix
    for words in (
        "People with each other, on 80 answers",
        "ROC AUC",
        "recall",
        "precision",
        "by system",
        "by lang",
        "By people: a = b.",
        "Most instructive disagreements",
        "people right, judge wrong",
        "people: person: b",
        "judge: judge: b",
    ):
        assert words in text, words
    assert "Pearson" not in text  # of two grades it is what Spearman is
    assert "quadratic kappa" not in text  # nor has it another name for people than for the judge
    assert "most to expect" not in text  # the judge is beside their median, and may exceed each of them
    assert "quadratic kappa" in shown(cards(top=3)[0])


def test_terminal_shows_calibration_where_scores_are_percentages():
    assert "Expected calibration error" in shown(cards(top=100)[0])


def test_an_error_on_a_wide_scale_has_as_many_decimals_as_its_ends(says):
    """The judge says 21 to 24 more than people: 22.5 on average."""
    judgements, labels = [], []
    for i in range(40):
        labels.append(Label(question_id=f"q{i}", system="s", score=float(i)))
        judgements.append(judgement_row(question_id=f"q{i}", score=i + 21.0 + i % 4, scale=(0, 100)))
    [found] = report_cards(judgements, labels, resamples=200)
    says(next(line for line in shown(found).splitlines() if line.startswith("signed error")))


def test_page_holds_the_whole_card():
    page = Page(render_cards(cards()))
    for words in (
        "judge: correctness by b",
        "People with each other, on 80 answers",
        "People (rows) and the judge (columns) people \\ judge wrong right recall",
        "By lang",
        "Do the judge and people rank the systems alike?",
        "Most instructive disagreements",
        "people right, judge wrong",
        "Judge judge: b",
    ):
        assert words in page.text, words


def test_grades_of_a_wider_scale_stand_as_numbers_also_on_cards_that_do_not_name_them():
    card = msgspec.structs.replace(
        cards()[0], categories=[0.0, 1.0, 2.0, 3.0], names=[], confusion=[[1] * 4] * 4, per_grade=[]
    )
    assert "judge (columns) people \\ judge 0 1 2 3" in Page(render_cards([card])).text
    assert "people 1, judge 0" in shown(card)


def test_page_and_terminal_say_which_answers_people_and_judge_rest_on():
    # q1 of both systems is tied: 78 settled answers, alpha of all 80.
    card = cards()[0]
    words = "Alpha, with and without the judge, uses the same 80 answers, including 2 with tied annotators."
    assert words in Page(render_cards([card])).text
    assert words in " ".join(shown(card).split())
    assert "of the same" not in shown(msgspec.structs.replace(card, humans=None))


def test_page_draws_calibration_and_biases():
    card = cards(top=100)[0]
    assert card.calibration is not None
    points = reliability_plot(card, card.calibration).figure.points
    assert [(point.x, point.value, point.n) for point in points] == [
        (part.mean, part.right.value, part.right.n) for part in card.calibration.bins
    ]
    assert render_cards(cards()).count('class="range"') == 3  # one bias has no interval


def test_page_names_the_axes_and_has_the_curve_as_numbers_too():
    card = cards(top=100)[0]
    assert card.calibration is not None
    page = Page(render_cards([card]))
    for words in ("how sure the judge is that the answer is right", "how often people say that it is right"):
        assert words in page.text, words
    first = card.calibration.bins[0]
    numbers = f"{percent_range(first.low, first.high)} {first.right.n} {percent(first.mean)}"
    assert numbers in page.text
    assert card.selective is not None
    assert "Right among the answers it is surest of" in page.text
    assert "Area under the curve of wrong verdicts" in shown(card)
    assert "Numbers of this chart" not in shown(card)


def test_the_price_of_verdicts_is_said_where_it_is_known_and_not_0():
    card = cards()[0]
    assert "1,000 verdicts" not in shown(card)
    assert "1,000 verdicts" not in shown(msgspec.structs.replace(card, usd_per_1000=0.0))
    assert "1,000 verdicts cost 0.4000 USD" in shown(msgspec.structs.replace(card, usd_per_1000=0.4))


def test_shade_is_the_share_of_peoples_grade():
    assert [shade(n, [0, 5, 15]) for n in (0, 5, 15)] == [0, 1, 4]
    assert shade(0, [0, 0]) == 0


def test_several_judges_have_a_list_of_contents():
    card = cards()[0]
    page = Page(render_cards([card, msgspec.structs.replace(card, judge="other")]))
    links = [value for name, value in page.attributes if name == "href"]
    found = [link for link in links if link and link.startswith("#card-")]
    assert found == ["#card-1", "#card-1", "#card-2"]  # the first skips to it


RLO, POP, FSI, PDI = "\u202e", "\u202c", "\u2068", "\u2069"


def test_texts_that_turn_the_direction_turn_nothing_beside_themselves():
    page = render_cards(cards(f"{PDI}evil{RLO}"))
    closed = f"{FSI}evil{RLO}{POP}{PDI}"
    assert f"{PDI}evil" not in page.replace(closed, "")  # no end without a beginning
    for part in re.split("<[^>]*>", page):  # in each text of the page, what begins also ends
        assert part.count(RLO) == part.count(POP)
        assert part.count(FSI) == part.count(PDI)
    assert closed in Page(page).text.split("By the judge: ")[1][:60]
