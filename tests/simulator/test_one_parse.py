"""A run parses its scenario once and hands the parsed value on."""

import tomllib

import pytest
from typer.testing import CliRunner

from hitless import _native
from hitless.cli.main import app
from hitless.outcome import scenario as read_back


class _Counting(type):
    """Stands in for a class and counts its objects."""

    def __call__(cls, *given):
        cls.texts.append(given[0])
        return cls.real(*given)

    def __instancecheck__(cls, one):
        return isinstance(one, cls.real)


class Counted(metaclass=_Counting):
    """Counts checks of scenarios; a check parses the text once."""

    real = _native.CheckedScenario
    texts: list[str] = []  # noqa: RUF012 - the metaclass appends to it


@pytest.mark.parametrize("command", [["run", "--json"], ["scenario", "check"]])
def test_a_command_parses_its_scenario_once(command, tmp_path, monkeypatch):
    path = tmp_path / "one.toml"
    path.write_text(_native.scenario_example("lossy-link").replace('duration = "1 s"', 'duration = "2 ms"'))
    texts, loads = [], tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda text: texts.append(text) or loads(text))
    monkeypatch.setattr(Counted, "texts", [])
    monkeypatch.setattr(_native, "CheckedScenario", Counted)
    monkeypatch.chdir(tmp_path)
    read_back._read.cache_clear()
    done = CliRunner().invoke(app, [*command, str(path)])
    assert done.exit_code == 0, done.output
    assert Counted.texts == [path.read_text()]
    assert len(texts) == (1 if command[0] == "run" else 0), "the effective text is read back once, for the report"
