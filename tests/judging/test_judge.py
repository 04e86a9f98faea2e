from pathlib import Path

import pytest

from ragstone.errors import ConfigError
from ragstone.judging import judge_names, load_judge, parse_judge

GOOD = """
name = "tone"
version = 1
kind = "boolean"
inputs = ["answer"]
scale = [0, 1]
source = "ours"
prompt = "Is {answer} polite?"
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


def test_an_unknown_judge_is_met_with_the_nearest_names():
    with pytest.raises(ConfigError, match=r"unknown judge 'correctnes'.*Did you mean 'correctness'"):
        load_judge("correctnes")


def test_a_missing_judge_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match="no such judge file"):
        load_judge(tmp_path / "mine.toml")


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
        ('kind = "boolean"', 'kind = "lexical"\nmeasure = "bleu"', "measure = 'bleu'"),
        ('kind = "boolean"', 'kind = "percentage"', r"a percentage judge has scale = \[0, 100\]"),
        ('prompt = "Is {answer} polite?"', "", "needs a prompt"),
        ('name = "tone"', "name = tone", "not valid TOML"),
    ],
)
def test_a_wrong_file_is_met_with_the_line_or_the_fix(change, to, says):
    assert change in GOOD
    import re

    assert re.search(says, problem_of(GOOD.replace(change, to)))


def test_a_label_off_the_scale_is_refused():
    text = GOOD.replace('"boolean"', '"classify"') + "[labels]\npolite = 1\nrude = -1\n"
    assert "label 'rude' lies off the scale" in problem_of(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "Mein Richter"', ":1: Expected small letters, digits and `_`, a letter first (key 'name')"),
        ('name = "mine"', ":1: the key 'version' is missing. Add it."),
    ],
)
def test_a_file_that_lacks_a_key_or_has_no_plain_name_is_told_how_to_mend_it(tmp_path, text, said):
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8-sig")
    with pytest.raises(ConfigError) as mistake:
        load_judge(tmp_path / "mine.toml")
    assert said in str(mistake.value)


def test_a_wording_without_an_input_is_blamed_on_the_wordings_and_named(tmp_path):
    text = (
        'name = "mine"\nversion = 1\nkind = "boolean"\ninputs = ["answer"]\nscale = [0, 1]\nsource = "own"\n'
        'prompt = "Is {answer} polite?"\n\n[prompts]\nshort = "Polite?"\n'
    )
    with pytest.raises(ConfigError) as caught:
        parse_judge(text, tmp_path / "mine.toml")
    assert "mine.toml:9: prompts.short: inputs declares 'answer'" in str(caught.value)
