//! Helpers for mechanisms between the two ends of a link, which their settings name in a field `link`.

use std::collections::BTreeSet;

use hitless_scenario::kind::{Surroundings, switches_at_ends};
use hitless_scenario::network::topology::select::{SwitchPort, select_links};
use hitless_scenario::network::topology::{DirectedLink, LineRange, SwitchId, Topology};
use hitless_switch::Quantity;
use toml::{Table, Value};

pub const RECOVERY_DELAY: Quantity = Quantity::new("recovery_delay_ns", "recovery delay (ns)");

pub fn named(link: &str, topology: &Topology) -> Vec<DirectedLink> {
    select_links(topology, link).unwrap_or_default()
}

pub fn switches(link: &str, topology: &Topology) -> BTreeSet<SwitchId> {
    switches_at_ends(topology, &named(link, topology))
}

pub fn sending_ports(link: &str, around: Surroundings<'_>) -> Vec<SwitchPort> {
    named(link, around.topology).into_iter().filter_map(|link| around.sending_port(link)).collect()
}

/// The rates and delays of a protected link during the run. Reports go back on the other direction, so its lowest rate
/// and its longest delay count too.
pub fn range(link: DirectedLink, topology: &Topology) -> LineRange {
    let (there, back) = (topology.line_range(link), topology.line_range(link.reversed()));
    LineRange { highest_rate: there.highest_rate, ..there.joined(back) }
}

/// The rates and delays of the link named in an entry that is not parsed yet.
pub fn written(entry: &Table, topology: &Topology) -> Option<LineRange> {
    let links = named(entry.get("link").and_then(Value::as_str)?, topology);
    Some(range(*links.first()?, topology))
}
