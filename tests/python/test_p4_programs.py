"""The compiled P4 programs of p4/ match their sources and their accompanying files."""

import json
import re

import pytest

from p4_manifest import FOLDER, MANIFEST, ROOT, digest, programs, sources

NAMES = sorted(programs())
HINT = "compile it with scripts/p4-compile"


def manifest():
    return json.loads(MANIFEST.read_text())["programs"]


def compiled(name):
    return json.loads((FOLDER / name / f"{name}.json").read_text())


def test_each_of_the_papers_has_a_program():
    papers = ["afq", "linkguardian", "preemptive-deflection", "rimm", "simple-deflection", "sqr"]
    assert papers == NAMES
    assert sorted(manifest()) == papers


@pytest.mark.parametrize("name", NAMES)
def test_the_compiled_program_is_that_of_its_source(name):
    noted = manifest()[name]
    now = {path.relative_to(ROOT).as_posix(): digest(path) for path in sources(programs()[name])}
    assert now == noted["sources"], f"p4/{name}/{name}.json is older than its source: {HINT}"
    assert digest(FOLDER / name / f"{name}.json") == noted["compiled"], f"p4/{name}/{name}.json was changed: {HINT}"
    assert re.match(r"\d+\.\d+", noted["p4c"]), "the manifest names the version of p4c"


def declared_externs():
    text = (FOLDER / "hitless.p4").read_text()
    found = re.findall(r"^extern void (\w+)\(([^)]*)\);", text, re.MULTILINE)
    return {name: len(parameters.split(",")) for name, parameters in found}


def primitives(program):
    """Yield each call of a primitive: its name and its number of parameters."""
    called = [call for action in program["actions"] for call in action["primitives"]]
    called += [
        call for parser in program["parsers"] for state in parser["parse_states"] for call in state["parser_ops"]
    ]
    return [(call["op"], len(call["parameters"])) for call in called]


V1MODEL = {
    "assign",
    "assign_header",
    "add_header",
    "remove_header",
    "mark_to_drop",
    "register_read",
    "register_write",
    "count",
    "clone_ingress_pkt_to_egress",
    "clone_egress_pkt_to_egress",
    "modify_field_with_hash_based_offset",
    "modify_field_rng_uniform",
    "truncate",
    "exit",
    "extract",
    "set",
    "primitive",
}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_of_v1model_is_declared_in_the_header(name):
    declared = declared_externs()
    assert len(declared) > 8, "the pattern finds nothing"
    beyond = {call for call in primitives(compiled(name)) if call[0] not in V1MODEL}
    assert beyond, "each of the programs needs what v1model lacks"
    assert dict(beyond) == {op: declared.get(op) for op, _ in beyond}


def test_every_function_of_the_header_is_called_by_some_program():
    called = {op for name in NAMES for op, _ in primitives(compiled(name))}
    assert sorted(set(declared_externs()) - called) == []


def tables(program):
    return {table["name"]: table for pipeline in program["pipelines"] for table in pipeline["tables"]}


def parameters(program, action_id):
    return next(len(action["runtime_data"]) for action in program["actions"] if action["id"] == action_id)


@pytest.mark.parametrize("name", NAMES)
def test_the_commands_name_tables_and_actions_of_the_program(name):
    program = compiled(name)
    known = tables(program)
    lines = [line.split("#")[0].split() for line in (FOLDER / name / "commands.txt").read_text().splitlines()]
    lines = [words for words in lines if words]
    assert lines, "a scenario needs entries"
    for command, table, action, *rest in lines:
        assert command in {"table_add", "table_set_default"}, command
        assert table in known, f"no table {table}"
        ids = dict(zip(known[table]["actions"], known[table]["action_ids"], strict=True))
        assert action in ids, f"{table} has no action {action}"
        keys = len(known[table]["key"]) if command == "table_add" else 0
        given = rest[rest.index("=>") + 1 :] if "=>" in rest else rest
        before = rest[: rest.index("=>")] if "=>" in rest else []
        has_priority = any(key["match_type"] in {"ternary", "range"} for key in known[table]["key"])
        assert len(before) == keys, f"{table}: {before}"
        wanted = parameters(program, ids[action]) + (has_priority and command == "table_add")
        assert len(given) == wanted, f"{table} {action}: {given}"


@pytest.mark.parametrize("name", NAMES)
def test_what_stands_beside_a_program_is_complete(name):
    folder = FOLDER / name
    text = (folder / "README.md").read_text()
    assert "## What differs" in text
    assert f"crates/mechanisms/src/{folder_of_mechanism(name)}" in text
    assert (folder / "tna.p4").exists()
    tests = (folder / "tests.stf").read_text()
    assert re.search(r"^packet \d+ ", tests, re.MULTILINE)
    assert re.search(r"^expect \d+ ", tests, re.MULTILINE)


def folder_of_mechanism(name):
    return "deflection" if name.endswith("deflection") else name


def test_sources_have_lines_of_120_columns_and_files_of_600_lines_at_most():
    for path in sorted(FOLDER.rglob("*.p4")):
        lines = path.read_text().splitlines()
        assert len(lines) <= 600, path
        assert [number for number, line in enumerate(lines, 1) if len(line) > 120] == [], path
