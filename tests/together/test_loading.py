"""A draft of a judge that comes out of a browser names no Python code."""

import pytest

from ragstone.features.improve.judge_files import parse_draft
from ragstone.kernel.errors import ConfigError


@pytest.mark.parametrize(
    "text",
    [
        'kind = "function"\ncall = "os:system"',
        'kind = "jury"\ninputs = ["answer"]\nscale = [0, 1]\n'
        'members = [{ judge = "os:system" }, { judge = "regex" }]',
    ],
)
def test_a_draft_out_of_a_browser_names_no_python_code(text, tmp_path, says):
    with pytest.raises(ConfigError) as error:
        parse_draft(f'name = "mine"\nversion = 1\nsource = "ours"\n{text}\n', tmp_path / "mine.toml")
    says(error.value)
