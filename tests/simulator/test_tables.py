"""Tables in folders of results: their declared columns, versions, slowdowns, and readers other than hitless."""

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import hitless as hl
from hitless.outcome import slowdowns
from hitless.outcome.schema import RELEASES, SCHEMA_KEY, TABLE_KEY, TYPES, declared_tables, schema_version
from hitless.outcome.times import ALL_SIZES, times_of
from warm import hitless

PAGE = Path(__file__).parents[2] / "docs/how-to/tables.md"
CHANNEL = "linkguardian-testbed"
SWEEP = 'scenario = "mine.toml"\nseeds = 2\nkeep = ["messages"]\n[axes]\nduration = ["1 ms", "2 ms"]\n'
FLEET = ("--topology", "leaf-spine:leaves=4,spines=2", "--hours", "2000", "--mttf-hours", "1000")


def scenario(**measure):
    """Return a short run of a lossy link with everything that adds columns, except what excludes an autopsy."""
    short = hl.example("leaf-spine-lossy").with_("duration", "2 ms").with_("until", None).with_("warmup", None)
    return short.with_("measure", measure)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write a folder of results of each command, and return their parent."""
    place = tmp_path_factory.mktemp("results")
    (place / "mine.toml").write_text(scenario(autopsy=True).text)
    ordered = scenario(order=True).with_(
        "host", {"reorder_buffer": {"timeout": "300 us"}, "priority_tagger": {"by": "remaining-bytes"}}
    )
    (place / "ordered.toml").write_text(ordered.text)
    (place / "sweep.toml").write_text(SWEEP)
    commands = (
        ("run", "mine.toml"),
        ("run", "ordered.toml"),
        ("compare", "mine.toml", "ordered.toml", "--seeds", "3"),
        ("sweep", "sweep.toml"),
        ("fleet", "run", *FLEET),
        ("fleet", "compare", "--policy", "corropt", "--policy", "lg+corropt", "--capacity", "0.5", *FLEET),
    )
    for number, command in enumerate(commands):
        hitless(*command, "--out", f"out{number}", cwd=place)
    return place


def files(folder):
    """Yield each file with its table's name and frame, without the columns that a sweep puts in front."""
    for path in sorted(folder.glob("out*/**/*.parquet")):
        table, frame = pl.read_parquet_metadata(path)[TABLE_KEY], pl.read_parquet(path)
        if path.parent.parent.name == "tables":
            frame = frame.drop("point", "duration", "seed")
        yield path, table, frame.drop("duration", strict=False) if table == "sweep_rows" else frame


def test_every_column_of_every_file_is_declared_with_its_type(folder):
    for path, table, frame in files(folder):
        declared = {column.name: TYPES[column.type] for column in declared_tables()[table].columns}
        assert set(frame.columns) <= set(declared), path
        for name, found in frame.schema.items():
            # A column of nulls can lack a type.
            assert found == declared[name] or (found == pl.Null and frame[name].is_null().all()), (path, name)


def test_every_declared_column_occurs_and_a_missing_value_is_declared(folder):
    occurring, with_null = {}, set()
    for _, table, frame in files(folder):
        occurring.setdefault(table, set()).update(frame.columns)
        with_null |= {(table, column.name) for column in frame.iter_columns() if column.null_count()}
    declared = {table.name: {column.name for column in table.columns} for table in declared_tables().values()}
    assert occurring == declared
    may_be_null = {
        (table.name, column.name)
        for table in declared_tables().values()
        for column in table.columns
        if column.missing.startswith("null")
    }
    assert with_null <= may_be_null


def test_a_time_that_never_came_is_declared(folder):
    for path, table, frame in files(folder):
        for column in declared_tables()[table].columns:
            if column.name in frame.columns and column.type == "int64" and not frame.is_empty():
                least = frame[column.name].cast(pl.Int64).min()
                assert least is None or least >= 0 or column.missing.startswith("-1"), (path, column.name)


def test_every_file_and_every_document_name_the_schema(folder):
    version = schema_version()
    assert [*RELEASES] == [*range(1, version + 1)]
    written = {pl.read_parquet_metadata(path)[SCHEMA_KEY] for path in folder.glob("out*/**/*.parquet")}
    assert written == {str(version)}
    documents = [*folder.glob("out*/manifest.json"), *folder.glob("out*/summary.json")]
    assert {(path.parent.name, path.name) for path in documents} >= {
        *((f"out{number}", "manifest.json") for number in range(4)),
        *((f"out{number}", "summary.json") for number in (0, 1, 2, 4, 5)),
    }
    assert {json.loads(path.read_text())["schema"] for path in documents} == {version}


def test_slowdowns_in_files_are_those_in_memory(folder):
    run = hl.run(scenario(autopsy=True).text)
    for name, computed in (("messages", run.messages), ("flows", run.flows)):
        stored = pl.read_parquet(folder / f"out0/run-mine/{name}.parquet")
        assert stored.equals(computed.drop("fct_us")), name
    delivered = run.messages.filter(pl.col("delivered_ps") >= 0)
    assert delivered.height > 100
    # Ideal times in the empty fabric are lower bounds.
    assert delivered["slowdown"].null_count() == 0
    assert delivered["slowdown"].min() > 0.999
    assert run.messages["slowdown"].null_count() == run.messages.height - delivered.height


def test_a_flow_has_the_slowdown_of_its_only_message():
    run = scenario().run()
    joined = run.flows.join(run.messages, on="flow", suffix="_of_message")
    assert joined["slowdown"].equals(joined["slowdown_of_message"])
    lacking = scenario().run(keep=["messages"]).messages
    assert lacking["slowdown"].null_count() == lacking.height


def test_slowdowns_are_computed_once_for_a_run(monkeypatch):
    run = scenario().run()
    calls, compute = [], slowdowns.slowdowns_of

    def counted(*arguments):
        calls.append(1)
        return compute(*arguments)

    monkeypatch.setattr(slowdowns, "slowdowns_of", counted)
    first = run.messages
    times_of(run)
    for _ in range(2):
        assert run.messages.equals(first)
        assert run.flows["slowdown"].equals(slowdowns.with_slowdowns(run)["flows"]["slowdown"])
    assert len(calls) == 1
    of_all = [times for times in times_of(run) if times.sizes == ALL_SIZES and times.what == "messages"]
    assert sum(times.slowdowns.sum() for times in of_all) == pytest.approx(first["slowdown"].sum())
    fewer = replace(run, tables={**run.tables, "messages": run.table("messages").head(5)})
    assert fewer.messages.height == 5, "another run has other tables"
    assert len(calls) == 2


def test_an_idle_fabric_has_a_slowdown_of_about_1():
    idle = hl.example("dumbbell").with_("until", "all-flows-done")
    text = re.sub(r"(?s)\[\[flows\]\].*?(?=\n\[|\Z)", "", idle.text)
    flow = (
        '[[flows]]\nname = "f"\nkind = "requests"\ntransport = "dctcp"\nsources = ["h0"]\ndestinations = ["h2"]\n'
        'size = "1000 B"\ncount = 1\n'
    )
    assert "[[flows]]" not in text
    [slowdown] = hl.run(text + flow).messages["slowdown"]
    assert 1.0 <= slowdown < 1.05


def test_the_examples_of_the_page_run(tmp_path, monkeypatch, capsys):
    """The page's commands, then its blocks of Python, in order."""
    text = PAGE.read_text()
    commands = [line.partition("#")[0].split()[1:] for line in re.findall(r"^    (hitless .*)$", text, re.MULTILINE)]
    assert len(commands) == 2
    for command in commands:
        hitless(*command, cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - the page is ours
    assert names["tail"]["p99_slowdown"].min() > 1.0
    assert names["tail"]["messages"].sum() == (names["messages"].collect()["delivered_ps"] >= 0).sum()
    assert len(names["flows"]) == pl.read_parquet("out/run-leaf-spine-lossy/flows.parquet").height
    slowdowns = [row[2] for row in names["worst"].fetchall()]
    assert len(slowdowns) == 10
    assert slowdowns == sorted(slowdowns, reverse=True)
    assert f"\n{schema_version()}\n" in capsys.readouterr().out
