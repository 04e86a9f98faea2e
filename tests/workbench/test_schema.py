"""schemathesis asks the workbench, as one who may not and one who may, what its routes take."""

import pytest
from tests.support.schema_checks import ROLES, checked, document_of, workbench_as

from ragstone.kernel.config import load_settings


@pytest.mark.simulation
@pytest.mark.parametrize("role", ROLES)
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
