//! The testbed of LinkGuardian's figure 7 with datagrams, for LinkGuardian and its competitors.

use hitless_simulation::Outcome;

use crate::support::numbers;

/// The corrupting link.
pub const PROTECTED: &str = "sw2->sw6";

/// The testbed's hosts, switches and links.
pub fn fabric(rate_gbps: u64) -> String {
    format!(
        "[topology]\nkind = \"chain\"\nhosts_left = [\"h4\"]\nswitches = [\"sw2\", \"sw6\"]\nhosts_right = [\"h8\"]\n\
         host_link = {{ rate = \"{rate_gbps} Gbps\", delay = \"50 ns\" }}\n\
         switch_link = {{ rate = \"{rate_gbps} Gbps\", delay = \"50 ns\" }}\n"
    )
}

/// Datagrams at `load_percent` of the line rate for 2 ms, over a link with a loss rate of `loss`.
pub fn testbed(rate_gbps: u64, load_percent: u64, loss: f64, sections: &str) -> String {
    let (fabric, load_mbps) = (fabric(rate_gbps), rate_gbps * load_percent * 10);
    format!(
        "name = \"test\"\nduration = \"3 ms\"\n{fabric}[switch]\nchecked = true\n\
         [[transport]]\nname = \"udp\"\nkind = \"udp\"\nrate = \"{load_mbps} Mbps\"\n\
         [[flows]]\nname = \"datagrams\"\ntransport = \"udp\"\nkind = \"constant-rate\"\n\
         sources = [\"h4\"]\ndestinations = [\"h8\"]\nstop = \"2 ms\"\n\
         [[link]]\nname = \"{PROTECTED}\"\nloss = {{ kind = \"bernoulli\", rate = {loss} }}\n{sections}\n"
    )
}

/// Packets sent, received, and reordered at the far host.
pub fn received(outcome: &Outcome) -> (u64, u64, u64) {
    let of = |column| numbers(outcome, "flows", column)[0];
    (of("packets_sent"), of("packets_received"), of("packets_reordered"))
}
