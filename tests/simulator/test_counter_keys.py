"""Keys of counters, histograms and series: each mechanism declares them once, and programs use only them."""

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from python_mechanisms import Ports

import hitless as hl
from hitless.outcome.counters import Counter, declared, quantities
from hitless.outcome.mechanisms import _CHOSEN
from hitless.outcome.run import Run, Summary
from hitless.outcome.tables import Tables
from hitless_papers.deflection import control_packets, priorities

PYTHON = Path(__file__).resolve().parents[2] / "python"


def test_keys_are_unique_in_a_mechanism_and_in_snake_case() -> None:
    resources = declared()[""]
    named = [*declared().items(), *quantities().items()]
    for kind, counters in named:
        keys = [counter.key for counter in [*counters, *(resources if kind else [])]]
        assert len(keys) == len({*keys}), f"{kind}: {sorted(keys)}"
        assert all(re.fullmatch("[a-z][a-z0-9]*(_[a-z0-9]+)*", key) for key in keys), kind
        assert all(counter.label.strip() for counter in counters), kind


def test_the_unit_is_the_last_word_of_the_key_and_in_the_label() -> None:
    assert [Counter(key, "", "").unit for key in ("longest_stall_ns", "packets_lost", "blocks")] == ["ns", "", ""]
    for counters in (*declared().values(), *quantities().values()):
        for counter in counters:
            assert counter.unit in counter.label, counter


def test_each_key_that_python_uses_is_declared() -> None:
    known = {counter.key for counters in declared().values() for counter in counters}
    used = {key for path in PYTHON.rglob("*.py") for key in _keys_in(ast.parse(path.read_text("utf-8")))}
    assert len(used) > 30
    assert used - known == set()


def test_each_histogram_and_series_that_python_uses_is_declared() -> None:
    known = {quantity.key for of_kind in quantities().values() for quantity in of_kind}
    texts = [path.read_text("utf-8") for path in PYTHON.rglob("*.py")]
    used = {key for text in texts for key in re.findall(r'\b(?:histogram|histogram_max|series)\("([^"]+)"', text)}
    used |= {control_packets.GAP, priorities.QUANTITY}
    # Lines of an exhibit, which has a method of this name.
    assert used - known == {"effective link speed", "flow"}
    assert {"recovery_delay_ns", "detouring_port", "message_round_trip_ns"} <= used


def test_the_three_numbers_of_an_answer_are_declared_by_their_mechanism() -> None:
    for kind, chosen in _CHOSEN.items():
        known = [counter.key for counter in declared()[kind]]
        assert [key for key, _ in chosen if key not in known] == [], kind


def _keys_in(tree: ast.AST) -> set[str]:
    """Return the texts that are given to `counter` as a key, or compared with a column "counter"."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="counter") | ast.Name(id="counter" | "counted"), args=given):
                found |= {one.value for one in given if isinstance(one, ast.Constant) and "_" in str(one.value)}
            case ast.Compare(left=left, comparators=[ast.Constant(value=str() as key)]) if '"counter"' in _text(left):
                found.add(key)
    return found


def _text(node: ast.AST) -> str:
    return ast.unparse(node).replace("'", '"')


def _counted(columns: dict[str, Any]) -> Run:
    return Run(effective="", summary=Summary({}), tables=Tables({"mechanisms": columns}), wall_s=0.0)


def test_a_counter_is_found_by_its_key_and_an_unknown_key_lists_similar_ones() -> None:
    columns = {
        "switch": ["sw2", "sw6", "sw6"],
        "counter": ["packets_lost", "packets_lost", "own_counter"],
        "value": np.array([1, 2, 4]),
    }
    run = _counted(columns)
    assert run.counter("packets_lost") == 3
    assert run.counter("packets_lost", "sw6") == 2
    assert run.counter("own_counter") == 4
    assert run.counter("packets_detoured", default=7) == 7
    with pytest.raises(KeyError, match="no mechanism has a counter 'packets_detoured'"):
        run.counter("packets_detoured")
    for unknown, similar in (("packets lost", "packets_lost"), ("own_counters", "own_counter")):
        with pytest.raises(KeyError, match=rf"unknown counter '{unknown}'; similar: {similar}"):
            run.counter(unknown, default=0)
    assert _counted({"switch": [], "counter": [], "value": np.array([])}).counter("packets_lost", default=0) == 0


def test_a_histogram_and_a_series_are_found_by_key_and_switch() -> None:
    columns = {
        "switch": ["sw2", "sw6", "sw6"],
        "quantity": ["recovery_delay_ns", "recovery_delay_ns", "own_ns"],
        "label": ["recovery delay (ns)", "recovery delay (ns)", "own (ns)"],
        "value": np.array([1, 2, 4]),
    }
    tables = Tables({"histograms": columns, "series": columns})
    run = Run(effective="", summary=Summary({}), tables=tables, wall_s=0.0)
    for find in (run.histogram, run.series):
        assert find("recovery_delay_ns").to_dict(as_series=False) == {"switch": ["sw2", "sw6"], "value": [1, 2]}
        assert find("recovery_delay_ns", "sw6")["value"].to_list() == [2]
        assert find("own_ns")["value"].to_list() == [4]
        assert find("alarm").is_empty()
        with pytest.raises(KeyError, match=r"unknown quantity 'recovery delay \(ns\)'; similar: recovery_delay_ns"):
            find("recovery delay (ns)")
        assert find("own_ns", "sw9").is_empty(), "without the table of mechanisms, nobody knows the switches"


def test_a_misspelt_switch_of_a_histogram_or_a_series_is_an_error() -> None:
    rows = {"switch": ["sw2"], "quantity": ["recovery_delay_ns"], "value": np.array([1])}
    mechanisms = {"switch": ["sw6"], "counter": ["packets_lost"], "value": np.array([1])}
    tables = Tables({"histograms": rows, "series": rows, "mechanisms": mechanisms})
    run = Run(effective="", summary=Summary({}), tables=tables, wall_s=0.0)
    for find in (run.histogram, run.series):
        assert find("recovery_delay_ns", "sw2")["value"].to_list() == [1]
        assert find("recovery_delay_ns", "sw6").is_empty(), "its mechanism recorded nothing"
        assert find("alarm", "sw2").is_empty()
        with pytest.raises(KeyError, match="no switch 'sw66' has a mechanism; similar: sw6"):
            find("recovery_delay_ns", "sw66")


def test_the_tables_of_a_run_have_keys_and_labels() -> None:
    run = hl.example("linkguardian-testbed").with_("duration", "100 ms").run()
    found = run.table("histograms").select("quantity", "label").unique().rows()
    assert found == [("recovery_delay_ns", "recovery delay (ns)")]
    assert run.histogram("recovery_delay_ns")["count"].sum() > 0


def test_a_class_of_python_reports_only_declared_keys() -> None:
    class Undeclared(hl.Mechanism[Ports], kind="undeclared-counter-py"):
        def report(self) -> hl.Counters:
            return {"packets_seen": 1}

    scenario = hl.example("lossy-link").with_("duration", "10 us")
    scenario = scenario.with_("mechanism", [{"kind": Undeclared.kind, "ports": ["sw1->sw2"]}])
    with pytest.raises(
        hl.HitlessError, match=r'packets_seen is not declared: give its class counters=\{"packets_seen"'
    ):
        scenario.run(mechanisms=[Undeclared])


def test_a_class_declares_keys_in_snake_case() -> None:
    with pytest.raises(TypeError, match="snake_case, such as"):

        class Wrong(hl.Mechanism[Ports], kind="wrong", counters={"packets lost": "packets lost"}):
            pass
