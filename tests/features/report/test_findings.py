import msgspec
import pytest
from tests.support.tiny_run import JUDGEMENTS, card, judgement, summary_of

from ragstone.features.report._findings import findings
from ragstone.features.retrieve.words import rank_bars
from ragstone.features.run._breakdown import rank_systems
from ragstone.kernel.document.blocks import told
from ragstone.kernel.records import Judgement
from ragstone.kernel.runs.headlines import common_headline, headlines
from ragstone.kernel.runs.summary import RunSummary


def of_systems(n: int) -> list[Judgement]:
    return [judgement("q1", "correctness", 1, system=f"s{place}") for place in range(n)]


def test_correctness_by_a_model_leads_and_a_baseline_only_where_nothing_else_scored() -> None:
    rows = [judgement("q1", name, 1) for name in ("containment", "relevance", "correctness")]
    assert [lead.judge for lead in headlines(summary_of(rows))] == ["correctness"]
    assert [lead.judge for lead in headlines(summary_of(rows[:2]))] == ["relevance"]
    failed = judgement("q1", "correctness", None, status="timeout")
    assert [lead.judge for lead in headlines(summary_of([failed, rows[0]]))] == ["containment"]


def test_each_system_has_its_figure_and_more_than_three_are_counted(says) -> None:
    right = findings(summary_of(of_systems(5)))[0]
    assert [figure.label for figure in right.figures] == [f"s{n}: correctness, 0 to 1" for n in range(3)]
    says(right.below)
    assert findings(summary_of(of_systems(3)))[0].below == ""
    assert not [said for said in told(right) if "below" in said]  # the terminal shows all of them above


def test_of_several_systems_the_best_stands_first() -> None:
    rows = [
        judgement("q1", "correctness", score, system=name)
        for name, score in (("a", 0), ("b", 0.5), ("c", 1), ("d", 0.8))
    ]
    summary = summary_of(rows)
    lead = common_headline(summary)
    assert lead
    ranked = msgspec.structs.replace(summary, systems=rank_systems(lead, rows))
    shown = [figure.label.partition(":")[0] for figure in findings(ranked)[0].figures]
    assert shown == ["c", "d", "b"]


def test_without_rankings_the_wrong_answers_tell_what_is_to_blame(summary: RunSummary, says) -> None:
    blame = findings(msgspec.structs.replace(summary, retrieval=[]))[1]
    says("\n".join(f"{figure.value} | {figure.rests_on}" for figure in blame.figures))
    assert blame.sentences == told(blame)


def test_unmeasured_finding_says_so_where_it_has_no_figures() -> None:
    trust = findings(summary_of(JUDGEMENTS))[2]
    assert trust.figures == []
    assert told(trust)[0] == "Not measured."


def test_card_of_the_leading_judge_is_shown_first(summary: RunSummary, says) -> None:
    cards = [card(better=True, judge="faithfulness"), card(better=True, judge="correctness")]
    trust = findings(msgspec.structs.replace(summary, cards=cards))[2]
    says(trust.figures[0].label)


def test_ranks_beyond_ten_share_a_bar(summary: RunSummary) -> None:
    histogram = {**{str(rank): 1 for rank in range(1, 16)}, "absent": 4}
    row = msgspec.structs.replace(summary.retrieval[0], depth=15, rank_histogram=histogram)
    assert rank_bars(row)[9:] == [("10", 1), ("11 to 15", 5), ("absent", 4)]


def test_a_model_that_is_no_better_than_its_baseline_gives_way_to_the_baseline(says) -> None:
    rows = [judgement("q1", name, 1) for name in ("correctness", "faithfulness", "containment")]
    rows[2] = msgspec.structs.replace(rows[2], metric="correctness")
    summary = msgspec.structs.replace(summary_of(rows), cards=[card(better=False)])
    right = findings(summary)[0]
    assert [lead.judge for lead in headlines(summary)] == ["containment"]
    says(right.sentences)


def test_a_baseline_that_is_useless_itself_does_not_stand_in_for_itself(says) -> None:
    row = msgspec.structs.replace(judgement("q1", "containment", 1, model="none"), metric="correctness")
    of_it = msgspec.structs.replace(card(better=False), judge="containment", model="none")
    summary = msgspec.structs.replace(summary_of([row]), cards=[of_it])
    says(findings(summary)[0].sentences)


@pytest.mark.parametrize("n_wrong", [0, 2])
@pytest.mark.parametrize("judge", ["without a model", "with a model", "with a bad card"])
def test_what_is_wrong_is_said_only_by_a_judge_that_may_say_it(
    summary: RunSummary, judge: str, n_wrong: int, says
) -> None:
    model = "none" if judge == "without a model" else "openai/gpt-4o-mini"
    row = msgspec.structs.replace(
        summary.blame[0],
        model=model,
        judge="correctness",
        found_right=11,
        found_wrong=n_wrong,
        missed_wrong=0,
    )
    cards = [card(better=False)] if judge == "with a bad card" else []
    blame = findings(msgspec.structs.replace(summary, blame=[row], cards=cards, retrieval=[]))[1]
    says(blame.figures[0].label)
    says(blame.sentences[0])
    assert ("wrong" in blame.figures[0].label) is (judge == "with a model")
