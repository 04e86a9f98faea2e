from typing import Literal

import pytest
from tests.support.tiny_run import judgement

from ragstone.features.improve.trial._words import PromptTrial, TrialRow, TrialScore, trial_document
from ragstone.kernel.document.markdown import render_markdown
from ragstone.kernel.runs.summary import Calls


def trial(kind: Literal["answer", "judge"], *systems: str) -> PromptTrial:
    score = judgement("q", "tone", 1.0)
    rows = [
        TrialRow(
            question_id="q",
            system=system,
            question="How?",
            before="So.",
            after="So.",
            scores=[TrialScore(name="tone", before=score, after=score)],
        )
        for system in systems
    ]
    return PromptTrial(run="mine", kind=kind, name="tone", rows=rows, calls=Calls())


@pytest.mark.parametrize("kind", ["answer", "judge"])
def test_what_comes_next_is_of_what_was_tried(kind, says):
    says(render_markdown(trial_document(trial(kind, "a"))))


def test_systems_are_named_where_there_are_several(says):
    says(render_markdown(trial_document(trial("judge", "a", "b"))))
