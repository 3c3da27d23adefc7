"""Tables that a run keeps in memory: those named in ``keep``, equal to the tables of a run that keeps all."""

import pytest

import hitless as hl

EXAMPLE = "leaf-spine-lossy"


@pytest.fixture(scope="module")
def everything():
    return hl.example(EXAMPLE).run()


@pytest.mark.parametrize("keep", [(), ("flows",), ("messages",), ("links",), ("messages", "flows")])
def test_the_kept_tables_and_the_summary_do_not_depend_on_the_others(everything, keep):
    run = hl.example(EXAMPLE).run(keep=keep)
    assert set(run.tables) == set(keep)
    for name in keep:
        assert run.tables[name].equals(everything.tables[name]), name
        assert run.tables[name].height > 0, name
    clocks = ("wall_s", "cpu_s")
    summaries = [{k: v for k, v in one.summary.values.items() if k not in clocks} for one in (run, everything)]
    assert summaries[0] == summaries[1]


def test_equal_names_in_a_table_share_one_object():
    run = hl.example(EXAMPLE).run(keep=["messages"])
    groups = run.tables.columns("messages")["group"]
    assert len(groups) > 100
    assert len({id(name) for name in groups}) == len(set(groups))
