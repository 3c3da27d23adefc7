//! The testbed of LinkGuardian's figure 7 with datagrams, for it and its rivals.

use hitless_simulation::Outcome;

use crate::support::numbers;

/// The link that corrupts.
pub const PROTECTED: &str = "sw2->sw6";

/// Datagrams at `load_percent` of the line rate for 2 ms, over a link that loses `loss` of its frames.
pub fn testbed(rate_gbps: u64, load_percent: u64, loss: f64, sections: &str) -> String {
    let load_mbps = rate_gbps * load_percent * 10;
    format!(
        r#"
name = "test"
duration = "3 ms"
[topology]
kind = "chain"
hosts_left = ["h4"]
switches = ["sw2", "sw6"]
hosts_right = ["h8"]
host_link = {{ rate = "{rate_gbps} Gbps", delay = "50 ns" }}
switch_link = {{ rate = "{rate_gbps} Gbps", delay = "50 ns" }}
[switch]
checked = true
[[transport]]
name = "udp"
kind = "udp"
rate = "{load_mbps} Mbps"
[[flows]]
name = "datagrams"
transport = "udp"
kind = "constant-rate"
sources = ["h4"]
destinations = ["h8"]
stop = "2 ms"
[[link]]
name = "{PROTECTED}"
loss = {{ kind = "bernoulli", rate = {loss} }}
{sections}
"#
    )
}

/// Packets sent, and received and reordered ones at the far host.
pub fn received(outcome: &Outcome) -> (u64, u64, u64) {
    let of = |column| numbers(outcome, "flows", column)[0];
    (of("packets_sent"), of("packets_received"), of("packets_reordered"))
}
