"""schemathesis asks the workbench, as each role, what its routes take and what they do not."""

import pytest
from tests.support.schema_checks import ROLES, checked, document_of, workbench_as

from ragstone.config import load_settings

REAL = [pytest.param(role, marks=pytest.mark.simulation) for role in ROLES if role != "owner"]


@pytest.mark.parametrize("role", ["owner", *REAL])
def test_the_workbench_takes_what_its_routes_say(tmp_path, role):
    project = tmp_path / "project"
    (project / "runs").mkdir(parents=True)
    (project / "ragstone.toml").write_text('[run]\nname = "mine"\n')
    settings = load_settings(project / "ragstone.toml")
    with workbench_as(settings, role) as (address, headers):
        n = checked(
            *(tmp_path, document_of(settings), address, headers),
            without=ROLES[role],
            phases="fuzzing",
        )
    assert n > 60  # every route is asked
