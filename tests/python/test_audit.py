"""The audit of locked packages: matching of version requirements, and detection of affected packages."""

import importlib.machinery
import importlib.util
import json
from datetime import date
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "audit"


@pytest.fixture
def audit():
    loader = importlib.machinery.SourceFileLoader("audit", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("audit", loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("version", "requirement", "holds"),
    [
        ("1.2.3", ">= 1.2.3", True),
        ("1.2.3", "> 1.2.3", False),
        ("1.10.0", ">= 1.9.0", True),
        ("1.2.3", ">= 1.0.0, < 1.2.0", False),
        ("1.2.3-alpha.1", ">= 1.2.3", False),
        ("1.2.9", "^1.2.3", True),
        ("2.0.0", "^1.2.3", False),
        ("0.2.9", "^0.2.3", True),
        ("0.3.0", "^0.2.3", False),
        ("0.0.4", "^0.0.3", False),
        ("1.2.9", "~1.2.3", True),
        ("1.3.0", "~1.2.3", False),
        ("1.2.3+build", "= 1.2.3", True),
    ],
)
def test_a_requirement_means_what_cargo_takes_it_for(audit, version, requirement, holds):
    assert audit.satisfies(version, requirement) is holds


def test_what_is_affected_is_found_and_what_is_patched_or_unaffected_is_not(audit):
    advisory = {"id": "A", "package": "x", "patched": [">= 1.2.0"], "unaffected": ["< 1.0.0"]}
    versions = {"0.9.0": [], "1.1.9": [("A", "x 1.1.9")], "1.2.0": []}
    for version, found in versions.items():
        assert list(audit.affected_crates([advisory], {("x", version), ("y", "1.1.0")})) == found
    advisory = {"id": "B", "package": "x", "versions": ["1.0", "1.1"]}
    assert list(audit.affected_wheels([advisory], {("x", "1.1"), ("x", "1.2")})) == [("B", "x 1.1")]


def test_an_affected_package_fails_the_audit_and_an_old_snapshot_is_skipped_with_its_age(audit, tmp_path, capsys):
    audit.SNAPSHOTS = tmp_path
    name, version = min(audit.locked_crates())
    advisory = {"id": "RUSTSEC-0", "package": name, "patched": [], "unaffected": []}
    (tmp_path / "rustsec.json").write_text(json.dumps({"date": "2026-01-01", "advisories": [advisory]}))
    (tmp_path / "pypa.json").write_text(json.dumps({"date": "2024-01-01", "advisories": []}))
    assert audit.audit(date(2026, 2, 1)) == 1
    told = capsys.readouterr().out
    assert f"{name} {version} is affected by RUSTSEC-0" in told
    assert "pypa: skipped: its snapshot is of 2024-01-01, 762 days old" in told
    audit.EXCUSED = {"RUSTSEC-0": "a test"}
    assert audit.audit(date(2026, 2, 1)) == 0


def test_the_snapshots_are_of_packages_that_are_locked(audit):
    for name, (locked, _) in audit.PARTS.items():
        snapshot = json.loads((audit.SNAPSHOTS / f"{name}.json").read_text())
        assert {audit.normal(each["package"]) for each in snapshot["advisories"]} <= {
            audit.normal(each) for each, _ in locked()
        }
        assert date.fromisoformat(snapshot["date"])
