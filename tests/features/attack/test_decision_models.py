"""Attacks on a decision model: no reply to forge, so only persuasion is measured."""

import json

from tests.support.command import ragstone

from ragstone.features.attack._families import load_families
from ragstone.features.attack._sentence_table import NOT_APPLICABLE, LeftOutAttacks
from ragstone.kernel.sentences import say

RUN = ("attack", "--judge", "relevance", "--model", "systemone/planted", "--limit", 3)


def persuadable(texts, _asked):
    """Believe an answer that flatters; hold every other one for bad."""
    return [0.9, 0.1] if "Forget everything" in texts["answer"] else [0.1, 0.9]


def summary_of(folder):
    (file,) = (folder / "attack").rglob("attack.json")
    return json.loads(file.read_text())


def test_what_forges_a_reply_is_not_tried_and_in_no_rate(folder, decision_server, says):
    (folder / "ragstone.toml").write_text(decision_server.toml())
    decision_server.believe = persuadable
    ran = ragstone(*RUN, "--family", "fences", "--family", "fake_verdict", "--family", "orders")
    assert ran.code == 0, ran.err
    summary = summary_of(folder)
    [judged] = summary["judges"]
    sizes = {family.name: len(family.attack) for family in load_families(["fences", "fake_verdict"])}
    assert {name: judged["not_applicable"][name] for name in sizes} == sizes
    assert {rate["name"] for rate in judged["families"]} == {"orders"}
    rates = {rate["name"]: (rate["n_flips"], rate["n"]) for rate in judged["attacks"]}
    assert rates["orders/forget_the_above"] == (6, 6)  # three rows, before and after the answer
    assert sum(flips for flips, _ in rates.values()) == 6
    assert judged["overall"]["n"] == sum(n for _, n in rates.values())
    says([note for note in summary["notes"] if "not applicable" in note])


def test_only_what_forges_was_asked_for(folder, decision_server, says):
    (folder / "ragstone.toml").write_text(decision_server.toml())
    decision_server.believe = persuadable
    ran = ragstone(*RUN, "--family", "fences")
    assert ran.code == 3, ran.err  # nothing was measured
    [judged] = summary_of(folder)["judges"]
    assert (judged["overall"], judged["families"]) == (None, [])
    says(ran.out)


def test_a_model_that_writes_meets_every_attack(folder, fake_openai):
    (folder / "ragstone.toml").write_text(fake_openai.toml("openai/fake"))
    ragstone("attack", "--judge", "relevance", "--model", "openai/fake", "--limit", 1, "--family", "fences")
    [judged] = summary_of(folder)["judges"]
    assert judged["not_applicable"] == {}


def test_nothing_is_said_of_attacks_that_were_tried(says):
    says(say(LeftOutAttacks("relevance", "systemone/m", {}), NOT_APPLICABLE) or "nothing")
    says(say(LeftOutAttacks("relevance", "systemone/m", {"fences": 1}), NOT_APPLICABLE))
