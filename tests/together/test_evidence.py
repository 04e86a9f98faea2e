"""A report card with what benches and attacks found of its judge."""

import json
from pathlib import Path

import msgspec
from tests.features.agree.test_evidence import card_of

from ragstone.features.agree._evidence import with_findings
from ragstone.features.attack._values import AttackRate
from ragstone.features.attack.words import AttackSummary, JudgeAttacked
from ragstone.features.bench.judges.values import JudgeStanding, SpreadOfRuns
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.statistics import Estimate, mean_estimate


def share(n: int, of: int) -> Estimate:
    found = mean_estimate([1.0] * n + [0.0] * (of - n))
    assert found is not None
    return found


def write_attack(folder: Path, n: int, of: int) -> None:
    """Write what `ragstone attack` writes, as far as this reads it: by the names of its own structs."""
    assert {"judge", "metric", "model", "prompt_version", "overall"} <= {*JudgeAttacked.__struct_fields__}
    assert "flips" in AttackRate.__struct_fields__
    assert "judges" in AttackSummary.__struct_fields__
    folder.mkdir(parents=True)
    judge = {"judge": "rubric", "metric": "correctness", "model": "openai/m", "prompt_version": 1}
    judge |= {"overall": {"flips": msgspec.to_builtins(share(n, of))}}
    (folder / "attack.json").write_text(json.dumps({"judges": [judge]}))


def write_bench(folder: Path, n: int, of: int) -> None:
    """Write what `ragstone bench judges` writes, as far as this reads it."""
    assert {"cell", "spread", "file"} <= {*JudgeStanding.__struct_fields__}
    assert "changed" in SpreadOfRuns.__struct_fields__
    folder.mkdir(parents=True)
    (folder / "judgements.jsonl").write_text(json.dumps({"question_id": "q", "prompt_version": 1}) + "\n")
    standing = {"cell": {"judge": "rubric", "model": "m"}, "file": "judgements.jsonl"}
    standing |= {"spread": {"changed": msgspec.to_builtins(share(n, of))}}
    board = {"metric": "correctness", "standings": [standing]}
    (folder / "bench.json").write_text(json.dumps({"board": board, "models": {"m": "openai/m"}}))


def states(card: ReportCard) -> dict[str, str]:
    return {item.item: item.state for item in card.protocol if item.item in ("retest", "injection")}


def test_attacks_and_benches_of_the_project_meet_items(tmp_path: Path, says) -> None:
    write_attack(tmp_path / "attack" / "rubric", 0, 200)
    write_bench(tmp_path / "bench" / "judges", 30, 200)
    (card,) = with_findings([card_of()], tmp_path)
    assert states(card) == {"injection": "met", "retest": "not met"}
    says("\n".join(item.why for item in card.protocol if item.item in ("retest", "injection")))


def test_another_version_of_the_prompt_is_another_judge(tmp_path: Path) -> None:
    write_attack(tmp_path / "attack" / "rubric", 0, 200)
    write_bench(tmp_path / "bench" / "judges", 0, 200)
    before = card_of(version=2)
    assert with_findings([before], tmp_path) == [before]
