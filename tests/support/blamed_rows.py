"""Where the lost points of one system went: the counts, and the cause of each question."""

from ragstone.kernel.runs.causes import Caused, ComponentShare, Largest, Returned, SystemBlame
from ragstone.kernel.statistics import Estimate


def share(component, n, of=50):
    if not of:
        return ComponentShare(component=component, n=0, share=None)
    low, high = max(0.0, n / of - 0.1), min(1.0, n / of + 0.1)
    found = Estimate(value=n / of, low=low, high=high, n=of, method="wilson")
    return ComponentShare(component=component, n=n, share=found)


SYSTEM = SystemBlame(
    system="bm25/strict/m",
    judge="correctness",
    metric="correctness",
    model="m",
    n_counted=50,
    n_lost=12,
    left_out={"timeout": 2, "not judged": 1},
    shares=[
        share("dataset", 1),
        share("retriever", 9),
        share("model + prompt", 2),
        share("judge", 0, of=0),
        share("cannot tell", 0),
    ],
    causes={"not retrieved": 9, "invented": 2, "reference doubtful": 1},
    largest=Largest(first="retriever", second="model + prompt", verdict="largest", p_holm=0.03, n=50),
    returned=Returned(n=11, n_right=8),
)
CAUSES = [
    Caused(
        question_id="q<1>",
        system="bm25/strict/m",
        cause="not retrieved",
        component="retriever",
        because='Document "d" was not among the contexts; <script>alert(1)</script>',
    ),
    *(
        Caused(
            question_id=f"q{at}",
            system="bm25/strict/m",
            cause="not retrieved",
            component="retriever",
            because="b",
        )
        for at in range(13)
    ),
]
