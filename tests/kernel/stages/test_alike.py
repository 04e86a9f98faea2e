"""Judges whose prompts begin alike: asked row by row, the first of them alone; what a forecast says of it."""

import json

import pytest
from tests.support.command import TO_FILE, ragstone

from ragstone.kernel.records import Answer, Context, Judgement
from ragstone.kernel.tables import read_rows, write_rows

LAYOUT = "@layout=contexts_first"
PRICE = "price_usd_per_million = { input = 10, output = 10, cached = 1 }\n"
NAMES = ("relevance", "answered", "bias")


@pytest.fixture
def sheet(project, fake_openai):
    """A sheet of five rows whose contexts are long, and three judges that read their answers."""
    rows = [
        Answer(
            question_id=f"q{n}",
            question=f"What is {n}?",
            answer=f"It is the number {n}. " + "So it was told. " * 300,
            contexts=[Context(text="x")],
        )
        for n in range(5)
    ]
    write_rows("long.jsonl", rows, Answer)
    return fake_openai


def judge(*options, layout=LAYOUT, names=NAMES, sheet="long.jsonl"):
    judges = [word for name in names for word in ("--judge", f"{name}{layout}")]
    return ragstone("judge", sheet, *judges, "--model", "openai/fake", *TO_FILE, *options)


def test_a_row_is_asked_about_by_all_judges_before_the_next_and_by_the_first_one_alone(project, sheet):
    (project / "ragstone.toml").write_text(sheet.toml() + "max_concurrency = 1\n")
    assert judge("-o", "out.jsonl").code == 0
    rows = [next(n for n in range(5) if f"number {n}." in prompt) for prompt in sheet.prompts]
    assert rows == [n for n in range(5) for _judge in NAMES]
    judged = list(read_rows("out.jsonl", Judgement))
    assert [row.judge for row in judged[:3]] == [f"{name}{LAYOUT}" for name in NAMES]
    assert {row.status for row in judged} == {"scored"}


def test_with_more_calls_at_once_no_judge_overtakes_the_first_of_its_row(project, sheet):
    sheet.latency_s = 0.02
    (project / "ragstone.toml").write_text(sheet.toml() + "max_concurrency = 4\n")
    assert judge("-o", "out.jsonl").code == 0
    first = {}
    for prompt in sheet.prompts:
        row = next(n for n in range(5) if f"number {n}." in prompt)
        first.setdefault(row, prompt.partition("This is what to judge:")[2][:80])
    assert len(first) == 5
    assert len(set(first.values())) == 1  # the task of one judge alone came first in every row


def test_the_judgements_are_those_of_each_judge_alone(project, sheet):
    assert judge("-o", "together.jsonl").code == 0
    n_requests = sheet.n_requests
    for name in NAMES:
        assert judge("-o", f"{name}.jsonl", names=(name,)).code == 0
    assert sheet.n_requests == n_requests  # the same calls: the ledger has them
    alone = [row for name in NAMES for row in read_rows(f"{name}.jsonl", Judgement)]
    both = list(read_rows("together.jsonl", Judgement))
    key = lambda row: (row.judge, row.question_id)  # noqa: E731
    assert sorted(alone, key=key) == sorted(both, key=key)


class TestForecast:
    def lines(self, project, fake, *, toml=PRICE, **asked):
        (project / "ragstone.toml").write_text(fake.toml() + toml)
        ran = judge("--forecast", "-o", "none.jsonl", **asked)
        assert ran.code == 0, ran.err
        ran_json = judge("--forecast", "--json", "-o", "none.jsonl", **asked)
        return ran.out, json.loads(ran_json.out)["models"][0]

    def test_it_says_what_the_cache_may_save(self, says, project, sheet):
        out, model = self.lines(project, sheet)
        # One of three judges of five rows, for `bias` reads no question and begins with the answer. Each
        # beginning has some 5,500 bytes, and a token is taken for four of them.
        assert 5 * 1_300 < model["shared"] < 5 * 1_500
        assert model["shared_usd"] == pytest.approx(model["shared"] * 9 / 1e6, rel=0.01)
        says(out)

    @pytest.mark.parametrize(
        "case",
        [
            {"names": NAMES[:1]},
            {"layout": ""},
            {"toml": "price_usd_per_million = { input = 10, output = 10 }\n"},
            {"toml": ""},
            {"sheet": "answers.jsonl"},
        ],
        ids=["one judge", "no layout", "no price of cached tokens", "no price", "short texts"],
    )
    def test_it_does_not_where_nothing_is_known_of_it(self, project, sheet, case):
        out, model = self.lines(project, sheet, **case)
        assert (model["shared"], model["shared_usd"]) == (0, None)
        assert "cache" not in out

    def test_nor_where_taking_up_costs_more_than_is_saved(self, project, sheet):
        price = "price_usd_per_million = { input = 10, output = 10, cached = 9.9, cache_write = 12.5 }\n"
        out, model = self.lines(project, sheet, toml=price)
        assert model["shared_usd"] is None
        assert "cache" not in out

    def test_nor_by_batch(self, project, sheet):
        (project / "ragstone.toml").write_text(sheet.toml() + PRICE)
        assert "cache" not in judge("--forecast", "--batch", "-o", "none.jsonl").out
