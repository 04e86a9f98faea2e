"""What blame says of a change that a bench measured: what it is a gain in, and none where none is shown."""

import msgspec
import pytest
from tests.support.blamed_rows import SYSTEM
from tests.support.surfaces import shown

from ragstone.features.blame._candidate_sentence_table import CHOSEN, MEANING, SENTENCES
from ragstone.features.blame.words import blame_document
from ragstone.kernel.runs.blamed import BlameSummary
from ragstone.kernel.runs.causes import BenchedChange
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import Estimate

SEARCH = BenchedChange(
    bench="mine-retrievers",
    of="retrieval",
    system=SYSTEM.system,
    current="bm25",
    best="hybrid",
    n=2,
    measure="recall@5",
    verdict="better",
    difference=Estimate(value=0.031, low=0.01, high=0.052, n=420, method="bootstrap"),
    p_holm=0.012,
    family=1,
)
ANSWERS = msgspec.structs.replace(
    SEARCH, bench="mine-answerers", of="answers", current="a", best="b", measure="correctness", judge="rubric"
)
VARIANTS = {
    "retrieval": SEARCH,
    "the best of many": msgspec.structs.replace(SEARCH, n=3, family=3),
    "answers by a judge": ANSWERS,
    "answers by labels": msgspec.structs.replace(ANSWERS, n_labelled=40),
    "answers without correctness": msgspec.structs.replace(
        ANSWERS, measure="answered × faithful", judge=None
    ),
    "not shown": msgspec.structs.replace(SEARCH, verdict="cannot tell", n=3),
    "the run's own": msgspec.structs.replace(
        SEARCH, verdict="is current", best="bm25", difference=None, p_holm=None, family=0
    ),
    "alone": msgspec.structs.replace(
        SEARCH, verdict="is current", best="bm25", difference=None, p_holm=None, family=0, n=1
    ),
}


def summary(*changes):
    return BlameSummary(
        name="r", version="0", systems=[SYSTEM], models={}, made_from={}, notes=[], benched=list(changes)
    )


def told(change):
    """What a report says with the change and does not say without it."""
    with_it, without = shown(blame_document(summary(change))), shown(blame_document(summary()))
    return "\n".join(line for line in with_it.splitlines() if line not in without)


@pytest.mark.parametrize("name", VARIANTS)
def test_each_change_is_said_with_what_it_is_a_gain_in(name, says):
    says(told(VARIANTS[name]))


def test_no_gain_is_said_where_none_is_shown_and_each_gain_has_one_meaning():
    for name, change in VARIANTS.items():
        meanings = [sentence for sentence in MEANING if sentence.holds(change)]
        is_better = change.verdict == "better"
        assert len(meanings) == is_better, name
        assert CHOSEN.holds(change) == (name == "the best of many")
        if not is_better:
            assert "gain" not in told(change)
            assert "+" not in told(change)
    assert [say(VARIANTS["alone"], sentence) for sentence in SENTENCES] == [""] * len(SENTENCES)


def test_a_change_to_another_system_is_not_said_of_this_one():
    assert told(msgspec.structs.replace(SEARCH, system="another")) == ""
