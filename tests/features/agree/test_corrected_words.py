import msgspec
import pytest
from tests.features.report.test_page import read
from tests.support.golden import sentence_in
from tests.support.surfaces import shown
from tests.support.tiny_run import MODEL, interval

from ragstone.features.agree.corrected_words import corrected_document, halving
from ragstone.features.judge.words import corrected_line
from ragstone.features.report._findings import findings
from ragstone.features.report.words import run_document
from ragstone.kernel.agreement.corrected_mean import CorrectedMean, sentence_of
from ragstone.kernel.runs.summary import corrected_of


def mean(**changed):
    made = CorrectedMean(
        judge="correctness",
        metric="correctness",
        model=MODEL,
        prompt_version=1,
        system="rag",
        raw=interval(0.9, 0.86, 0.93, 600),
        corrected=interval(0.8, 0.75, 0.84, 600),
        human=interval(0.79, 0.7, 0.86, 100),
        same_unit=True,
        threshold=None,
        n_labelled=100,
        n_rows=600,
        weight=0.7,
        worth=231.4,
        to_halve=420,
        sentence="",
        notes=["correctness of rag: left out are 2 answers on which annotators tied."],
    )
    made = msgspec.structs.replace(made, **changed)
    return msgspec.structs.replace(made, sentence=sentence_of(made))


def test_corrected_mean_stands_between_the_judges_and_that_of_the_labels(says):
    text = shown(corrected_document([mean()]), 80)
    row = next(line for line in text.splitlines() if "600" in line)
    says(" ".join(row.split()))
    says(" ".join(text.split()))
    assert "annotators tied" in text
    assert "random sample" in text
    assert max(map(len, text.splitlines())) <= 80


def test_scores_on_another_scale_are_marked(says):
    text = shown(corrected_document([mean(raw=interval(63, 60, 66, 600), same_unit=False)]), 80)
    assert "63.0*" in text
    says(text)


def test_run_says_where_a_corrected_mean_is_on_another_scale_than_the_judges(summary, write_run, says):
    other = msgspec.structs.replace(summary, corrected=[mean(raw=interval(63, 60, 66, 600), same_unit=False)])
    says(corrected_line(other.corrected[0]))
    page = read(write_run(summary=other))
    assert "63.0*" in page
    says(sentence_in(page, "a different scale"))
    assert page.count("on the labels&#39; scale") == 1  # beside the mean of the run
    same = read(write_run(summary=msgspec.structs.replace(summary, corrected=[mean()])))
    assert "another scale" not in same
    assert "labels' scale" not in same


def test_few_of_many_sentences_are_shown_and_every_mean():
    text = shown(corrected_document([mean(system=f"system {n}") for n in range(6)]), 80)
    assert text.count("People would give") == 3
    assert text.count("100 of 600") == 6


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({}, "420"),
        ({"to_halve": None}, "out of reach"),
        ({"to_halve": None, "n_labelled": 19}, ""),
        ({"corrected": interval(1, None, None, 9)}, ""),
    ],
)
def test_halving_in_few_words(changed, says):
    assert halving(mean(**changed)) == says


def test_mean_without_interval_says_why(says):
    text = mean(corrected=interval(1, None, None, 9), to_halve=None).sentence
    says(text)
    assert "halve" not in text


def test_each_mean_of_a_run_has_its_corrected_one_beside_it(summary, says):
    found = mean()
    with_labels = msgspec.structs.replace(summary, corrected=[found])
    ours = [metric for metric in summary.metrics if corrected_of(metric, with_labels)]
    assert [(one.judge, one.system) for one in ours] == [("correctness", "rag")]
    says(corrected_line(found))
    text = shown(run_document(with_labels), 80)
    assert "corrected: 0.80" in text
    assert "corrected:" not in shown(run_document(summary), 80)
    first = (
        "People would give 0.800 (95 % interval 0.750 to 0.840); the judge gives 0.900, which is too high."
    )
    assert first in findings(with_labels)[0].sentences
