"""What a label stands for: one way to write it, one rule for labels between, in every command."""

import json

import numpy as np
import pytest
from tests.support.command import ragstone
from tests.support.label_rows import judgement, label

from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.agreement.mapping import parse_mapping, place_labels
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Label
from ragstone.kernel.tables import read_rows

READ = [
    (["0=0,1=100"], {}, {0: 0, 1: 100}),
    (["0=0", "1=100"], {}, {0: 0, 1: 100}),
    (["0,9=1"], {}, {0.9: 1}),
    (["0,9=1", "0,1=0"], {}, {0.9: 1, 0.1: 0}),
    (["0,9=1;0,1=0"], {}, {0.9: 1, 0.1: 0}),
    (["0.9=1, 0.1=0"], {}, {0.9: 1, 0.1: 0}),
    (["1=0,5"], {}, {1: 0.5}),
    (["richtig=1,falsch=0"], {"richtig": 1, "falsch": 0}, {}),
    (["fast richtig=0.5"], {"fast richtig": 0.5}, {}),
    (["gut=0,9,schlecht=0,1"], {"gut": 0.9, "schlecht": 0.1}, {}),
    (["50%=50, 100%=100"], {}, {0.5: 50, 1: 100}),
    (["-1=0,1=1"], {}, {-1: 0, 1: 1}),
    (["a=1,b=.5"], {"a": 1, "b": 0.5}, {}),
]


@pytest.mark.parametrize(("given", "words", "numbers"), READ)
def test_a_mapping_is_read_with_decimal_commas_percent_and_words(given, words, numbers):
    assert parse_mapping(given) == (words, numbers)


@pytest.mark.parametrize("given", ["1", "=1", "1=", "1=x", "1=nan", "1=inf", "good,bad=1", "a=1,=2", "a=1,b"])
def test_what_is_no_mapping_is_refused(given):
    with pytest.raises(ConfigError, match="write LABEL=SCORE"):
        parse_mapping([given])


def test_a_mapping_of_two_meanings_is_refused_with_both(says):
    with pytest.raises(ConfigError) as error:
        parse_mapping(["0,9=1,0,1=0"])
    says(error.value)


def test_labels_between_two_are_placed_on_the_line_as_numpy_does_and_no_others(says):
    labels = [label(f"q{at}", score) for at, score in enumerate(np.linspace(1, 5, 9))]
    placed = place_labels(labels, {1: 0, 3: 80, 5: 100})
    assert placed == pytest.approx(np.interp(np.linspace(1, 5, 9), [1, 3, 5], [0, 80, 100]))
    with pytest.raises(DataError) as error:
        place_labels([label("q", 0)], {1: 0, 5: 1})
    says(error.value)


WORDS = ("poor", "fair", "fine")


def _words_sheet(folder):
    rows = [
        {
            "question_id": f"q{at}",
            "answer": "x y",
            "reference": "x" if at % 2 else "z",
            "label": WORDS[at % 3],
        }
        for at in range(120)
    ]
    (folder / "l.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "ragstone.toml").write_text(
        '[bench.judges]\nsheet = "l.jsonl"\njudges = ["containment"]\n'
        "mapping = { poor = 0, fair = 0.5, fine = 1 }\n"
    )
    draft = (
        'name = "draft"\nversion = 1\nkind = "lexical"\nmeasure = "containment"\n'
        'inputs = ["reference", "answer"]\nscale = [0, 1]\nmetric = "correctness"\nsource = "own"\n'
    )
    (folder / "draft.toml").write_text(draft)


MAP = ("--map", "poor=0,fair=0.5,fine=1")


@pytest.mark.parametrize(
    "words",
    [
        ("agree", "j.jsonl", "l.jsonl", *MAP),
        ("judges", "develop", "draft.toml", "--labels", "l.jsonl", *MAP),
        ("judges", "learn", "containment", "--labels", "l.jsonl", "--try", "calibration", *MAP),
        ("bench", "judges"),
    ],
    ids=" ".join,
)
def test_labels_that_are_words_are_read_by_every_command_with_a_mapping(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    _words_sheet(tmp_path)
    assert ragstone("judge", "l.jsonl", "--judge", "containment", "-o", "j.jsonl").code == 0
    ran = ragstone(*words)
    assert "labels are words" not in ran.err
    assert ran.code == 0, ran.err


def test_half_a_label_is_the_middle_of_the_scale(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _write_judged(tmp_path, (0, 50, 100))
    (tmp_path / "l.csv").write_text("question_id,system,label\nq0,s,0\nq1,s,0.5\nq2,s,1\n")
    ran = ragstone("agree", "j.jsonl", "l.csv", "--map", "0=0", "--map", "1=100", "--json")
    [card] = json.loads(ran.out)
    assert card["agreement"]["signed error"]["value"] == 0


@pytest.mark.parametrize("scale", [(0, 100), (0, 10), (1, 5), (0, 1)])
def test_labels_in_percent_are_places_on_the_scale_of_any_judge(tmp_path, scale):
    (tmp_path / "l.csv").write_text("question_id,system,label\nq0,s,0 %\nq1,s,50%\nq2,s,100%\nq3,s,25%\n")
    low, high = scale
    shares = (0, 0.5, 1, 0.5)
    judged = [
        judgement(f"q{at}", low + share * (high - low), system="s", scale=scale)
        for at, share in enumerate(shares)
    ]
    [card] = report_cards(judged, read_rows(tmp_path / "l.csv", Label), resamples=100)
    # The judge is a quarter of its scale too high on the last of four answers.
    assert card.agreement["signed error"].value == pytest.approx((high - low) / 16)
    assert not [note for note in card.notes if "give a mapping" in note]


def test_words_of_right_and_wrong_need_no_mapping_in_the_languages_of_sheets(tmp_path):
    pairs = (
        "richtig falsch;sí incorrecto;vrai faux;vero falso;sim não;正确 错误;да нет;हाँ नहीं;نعم لا;evet hayır"
    )
    rows = [(right, wrong) for right, wrong in (pair.split() for pair in pairs.split(";"))]
    lines = [f"q{at},s,{word}" for at, word in enumerate(word for pair in rows for word in pair)]
    (tmp_path / "l.csv").write_text("\n".join(["question_id,system,label", *lines]), encoding="utf-8")
    assert [row.score for row in read_rows(tmp_path / "l.csv", Label)] == [1, 0] * len(rows)


def _write_judged(folder, scores):
    row = {"system": "s", "judge": "j", "metric": "correctness", "model": "m", "status": "scored"}
    rows = [
        {**row, "question_id": f"q{at}", "score": score, "scale": [0, 100], "prompt_version": 1}
        for at, score in enumerate(scores)
    ]
    (folder / "j.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
