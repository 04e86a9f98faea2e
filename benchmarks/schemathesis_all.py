"""schemathesis on both servers, all phases and checks, as each role: how many requests, and what fails.

python benchmarks/schemathesis_all.py --examples 20
"""

import argparse
import tempfile
from pathlib import Path

from tests.support.schema_checks import ROLES, checked, config_for, document_of, workbench_as
from tests.support.served_assistant import KEYS, Scripted, key, served

from ragstone.config import load_settings
from ragstone.config.serve import ServeSection


def main() -> None:
    """Print a line for each role; the first failure ends it, in the words of schemathesis."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=20, help="for each route")
    examples = parser.parse_args().examples
    for role, without in ROLES.items():
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "runs").mkdir()
            (Path(name) / "ragstone.toml").write_text('[run]\nname = "mine"\n')
            settings = load_settings(Path(name) / "ragstone.toml")
            with workbench_as(settings, role) as (address, headers):
                n = checked(
                    Path(name), document_of(settings), address, headers, examples=examples, without=without
                )
        print(f"workbench, {role or 'nobody'}: {n:,} requests, 0 failures", flush=True)
    serve = ServeSection(requests_per_minute=1_000_000, admin_keys=["anna"])
    for who, given in {"local": None, "no key": KEYS, "ben": KEYS, "anna": KEYS}.items():
        with tempfile.TemporaryDirectory() as name:
            part = ServeSection(requests_per_minute=1_000_000) if given is None else serve
            with served(Scripted(), part, Path(name) / "store", keys=given) as address:
                headers = key(who) if who in KEYS else {}
                without = () if who != "no key" else ("unsupported_method", "positive_data_acceptance")
                config = config_for(address, headers) if who != "no key" else ""
                document = f"{address}/openapi.json"
                n = checked(
                    *(Path(name), document, address, headers),
                    examples=examples,
                    config=config,
                    without=without,
                )
        print(f"assistant, {who}: {n:,} requests, 0 failures", flush=True)


if __name__ == "__main__":
    main()
