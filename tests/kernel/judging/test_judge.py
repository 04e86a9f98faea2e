import hashlib
import re
from pathlib import Path

import msgspec
import pytest
from tests.support.golden import check_golden

from ragstone.kernel.engine.digests import digest_of
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import judge_names, load_judge, parse_judge
from ragstone.kernel.judging.variant import load_members

GOOD = """
name = "tone"
version = 1
kind = "boolean"
inputs = ["answer"]
scale = [0, 1]
source = "ours"
prompt = "Is {answer} polite?"
"""
RUBRIC = """\
name = "tone"
version = 1
kind = "rubric"
inputs = ["question", "answer"]
scale = [0, 2]
source = "ours"
prompt = "Grade {answer} as a reply to {question}."
shots = 1

[[criteria]]
name = "warmth"
description = "is it warm?"
grades = ["no.", "somewhat.", "yes."]

[[criteria]]
name = "care"
description = "does it take care?"
grades = ["no.", "yes."]

[[examples]]
question = "When?"
answer = "Soon, dear friend."
expected = { warmth = 2, care = 0 }
reason = { warmth = "dear friend", care = "vague" }
"""
BOOLEAN = """\
name = "polite"
version = 1
kind = "boolean"
inputs = ["answer"]
scale = [0, 1]
source = "ours"
prompt = "Is {answer} polite?"

[[examples]]
answer = "Please wait."
expected = true
reason = "It says please."
"""


def problem_of(text):
    with pytest.raises(ConfigError) as caught:
        parse_judge(text, Path("tone.toml"))
    return str(caught.value)


@pytest.mark.parametrize("name", judge_names())
def test_every_shipped_judge_is_sound_and_named_like_its_file(name):
    judge = load_judge(name)
    assert judge.name == name
    assert judge.source


def test_the_judges_that_design_promises_so_far_are_there():
    promised = {"containment", "token_f1", "rouge_l", "chrf", "similarity", "context_overlap"}
    asking = {"correctness", "faithfulness", "relevance", "answered", "rubric", "prompt_clarity"}
    assert promised | asking <= set(judge_names())


def test_a_good_file_is_a_judge():
    judge = parse_judge(GOOD, Path("tone.toml"))
    assert (judge.name, judge.kind, judge.needs_model) == ("tone", "boolean", True)


def test_an_unknown_judge_is_met_with_the_nearest_names(says):
    with pytest.raises(ConfigError) as error:
        load_judge("correctnes")
    says(error.value)


def test_a_missing_judge_file_is_named(tmp_path, says):
    with pytest.raises(ConfigError) as error:
        load_judge(tmp_path / "mine.toml")
    says(error.value)


@pytest.mark.parametrize(
    ("change", "to", "says"),
    [
        ('kind = "boolean"', 'kind = "bool"', "tone.toml:4: unknown kind 'bool'. Did you mean 'boolean'"),
        ('source = "ours"', 'sauce = "ours"', "tone.toml:7: unknown key 'sauce'. Did you mean 'source'"),
        ("scale = [0, 1]", "scale = [1, 0]", "lowest score first"),
        ("scale = [0, 1]", "scale = [0, 5]", r"a boolean judge has scale = \[0, 1\]"),
        ("{answer}", "{answr}", r"names \{answr\}, which inputs does not declare"),
        (
            'inputs = ["answer"]',
            'inputs = ["answer", "question"]',
            "declares 'question', which the prompt does not",
        ),
        ('kind = "boolean"', 'kind = "classify"', r"needs a table \[labels\]"),
        ('kind = "boolean"', 'kind = "statements"', "needs a verify"),
        ('kind = "boolean"', 'kind = "lexical"\nmeasure = "bleu"', "prompt means nothing .* kind lexical"),
        ('kind = "boolean"', 'kind = "percentage"', r"a percentage judge has scale = \[0, 100\]"),
        ('prompt = "Is {answer} polite?"', "", "the key 'prompt' is missing"),
        ('name = "tone"', "name = tone", "not valid TOML"),
    ],
)
def test_a_wrong_file_is_met_with_the_line_or_the_fix(change, to, says):
    assert change in GOOD
    assert re.search(says, problem_of(GOOD.replace(change, to)))


def test_a_label_off_the_scale_is_refused(says):
    text = GOOD.replace('"boolean"', '"classify"') + "[labels]\npolite = 1\nrude = -1\n"
    says(problem_of(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'kind = "embedding"\nname = "Mein Richter"',
            ":2: Expected lower-case letters, digits and `_`, starting with a letter (key 'name')",
        ),
        ('name = "mine"', ":1: the key 'kind' is missing. Add it."),
        ('kind = "boolean"\nname = "mine"', ":1: the key 'version' is missing. Add it."),
    ],
)
def test_a_file_that_lacks_a_key_or_has_no_plain_name_is_told_how_to_mend_it(tmp_path, text, said):
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8-sig")
    with pytest.raises(ConfigError) as mistake:
        load_judge(tmp_path / "mine.toml")
    assert said in str(mistake.value)


def test_a_wording_without_an_input_is_blamed_on_the_wordings_and_named(tmp_path, says):
    text = (
        'name = "mine"\nversion = 1\nkind = "boolean"\ninputs = ["answer"]\nscale = [0, 1]\nsource = "own"\n'
        'prompt = "Is {answer} polite?"\n\n[prompts]\nshort = "Polite?"\n'
    )
    with pytest.raises(ConfigError) as caught:
        parse_judge(text, tmp_path / "mine.toml")
    says(str(caught.value))


# ---- rubrics and their examples; keys of other kinds


def changed(text, before, after):
    assert before in text
    return text.replace(before, after, 1)


def test_the_files_of_these_tests_are_sound():
    assert parse_judge(RUBRIC, Path("tone.toml")).metrics == ["tone", "warmth", "care"]
    assert parse_judge(BOOLEAN, Path("polite.toml")).shown


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("scale = [0, 2]", "scale = [0, 0.5]", r"tone.toml:5: .*whole numbers, e.g. scale = \[0, 3\]"),
        ('name = "care"', 'name = "warmth"', r"tone.toml:10: two criteria are named 'warmth'"),
        ('name = "care"', 'name = "tone"', r"tone.toml:10: .*named 'tone', as is the metric"),
        ("grades = [", "grade = [", r"tone.toml:13: unknown key 'grade'. Did you mean 'grades'"),
        (
            '["question", "answer"]',
            '["questions", "answer"]',
            r"tone.toml:4: unknown inputs 'questions'. Did you",
        ),
        ('["no.", "somewhat.", "yes."]', '["no."]', r"tone.toml:10: .*length >= 2"),
        ("is it warm?", "is it warm, {reference}?", r"tone.toml:7: .*names \{reference\}, which inputs does"),
        ("shots = 1", "shots = 2", r"tone.toml:8: shots = 2, but there is 1 \[\[examples\]\]"),
        ("warmth = 2, care", "warmth = 3, care", r"example 1: expected.warmth = 3: write a whole .* 0 to 2"),
        ("warmth = 2, care", "warmth = 1.5, care", r"example 1: expected.warmth = 1.5: write a whole number"),
        ("care = 0 }", "car = 0 }", r"tone.toml:20: example 1: expected lacks the criterion 'care'"),
        ("care = 0 }", "care = 0, cost = 1 }", r"expected names 'cost', which is not one of the criteria"),
        ("{ warmth = 2, care = 0 }", "2", r"expected gives one value for 2 criteria. Write a table with"),
        ('care = "vague"', 'care = " "', r"example 1: reason.care is empty"),
        (', care = "vague"', "", r"example 1: reason lacks the criterion 'care'"),
        ('question = "When?"\n', "", r"example 1: it has no question, which the judge reads"),
        ('question = "When?"', 'question = ""', r"example 1: it has no question, which the judge reads"),
        ('answer = "Soon', 'contexts = ["x"]\nanswer = "Soon', r"has a contexts, which the judge does not"),
        ("shots = 1", "labels = { a = 1, b = 2 }", r"tone.toml:8: labels means nothing .* kind rubric"),
        ("shots = 1", 'reply = "token"', r'tone.toml:8: reply = "token" needs a rubric of one criterion'),
    ],
)
def test_a_wrong_rubric_is_told_with_line_and_fix(before, after, says):
    assert re.search(says, problem_of(changed(RUBRIC, before, after)), re.DOTALL)


def test_a_rubric_without_criteria_says_what_it_lacks(says):
    text = RUBRIC[: RUBRIC.index("shots")]
    says(problem_of(text))


def test_a_criterion_alone_may_be_named_like_the_metric_and_needs_no_tables():
    first, second = RUBRIC.index('[[criteria]]\nname = "care"'), RUBRIC.index("[[examples]]")
    one = changed(RUBRIC[:first] + RUBRIC[second:], '"warmth"', '"tone"')
    one = changed(one, "{ warmth = 2, care = 0 }", "2")
    one = changed(one, '{ warmth = "dear friend", care = "vague" }', '"dear friend"')
    assert parse_judge(one, Path("tone.toml")).metrics == ["tone"]


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (
            "scale =",
            "labels = { a = 1, b = 0 }\nscale =",
            "labels means nothing .* for classify or function. Remove it",
        ),
        ("scale =", 'aggregate = "rounded_mean"\nscale =', "aggregate means nothing .* kind boolean"),
        ("scale =", 'measure = "chrf"\nscale =', "tone.toml:5: measure means nothing .* it is for lexical"),
        ("scale =", 'verify = "{answer}"\nscale =', "verify means nothing"),
        ("scale =", 'combine = "median"\nscale =', "combine means nothing .* it is for jury"),
        ("expected = true", "expected = 1", "example 1: expected = 1: write true or false"),
        ('reason = "It says please."', 'reason = ""', "example 1: its reason is empty"),
        ('reason = "It says please."', 'reason = { a = "b" }', "reason is a table, which is for rubrics"),
        ('answer = "Please wait."\n', "", "example 1: it has no answer"),
        (
            'kind = "boolean"',
            'kind = "classify"\nlabels = { polite = 1, rude = 0 }',
            "expected = true is not one of the labels: polite, rude",
        ),
        ('kind = "boolean"', 'kind = "lexical"\nmeasure = "chrf"', "prompt means nothing .* kind lexical"),
    ],
)
def test_keys_that_mean_nothing_and_wrong_examples_are_told(before, after, says):
    assert re.search(says, problem_of(changed(BOOLEAN, before, after)))


def of_percentages(expected):
    text = changed(BOOLEAN, 'kind = "boolean"', 'kind = "percentage"')
    return changed(changed(text, "[0, 1]", "[0, 100]"), "expected = true", f"expected = {expected}")


@pytest.mark.parametrize("expected", ["0", "100"])
def test_an_example_of_a_percentage_has_a_whole_number_from_0_to_100(expected):
    assert parse_judge(of_percentages(expected), Path("tone.toml")).examples


@pytest.mark.parametrize("expected", ["101", "true"])
def test_an_example_of_a_percentage_off_its_scale_is_refused(expected, says):
    says(problem_of(of_percentages(expected)))


LEXICAL = """\
name = "f1"
version = 1
kind = "lexical"
inputs = ["answer", "reference"]
scale = [0, 1]
source = "ours"
measure = "token_f1"
"""
JURY = """\
name = "panel"
version = 1
kind = "jury"
inputs = ["answer"]
scale = [0, 1]
source = "ours"
[[members]]
judge = "relevance"
model = "m"
[[members]]
judge = "containment"
cut = 1
"""


@pytest.mark.parametrize("measure", ["coverage", "match", "language_match"])
def test_a_measure_that_reads_the_question_has_it_among_its_inputs(measure, says):
    text = LEXICAL.replace("token_f1", measure)
    says(problem_of(text))
    parse_judge(text.replace('["answer"', '["question", "answer"'), Path("f1.toml"))


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        (GOOD, "7b1d63b3ea145c5c"),
        (RUBRIC, "e1fd3aed72bc9160"),
        (JURY, "e5ec87ca91eb0a6d"),
        (LEXICAL, "10d1c23de7b24553"),
    ],
)
def test_the_digest_of_a_judge_is_that_of_runs_made_when_all_kinds_were_one_type(text, digest):
    judge = parse_judge(text, Path("tone.toml"))
    for same in (judge, load_members(judge, "tone.toml")):
        said = msgspec.json.encode(same.every_key())
        assert hashlib.sha256(said).hexdigest()[:16] == digest


def test_judges_that_ship_have_the_digests_they_had():
    """With another digest a judge is not that of an earlier run: compare says so, and no card fits."""
    digests = (f"{name} {load_judge(name).version} {digest_of(load_judge(name))}" for name in judge_names())
    check_golden("judge_digests.txt", "".join(f"{line}\n" for line in digests))
