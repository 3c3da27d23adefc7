"""P4 programs under real programs: packets from kernels meet the same fate as with the mechanism in Rust."""

import json

import pytest

from labs import ROOT
from traffic import Iperf
from warm import hitless

FABRIC = """
name = "programs"

[topology]
kind = "graph"
hosts = ["h1", "h2", "h3"]
switches = ["left", "right", "beside"]
links = [
  {{ ends = ["h2", "right"], rate = "20 Mbps", delay = "5 us" }},
  {{ ends = ["right", "left"], rate = "100 Mbps", delay = "5 us" }},
  {{ ends = ["right", "beside"], rate = "100 Mbps", delay = "5 us" }},
  {{ ends = ["h1", "left"], rate = "100 Mbps", delay = "5 us" }},
  {{ ends = ["h3", "beside"], rate = "100 Mbps", delay = "5 us" }},
]

[switch]
preset = "ideal"
scheduler = "strict"
queues_per_port = {queues}
buffer = {{ kind = "static", per_port = "{buffer}" }}
"""
# At right, h2 is on port 0, left on port 1 and beside on port 2.
RELIEVED = "table_add ingress.relieved ingress.relieve 0 =>\n"
ROUNDS = "".join(
    f"table_add ingress.rounds_ahead ingress.set_rounds {1_518 * number}->{1_518 * (number + 1) - 1} => {number} 1\n"
    for number in range(8)
)
PROGRAMS = {
    "afq": (
        "table_add ingress.fair_ports ingress.queue_fairly 0 => 0 1518 255 0xffffff\n" + ROUNDS,
        '[[mechanism.rounds]]\nports = ["right->h2"]\nqueues = 8\n',
        'queues = 8\nbytes_per_round = "1518 B"\nsketch = { rows = 2, hash = "checksums" }\n',
    ),
    "simple-deflection": (
        RELIEVED + "table_set_default ingress.towards_switches ingress.set_switches 0x6 2\n"
        "table_add ingress.circle ingress.start_at 0 => 1\ntable_add ingress.circle ingress.start_at 1 => 2\n",
        'random_stream = "simple deflection"\n',
        "to_arrival_port = true\n",
    ),
    "preemptive-deflection": (
        RELIEVED + "table_set_default ingress.draw.towards_switches ingress.draw.set_switches 0x6\n"
        "table_set_default ingress.settings ingress.set_test 10000 1000\n",
        'random_stream = "preemptive deflection"\n',
        "alpha = 1.0\n",
    ),
}


def scenarios(folder, name):
    """Return the fabric with the program at right, with the mechanism in Rust, and without either."""
    commands, of_program, of_mechanism = PROGRAMS[name]
    file = folder / "commands.txt"
    file.write_text(commands)
    # At a port with one queue, a program sees the depth without the frame on the line; AFQ has rotating queues itself.
    fabric = FABRIC.format(queues=1 if name == "afq" else 2, buffer="20 KB")
    paths = {"program": str(ROOT / "p4" / name / f"{name}.json"), "commands": str(file)}
    entry = '[[mechanism]]\nkind = "p4"\nswitches = ["right"]\n'
    entry += "".join(f"{setting} = {json.dumps(path)}\n" for setting, path in paths.items())
    texts = {
        "program": fabric + entry + of_program,
        "rust": fabric + f'[[mechanism]]\nkind = "{name}"\nports = ["right->h2"]\n' + of_mechanism,
        "plain": fabric,
    }
    files = {which: folder / f"{which}.toml" for which in texts}
    for which, text in texts.items():
        files[which].write_text(text)
    return files


def replayed(recording, *more):
    return json.loads(hitless("lab", "replay", recording, *more, "--json", code=None).stdout)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_kernel_sent_through_a_program_goes_the_same_ways_in_rust(lab, tmp_path, name):
    files, recording = scenarios(tmp_path, name), tmp_path / "recording"
    lab.up(files["program"], "--record", recording)
    iperf = Iperf(lab)
    iperf.measure(1)
    iperf.end()
    lab.down()
    found = replayed(recording)
    assert found["divergence"] is None
    assert found["is_complete"]
    assert found["arrivals"] > 500
    found = replayed(recording, "--with", files["rust"])
    assert found["divergence"] is None
    assert found["equal_decisions"] >= found["arrivals"], "each frame leaves or ends"
    assert replayed(recording, "--with", files["plain"])["divergence"] is not None, "the program did nothing"
