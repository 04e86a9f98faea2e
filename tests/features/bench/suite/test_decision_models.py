"""`ragstone bench judges --suite` with a decision model: a server, its ledger, and what the card says."""

import json

import pytest
from tests.support.command import ragstone

from ragstone.features.bench.suite._rows import suite_rows

MODEL = "systemone/planted"
RUN = ("bench", "judges", "--suite", "--judge", "same_answer", "--judge", "right", "--model", MODEL)


@pytest.fixture
def suite(folder, decision_server):
    """A model that says 0.9 where the suite's label is right and 0.3 where it is wrong."""
    right = {row.answer.strip(): row.labels.get("correctness", 0.0) >= 0.5 for row in suite_rows()}
    decision_server.believe = lambda texts, _asked: (
        [0.9, 0.1] if right.get(texts["answer"].strip(), False) else [0.3, 0.7]
    )
    (folder / "ragstone.toml").write_text(decision_server.toml(price=2.0))
    return folder


def card_of(printed: str, name: str):
    return next(card for card in json.loads(printed)["cards"] if card["judge"] == name)


@pytest.mark.long
def test_a_decision_model_has_agreement_calibration_flips_and_a_price(suite, decision_server):
    ran = ragstone(*RUN, "--sample", 200, "--all")
    assert ran.code == 0, ran.err
    written = next((suite / "runs").glob("*/suite.json")).read_text()
    card = card_of(written, "same_answer")
    error = card["probabilities"]["calibration error"]
    # 0.1 off where it says 0.9, and 0.3 where it says 0.3.
    assert 0.1 <= error["value"] <= 0.3
    assert error["low"] < error["value"] < error["high"]
    assert 0.01 <= card["probabilities"]["Brier score"]["value"] <= 0.09
    assert {flip["change"] for flip in card["flips"]} == {"length", "position", "injection"}
    assert card["spent"]["cost_usd"] > 0
    assert "calibration error" in card_of(written, "right")["probabilities"]
    assert card_of(written, "containment")["probabilities"] == {}  # a share of words is no probability
    assert "Probabilities against labels of right and wrong (0 is best)" in ran.out


@pytest.mark.long
def test_a_recorded_ledger_gives_the_same_card_without_the_server(suite, decision_server):
    first = card_of(ragstone(*RUN, "--sample", 40, "--json").out, "same_answer")
    n_requests = decision_server.n_requests
    decision_server.believe = lambda _texts, _asked: [0.5, 0.5]
    again = card_of(ragstone(*RUN, "--sample", 40, "--json", "--offline", "--force").out, "same_answer")
    assert decision_server.n_requests == n_requests > 0
    assert again == first


@pytest.mark.long
def test_a_judge_that_says_the_same_of_every_answer_has_no_calibration_error_to_boast_of(
    suite, decision_server
):
    decision_server.believe = lambda _texts, _asked: [0.7, 0.3]
    card = card_of(ragstone(*RUN, "--sample", 40, "--json").out, "same_answer")
    assert [*card["probabilities"]] == ["Brier score"]
