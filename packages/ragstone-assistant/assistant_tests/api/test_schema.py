"""schemathesis asks the server what its OpenAPI document allows, and what it does not."""

import pytest
from tests.support.schema_checks import ALL, checked, config_for
from tests.support.served_assistant import KEYS, Scripted, key, served

from ragstone.kernel.config.serving import ServeSection


@pytest.mark.simulation
@pytest.mark.parametrize("who", [None, "anna", "ben"])
def test_the_server_is_as_its_openapi_document_says(tmp_path, who):
    serve = ServeSection(requests_per_minute=1_000_000, admin_keys=["anna"] if who else [])
    with served(Scripted(), serve, tmp_path / "store", keys=KEYS if who else None) as address:
        headers = key(who) if who else {}
        checked(
            *(tmp_path, f"{address}/openapi.json", address, headers),
            config=config_for(address, headers),
            phases="fuzzing" if who else ALL,
        )
