"""What a release needs besides code: one version, workflows that run, licences named, forms that parse."""

import json
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from tests.support.command import every_command

from ragstone.kernel.version import __version__

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
COPYLEFT = re.compile(r"GPL|GNU|MPL|Mozilla|EPL|Eclipse|CDDL|EUPL|SSPL|CC-BY-SA")
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+$")


def project(folder: str = "") -> dict:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_version_is_in_one_place_and_the_two_packages_ask_for_each_other_of_it():
    ours, assistant = project(), project("packages/ragstone-assistant")
    assert not {"version"} & {*ours, *assistant}  # both read it from version.py
    [bound] = ours["optional-dependencies"]["assistant"]
    assert Requirement(bound).specifier == Requirement(f"x>={__version__}").specifier
    [needed] = [Requirement(each) for each in assistant["dependencies"]]
    assert (needed.name, str(needed.specifier)) == ("ragstone", f">={__version__}")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    released = re.search(rf"^## \[?{re.escape(__version__)}\]? \((\S+)\)", changes(), re.MULTILINE)
    assert released is not None, f"CHANGELOG.md has no section {__version__}"
    assert (cited["version"], cited["date-released"]) == (__version__, released[1])
    minor = __version__.rpartition(".")[0]
    assert f"({minor})" in (ROOT / "SECURITY.md").read_text("utf-8")


def changes() -> str:
    return (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_both_packages_carry_the_licence():
    licence = (ROOT / "LICENSE").read_bytes()
    assert (ROOT / "packages/ragstone-assistant/LICENSE").read_bytes() == licence


def steps(workflow: dict) -> Iterator[dict]:
    for job in workflow["jobs"].values():
        yield from job["steps"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_the_least_rights_pins_its_actions_and_holds_no_secret(path):
    text = path.read_text("utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {}  # each job asks for its own
    for name, job in workflow["jobs"].items():
        assert job["timeout-minutes"] <= 90, name
        assert "permissions" in job, name
        assert all(("uses" in step) != ("run" in step) for step in job["steps"]), name
    used = [line.strip().removeprefix("- ") for line in text.splitlines() if re.match(r" +(- )?uses:", line)]
    assert [line for line in used if not PINNED.fullmatch(line)] == []
    assert not re.search(r"secrets\.|pull_request_target", text)
    kept = [step for step in steps(workflow) if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in kept)


def test_what_may_write_is_what_must():
    writes = {
        (path.name, name, right)
        for path in WORKFLOWS
        for name, job in yaml.safe_load(path.read_text("utf-8"))["jobs"].items()
        for right, level in job["permissions"].items()
        if level == "write"
    }
    assert writes == {
        ("codeql.yml", "analyse", "security-events"),
        ("docs.yml", "publish", "contents"),
        ("release.yml", "attest", "attestations"),
        ("release.yml", "attest", "id-token"),
        ("release.yml", "github", "contents"),
        ("release.yml", "publish", "id-token"),
    }


def test_every_target_and_script_that_a_workflow_runs_exists():
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    scripts = "\n".join(
        step.get("run", "") for path in WORKFLOWS for step in steps(yaml.safe_load(path.read_text("utf-8")))
    )
    asked = set(re.findall(r"\bmake ([a-z-]+)", scripts))
    assert {"test", "lowest", "dist", "newcomer", "sbom", "site"} <= asked <= targets
    files = re.findall(r"(?:bash|python) (\S+)", scripts)
    assert len(files) >= 2
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_a_release_is_published_only_after_it_was_built_twice_installed_and_attested():
    jobs = yaml.safe_load((GITHUB / "workflows/release.yml").read_text("utf-8"))["jobs"]
    order = ["build", "wheels", "attest", "publish", "github"]
    assert [jobs[name].get("needs") for name in order] == [None, *order[:-1]]
    assert list(jobs) == order
    scripts = "\n".join(step.get("run", "") for step in jobs["build"]["steps"])
    assert "make dist DIST=again\ndiff -r dist again\n" in scripts


def test_each_project_is_published_from_an_environment_of_its_own_which_the_docs_name():
    job = yaml.safe_load((GITHUB / "workflows/release.yml").read_text("utf-8"))["jobs"]["publish"]
    environments = {each["project"]: each["environment"] for each in job["strategy"]["matrix"]["include"]}
    assert environments.keys() == {project()["name"], project("packages/ragstone-assistant")["name"]}
    assert len(set(environments.values())) == 2
    page = (ROOT / "docs/how-to/release.md").read_text("utf-8")
    assert all(f"environment `{name}`" in page for name in environments.values())


def test_every_target_of_make_that_a_text_names_exists():
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    files = [
        path for folder in ("docs", "deploy", ".github", "examples") for path in (ROOT / folder).rglob("*")
    ]
    texts = [
        path
        for path in files
        if path.suffix in (".md", ".yml", ".yaml", ".sh") or "Containerfile" in path.name
    ]
    texts += [*ROOT.glob("*.md"), ROOT / "mkdocs.yml", ROOT / ".pre-commit-config.yaml"]
    named = {
        (target, path.name)
        for path in texts
        for target in re.findall(r"(?m)(?:`|&& |run: |^#   )make ([a-z][a-z-]*)", path.read_text("utf-8"))
    }
    assert len(named) > 20
    assert {(target, name) for target, name in named if target not in targets} == set()


def test_pythons_are_the_same_in_workflows_and_classifiers():
    said = [
        {line.rpartition(" ")[2] for line in project(folder)["classifiers"] if re.search(r":: 3\.\d+$", line)}
        for folder in ("", "packages/ragstone-assistant")
    ]
    tested = yaml.safe_load((GITHUB / "workflows/test.yml").read_text("utf-8"))["jobs"]
    for job in ("quick", "wheels"):
        assert {*tested[job]["strategy"]["matrix"]["python"]} == said[0] == said[1]


def test_forms_ask_for_commands_that_exist():
    forms = [path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"]
    assert len(forms) == 3
    for path in forms:
        form = yaml.safe_load(path.read_text("utf-8"))
        asked = [field for field in form["body"] if field["type"] != "markdown"]
        assert {"name", "description", "labels"} <= form.keys()
        assert any(field.get("validations", {}).get("required") for field in asked)
        assert len({field["id"] for field in asked}) == len(asked)
        commands = set(re.findall(r"`ragstone ([a-z]+)", path.read_text("utf-8")))
        assert commands <= set(every_command().commands)


def brought(name: str, extras: frozenset[str], seen: dict[str, Distribution]) -> None:
    """Add what a package brings with these extras and is installed here to `seen`."""
    try:
        package = distribution(name)
    except PackageNotFoundError:
        return
    seen[re.sub(r"[-_.]+", "-", name).lower()] = package
    for each in map(Requirement, package.requires or []):
        wanted = each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in extras | {""})
        key = (re.sub(r"[-_.]+", "-", each.name).lower(), frozenset(each.extras))
        if wanted and (key[0] not in seen or key[1]) and key not in VISITED:
            VISITED.add(key)
            brought(each.name, key[1], seen)


VISITED: set[tuple[str, frozenset[str]]] = set()


def licence_of(package: Distribution) -> str:
    """Return what the metadata of a package says of its licence."""
    fields = package.metadata
    classifiers = [line for line in fields.get_all("Classifier") or [] if line.startswith("License ::")]
    return " ".join([fields.get("License-Expression") or (fields.get("License") or "")[:80], *classifiers])


def test_notice_names_each_package_under_copyleft_that_an_extra_brings():
    extras = frozenset(project()["optional-dependencies"]) - {"dev"}
    VISITED.clear()
    seen: dict[str, Distribution] = {}
    brought("ragstone", extras, seen)
    assert len(seen) > 60  # the walk finds what is there
    notice = (ROOT / "NOTICE").read_text("utf-8").partition("(weak copyleft)")[2]
    listed = re.findall(r"^- (.+?), under the (?:GNU|Mozilla)", notice, re.MULTILINE)
    named = {name for line in listed for name in line.split(" and ")}
    found = {name for name, package in seen.items() if COPYLEFT.search(licence_of(package))}
    assert found == named & set(seen)
    assert {"python-stdnum", "psycopg"} <= found
    strong = [
        name
        for name in found
        if re.search(
            r"(?<!L)(?<!Lesser )A?GPL-[23]|General Public License v[23] \(GPL", licence_of(seen[name])
        )
    ]
    assert strong == []


def test_hooks_for_developers_run_tools_that_the_environment_has():
    settings = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    hooks = settings["repos"][0]["hooks"]
    stages = {stage for hook in hooks for stage in hook.get("stages", ["pre-commit"])}
    assert {*settings["default_install_hook_types"]} == stages  # else `pre-commit install` leaves some out
    tools = {hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in hooks}
    brings = {"import-linter": "lint-imports"}
    dev = {Requirement(each).name for each in project()["optional-dependencies"]["dev"]}
    assert tools <= {brings.get(name, name) for name in dev}


def test_the_group_dev_is_the_extra_dev():
    everything = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert everything["dependency-groups"] == {"dev": ["ragstone[dev]"]}
    assert json.dumps(everything["tool"]["uv"]) == json.dumps(
        {"workspace": {"members": ["packages/*"]}, "sources": {"ragstone-assistant": {"workspace": True}}}
    )
