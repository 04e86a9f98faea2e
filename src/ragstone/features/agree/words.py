"""Report cards of judges: each as a document, whole in a page and its first lines in a terminal."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from zlib import crc32

import msgspec

from ragstone.features.agree._sentence_table import HOLD, OFF
from ragstone.kernel.agreement.card import (
    BEYOND_CHANCE,
    AnswerGroup,
    Baseline,
    Disagreement,
    ReportCard,
    Reversal,
    SystemRanking,
    chance_corrected,
    grade_name,
)
from ragstone.kernel.agreement.corrected_mean import precise
from ragstone.kernel.decimals import decimal, short, signed_decimal, signed_decimals
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Fold,
    Heading,
    Link,
    Listing,
    Made,
    Pairs,
    Paragraph,
    ReportDocument,
    Row,
    SurfacePart,
    Table,
    Tone,
    Where,
    estimated,
    table_of,
)
from ragstone.kernel.document.charts import Dots, dot
from ragstone.kernel.document.html import render_blocks
from ragstone.kernel.document.numbers import (
    count,
    interval,
    number,
    one_line,
    percent,
    percent_range,
    signed_interval,
    signed_with_ends,
    usd,
    with_ends,
)
from ragstone.kernel.document.plots.values import Plot, PlotPoint, Reliability
from ragstone.kernel.errors import plural
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.runs.wording import doubt, judge_name, labelled, tau_told
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import Calibration, Estimate, SelectiveAccuracy
from ragstone.kernel.version import __version__

MEANINGS = {
    "exact agreement": "the same grade from both",
    "within one": "at most one step apart",
    "kappa": "Cohen's, agreement beyond chance",
    "linear kappa": "Cohen's, a near miss counts less",
    "quadratic kappa": "Cohen's, a far miss counts most",
    "pooled kappa": "over all pairs of annotators, in both orders",
    "pooled quadratic kappa": "over all pairs, a far miss counts most",
    "alpha": "Krippendorff's, the judge as one more rater",
    "nominal alpha": "Krippendorff's, the judge as one more rater",
    "ordinal alpha": "the same, by rank",
    "interval alpha": "the same, by distance",
    "Pearson": "correlation of the scores",
    "Spearman": "correlation of the ranks",
    "Kendall tau-b": "of two answers, the same order from both",
    "ROC AUC": "scores a right answer above a wrong one",
    "signed error": "judge minus people: above 0 lenient",
}
SHOWN_DISAGREEMENTS = 3  # in a terminal
SHOWN_TEXT = 240  # characters of a question or a reason there
INTERVALS = "Intervals are at 95 % unless said otherwise, over whole questions."


def cards_document(cards: Sequence[ReportCard]) -> ReportDocument:
    """Return the page of report cards: their verdicts, then each whole."""
    closed = [contained(card) for card in cards]
    contents: list[Made[tuple[int, ReportCard]]] = [
        (
            Column("Judge", text=True),
            lambda numbered: Cell(
                "", doubt(numbered[1]) or "", links=(Link(title(numbered[1]), f"card-{numbered[0]}"),)
            ),
        )
    ]
    several = [table_of("Judges", list(enumerate(closed, 1)), contents, kind="")] if len(closed) > 1 else []
    return ReportDocument(
        title="How far can the judge be trusted?",
        kind="report card",
        about=f"{plural(len(closed), 'judge')} compared with people's labels. {INTERVALS}",
        version=__version__,
        blocks=[
            *several,
            *(
                block
                for at, card in enumerate(closed, 1)
                for block in (Heading(title(card), anchor=f"card-{at}"), _verdict(card), *card_blocks(card))
            ),
        ],
        skip=("card-1", "report card"),
    )


def card_document(card: ReportCard) -> ReportDocument:
    """Return what `ragstone agree` and a notebook show of one judge: the verdict, then what it rests on."""
    return ReportDocument(
        title=title(card),
        kind="report card",
        about=labelled(card),
        version=__version__,
        blocks=[_verdict(card), *card_blocks(card)],
    )


def card_dots(cards: Sequence[ReportCard]) -> list[Dots]:
    """Return each judge's agreement with people beyond chance, then the exact one beside the baselines'."""
    beyond, exact = [], []
    for card in cards:
        judge = f"{judge_name(card)} ({card.model})"
        lead, agreement = chance_corrected(card.agreement), card.agreement.get("exact agreement")
        beyond += [dot(lead[0], lead[1], judge)] if lead else []
        exact += [dot("judge", agreement, judge)] if agreement else []
        exact += [dot(rival.name, rival.exact_agreement, judge) for rival in _rivals(card)]
    charts = {"Agreement with people beyond chance": beyond, "Exact agreement with people": exact}
    return [Dots(title=title, dots=dots) for title, dots in charts.items() if dots]


def words_of_cards() -> dict[str, object]:
    """Return what the pages of the workbench and of a run call: the title of a card, and the whole of it."""
    return {
        "contained": contained,
        "title": title,
        "card_body": lambda card: render_blocks(card_blocks(card)),
        "report_card": lambda card: render_blocks(folded_card(card)),
    }


def folded_card(card: ReportCard) -> list[Block]:
    """Return the verdict, and the whole card to unfold, for the page of a run."""
    card = contained(card)
    fold = Fold("The whole report card", card_blocks(card))
    return [
        SurfacePart([Heading(title(card), level=3), _verdict(card, tone=""), fold], kind="card", where="page")
    ]


def _verdict(card: ReportCard, tone: Tone = "outcome") -> Paragraph:
    return (
        Paragraph(f"† {card.verdict}", tone="warn", part="answer")
        if doubt(card)
        else Paragraph(card.verdict, tone=tone)
    )


def card_blocks(card: ReportCard) -> list[Block]:
    """Return what a card's verdict rests on."""
    cut = (
        ""
        if card.threshold is None
        else f" Scores of {number(card.threshold)} or more count as the upper grade."
    )
    footing = people_footing(card)
    return [
        Paragraph(f"Rests on {labelled(card)}.{cut}", tone="muted", where="page"),
        *(Paragraph(note, tone="muted", part="caution") for note in card.notes),
        *_measures(card),
        *([Paragraph(footing, tone="muted")] if footing else []),
        *([_confusion(card)] if card.confusion else []),
        *(_calibration(card, card.calibration) if card.calibration else []),
        *(
            [Paragraph(f"1,000 verdicts cost {usd(card.usd_per_1000)}, at the price of these.", tone="muted")]
            if card.usd_per_1000
            else []
        ),
        *([_baselines(card)] if _rivals(card) else []),
        *(_groups(card, by, groups) for by, groups in tables_of(card).items()),
        *(_ranking(card.ranking) if card.ranking else []),
        *_protocol(card),
        *_disagreements(card),
    ]


def _protocol(card: ReportCard) -> list[Block]:
    """Return which items of a validation are met, and what to run for those that are not."""
    if not card.protocol:
        return []
    states = Counter(item.state for item in card.protocol)
    n = len(card.protocol) - states["not applicable"]
    tones: dict[str, Tone] = {"met": "good", "not met": "open", "not applicable": "muted"}
    lacking = [item.item for item in card.protocol if item.state == "not met"]
    listed = f" Not met: {', '.join(lacking)}; --page FILE shows why, and what to run." if lacking else ""
    n_met = f"{states['met']} of {plural(n, 'item')} of its validation {'is' if n == 1 else 'are'} met."
    return [
        Paragraph(f"{n_met}{listed}", tone="muted", where="terminal"),
        table_of(
            f"Validation of {judge_name(card)}",
            card.protocol,
            [
                (Column("Item", text=True), lambda item: item.item),
                (Column("State", text=True), lambda item: Cell(item.state, tone=tones[item.state])),
                (Column("Why", text=True), lambda item: Cell(item.why, item.next.replace("`", ""))),
            ],
            caption=n_met,
            kind="",
            where="page",
        ),
    ]


def difference_cell(estimate: Estimate | None, places: int = 2, tone: Tone = "") -> Cell:
    """Return the cell of a difference: its value, the interval beside it; an empty one of nothing."""
    if estimate is None:
        return Cell("")
    value = signed_decimal(estimate.value, 1 if abs(estimate.value) >= 20 else places)
    return Cell(value, signed_interval(estimate), tone, at=estimate)


def _measures(card: ReportCard) -> list[Block]:
    """Return how the judge agrees with people, and how people do with each other."""
    columns: list[Made[tuple[str, Estimate]]] = [
        (Column("With people", text=True, short=""), lambda row: row[0]),
        (
            Column("Value", short="with people", beside="interval"),
            lambda row: (
                difference_cell(row[1], 3, "strong")
                if row[0] == "signed error"
                else Cell(precise(row[1].value), interval(row[1]), "strong")
            ),
        ),
    ]
    says: Made[tuple[str, Estimate]] = (
        Column("Says", text=True, where="page"),
        lambda row: MEANINGS.get(row[0], ""),
    )
    judge, people = list(measures(card).items()), people_measures(card)
    n = plural(card.humans.n_answers if card.humans else 0, "answer")
    caption = f"People with each other, on {n}: all pairs of annotators"
    label = f"Agreement of {judge_name(card)}"
    return [
        *([table_of(label, judge, [*columns, says], kind="")] if judge else []),
        *([table_of(f"{label}: people", people, columns, caption=caption, kind="")] if people else []),
    ]


def _confusion(card: ReportCard) -> Table:
    called, grades = names(card), card.per_grade
    rows: list[Row] = []
    for at, (name, counts) in enumerate(zip(called, card.confusion, strict=True)):
        cells = [
            Cell(count(n), heat=shade(n, counts), framed=column == at) for column, n in enumerate(counts)
        ]
        rows.append([Cell(name, tone="muted"), *cells, *([estimated(grades[at].recall)] if grades else [])])
    if grades:
        rows.append(
            [Cell("precision", tone="muted"), *(estimated(of_grade.precision) for of_grade in grades), ""]
        )
    margin = [Column("recall", beside="interval")] if grades else []
    columns = [Column("people \\ judge", text=True), *map(Column, called), *margin]
    caption = "People (rows) and the judge (columns)"
    return Table(columns, rows, f"Confusion matrix of {judge_name(card)}", caption, kind="heat")


def shade(n: int, row: Sequence[int]) -> int:
    """Return how dark a cell of the confusion matrix is, 0 to 5: by its share of people's grade."""
    total = sum(row)
    return round(5 * n / total) if total else 0


def _calibration(card: ReportCard, calibration: Calibration) -> list[Block]:
    """Return how far probabilities hold: what may be said, the numbers, and on a page the curve."""
    graded = card.probability_of == "its grade"
    what = "probability" if graded else "score"
    right = "people give the same grade" if graded else "people call right"
    usual = (
        ""
        if calibration.usual_error is None
        else " Over ten bins of equal width and without that subtraction, as most tools print it: "
        f"{number3(calibration.usual_error)}."
    )
    question = f"Calibration: is a {what} of 0.8 right 80 times out of 100?"
    return [
        Heading(question, level=4, where="page"),
        *map(Paragraph, card.probability_notes),
        reliability_plot(card, calibration),
        Paragraph(
            f"Expected calibration error {with_ends3(calibration.error)}: the average distance between the "
            f"{what} and the share of answers that {right}, minus the estimated contribution of "
            f"chance.{usual}"
        ),
        Paragraph(
            f"Brier score {with_ends3(calibration.brier)} (0 is best). Always giving the share of right "
            f"answers as the {what} reaches {number3(calibration.rate_brier)}."
        ),
        *(_selective(card, card.selective) if card.selective else []),
    ]


def _selective(card: ReportCard, selective: SelectiveAccuracy) -> list[Block]:
    """Return how often the surest verdicts are right: on a page by coverage, then the area."""
    table = table_of(
        f"Selective accuracy of {judge_name(card)}",
        selective.points,
        [
            ("Answers it is surest of", lambda point: percent(point.coverage)),
            ("Probability from", lambda point: number3(point.sure)),
            ("Answers", lambda point: count(point.right.n)),
            (Column("Share right", beside="interval"), lambda point: estimated(point.right)),
            (
                Column("More than all", beside="interval"),
                lambda point: difference_cell(point.more, 3, "strong"),
            ),
        ],
        caption="Right among the answers it is surest of",
        kind="",
        where="page",
    )
    wrong = Paragraph(
        f"Area under the curve of wrong verdicts against coverage {with_ends3(selective.area)} (0 is best). "
        f"In random order it is {number3(1 - selective.right.value)}, the share of wrong verdicts (gain "
        f"{difference3(selective.gain)})."
    )
    return [*([table] if selective.points else []), wrong]


def number3(value: float) -> str:
    """Return a share or a difference of shares with three decimals and a true minus sign."""
    return decimal(value, 3)


def with_ends3(estimate: Estimate) -> str:
    """Return `0.031 (0.012 to 0.054)`."""
    if estimate.low is None or estimate.high is None:
        return f"{number3(estimate.value)} (no interval)"
    return f"{number3(estimate.value)} ({number3(estimate.low)} to {number3(estimate.high)})"


def difference3(estimate: Estimate) -> str:
    """Return `+0.031 (+0.012 to +0.054)`."""
    if estimate.low is None or estimate.high is None:
        return f"{signed_decimal(estimate.value, 3)} (no interval)"
    return f"{signed_decimal(estimate.value, 3)} ({signed_decimals(estimate.low, estimate.high, 3)})"


def reliability_plot(card: ReportCard, calibration: Calibration) -> Plot:
    """Return what the judge says against what people say, by bins: in plain words, with the counts."""
    graded = card.probability_of == "its grade"
    points = [
        PlotPoint(
            name=percent_range(part.low, part.high),
            x=part.mean,
            value=part.right.value,
            low=part.right.low,
            high=part.right.high,
            n=part.right.n,
        )
        for part in calibration.bins
    ]
    figure = Reliability(
        points=points,
        across="how sure the judge is " + ("of its grade" if graded else "that the answer is right"),
        upwards="how often people " + ("give the same grade" if graded else "say that it is right"),
    )
    sentences = filter(None, [say(calibration, OFF, HOLD)])
    return Plot(
        name=f"calibration-{crc32(title(card).encode()):08x}",
        title=f"What {judge_name(card)} says, and what people say",
        figure=figure,
        said=["On the dashed line both say the same; below it the judge says more than people.", *sentences],
    )


def _rivals(card: ReportCard) -> list[Baseline]:
    return [rival for rival in (card.constant, card.no_model) if rival]


def _baselines(card: ReportCard) -> Table:
    doubts = {False: Cell("no better", tone="warn"), None: Cell("cannot tell", tone="warn")}
    agreement = Column("Its agreement", short="agreement", beside="interval")

    def so(rival: Baseline) -> Cell:
        return Cell("the judge is better") if rival.better else doubts[rival.better]

    columns: list[Made[Baseline]] = [
        (
            Column("Baseline", text=True, short=""),
            lambda rival: Cell(rival.name, "always the same" if rival is card.constant else "no model"),
        ),
        (agreement, lambda rival: estimated(rival.exact_agreement)),
        (Column("The judge's", short="the judge's"), lambda rival: Cell(number(rival.judge), tone="strong")),
        (
            Column("Difference", short="difference"),
            lambda rival: difference_cell(rival.difference),
        ),
        (Column("So", text=True, short=""), so),
        (Column("Answers", where="page"), lambda rival: count(rival.n)),
    ]
    caption = "Compared with judges that cost nothing, by exact agreement with people"
    return table_of(f"Baselines of {judge_name(card)}", _rivals(card), columns, caption=caption, kind="")


def _groups(card: ReportCard, by: str, groups: list[AnswerGroup]) -> Table:
    """Return one line a group: its answers, agreement, both means and the bias."""
    ends = [
        end
        for group in groups
        if group.bias
        for end in (group.bias.value, group.bias.low, group.bias.high)
        if end is not None
    ]
    span = (min(0.0, *ends), max(0.0, *ends)) if ends else None
    first, *others = [*dict.fromkeys(name for group in groups for name in group.agreement), ""]

    def measure(name: str, where: Where) -> Made[AnswerGroup]:
        def cell(group: AnswerGroup) -> Cell:
            estimate = group.agreement.get(name)
            return msgspec.structs.replace(estimated(estimate), short=with_ends(estimate))

        return Column(name, where=where), cell

    def biased(group: AnswerGroup) -> Cell:
        cell = difference_cell(group.bias)
        return msgspec.structs.replace(cell, short=f"{cell.words} ({cell.beside})") if group.bias else cell

    columns: list[Made[AnswerGroup]] = [
        (Column("", text=True, short=f"by {by}"), lambda group: group.name),
        (Column("Answers", short="n"), lambda group: count(group.n)),
        *([measure(first, "everywhere")] if first else []),
        *(measure(name, "page") for name in others if name),
        (Column("People", short="people"), lambda group: number(group.human)),
        (Column("Judge", short="judge"), lambda group: number(group.judge)),
        *([(Column("Bias", short="bias", ends=span), biased)] if span else []),
    ]
    return table_of(f"{judge_name(card)} by {by}", groups, columns, caption=f"By {by}", kind="")


def _ranking(ranking: SystemRanking) -> list[Block]:
    return [
        Heading("Do the judge and people rank the systems alike?", level=4),
        *(Paragraph(line) for line in ranking_sentences(ranking)),
        Listing(
            [f"Reversed: {reversal_text(reversal)}" for reversal in ranking.reversals],
            most=SHOWN_DISAGREEMENTS,
        ),
    ]


def _disagreements(card: ReportCard) -> list[Block]:
    """Return the disagreements: whole on a page, the first ones cut where there is little room."""
    disagreements = card.disagreements
    if not disagreements:
        return []
    brief = [
        line for disagreement in disagreements[:SHOWN_DISAGREEMENTS] for line in _brief(card, disagreement)
    ]
    n_more = len(disagreements) - SHOWN_DISAGREEMENTS
    more = [Paragraph(f"  {n_more} more with `--page FILE` or `--json`.", tone="muted")] if n_more > 0 else []
    return [
        Heading("Most instructive disagreements", level=4),
        SurfacePart([*brief, *more], where="terminal"),
        *(
            SurfacePart(_whole(card, disagreement), kind="differing", where="page")
            for disagreement in disagreements
        ),
    ]


def _brief(card: ReportCard, disagreement: Disagreement) -> list[Block]:
    system = "" if disagreement.system == "default" else f", {disagreement.system}"
    texts = [("asked", disagreement.question), *_said(disagreement)]
    return [
        Paragraph(
            f"  {disagreement.question_id}{system}: {disagreement_head(card, disagreement)}", tone="strong"
        ),
        *(Paragraph(f"    {what.lower()}: {one_line(text, SHOWN_TEXT)}") for what, text in texts if text),
    ]


def _whole(card: ReportCard, disagreement: Disagreement) -> list[Block]:
    where = [
        disagreement_head(card, disagreement),
        *([] if disagreement.system == "default" else [disagreement.system]),
        disagreement.question_id,
    ]
    return [
        Heading(disagreement.question or disagreement.question_id, level=3),
        Paragraph(" · ".join(where), tone="muted"),
        Pairs([(what, text) for what, text in _said(disagreement) if text]),
    ]


def _said(disagreement: Disagreement) -> list[tuple[str, str | None]]:
    people = [("People", reason) for reason in disagreement.human_reasons]
    return [
        ("Answer", disagreement.answer),
        ("Reference", disagreement.reference),
        *people,
        ("Judge", disagreement.judge_reason),
    ]


def title(card: ReportCard) -> str:
    """Return the judge, its metric and its model."""
    return judge_name(card) + ("" if card.model == NO_MODEL else f" by {card.model}")


def names(card: ReportCard) -> list[str]:
    """Return what each grade of the card is called."""
    return card.names or [grade_name(card.metric, grade, card.categories) for grade in card.categories]


def grade(card: ReportCard, value: float) -> str:
    """Return a score as it is shown: the name of the grade where it is one, else the number."""
    if card.threshold is None and value in card.categories:
        return names(card)[card.categories.index(value)]
    return number(value) if value != round(value) else short(value)


def human_grade(card: ReportCard, value: float) -> str:
    """Return people's grade, which no threshold cuts."""
    if value in card.categories:
        return names(card)[card.categories.index(value)]
    return grade(card, value)


def measures(card: ReportCard) -> dict[str, Estimate]:
    """Return the measures to show: of two grades all correlations are one, so one of them."""
    alike = ("Pearson", "Kendall tau-b") if len(card.categories) == 2 else ()
    # Cards written by earlier versions have the exact one first.
    first = [name for name in BEYOND_CHANCE if name in card.agreement]
    names = [name for name in [*first, *card.agreement] if name not in alike]
    return {name: card.agreement[name] for name in names}


def tables_of(card: ReportCard) -> dict[str, list[AnswerGroup]]:
    """Return the groups to show, by what they are grouped by: systems where there are several, then tags."""
    by_system = {"pair of systems" if card.metric == "preference" else "system": card.by_system}
    return {by: groups for by, groups in (by_system | card.by).items() if len(groups) > 1}


def ranking_sentences(ranking: SystemRanking) -> list[str]:
    """Return the two orders of the systems, and how far they can be relied on."""
    people = _order_text(ranking.by_people, ranking.tied_by_people)
    judge = _order_text(ranking.by_judge, ranking.tied_by_judge)
    orders = [f"By people: {people}.", f"By the judge: {judge}."]
    if judge == people:
        orders = [f"By people and by the judge: {people}."]
    n = len(ranking.by_people)
    if any(len(group) == n for group in (*ranking.tied_by_people, *ranking.tied_by_judge)):
        return [*orders, "Systems with the same mean have no order."]
    tau = "" if ranking.tau is None else f" Kendall's tau of the two orders is {tau_told(ranking.tau)}."
    share = (
        f"In {100 * ranking.same_best:.0f} % of the bootstrap resamples the judge's best is people's best."
    )
    return [*orders, f"{share}{tau}"]


def _order_text(systems: Sequence[str], tied: Sequence[Sequence[str]]) -> str:
    """Return systems from the best to the worst; those that are tied are joined by an equals sign."""
    group_of = {name: at for at, group in enumerate(tied) for name in group}
    text = systems[0]
    for before, after in pairwise(systems):
        same = before in group_of and group_of[before] == group_of.get(after)
        text += f" {'=' if same else '>'} {after}"
    return text


def reversal_text(reversal: Reversal) -> str:
    """Return a reversed pair with both differences."""
    return (
        f"{reversal.better} before {reversal.worse}: by people {signed_with_ends(reversal.human)}, "
        f"by the judge {signed_with_ends(reversal.judge)}"
    )


def people_measures(card: ReportCard) -> list[tuple[str, Estimate]]:
    """Return how people agree with each other, by the name of each measure; empty with one annotator."""
    people = card.humans
    if people is None:
        return []
    # Of two grades the weights are all the same. It is not Cohen's, which the judge's is: it pools all pairs.
    name = "pooled kappa" if len(card.categories) == 2 else "pooled quadratic kappa"
    kappa = [(name, people.kappa)] if people.kappa else []
    return [*kappa, ("exact agreement", people.exact_agreement), *people.alpha.items()]


def people_footing(card: ReportCard) -> str:
    """Return which answers people's figures and the judge's rest on; empty where they are the same."""
    alphas = [estimate for name, estimate in card.agreement.items() if name.endswith("alpha")]
    n_tied = alphas[0].n - card.n if alphas else 0
    if card.humans is None or not card.humans.alpha or n_tied <= 0:
        return ""
    return (
        f"Alpha, with and without the judge, uses the same {alphas[0].n:,} answers, including {n_tied:,} "
        "with tied annotators. The judge's other measures leave out tied answers. People's measures include "
        "all answers with two annotators, so they look lower."
    )


def disagreement_head(card: ReportCard, disagreement: Disagreement) -> str:
    """Return what people and the judge gave an answer, and whether people differ among themselves."""
    grades = f"people {human_grade(card, disagreement.human)}, judge {grade(card, disagreement.judge)}"
    if not disagreement.divided:
        return grades
    return f"{grades}; people differ: {', '.join(human_grade(card, own) for own in disagreement.grades)}"


EMBEDDINGS, END_EMBEDDING = "\u202a\u202b\u202d\u202e", "\u202c"
ISOLATES, END_ISOLATE = "\u2066\u2067\u2068", "\u2069"
CONTROLS = frozenset(EMBEDDINGS + END_EMBEDDING + ISOLATES + END_ISOLATE)
FIRST_STRONG = "\u2068"


def contained(card: ReportCard) -> ReportCard:
    """Return the card with every text closed in itself, the names inside its sentences too."""
    names = [card.judge, card.metric, card.model, *(row.name for row in card.by_system), *card.names]
    names += [rival.name for rival in (card.constant, card.no_model) if rival]
    names += [text for by, groups in card.by.items() for text in (by, *(group.name for group in groups))]
    turning = sorted({name for name in names if CONTROLS & set(name)}, key=len, reverse=True)
    plain = msgspec.to_builtins(card, str_keys=False)
    return msgspec.convert(_walked(plain, turning), ReportCard)


def _walked(value: object, turning: list[str]) -> object:
    if isinstance(value, str):
        return _isolated(value, turning)
    if isinstance(value, dict):
        return {_walked(key, turning): _walked(part, turning) for key, part in value.items()}
    return [_walked(part, turning) for part in value] if isinstance(value, list) else value


def _isolated(text: str, turning: list[str]) -> str:
    """Return a text whose directions end with it, and in it each of the names so."""
    if not CONTROLS & set(text):
        return text
    for name in turning:
        text = text.replace(name, f"{FIRST_STRONG}{_closed(name)}{END_ISOLATE}")
    return f"{FIRST_STRONG}{_closed(text)}{END_ISOLATE}"


def _closed(text: str) -> str:
    """Return the text without ends that have no beginning, and with the ends that it lacks."""
    characters, open_ = [], []
    for character in text:
        if character in EMBEDDINGS:
            open_.append(END_EMBEDDING)
        elif character in ISOLATES:
            open_.append(END_ISOLATE)
        elif character in (END_EMBEDDING, END_ISOLATE):
            if not open_ or open_[-1] != character:
                continue
            open_.pop()
        characters.append(character)
    return "".join(characters + open_[::-1])
