"""docs/reference/scenario is the output of `hitless scenario schema`, as pages."""

from pathlib import Path

from typer.testing import CliRunner

from hitless import _native
from hitless.cli.main import app
from hitless.cli.scenario_pages import pages

FOLDER = Path(__file__).parents[2] / "docs" / "reference" / "scenario"
LISTING = _native.scenario_schema("text")


def test_the_pages_are_those_that_the_listing_makes():
    found = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert found == pages(LISTING), "hitless scenario schema --out docs/reference/scenario"


def test_every_field_and_every_kind_of_the_listing_is_on_a_page():
    text = "".join(pages(LISTING).values())
    fields = [line.split()[0] for line in LISTING.splitlines() if line.startswith("  ") and line[2:3] not in {"", " "}]
    kinds = [line.split('"')[1] for line in LISTING.splitlines() if line.startswith('kind = "')]
    assert len(fields) > 300
    assert len(kinds) > 50
    assert [name for name in fields if f"- **`{name}`**: " not in text] == []
    assert "\n---" not in text
    assert [name for name in kinds if f"# {name}\n\n`kind = " not in text] == []
    assert text.count("- **`") == len(fields)


def test_the_command_writes_the_pages(tmp_path):
    done = CliRunner().invoke(app, ["scenario", "schema", "--out", str(tmp_path / "new")])
    assert done.exit_code == 0, done.output
    assert {path.name for path in (tmp_path / "new").iterdir()} == set(pages(LISTING))
