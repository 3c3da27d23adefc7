"""Alert rules, the dashboard and the pages of files and metrics: they name what the code has."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hitless.switch import configuration, link_file

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/reference/monitoring"
RULES, DASHBOARD = FOLDER / "hitless.rules.yml", FOLDER / "hitless-dashboard.json"
PAGE = (ROOT / "docs/reference/metrics.md").read_text("utf-8")
EXPORTED = dict(re.findall(r"^\| `(hitless_\w+)` \| \w+ \| (.*?) \|", PAGE, re.MULTILINE))
"""Metrics of the page, with their labels; tests/simulator/test_reference_pages.py compares the page with the code."""

_METRIC = re.compile(r"(hitless_(?:live|corruptd)_\w+)(?:\{([^}]*)\})?")
_OF_SCRAPES = {"instance", "job"}


def used(text):
    """Return the metrics in expressions, with the labels that select them."""
    return {(name, label) for name, chosen in _METRIC.findall(text) for label in ["", *re.findall(r"(\w+)=", chosen)]}


def expressions():
    dashboard = json.loads(DASHBOARD.read_text("utf-8"))
    panels = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    return {"rules": RULES.read_text("utf-8"), "dashboard": "\n".join(panels)}


@pytest.mark.parametrize("which", ["rules", "dashboard"])
def test_rules_and_panels_name_metrics_and_labels_that_are_exported(which):
    found = used(expressions()[which])
    assert len({name for name, _ in found}) >= 14
    for name, label in sorted(found):
        assert name in EXPORTED
        assert label in {"", *_OF_SCRAPES} or f"`{label}`" in EXPORTED[name], (name, label)


def test_legends_of_the_dashboard_are_labels_and_its_panels_do_not_overlap():
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    cells = set()
    for panel in panels:
        for target in panel["targets"]:
            [name, *_] = [name for name, _ in _METRIC.findall(target["expr"])]
            for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                assert label in _OF_SCRAPES or f"`{label}`" in EXPORTED[name], target
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        own = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not own & cells, panel["title"]
        cells |= own


def test_promtool_accepts_the_rules_and_each_alert_fires_when_it_should(tmp_path):
    program = shutil.which("promtool") or shutil.which(ROOT / ".cache/promtool/promtool")
    if program is None:
        pytest.skip("promtool is missing (scripts/setup.sh fetches it where apt-get is)")
    shutil.copy(RULES, tmp_path)
    shutil.copy(Path(__file__).parent / "monitoring/hitless_test.yml", tmp_path)
    for words in (["check", "rules", RULES.name], ["test", "rules", "hitless_test.yml"]):
        done = subprocess.run([program, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_test_of_the_rules_covers_every_alert():
    alerts = re.findall(r"alert: (\w+)", RULES.read_text("utf-8"))
    tested = re.findall(
        r'alertname="(\w+)"', (Path(__file__).parent / "monitoring/hitless_test.yml").read_text("utf-8")
    )
    assert sorted(alerts) == sorted(tested)


def test_the_page_of_files_has_every_field_with_a_sentence():
    page = (ROOT / "docs/reference/live-files.md").read_text("utf-8")
    models = [link_file.Link, link_file.LinkMetrics, configuration.Main, configuration.Interface, configuration.Metrics]
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \| (.+?) \| (yes|no) \|$", page, re.MULTILINE)
    assert [row[0] for row in rows] == [name for model in models for name in model.model_fields]
    assert all(row[3].endswith(".") for row in rows)
    assert ("loss_rate", "`0.001`", "number, 1e-12 to 0.4") in [row[:3] for row in rows]
