//! A small fabric with a failing link, and its losses.

use hitless_simulation::Outcome;

use crate::support::numbers;

/// Two hosts, i at sw4 and h at sw3; sw5 is the detour round the link between sw3 and sw4.
pub const TRIANGLE: &str = r#"
name = "triangle"
duration = "30 ms"
[topology]
kind = "graph"
hosts = ["h", "i"]
switches = ["sw3", "sw4", "sw5"]
links = [
    { ends = ["h", "sw3"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["i", "sw4"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["sw3", "sw4"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["sw3", "sw5"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["sw4", "sw5"], rate = "10 Gbps", delay = "1 us" },
]
[[transport]]
name = "udp"
kind = "udp"
rate = "1 Gbps"
[[flows]]
name = "steady"
kind = "constant-rate"
transport = "udp"
sources = ["h"]
destinations = ["i"]
stop = "25 ms"
"#;

/// Number of datagrams sent that did not arrive.
pub fn lost(outcome: &Outcome) -> u64 {
    let sent = numbers(outcome, "flows", "packets_sent")[0];
    sent - numbers(outcome, "flows", "packets_received")[0]
}
