"""schemathesis asks the workbench, as one who may not and one who may, what its routes take."""

import pytest
from tests.support.schema_checks import ROLES, checked, document_of, workbench_as

from ragstone.kernel.config import load_settings


def made_project(folder):
    """Make a project, and return its settings."""
    (folder / "runs").mkdir(parents=True)
    (folder / "ragstone.toml").write_text('[run]\nname = "mine"\n')
    return load_settings(folder / "ragstone.toml")


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """The OpenAPI document of the routes, which are those of every project."""
    return document_of(made_project(tmp_path_factory.mktemp("any") / "project"))


@pytest.mark.simulation
@pytest.mark.parametrize("role", ROLES)
def test_the_workbench_takes_what_its_routes_say(tmp_path, document, role):
    with workbench_as(made_project(tmp_path / "project"), role) as (address, headers):
        n = checked(tmp_path, document, address, headers, without=ROLES[role], phases="fuzzing")
    assert n > 60  # every route is asked
