"""Two runs are compared by their failure modes."""

import shutil

import msgspec
import pytest
from tests.support.command import ragstone as command
from tests.support.moded_run import RUN, planted_answers, write_moded_run

import ragstone
from ragstone.features.compare._mode_sentence_table import MODE_SENTENCES, SENTENCES
from ragstone.features.compare._modes import _between
from ragstone.features.compare.values import ComparedModes, ModeDifference
from ragstone.features.modes.values import read_modes_summary
from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.modes import MODES_FILE, ModeShare
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import Estimate

OTHER = "answers_from_outside_the_contexts"


@pytest.fixture
def runs(folder):
    """Run `before` refuses 14 questions, run `after` the first 4 of these; the other modes are the same."""
    before = write_moded_run(folder)
    ragstone.modes(before)
    shutil.move(folder / RUN, folder / "runs/before")
    after = write_moded_run(folder, planted_answers(refusing=range(4)))
    ragstone.modes(after)
    shutil.move(folder / RUN, folder / "runs/after")
    return folder / "runs/before", folder / "runs/after"


def compared(runs, **options):
    modes = ragstone.compare(*runs, **options).modes
    return {row.name: row for row in modes.modes}


def labelled(folder, **shares):
    """Have modes.json of a run say what people found, for some of its modes."""
    summary = read_modes_summary(folder)
    modes = [
        msgspec.structs.replace(mode, prevalence=shares[mode.name], n_labelled=60)
        if mode.name in shares
        else mode
        for mode in summary.modes
    ]
    (folder / MODES_FILE).write_bytes(msgspec.json.encode(msgspec.structs.replace(summary, modes=modes)))


def test_fewer_refusals_are_found_and_what_did_not_change_is_not(runs):
    found = compared(runs)
    refusals = found["refusals"]
    assert (refusals.by, refusals.n, refusals.n_changed, refusals.verdict) == ("judge", 96, 10, "fewer")
    assert refusals.difference.value == pytest.approx(-10 / 96)
    assert refusals.difference.low < -10 / 96 < refusals.difference.high < 0
    # McNemar: 10 of 10 changes on one side, 2 / 2^10; Holm over two modes doubles it.
    assert refusals.p == pytest.approx(2 / 2**10)
    assert refusals.p_holm == pytest.approx(4 / 2**10)
    other = found[OTHER]
    assert (other.n_changed, other.verdict, other.family) == (0, "cannot tell", 2)


def test_the_other_way_round_it_is_more(runs):
    assert compared(runs[::-1])["refusals"].verdict == "more"


def test_in_a_terminal_it_says_the_points_and_who_counted(runs, says):
    ran = command("compare", "runs/before", "runs/after", "--all")
    assert ran.code == 0
    says(ran.out[ran.out.index("Failure modes") :].partition("containment: correctness")[0])


def test_where_people_labelled_both_runs_their_shares_are_compared(runs):
    labelled(runs[0], refusals=ModeShare(value=0.10, low=0.06, high=0.15, n=60))
    labelled(runs[1], refusals=ModeShare(value=0.08, low=0.05, high=0.12, n=60))
    refusals = compared(runs)["refusals"]
    # 0.08 − 0.10 = −0.02; below: √(0.03² + 0.05²), above: √(0.04² + 0.04²).
    assert (refusals.by, refusals.verdict) == ("people", "cannot tell")
    assert refusals.difference.value == pytest.approx(-0.02)
    assert refusals.difference.low == pytest.approx(-0.02 - 0.0583095, abs=1e-6)
    assert refusals.difference.high == pytest.approx(-0.02 + 0.0565685, abs=1e-6)
    # With a filter the labels are of other answers than those compared: the judge's verdicts count.
    ids = {"where": "question ~ plot"}
    assert compared(runs, **ids)["refusals"].by == "judge"


def test_labels_of_one_run_alone_leave_it_to_the_judge(runs):
    labelled(runs[0], refusals=ModeShare(value=0.10, low=0.06, high=0.15, n=60))
    assert compared(runs)["refusals"].by == "judge"


def test_a_difference_that_its_interval_ends_at_has_p_of_five_per_cent():
    a, b = (ModeShare(value=value, low=value - 0.03, high=value + 0.03, n=50) for value in (0.3, 0.2))
    _, p = _between(a, b)
    assert p < 0.05
    # The interval ends at 0 where the difference is √(0.03² + 0.03²).
    edge = ModeShare(value=0.3 - 0.0424264, low=0.2275736, high=0.2875736, n=50)
    difference, p = _between(a, edge)
    assert difference.high == pytest.approx(0, abs=1e-6)
    assert p == pytest.approx(0.05, abs=1e-4)


def test_runs_that_are_labelled_in_full_differ_for_certain():
    a, b = (ModeShare(value=value, low=value, high=value, n=50) for value in (0.3, 0.2))
    assert [_between(a, b)[1], _between(a, a)[1]] == [0, 1]


def test_a_mode_of_another_file_is_not_compared_and_said_so(runs):
    summary = read_modes_summary(runs[1])
    changed = [
        msgspec.structs.replace(mode, judge_digest="0" * 8) if mode.name == "refusals" else mode
        for mode in summary.modes
    ]
    (runs[1] / MODES_FILE).write_bytes(msgspec.json.encode(msgspec.structs.replace(summary, modes=changed)))
    modes = ragstone.compare(*runs).modes
    assert [row.name for row in modes.modes] == [OTHER]
    assert modes.not_compared == ["refusals"]


def test_a_run_without_modes_and_a_broken_file(runs, says):
    (runs[1] / MODES_FILE).unlink()
    assert ragstone.compare(*runs).modes.modes == []
    (runs[0] / MODES_FILE).unlink()
    assert ragstone.compare(*runs).modes is msgspec.UNSET
    (runs[0] / MODES_FILE).write_text("{")
    with pytest.raises(DataError) as mistake:
        ragstone.compare(*runs)
    says(str(mistake.value))


def difference(verdict="cannot tell", *, by="judge", n_changed=3, value=-0.04):
    ends = Estimate(value=value, low=value - 0.03, high=value + 0.03, n=100, method="components")
    share = Estimate(value=0.1, low=0.05, high=0.15, n=100, method="wilson")
    return ModeDifference(
        name="m", title="m", system_a="s", system_b="s", by=by, n=100, n_labelled=(0, 0), n_changed=n_changed,
        a=share, b=share, difference=ends, p=0.5, p_holm=0.5, family=1, verdict=verdict,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("row", "codes"),
    [
        (difference("fewer"), {"fewer", "by-judge"}),
        (difference("more", value=0.04), {"more", "by-judge"}),
        (difference(), {"cannot-tell", "by-judge"}),
        (difference(n_changed=0), {"same", "by-judge"}),
        (difference("fewer", by="people"), {"fewer"}),
        # The judge says the same of all answers, but people decide: not "no verdict differs".
        (difference("cannot tell", by="people", n_changed=0), {"cannot-tell"}),
    ],
)
def test_each_sentence_is_said_where_its_condition_holds_and_nowhere_else(row, codes, says):
    modes = ComparedModes(modes=[row])
    spoken = {
        sentence.code.removeprefix("compare-modes-"): text
        for sentence in SENTENCES
        if (text := say(modes, sentence))
    }
    assert spoken.keys() == codes
    says("\n".join(spoken.values()))


def test_what_is_not_compared_is_named_and_nothing_else_said_of_it(says):
    modes = ComparedModes(modes=[], not_compared=["a", "b"])
    [text] = filter(None, (say(modes, sentence) for sentence in MODE_SENTENCES))
    says(text)
