"""Learning a calibration of a decision model from labels: through the command's code, on a local server."""

import json
import math
import random

import msgspec
import pytest
from tests.support.decision_server import miscalibrated

from ragstone import learn_judge, load_judge, load_settings
from ragstone.features.improve import _learn_words
from ragstone.kernel.judging.stack import StackJudge

N = 400


def project(folder, decision_server, sharpness: float, seed: int = 0):
    """Write labelled answers of a judge whose log odds are `sharpness` times too large; return settings."""
    draw = random.Random(seed)
    true = {f"answer {at}": draw.betavariate(0.9, 0.9) for at in range(N)}
    rows = [
        {
            "question": f"question {at}",
            "reference": "r",
            "answer": answer,
            "human_label": int(draw.random() < likely),
        }
        for at, (answer, likely) in enumerate(true.items())
    ]
    (folder / "labelled.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    toml = f'[judge]\nmodel = "{decision_server.model}"\n{decision_server.toml()}'
    (folder / "ragstone.toml").write_text(toml)

    def believe(texts, _asked):
        said = miscalibrated(true[texts["answer"].strip()], sharpness)
        return [said, 1 - said]

    decision_server.believe = believe
    return load_settings(folder / "ragstone.toml"), true


@pytest.fixture
def learn(folder, decision_server):
    def run(sharpness: float, methods=("calibration",)):
        settings, true = project(folder, decision_server, sharpness)
        labels = folder / "labelled.jsonl"
        return learn_judge("same_answer", labels=labels, methods=methods, settings=settings), true

    return run


@pytest.mark.long
def test_an_overconfident_model_is_brought_near_to_the_truth_and_written(
    learn, folder, decision_server, says
):
    found, true = learn(4.0)
    assert (found.by, found.verdict) == ("probabilities", "better")
    tested = found.tested
    assert tested.toward.verdict == "better"
    assert tested.nearer.difference.value > 0
    assert tested.error_before.value > 0.1 > tested.error.value
    says(_learn_words.tested_text(found))
    worse = msgspec.structs.replace(tested.nearer.difference, value=-0.014)
    nearer = msgspec.structs.replace(tested.nearer, difference=worse)
    other = msgspec.structs.replace(found, tested=msgspec.structs.replace(tested, nearer=nearer))
    says(_learn_words.tested_text(other))
    alone = msgspec.structs.replace(found, tested=msgspec.structs.replace(tested, error=None))
    assert "read too high" not in _learn_words.tested_text(alone)
    judge = load_judge(folder / "judges" / "my_same_answer.toml")
    assert isinstance(judge, StackJudge)
    [member] = judge.members
    assert member.unit == "log odds"
    # What its file makes of what the model says is near to the truth, on average over all answers.
    said = [miscalibrated(likely, 4.0) for likely in true.values()]
    odds = [math.log(min(max(p, 0.001), 0.999) / (1 - min(max(p, 0.001), 0.999))) for p in said]
    fitted = [
        1 / (1 + math.exp(-(judge.intercept + member.weight * (x - member.centre) / member.spread)))
        for x in odds
    ]
    before = sum(abs(p - q) for p, q in zip(said, true.values(), strict=True)) / N
    after = sum(abs(p - q) for p, q in zip(fitted, true.values(), strict=True)) / N
    assert after < 0.05 < 0.1 < before
    assert decision_server.n_requests == N  # the judge as it is, once of each answer


@pytest.mark.long
def test_a_calibrated_model_stays_as_it_is(learn, says):
    found, _ = learn(1.0)
    assert found.verdict == "no better"
    assert found.new_version is None
    says("written" if found.new_version else "kept")


@pytest.mark.long
def test_with_other_ways_to_learn_agreement_decides_and_a_prompt_is_refused(learn, says):
    found, _ = learn(4.0, ["calibration", "prompt"])
    assert found.by == "agreement"
    says([one.why for one in found.candidates if one.state == "refused"])
