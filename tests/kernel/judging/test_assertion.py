"""Yes or no, by what a row or a judge's file expects."""

import json

import pytest
from tests.support.command import ragstone as command

import ragstone
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import load_judge, parse_judge
from ragstone.kernel.judging.assertion import CHECKS, EXPECT, AssertionJudge
from ragstone.kernel.judging.fields import Member
from ragstone.kernel.judging.variant import load_judges

SCHEMA = {"type": "object", "required": ["crop"], "properties": {"crop": {"type": "string"}}}


def outcome(judge, expect=None, **row):
    given = {"question_id": "q", "question": "?", "answer": "", **row}
    [found] = ragstone.judge([given | ({EXPECT: expect} if expect is not None else {})], judges=[judge])
    return found.score if found.status == "scored" else found.status, found.rationale or found.error


@pytest.mark.parametrize(
    ("check", "expected", "answer", "score", "why"),
    [
        ("regex", r"\d{4}", "In 2019.", 1, "found '2019'"),
        ("regex", r"^\d", "In 2019.", 0, r"nothing matches '^\\d'"),
        ("contains_all", ["clover", "NORTH"], "Red Clover, north field", 1, "all there"),
        ("contains_all", ["clover", "south"], "Red clover", 0, "missing: south"),
        ("contains_any", ["south", "red"], "Red clover", 1, "found 'red'"),
        ("contains_any", "south", "Red clover", 0, "none of: south"),
        (
            "at_least",
            {"n": 2, "of": ["red", "white", "clover"]},
            "Red clover",
            1,
            "2 of 3 hold, at least 2; contains_any: none of: white",
        ),
        (
            "at_least",
            {"n": 2, "of": ["blue", {"regex": "^R"}, {"max_words": 1}]},
            "Red clover",
            0,
            "1 of 3 hold, at least 2; contains_any: none of: blue; max_words: 2 words, at most 1",
        ),
        ("valid_json", True, '{"crop": 1}', 1, "JSON"),
        ("valid_json", SCHEMA, '{"crop": "clover"}', 1, "fits the schema"),
        ("valid_json", SCHEMA, '{"crop": 1}', 0, "$.crop: 1 is not of type 'string'"),
        ("max_words", 2, "Red clover.", 1, "2 words, at most 2"),
        ("max_words", 1, "Red clover.", 0, "2 words, at most 1"),
        ("max_words", 3, "红三叶草", 0, "4 words, at most 3"),  # a letter is a word where no space parts them
    ],
)
def test_a_row_says_what_its_answer_must_be(check, expected, answer, score, why):
    assert outcome(check, {check: expected}, answer=answer) == (score, why)


def test_what_is_no_json_is_told_with_the_place():
    score, why = outcome("valid_json", answer='{"crop": }')
    assert score == 0
    assert why.startswith("no JSON: ")


def test_citations_must_be_of_contexts_that_are_there():
    contexts = ["Clover grew.", "Barley grew."]
    assert outcome("cites_sources", answer="Clover [1].", contexts=contexts)[0] == 1
    assert (
        outcome("cites_sources", answer="Clover [1, 2].", contexts=contexts, expect={"cites_sources": 2})[0]
        == 1
    )
    assert outcome("cites_sources", answer="Clover [3].", contexts=contexts) == (
        0,
        "cites [3], and there are 2 contexts",
    )
    assert outcome("cites_sources", answer="Clover.", contexts=contexts)[0] == 0
    # A mark is what the judge `citations` takes for one.
    assert outcome("cites_sources", answer="Clover (Source 2), in rows[3] = 1.", contexts=contexts)[0] == 1
    assert outcome("cites_sources", answer="Clover [1].") == ("not_applicable", "the row has no contexts")


def test_latency_and_cost_are_those_of_the_row(says):
    says(outcome("max_latency@expect=2.5", latency_s=2.5))
    says(outcome("max_latency@expect=2.5", latency_s=3))
    says(outcome("max_latency@expect=2.5"))
    assert outcome("max_cost@expect=0.01", cost_usd=0.0)[0] == 1


@pytest.mark.parametrize(
    ("name", "answer", "score"),
    [
        ("contains_any@expect=2024", "In 2024.", 1),
        ("contains_all@expect=1.50", "It costs 1.5.", 0),
        ("contains_any@expect=NaN", "The banana.", 1),
        ("regex@expect=42", "It is 42.", 1),
        ("valid_json@expect=true", "{}", 1),
        ('valid_json@expect={"type": "object"}', "{}", 1),
    ],
)
def test_a_text_that_looks_like_a_number_is_expected_as_a_text(name, answer, score):
    assert outcome(name, answer=answer)[0] == score


def test_what_the_row_expects_goes_before_what_the_judge_does(says):
    says(outcome("max_words@expect=1", answer="Red clover"))
    assert outcome("max_words@expect=1", {"max_words": 2}, answer="Red clover")[0] == 1
    own = {"max_words@expect=1": 5, "max_words": 1}  # a judge's own name goes before that of its check
    assert outcome("max_words@expect=1", own, answer="Red clover")[0] == 1


def test_a_row_that_expects_nothing_is_not_applicable(says):
    says(outcome("regex"))


def test_a_table_that_a_flat_file_carries_as_text_is_read():
    assert outcome("contains_all", json.dumps({"contains_all": ["red"]}), answer="Red")[0] == 1


@pytest.mark.parametrize(
    ("check", "expect", "says"),
    [
        ("regex", {"regex": "("}, "expect.regex of the row: '(' is not a regular expression"),
        ("at_least", {"at_least": {"n": 3, "of": ["a", "b"]}}, "n = 3, of 2 things: give at most 2"),
        ("at_least", {"at_least": {"n": 1, "of": ["a", {"max_cost": 1}]}}, "check 'max_cost' in `of`"),
        ("at_least", {"at_least": {"n": 1, "of": ["a", {"regex": "("}]}}, "'(' is not a regular expression"),
        (
            "at_least",
            {"at_least": {"n": 1, "of": ["a", {"regex": "a", "max_words": 1}]}},
            "give one check in",
        ),
        ("at_least", {"at_least": {"n": 2, "of": ["a", "b", "a"]}}, "a is twice in `of`"),
        ("at_least", {"at_least": {"n": 1, "of": ["a", ""]}}, "an empty text in `of`"),
        ("at_least", {"at_least": {"n": 0, "of": ["a", "b"]}}, "is not what at_least expects"),
        ("at_least", {"at_least": {"n": 1, "of": ["a"]}}, "is not what at_least expects"),
        ("at_least", {"at_least": ["a", "b"]}, "is not what at_least expects: give how many of which"),
        ("max_words", {"max_words": "many"}, "'many' is not what max_words expects: give a number of words"),
        (
            "contains_all",
            ["a"],
            'expect of the row is "[\'a\']": write a table, such as {"contains_all": ...}',
        ),
        ("valid_json", {"valid_json": {"type": "nothing"}}, "expect is not a JSON Schema: 'nothing'"),
    ],
)
def test_what_cannot_be_expected_is_an_error_of_the_row(check, expect, says):
    status, why = outcome(check, expect, answer="{}")
    assert status == "error"
    assert says in why


def test_a_schema_that_names_an_address_fetches_nothing(says):
    status, why = outcome("valid_json", {"valid_json": {"$ref": "http://127.0.0.1:9/schema"}}, answer="{}")
    assert status == "error"
    says(why)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('check = "regx"', "check = 'regx'. Did you mean 'regex'"),
        ('check = "regex"\nexpect = "("', "'(' is not a regular expression"),
        ('check = "max_words"\nexpect = ["a"]', "give a number of words"),
        ('check = "threshold"\nexpect = 1', 'check = "threshold" has 1 members'),
        ('check = "threshold"\nmembers = [{ judge = "coverage" }]', "a threshold needs a number"),
        ('check = "regex"\nmembers = [{ judge = "coverage" }]', 'check = "regex" has 0 members'),
    ],
)
def test_a_wrong_file_is_told_with_the_fix(text, says, tmp_path):
    head = 'name = "mine"\nversion = 1\nkind = "assertion"\nsource = "ours"\n'
    with pytest.raises(ConfigError) as told:
        parse_judge(head + text, tmp_path / "mine.toml")
    assert says in str(told.value)


def test_any_judge_with_a_threshold_is_an_assertion(says):
    row = {"answer": "Red clover.", "reference": "Red clover and barley"}
    # two of the four words of the reference stand in the answer, one of them a word of the question
    [plain] = ragstone.judge([row | {"question": "?"}], judges=["coverage"])
    assert plain.score == 0.5
    says(outcome("coverage@threshold=0.5", **row))
    assert outcome("coverage@threshold=0.6", **row)[0] == 0
    judge = load_judge("coverage@threshold=0.6")
    assert (judge.name, judge.measures, judge.needs_model) == ("coverage@threshold=0.6", "correctness", False)
    assert load_judge("correctness@prompt=brief,threshold=80").name == "correctness@prompt=brief,threshold=80"
    assert load_judge("correctness@threshold=80").needs_model


def test_where_the_lowest_is_best_a_threshold_is_the_most_that_may_be(says):
    @ragstone.judge_function(scale=(0, 10), best="lowest")
    def slips(answer):
        return 2

    [loaded] = load_judges([slips])

    def judge(most):
        member = Member(judge="slips", loaded=loaded)
        return AssertionJudge(
            name="few", version=1, source="own", check="threshold", expect=most, members=[member]
        )

    says(outcome(judge(2)))
    assert outcome(judge(1))[0] == 0


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("coverage@threshold=high", "threshold='high' is not a number"),
        ("coverage@threshold=7", "scores from 0 to 1, and the threshold is 7"),
        ("coverage@expect=7", "expect means nothing for a judge of kind lexical: it is for assertion"),
        ("pairwise@threshold=1", "compares two answers"),
        ("max_words@expect=many", "is not what max_words expects"),
        ("max_words@expect=nan", "is not what max_words expects"),
        ("max_cost@expect=inf", "is not what max_cost expects"),
    ],
)
def test_a_variant_that_cannot_be_is_told(name, says):
    with pytest.raises(ConfigError, match=says):
        load_judge(name)


def test_every_check_ships_as_a_judge():
    assert [load_judge(name).check for name in CHECKS] == list(CHECKS)


def test_the_questions_of_another_file_say_what_is_expected(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.jsonl").write_text('{"id": "a", "question": "?", "expect": {"max_words": 1}}\n')
    (tmp_path / "a.jsonl").write_text('{"question_id": "a", "answer": "Red clover"}\n')
    ran = command("judge", "a.jsonl", "--questions", "q.jsonl", "--judge", "max_words", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["metrics"][0]["estimate"]["value"] == 0.0


def test_a_row_says_how_many_of_its_answers_must_hold_what_it_expects():
    texts = ("Red clover", "Barley", "clover", "clover")
    rows = [
        {"question_id": "q", "question": "?", "answer": text, "system": name, EXPECT: expect}
        for text, name, expect in zip(
            texts,
            ("rag", "rag@repeat=2", "rag@repeat=3", "other"),
            ({"contains_all": "clover", "pass": "2 of 3"},) * 3 + ({"contains_all": "clover"},),
            strict=True,
        )
    ]
    judgements = ragstone.judge(rows, judges=["contains_all"])
    assert [row.score for row in judgements] == [1, 0, 1, 1]  # an answer is judged by itself
    assert [row.metadata for row in judgements] == [{"k_of_n": [2, 3]}] * 3 + [None]
    first, second = ragstone.summarise(judgements)
    assert (first.system, first.estimate.value, second.estimate.value) == ("rag", 1.0, 1.0)


def test_pass_alone_leaves_the_expectation_to_the_judges_file():
    row = {"question_id": "q", "question": "?", "answer": "{}", EXPECT: {"pass": "1 of 1"}}
    [found] = ragstone.judge([row], judges=["valid_json"])
    assert (found.score, found.metadata) == (1, {"k_of_n": [1, 1]})


@pytest.mark.parametrize(
    "odd", ["0 of 3", "4 of 3", "2", "2/3", 2, [2, 3], "two of three", "-1 of 3", "9999999 of 9999999"]
)
def test_what_is_no_k_of_n_is_an_error_of_the_row(odd, says):
    found, why = outcome("contains_all", {"contains_all": "clover", "pass": odd}, answer="clover")
    assert found == "error"
    says(why)
