"""The transports of AI fabrics in real runs: the exhibits field/*, and cases that hang or stop in other simulators."""

import pytest

from hitless.runs.point import Runs
from hitless.simulation import PacketSimulation
from hitless_papers import Context
from hitless_papers.field import one_bad_link, validation
from hitless_papers.field.fabric import BUFFER_BYTES, MTU_BYTES, Fabric
from hitless_papers.field.one_bad_link import WORKLOADS, OneBadLink, Scale, times_us
from hitless_papers.field.transports import TRANSPORTS, trimming
from hitless_papers.field.troubles import HEALTHY, SLOW, Cell, loss

SMALL = Scale(Fabric(4), ("1e-2",))
BY_NAME = {transport.name: transport for transport in TRANSPORTS}


def ran(scenario, seed=1, keep=("flows", "messages")):
    return PacketSimulation(scenario).job(file_name="field", seed=seed).run(list(keep))


def healthy(name):
    return Cell(BY_NAME[name], HEALTHY, HEALTHY.protections[0])


def test_hosts_do_not_know_of_a_slow_link():
    """Round-trip time and timeout are the defaults of the healthy fabric; the slow link has longer ones."""
    slow = Cell(BY_NAME["NSCC"], SLOW, SLOW.protections[0]).scenario(SMALL.fabric, SMALL.flows("permutation"))
    healthy_ = healthy("NSCC").scenario(SMALL.fabric, SMALL.flows("permutation"))

    def times(scenario):
        return [line for line in ran(scenario).effective.splitlines() if line.startswith(("base_rtt", "timeout"))]

    def with_default(scenario):
        [hosts] = scenario["transport"]
        return {**scenario, "transport": [{name: value for name, value in hosts.items() if name != "base_rtt"}]}

    assert times(slow) == times(healthy_) == times(with_default(healthy_))
    assert times(with_default(slow)) != times(slow)
    assert len(times(slow)) == 2


def test_one_slow_direction_of_a_link_delays_the_permutation_as_the_authors_found():
    found = [one for one in validation.experiments() if "-failed" in one.options and one.hosts == 16]
    assert len(found) == 3
    for one in found:
        run = PacketSimulation(one.scenario(), place=validation._PLACE).job(file_name="field", seed=1).run(["flows"])
        last, first = validation._rows(one, run)
        # Theirs without the slow link: 194 to 197 us.
        assert last.measured == pytest.approx(one.last_us, rel=0.05), one
        assert first.measured == pytest.approx(one.first_us, rel=0.02), one


def test_every_cell_runs_to_its_end_in_a_small_fabric(monkeypatch):
    monkeypatch.setattr(Scale, "of", classmethod(lambda cls, context: SMALL))
    monkeypatch.setattr(one_bad_link, "_HOST_BYTES", 200_000)
    monkeypatch.setattr(one_bad_link, "TRANSPORTS", [BY_NAME[name] for name in ("IRN", "TCP", "MRC")])
    exhibit, context = OneBadLink(), Context(effort="quick")
    points = list(exhibit.points(context))
    runs = Runs({one.key: one.reduce(ran(one.what, keep=one.keep)) for one in points})
    rows = list(exhibit.rows(runs, context))
    assert len(rows) == 2 * len(points) == 4 * len(SMALL.cells())
    # A cut link is a quarter of the paths between two pods: RoCE gives up after seven timeouts, and TCP backs off.
    endless = {(row.series, row.x) for row in rows if not 10 < row.measured < 20_000}
    assert endless <= {("IRN", "cut"), ("TCP", "cut")}
    assert len(list(exhibit.plots(runs, context))) == len(WORKLOADS)


def test_experiments_of_one_connection_finish_within_a_percent_of_the_authors():
    few = [one for one in validation.experiments() if one.last_us < 180]
    assert len(few) == 18
    for one in few:
        run = PacketSimulation(one.scenario(), place=validation._PLACE).job(file_name="field", seed=1).run(["flows"])
        last, first = validation._rows(one, run)
        assert last.measured == pytest.approx(one.last_us, rel=0.01), one
        assert first.measured == pytest.approx(one.first_us, rel=0.01), one


NAMES = list(BY_NAME)


@pytest.mark.parametrize("name", NAMES)
def test_simai_184_an_error_rate_of_1e_3_on_one_link_stops_no_transport(name):
    cell = Cell(BY_NAME[name], loss("1e-3"), HEALTHY.protections[0])
    run = ran(cell.scenario(Fabric(4), {"kind": "permutation", "size": "2 MB"}))
    assert len(times_us(run)) == 16
    assert run.summary["flows"]["failed"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_more_than_127_flows_of_a_host_finish(name):
    flows = {
        "kind": "schedule",
        "sizes": {"kind": "fixed", "bytes": "20 KB"},
        "period": "10 ns",
        "sources": ["h0"],
        "destinations": ["all"],
        "count": 300,
    }
    run = ran(healthy(name).scenario(Fabric(4), flows))
    assert len(times_us(run)) == 300
    assert run.summary["flows"]["failed"] == 0


INCAST = {"kind": "incast", "clients": ["h0"], "fan_in": 127, "size": "100 KB", "period": "1 s", "count": 1}


def trims(name):
    """An incast through switches that trim, with buffers of a round trip."""
    scenario = healthy(name).scenario(Fabric(8), INCAST)
    switch = {**scenario["switch"], "buffer": {"kind": "static", "per_port": f"{BUFFER_BYTES} B"}}
    return {**scenario, "switch": switch, "mechanism": [trimming([])]}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "go-back-N"])  # resends a window for each cut
def test_an_incast_of_127_to_1_finishes_where_switches_trim(name):
    run = ran(trims(name))
    assert len(times_us(run)) == 127
    assert run.summary["flows"]["failed"] == 0


def test_irn_loses_no_packet_of_an_incast_to_a_timeout_where_switches_trim():
    flows = ran(trims("IRN")).table("flows")
    assert int(flows["timeouts"].sum()) == 0
    # Every packet that was cut goes again once for each cut.
    sent = -(-100_000 // MTU_BYTES) * 127
    assert int(flows["packets_sent"].sum()) == sent + int(flows["packets_retransmitted"].sum())


def test_all_to_all_sends_from_every_host_to_every_other():
    scenario = healthy("NSCC").scenario(SMALL.fabric, SMALL.flows(one_bad_link.ALL_TO_ALL))
    run = ran(scenario)
    pairs = set(zip(run.flows["source"], run.flows["destination"], strict=True))
    assert len(pairs) == len(run.flows) == 16 * 15
