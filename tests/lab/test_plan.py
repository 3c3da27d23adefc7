"""Names, addresses, kernel settings, and changes of a running switch: decided before anything is made."""

import pytest

from hitless.errors import BadInput
from hitless.lab.plan import lab_name, make_plan
from hitless.lab.scope import scope
from hitless.lab.tuning import Offered, tunings
from hitless.live import check_live
from hitless.switch.changes import commands
from labs import CHAIN

OFFERED = Offered(["reno", "cubic"], "cubic")
MARKS = '[switch]\necn = { threshold = "50 packets" }\n'
FLOWS = """
[[transport]]
name = "{name}"
kind = "tcp"
congestion = "{congestion}"
{more}

[[flows]]
name = "of {name}"
kind = "long"
transport = "{name}"
sources = ["h1"]
destinations = ["h2"]
"""


def scenario(more="", rate="100 Mbps"):
    return check_live(CHAIN.format(rate=rate) + more, "chain.toml").effective


def flows(name, congestion, more=""):
    return FLOWS.format(name=name, congestion=congestion, more=more)


def test_addresses_go_on_behind_the_256th_host():
    plan = make_plan("big", [f"h{number}" for number in range(300)], [], [])
    assert [plan.hosts[number].address for number in (0, 254, 255, 299)] == [
        "10.0.0.1",
        "10.0.0.255",
        "10.0.1.0",
        "10.0.1.44",
    ]
    assert plan.hosts[255].hardware_address == "02:00:0a:00:01:00"
    assert len({host.port for host in plan.hosts}) == 300
    assert all(len(host.port) <= 15 for host in plan.hosts)


def test_a_host_with_a_long_name_has_a_port_of_a_short_one():
    plan = make_plan("lab", ["lo", "a-host-with-a-long-name"], [], [])
    assert [host.port for host in plan.hosts] == ["port1", "port2"]
    assert plan.namespaces == ["hitless.lab", "hitless.lab.lo", "hitless.lab.a-host-with-a-long-name"]


@pytest.mark.parametrize("hosts", [["a/b"], ["a.b"], [".."], ["-x"], ["a b"], [f"h{number}" for number in range(513)]])
def test_hosts_that_can_be_no_namespaces_are_refused(hosts):
    with pytest.raises(BadInput):
        make_plan("lab", hosts, [], [])


@pytest.mark.parametrize(
    ("name", "made"), [("My Scenario_2", "my-scenario-2"), ("...", "lab"), ("x" * 40, "x" * 32), ("a", "a")]
)
def test_a_lab_is_named_after_its_scenario(name, made):
    assert lab_name(None, name) == made


@pytest.mark.parametrize("name", ["", "A", "a_b", "-a", "a-", "x" * 33, "a/b", ".."])
def test_a_name_that_would_not_do_is_refused(name):
    with pytest.raises(BadInput, match="not a valid name for a lab"):
        lab_name(name, "scenario")


def test_a_host_is_set_to_the_transport_of_its_flows():
    more = flows("bulk", "newreno", 'rto_min = "5 ms"\ninitial_window = 20\nsack = false\nrack_tlp = false')
    settings, notes = tunings(scenario(more), ["h1", "h2"], OFFERED)
    assert notes == []
    for host in ("h1", "h2"):
        assert settings[host].route_attributes == ["congctl", "reno", "rto_min", "5ms", "initcwnd", "20"]
        assert settings[host].sysctls["tcp_sack"] == "0"


def test_without_flows_a_host_keeps_what_the_kernel_has():
    settings, notes = tunings(scenario(), ["h1", "h2"], OFFERED)
    assert notes == []
    assert settings["h1"].route_attributes == ["congctl", "cubic"]


def test_what_the_kernel_does_not_have_is_said_and_not_replaced_in_silence():
    settings, notes = tunings(scenario(MARKS + flows("dc", "dctcp")), ["h1", "h2"], OFFERED)
    assert settings["h1"].congestion == "cubic"
    assert settings["h1"].ecn
    assert len(notes) == 1
    assert "no congestion control dctcp" in notes[0]
    assert "h1, h2 keep cubic" in notes[0]


def test_two_transports_of_one_host_are_said():
    settings, notes = tunings(scenario(flows("a", "cubic") + flows("b", "newreno")), ["h1", "h2"], OFFERED)
    assert settings["h1"].congestion == "cubic"
    assert any("h1 has the transports a and b" in note and "congestion" in note for note in notes)


GUARDED = """
[[link]]
name = "sw1->sw2"
loss = {{ kind = "bernoulli", rate = {loss} }}

[[mechanism]]
kind = "linkguardian"
link = "sw1->sw2"
{more}
"""
OFF = 'activation = [{ at = "0 s", active = false }]'


def guarded(loss=1e-3, more=""):
    return scenario(GUARDED.format(loss=loss, more=more))


def in_bursts(more):
    losses = f'loss = {{{{ kind = "gilbert-elliott", rate = {{loss}}, {more} }}}}'
    return scenario(GUARDED.replace(GUARDED.splitlines()[3], losses).format(loss=1e-3, more=""))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (guarded(), guarded(), []),
        (guarded(), guarded(0.01, "actual_loss_rate = 1e-3"), ["corrupt sw1->sw2 0.01"]),
        (guarded(), in_bursts("mean_burst_frames = 3"), ["corrupt sw1->sw2 0.001 3.0"]),
        (in_bursts("mean_burst_frames = 3"), guarded(), ["corrupt sw1->sw2 0.001"]),
        (guarded(more=OFF), guarded(), ["protect sw1->sw2 2 blocking"]),
        (guarded(), guarded(more=OFF), ["unprotect sw1->sw2"]),
        (guarded(), guarded(more='mode = "non-blocking"\ncopies = 3'), ["protect sw1->sw2 3 non-blocking"]),
    ],
)
def test_what_may_change_becomes_commands(before, after, expected):
    assert commands(before, after) == expected


RECORDED = """
[[link]]
name = "sw2->sw1"
loss = { kind = "bit-errors", bit_error_rate = 1e-5, fec = "none" }
"""


def test_a_link_that_stays_as_it_is_keeps_no_other_from_changing():
    """A loss model that commands cannot express is refused only on the link that changes."""
    before, after = (GUARDED.format(loss=loss, more="") + RECORDED for loss in (1e-3, 0.01))
    assert commands(scenario(before), scenario(after)) == ["corrupt sw1->sw2 0.01", "protect sw1->sw2 3 blocking"]
    with pytest.raises(BadInput, match=r"sw2->sw1, whose loss before is more than"):
        commands(scenario(before), scenario(GUARDED.format(loss=1e-3, more="")))


@pytest.mark.parametrize(
    ("after", "named"),
    [
        (scenario(), "the links that LinkGuardian is configured on"),
        (scenario(GUARDED.format(loss=1e-3, more=""), rate="1 Gbps"), "topology"),
        (in_bursts("mean_burst_frames = 3, loss_in_burst = 0.5"), "[[link]] sw1->sw2, whose loss now is more than"),
        (guarded(more='ack_no_timeout = "1 ms"'), "ack_no_timeout of LinkGuardian on sw1->sw2"),
        (guarded() | {"measure": {"capture": [{"links": ["*"]}]}}, "[[measure.capture]]"),
    ],
)
def test_what_a_running_switch_keeps_is_refused_by_name(after, named):
    with pytest.raises(BadInput, match="restart") as refused:
        commands(guarded(), after)
    assert named in str(refused.value)


@pytest.mark.parametrize(
    ("host", "used", "ignored"),
    [
        ('priority_tagger = { by = "dscp" }', "DSCP", None),
        ('priority_tagger = { by = "remaining-bytes" }', None, "host.priority_tagger"),
        ('priority_tagger = { by = "dscp" }\ntimer_tick = "4 ms"', "DSCP", "but for nic_queue and priority_tagger"),
        ('nic_queue = "100 packets"', None, None),
    ],
)
def test_a_lab_says_whether_it_hears_what_hosts_mark(host, used, ignored):
    found = check_live(CHAIN.format(rate="100 Mbps") + f"[host]\n{host}\n", "chain.toml")
    told = scope(found.effective, found.text, has_results=False)
    assert (used in " ".join(told.used)) if used else "DSCP" not in " ".join(told.used)
    assert (ignored in " ".join(told.ignored)) if ignored else not told.ignored


@pytest.mark.parametrize(
    ("measure", "has_results", "used", "ignored"),
    [
        ('[[measure.capture]]\nlinks = ["*"]\n', True, "packets.pcapng", []),
        ('[[measure.capture]]\nlinks = ["*"]\n', False, None, ["captures need --out FOLDER"]),
        ("[measure]\norder = true\n", True, None, ["[measure] but for capture"]),
        ('[measure]\norder = true\n[[measure.capture]]\nlinks = ["*"]\n', True, "packets.pcapng", ["but for capture"]),
    ],
)
def test_a_lab_captures_packets_if_it_has_a_folder(measure, has_results, used, ignored):
    found = check_live(CHAIN.format(rate="100 Mbps") + measure, "chain.toml")
    told = scope(found.effective, found.text, has_results=has_results)
    assert ("packets.pcapng" in " ".join(told.used)) == bool(used)
    assert len(told.ignored) == len(ignored)
    assert all(part in line for part, line in zip(ignored, told.ignored, strict=True))
