"""The judges of a project with what is known of each: sentence, figure beside people, price."""

import msgspec
import pytest
from tests.support.tiny_run import JUDGEMENTS, card, summary_of

from ragstone.features.judges import library as judges_library
from ragstone.features.judges.library import (
    OURS,
    figure_text,
    groups,
    judge_library,
    judges_with,
    list_judges,
    named_judges,
    near_judges,
    price_text,
)
from ragstone.features.judges.prices import KnownPrices, RowLengths, prices_of, usual_lengths
from ragstone.kernel.config import load_settings
from ragstone.kernel.engine.digests import digest_of
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import judge_names, load_judge
from ragstone.kernel.records import Answer, Context, Question
from ragstone.kernel.tables import write_rows

FILE = """name = "tone"
version = 1
kind = "boolean"
inputs = ["answer"]
scale = [0, 1]
source = "ours"
prompt = "Is {answer} kind?"
"""
PRICED = '[judge]\nmodel = "openai/mine"\n[models."openai/mine"]\n'
PRICE = "price_usd_per_million = { input = 2.0, output = 8.0 }\n"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "judges").mkdir()
    (tmp_path / "judges" / "tone.toml").write_text(FILE + 'description = "Whether the answer is kind."\n')
    return tmp_path


def settings_in(folder, text=""):
    (folder / "ragstone.toml").write_text(text)
    return load_settings(folder / "ragstone.toml")


def of(entries, name):
    return next(entry for entry in entries if entry.name == name)


def test_a_judge_of_ones_own_has_its_sentence_and_stands_first(project, says):
    entries = list_judges(settings=settings_in(project))
    assert (entries[0].name, entries[0].group) == ("tone", OURS)
    says(entries[0].about)
    assert {entry.name for entry in entries[1:]} == set(judge_names())
    assert [entry.name for entry in list_judges("whether KIND tone", settings=settings_in(project))] == [
        "tone"
    ]
    found = list_judges("Contexts SHARE", settings=settings_in(project))
    says("\n".join(sorted({entry.group for entry in found})))
    assert list_judges("no such judge", settings=settings_in(project)) == []


def test_a_description_is_no_change_of_a_judge_and_is_bounded(project):
    described = load_judge(project / "judges" / "tone.toml")
    (project / "plain.toml").write_text(FILE)
    assert digest_of(described) == digest_of(load_judge(project / "plain.toml"))
    (project / "plain.toml").write_text(f'{FILE}description = "{301 * "x"}"\n')
    with pytest.raises(ConfigError, match="description"):
        load_judge(project / "plain.toml")


def test_a_broken_judge_is_listed_with_what_is_wrong(project):
    (project / "judges" / "odd.toml").write_text(FILE.replace('"boolean"', '"bolean"'))
    entry = of(list_judges(settings=settings_in(project)), "odd")
    assert entry.judge is None
    assert "boolean" in entry.wrong
    (project / "slip.toml").write_text(FILE.replace('"boolean"', '"boolean'))  # beside the settings, no TOML
    (project / "other.toml").write_text('name = "no judge')
    listed = {entry.name: entry for entry in named_judges(settings_in(project)) if entry.wrong}
    assert {*listed} == {"odd", "slip"}


def test_the_figure_is_of_the_card_that_says_most_and_names_what_speaks_against_it(project, says):
    run = project / "runs" / "a"
    run.mkdir(parents=True)
    judge = load_judge("faithfulness")
    named = {"judge": judge.name, "metric": judge.measures, "prompt_version": judge.version}
    good = msgspec.structs.replace(card(better=True), **named)
    older = msgspec.structs.replace(good, prompt_version=judge.version + 7, n=9999)
    summary = msgspec.structs.replace(summary_of(JUDGEMENTS), cards=[older, good])
    (run / "summary.json").write_bytes(msgspec.json.encode(summary))
    library = judge_library(settings_in(project))
    entry = of(library.judges, judge.name)
    assert [found.card.prompt_version for found in entry.cards] == [judge.version, judge.version + 7]
    name, estimate = good.lead
    figure = figure_text(entry)
    assert figure.startswith(f"{name} {estimate.value:.2f}".replace("-", "−"))
    assert f"on {good.n} labelled answers, model {good.model}; " in figure
    says(figure)
    assert "version" not in figure
    assert figure_text(of(library.judges, "claims")) is None
    only_older = msgspec.structs.replace(entry, cards=entry.cards[1:])
    assert f", version {judge.version + 7}" in figure_text(only_older)
    bad = msgspec.structs.replace(
        entry.cards[0], card=msgspec.structs.replace(good, better_than_baseline=False)
    )
    says(figure_text(msgspec.structs.replace(entry, cards=[bad])))
    none = msgspec.structs.replace(entry.cards[0], card=msgspec.structs.replace(good, agreement={}))
    assert figure_text(msgspec.structs.replace(entry, cards=[none])).startswith("cannot be compared")


def test_without_a_model_there_is_no_price_and_without_a_price_it_is_unknown(project, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    library = judge_library(settings_in(project))
    assert library.basis() is None
    assert {price_text(entry) for entry in library.judges} == {None}
    library = judge_library(settings_in(project, PRICED))
    assert price_text(of(library.judges, "tone")) == "price unknown"
    assert price_text(of(library.judges, "containment")) is None  # it calls no model


def test_a_price_is_that_of_the_tokens_of_usual_rows(project, monkeypatch, says):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    settings = settings_in(project, PRICED + PRICE)
    judge = load_judge(project / "judges" / "tone.toml")

    def price(**lengths):
        return prices_of([judge], settings, RowLengths(**lengths), KnownPrices())["tone"].usd

    # 4,000 bytes more are 1,000 tokens, of 1,000 answers a million: 2 dollars.
    assert price(answer=4400) - price(answer=400) == pytest.approx(2.0, rel=0.01)
    assert price(context=40_000) == price()  # it does not read them
    library = judge_library(settings)
    says(library.basis())
    prices = {entry.name: entry.price for entry in library.judges if entry.price}
    assert all(known.usd is not None and known.usd > 0 for known in prices.values())
    assert set(prices) == {
        name for name in (*judge_names(), "tone") if name == "tone" or load_judge(name).needs_model
    }
    assert prices["right_or_ask"].at_most
    assert price_text(of(library.judges, "right_or_ask")).startswith("up to ")
    assert not prices["correctness"].at_most
    assert prices["pairwise"].pairs


def test_lengths_are_medians_of_the_newest_run_that_has_answers(project, says):
    run = project / "runs" / "a"
    run.mkdir(parents=True)
    (project / "runs" / "b").mkdir()
    rows = [
        Answer(
            question_id=str(at),
            system="s",
            answer="x" * size,
            contexts=[Context(text="y" * 40)] * 3,
        )
        for at, size in enumerate((10, 20, 900))
    ]
    write_rows(run / "answers.jsonl", rows, Answer)
    write_rows(run / "questions.jsonl", [Question(id="0", question="ünf", reference="r" * 8)], Question)
    lengths = usual_lengths([project / "runs" / "b", run], KnownPrices())
    assert (lengths.answer, lengths.context, lengths.n_contexts, lengths.n) == (20, 40, 3, 3)
    assert (lengths.question, lengths.reference) == (4, 8)  # bytes, of the one question that is known
    says(lengths.basis())
    (run / "answers.jsonl").write_text("broken")
    assert usual_lengths([run], KnownPrices()).run is None


def test_a_judge_in_python_is_not_run_for_a_price(project, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    (project / "judges" / "code.py").write_text(
        "def code(answer: str, ask) -> float:\n    raise SystemExit('it was run')\n"
    )
    (project / "judges" / "code.toml").write_text(
        'name = "code"\nversion = 1\nkind = "function"\ncall = "code.py:code"\nscale = [0, 1]\n'
        'best = "highest"\nsource = "ours"\n'
    )
    entry = of(list_judges(settings=settings_in(project, PRICED + PRICE)), "code")
    assert entry.judge is not None
    assert entry.price is None


def test_costs_are_worked_out_once(project, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    settings, known = settings_in(project, PRICED + PRICE), KnownPrices()
    judge_library(settings, known=known)
    monkeypatch.setattr("ragstone.features.judges.prices._cost", None)
    judge_library(settings, known=known)
    assert judges_library.run_folders(settings) == []


def test_every_judge_that_ships_is_in_one_group_with_a_sentence():
    named = [name for group in groups() for name in group.judges]
    assert sorted(named) == sorted(judge_names())
    assert all(
        len(text) <= 105 and text.endswith(".") for group in groups() for text in group.judges.values()
    )


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("hallucination", "faithfulness"),  # as others call it
        ("context precision", "context_relevance"),
        ("halucination", "supported"),  # misspelt
        ("completness", "correctness"),
        ("summarising refusing", None),
        ("toxisity", "toxicity"),
        ("refusals", "no_refusal"),  # another form
        ("antwort korrekt", None),
    ],
)
def test_what_an_agent_asks_for_finds_the_judge_that_measures_it(project, words, name):
    settings = settings_in(project)
    every = named_judges(settings)
    found = [entry.name for entry in judges_with(every, words) or near_judges(every, words)]
    assert name in found if name else found == []
