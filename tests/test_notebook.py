"""What a notebook shows of every value: tables without markup from outside, and charts with a drawing."""

import json
import re
from html.parser import HTMLParser
from importlib import import_module
from xml.etree import ElementTree

import msgspec
import pytest
from msgspec import inspect
from tests.features.agree.test_corrected_words import mean
from tests.features.bench.judges.test_words import bench as judge_bench
from tests.features.bench.languages.test_words import study
from tests.features.bench.retrievers.test_words import bench
from tests.features.build.certificate.test_page import evil_build
from tests.support import tiny_run as tiny
from tests.support.browser import opened_tab
from tests.support.builds import build_of, ten
from tests.support.golden import check_golden, sentence_in

import ragstone
from ragstone.features.build.certificate.counting import certify
from ragstone.features.build.certificate.page import EvaluationSet
from ragstone.kernel.dataset.certificate import Certificate
from ragstone.kernel.document.charts import Dot, Dots
from ragstone.kernel.document.notebook import MOST_DOTS, VEGA_LITE, svg, vega_lite
from ragstone.kernel.records import AnyRow, Judgement, Question
from ragstone.kernel.runs.joined import FinishedRun
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.tables import Displayed, Rows
from ragstone.kernel.tables.shown import html_of
from ragstone.notebook import DOCUMENTS, OF_ROWS, SHOWN, bundles, html

summary, write_run = tiny.summary, tiny.write_run  # fixtures
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&[bold]\x1b[31m\u202e"
MARKUP = {
    *("style", "div", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "pre"),
    *("svg", "rect", "path", "circle", "text", "g", "title", "desc"),
}


def filled(shape: inspect.Type, text: str) -> object:
    """Return a value of a type, with the text wherever a text may stand."""

    def of(inner: inspect.Type) -> object:
        return filled(inner, text)

    makers = {
        inspect.StructType: lambda: shape.cls(**{field.name: of(field.type) for field in shape.fields}),
        inspect.LiteralType: lambda: shape.values[0],
        inspect.StrType: lambda: text,
        inspect.AnyType: lambda: text,
        inspect.BoolType: lambda: True,
        inspect.IntType: lambda: 1,
        inspect.FloatType: lambda: 0.5,
        inspect.DictType: lambda: {of(shape.key_type): of(shape.value_type)},
        inspect.ListType: lambda: [of(shape.item_type)],
        inspect.VarTupleType: lambda: (of(shape.item_type),),
        inspect.TupleType: lambda: _ends(tuple(map(of, shape.item_types))),
        inspect.UnionType: lambda: of(
            next(one for one in shape.types if not isinstance(one, inspect.NoneType))
        ),
    }
    return makers[type(shape)]()


def _ends(items: tuple) -> tuple:
    return (0.0, 1.0) if items == (0.5, 0.5) else items  # a scale has two ends


def sample(kind: type, text: str) -> object:
    made = {
        "BenchSummary": lambda: bench(text),
        "StudySummary": lambda: study(text),
        "JudgeBenchSummary": lambda: judge_bench(text),
        "CorrectedMean": lambda: mean(judge=text, metric=text, model=text, system=text, sentence=text),
    }
    return made[kind.__name__]() if kind.__name__ in made else filled(inspect.type_info(kind), text)


def _all_subclasses(kind: type) -> set[type]:
    return {kind, *(one for sub in kind.__subclasses__() for one in _all_subclasses(sub))} - {Displayed}


for place in DOCUMENTS.values():
    import_module(f"ragstone.{place.partition(':')[0]}")
SUMMARIES = sorted(_all_subclasses(Displayed) - {Rows}, key=lambda kind: kind.__name__)
KINDS = [kind for kind in SUMMARIES if kind not in (FinishedRun, Certificate, EvaluationSet)]


class Tags(HTMLParser):
    """What a browser would make of it: elements and their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def check_harmless(page: str) -> None:
    for tag, attributes in Tags(page).found:
        assert tag in MARKUP, tag
        assert not any(name.startswith("on") or name in ("src", "href") for name in attributes), attributes
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_summary_is_shown_and_text_from_outside_stays_text(kind):
    value = sample(kind, EVIL)
    check_harmless(html(value))
    shown = bundles(value)
    assert "alert(1)" in shown[0]["text/html"]
    assert "\x1b" not in shown[0]["text/plain"]
    for chart in shown[1:]:
        check_chart(chart)


def check_chart(chart: dict) -> None:
    """A drawing without a script; of dots beside a specification that holds its data and asks for nothing."""
    if spec := chart.get(VEGA_LITE):
        assert spec["$schema"] == "https://vega.github.io/schema/vega-lite/v5.json"
        assert "url" not in json.dumps(spec["data"])
        assert spec["data"]["values"]
    check_harmless(chart["image/svg+xml"])
    ElementTree.fromstring(chart["image/svg+xml"])
    assert chart["text/plain"].startswith("Chart: ")


@pytest.mark.long
@pytest.mark.parametrize("kind", [*OF_ROWS, *AnyRow.__args__], ids=lambda kind: kind.__name__)
def test_every_list_of_rows_is_shown_and_text_from_outside_stays_text(kind):
    if kind is Judgement:
        row = tiny.judgement(
            EVIL, EVIL, 0.5, metric=EVIL, rationale=EVIL, system=EVIL, model=EVIL, label=EVIL
        )
    elif kind.__name__ == "Chunk":
        row = kind(id=EVIL, document_id=EVIL, text=EVIL, start=0, end=len(EVIL))
    else:
        row = sample(kind, EVIL)
    for rows in (Rows([row]), Rows([row] * 12), Rows([], kind)):
        check_harmless(html(rows))
        for chart in bundles(rows)[1:]:
            check_chart(chart)
    assert "alert(1)" in html(Rows([row]))


@pytest.mark.parametrize("built", [evil_build(EVIL), build_of([]), ten()], ids=["evil", "empty", "ten"])
def test_certificates_are_shown(built):
    certificate = certify(built)
    check_harmless(html(certificate))
    (chart,) = bundles(certificate)[1:]
    values = chart[VEGA_LITE]["data"]["values"]
    assert (values[0]["name"], values[-1]["name"]) == ("tried", "accepted")


def test_an_evaluation_set_shows_its_certificate_and_its_first_questions():
    built = evil_build(EVIL)
    questions = [Question(id="q", question=EVIL, reference=EVIL)]
    made = EvaluationSet(questions=questions, certificate=certify(built), built=built, calls=Calls())
    check_harmless(html(made))
    first, chart = bundles(made)
    assert "1 row" in first["text/plain"]
    assert chart == bundles(certify(built))[1]


def test_runs_are_shown_as_their_summaries_are(write_run, summary):
    run = ragstone.read_run(write_run())
    assert bundles(run) == bundles(summary)


def test_whatever_says_that_it_shows_itself_is_known():
    assert [kind.__name__ for kind in SUMMARIES] == sorted({*SHOWN, *DOCUMENTS})


def judged() -> Rows[Judgement]:
    rows = [
        {
            "question_id": "q1",
            "question": "Who?",
            "reference": "Jane Austen",
            "answer": "Jane Austen. <b>Of course.</b>",
        },
        {"question_id": "q2", "question": "When?", "reference": "1815", "answer": "In 1816."},
    ]
    return ragstone.judge(rows, judges=["containment", "token_f1"])


def test_display_of_judgements_is_as_it_was():
    check_golden("notebook/judgements.html", html(judged()))


def test_judgements_have_their_means_on_top_with_interval_and_denominator():
    plain = bundles(judged())[0]["text/plain"]
    lines = plain.splitlines()
    assert re.search(r"containment: correctness\s+0 to 1\s+0\.50\s+0\.09 to 0\.91\s+2 of 2", lines[1])
    assert plain.index("2 of 2") < plain.index("question_id")


def test_judgements_of_answers_that_failed_show_why():
    failed = [{"question": "Who?", "reference": "r", "answer": "", "error": "HTTP 500 <i>from</i> farm"}]
    page = html(ragstone.judge(failed, judges=["containment"]))
    assert "app_error" in page
    assert "HTTP 500 &lt;i&gt;from&lt;/i&gt; farm" in page


def test_charts_hold_the_means_and_their_intervals():
    (chart,) = bundles(judged())[1:]
    first, second = chart[VEGA_LITE]["data"]["values"]
    assert (first["name"], first["value"]) == ("containment: correctness", 0.5)
    assert first["low"] < 0.5 < first["high"]
    assert second["name"] == "token_f1: correctness"
    assert "0.50 (0.09 to 0.91)" in chart["image/svg+xml"]


def test_only_the_first_rows_are_shown_and_long_texts_are_cut(says):
    rows = Rows([Question(id=f"q{n}", question="why " * 100) for n in range(25)])
    page = html(rows)
    assert page.count("<tr>") == 11
    says(sentence_in(page, "25 rows"))
    assert len(page) < 6000
    assert "why why…" in page


def test_fields_that_hold_nothing_are_not_shown():
    plain = bundles(Rows([Question(id="q", question="?")]))[0]["text/plain"]
    assert plain.splitlines()[0].split() == ["id", "question", "kind"]


def test_a_list_without_rows_says_so():
    assert bundles(Rows([], Judgement))[0]["text/plain"] == "0 rows"
    assert bundles(Rows())[0]["text/plain"] == "0 rows"


def test_what_the_terminal_has_in_bold_or_dim_is_so():
    page = html(bench("q"))
    assert '<td dir="auto"><b>best</b></td>' in page
    assert '<td dir="auto" class="dim">worse</td>' in page
    assert '<p dir="auto" class="warn">- down was not measured: q</p>' in page


def test_a_card_shows_the_judge_beside_its_baseline():
    _, beyond, exact = bundles(Rows([tiny.card(better=False)]))
    assert [one["name"] for one in beyond[VEGA_LITE]["data"]["values"]] == ["kappa"]
    assert [one["name"] for one in exact[VEGA_LITE]["data"]["values"]] == ["judge", "always right"]


def test_a_chart_has_one_line_for_each_value_and_no_more_than_fit():
    dots = Dots(
        title="t", dots=[Dot(name=f"n{n}", value=n, low=None, high=None) for n in range(50)], ends=None
    )
    assert len(vega_lite(dots)["data"]["values"]) == MOST_DOTS
    assert svg(dots).count("<circle") == MOST_DOTS


@pytest.mark.parametrize("value", [0.0, 5.0, -3.0])
def test_a_chart_of_one_value_has_a_scale(value):
    drawn = svg(Dots(title="t", dots=[Dot(name="n", value=value)], ends=None))
    assert "nan" not in drawn
    assert 0 < float(re.search(r'cx="([\d.]+)"', drawn)[1]) < 720


def test_a_frontend_that_takes_html_alone_gets_all_in_one():
    assert judged()._repr_html_() == html_of(judged()) == html(judged())
    assert html_of(judged()).count("<svg") == 1


def test_it_is_shown_in_as_many_outputs_as_it_has_parts(monkeypatch):
    published: list[dict] = []
    monkeypatch.setattr("IPython.display.publish_display_data", published.append)
    judged()._ipython_display_()
    assert [sorted(one) for one in published] == [
        ["text/html", "text/plain"],
        [VEGA_LITE, "image/svg+xml", "text/plain"],
    ]


def test_summary_of_a_run_shows_what_the_terminal_shows(summary):
    plain = bundles(summary)[0]["text/plain"]
    for asked in ("Is it right?", "What is to blame?", "How far can the judge be trusted?"):
        assert asked in plain
        assert asked in html(summary)
    assert msgspec.json.decode(msgspec.json.encode(summary), type=type(summary)) == summary


@pytest.mark.browser
def test_no_head_breaks_inside_a_word_where_a_column_of_text_is_long(tmp_path):
    rows = [tiny.judgement(f"q{at}", "correctness", at % 2, rationale="It says so. " * 9) for at in range(3)]
    path = tmp_path / "cell.html"
    path.write_text(f"<meta charset=utf-8><body style='width:30rem'>{html(Rows(rows, Judgement))}")
    with opened_tab() as tab:
        tab.open(path)
        heights = tab.run("[...document.querySelectorAll('th')].map((head) => head.clientHeight)")
    assert max(heights) < 30  # pixels: one line


def test_plots_of_a_summary_are_svg_texts_by_name_and_of_one_without_there_are_none():
    svgs = tiny.summary_of(tiny.JUDGEMENTS).svgs()
    assert "means" in svgs
    for drawn in svgs.values():
        assert ElementTree.fromstring(drawn).tag.endswith("svg")
        check_harmless(drawn)
    assert tiny.summary_of([tiny.judgement("q1", "correctness", 1)]).svgs() == {}
