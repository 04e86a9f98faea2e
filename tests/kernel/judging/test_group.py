"""Which judges are asked about a row together."""

from ragstone.kernel.judging import load_judge
from ragstone.kernel.judging.group import group_judges


def test_judges_are_grouped_only_where_there_are_two_of_them():
    alike = [load_judge(f"{name}@layout=contexts_first") for name in ("relevance", "answered", "bias")]
    other = load_judge("relevance")
    assert group_judges([other, *alike], one_call=False) == [alike, [other]]
    assert group_judges([other, alike[0]], one_call=False) == [[other], [alike[0]]]
    both = load_judge("answered")
    assert group_judges([other, *alike, both], one_call=True) == [[other, both], alike]
