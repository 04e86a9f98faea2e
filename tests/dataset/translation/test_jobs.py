import pytest

from ragstone.dataset.translation.jobs import check_langs, plan, same
from ragstone.errors import ConfigError, DataError
from ragstone.records import Document, Question

ENGLISH = Question(id="a", question="Who sowed the wheat of this village?", lang="en")
GERMAN = Question(id="b", question="Wer hat den Weizen dieses Dorfes gesät?", lang="de")
SILENT = Document(id="c", text="The farmers of this village sowed the wheat in spring.")


def test_rows_are_done_language_by_language():
    jobs = plan([ENGLISH, GERMAN], ["es", "hi"]).jobs
    assert [(job.row.id, job.source, job.target) for job in jobs] == [
        ("a", "en", "es"),
        ("b", "de", "es"),
        ("a", "en", "hi"),
        ("b", "de", "hi"),
    ]


def test_rows_in_a_language_wanted_are_counted():
    planned = plan([ENGLISH, GERMAN], ["de", "es"])
    assert [(job.row.id, job.target) for job in planned.jobs] == [("a", "de"), ("a", "es"), ("b", "es")]
    assert (planned.n_same, planned.n_other) == (1, 0)


def test_a_source_leaves_other_languages_out_and_counts_them():
    planned = plan([ENGLISH, GERMAN], ["es"], "de")
    assert [job.row.id for job in planned.jobs] == ["b"]
    assert (planned.n_same, planned.n_other) == (0, 1)


def test_a_language_is_detected_or_taken_to_be_the_source():
    assert plan([SILENT], ["es"]).jobs[0].source == "en"
    assert plan([SILENT], ["es"], "fr").jobs[0].source == "fr"


def test_a_language_that_nobody_knows_is_told():
    with pytest.raises(
        DataError, match=r"1 rows do not say their language.*: x\. Give them the field `lang`"
    ):
        plan([Document(id="x", text="1234")], ["es"])


def test_a_region_is_of_its_language():
    assert same("pt", "pt-BR")
    assert same("pt_br", "pt-BR")
    assert not same("pt-PT", "pt-BR")
    assert not same("es", "et")


@pytest.mark.parametrize(
    ("langs", "message"),
    [
        (["spanish"], "'spanish' is no code of a language.*Did you mean 'es'"),
        (["xq"], "'xq' is no code of a language"),
        (["es", "es"], "'es' is given twice"),
    ],
)
def test_a_code_that_is_no_language_is_told(langs, message):
    with pytest.raises(ConfigError, match=message):
        check_langs(langs)


def test_codes_with_regions_and_of_three_letters_are_taken():
    check_langs(["pt-BR", "zh_Hans", "ast", "hi"])
