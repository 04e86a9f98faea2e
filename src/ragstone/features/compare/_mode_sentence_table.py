"""What a comparison may say of failure modes: each sentence with its condition."""

from ragstone.features.compare._sizes import listed, signed_points, signed_points_range
from ragstone.features.compare.values import ComparedModes, ModeDifference
from ragstone.kernel.sentences import Sentence


def mode_size(row: ModeDifference) -> str:
    """Return a difference as `−4.0 points (−7.0 to −1.0)`."""
    estimate = row.difference
    if estimate.low is None or estimate.high is None:
        return f"{signed_points(estimate.value)} points"
    ends = signed_points_range(estimate.low, estimate.high)
    return f"{signed_points(estimate.value)} points ({ends})"


def _with(modes: ComparedModes, verdict: str) -> list[str]:
    """Return the modes with a verdict, those whose answers all got the same verdict left out."""
    return [
        f"{row.title}: {mode_size(row)}" for row in modes.modes if row.verdict == verdict and not is_same(row)
    ]


def is_same(row: ModeDifference) -> bool:
    """Whether the mode's judge says the same of both answers to every question, and people did not decide."""
    return row.by == "judge" and not row.n_changed


def _unchecked(modes: ComparedModes) -> list[str]:
    return [row.title for row in modes.modes if row.by == "judge"]


MODES = {"modes": "titles of the modes, each with the difference in points and its 95 % interval"}
FEWER = Sentence[ComparedModes](
    code="compare-modes-fewer",
    text="B has fewer answers with {modes}.",
    when="B's share of answers with these modes is below A's, and p is at most 0.05, by Holm's correction "
    "over all modes that both runs count by the same file",
    holds=lambda modes: bool(_with(modes, "fewer")),
    needs=MODES,
    fills=lambda modes: {"modes": "; ".join(_with(modes, "fewer"))},
)
MORE = Sentence[ComparedModes](
    code="compare-modes-more",
    text="B has more answers with {modes}.",
    when="as compare-modes-fewer, with B's share above A's",
    holds=lambda modes: bool(_with(modes, "more")),
    needs=MODES,
    fills=lambda modes: {"modes": "; ".join(_with(modes, "more"))},
)
CANNOT_TELL = Sentence[ComparedModes](
    code="compare-modes-cannot-tell",
    text="Cannot tell for {modes}.",
    when="a verdict of the mode's judge differs, or people's labels decide, and p is above 0.05",
    holds=lambda modes: bool(_with(modes, "cannot tell")),
    needs=MODES,
    fills=lambda modes: {"modes": "; ".join(_with(modes, "cannot tell"))},
)
SAME = Sentence[ComparedModes](
    code="compare-modes-same",
    text="No verdict differs for {modes}.",
    when="the mode's judge says the same of both answers to each question, and people's labels do not decide",
    holds=lambda modes: any(map(is_same, modes.modes)),
    needs={"modes": "titles of the modes"},
    fills=lambda modes: {"modes": listed([row.title for row in modes.modes if is_same(row)])},
)
UNCHECKED = Sentence[ComparedModes](
    code="compare-modes-by-judge",
    text="By the modes' judges, not by people, for {modes}.",
    when="one of the runs has no labels of people for the mode's question, or a filter chose the questions, "
    "or several systems are compared",
    holds=lambda modes: bool(_unchecked(modes)),
    needs={"modes": "titles of the modes"},
    fills=lambda modes: {"modes": listed(_unchecked(modes))},
)
NOT_COMPARED = Sentence[ComparedModes](
    code="compare-modes-not-compared",
    text="Not compared: {modes}. Run `ragstone modes` on both runs with the same mode files.",
    when="one of the runs has no such mode, or counts it by another file",
    holds=lambda modes: bool(modes.not_compared),
    needs={"modes": "names of the modes"},
    fills=lambda modes: {"modes": listed(modes.not_compared)},
)
MODE_SENTENCES = (FEWER, MORE, CANNOT_TELL, SAME, UNCHECKED, NOT_COMPARED)
SENTENCES = MODE_SENTENCES
