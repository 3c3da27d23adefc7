//! Checks for links that may be down at the same time under local rerouting. One switch then keeps or moves packets
//! that another switch on the path reroutes. They arrive by different paths, and no switch can restore their order.

use hitless_core::settings::Problem;
use hitless_core::wire::{Duration, Time};
use hitless_scenario::Check;
use hitless_scenario::network::topology::select::select_links;
use hitless_scenario::network::topology::{DirectedLink, Direction, LinkId, Topology};

use super::settings::SqrSettings;

const MOST_FAILURES: u64 = 10_000;

/// A link, and the time of a failure that may keep or move its packets.
struct Trouble {
    from: Time,
    to: Time,
    link: LinkId,
}

/// Reports the first two adjacent links, at least one of them among `links`, that may be down at the same time.
pub fn two_failures(
    check: &mut Check<'_>,
    topology: &Topology,
    settings: &SqrSettings,
    links: &[DirectedLink],
    section: &str,
) {
    if !check.reroutes() || links.is_empty() {
        return;
    }
    let mut troubles = troubles(check, topology, settings);
    troubles.sort_by_key(|trouble| trouble.from);
    let is_protected = |link: LinkId| links.iter().any(|protected| protected.link == link);
    let mut lasting: Vec<Trouble> = Vec::new();
    for next in troubles {
        lasting.retain(|trouble| trouble.to > next.from);
        let meets = |trouble: &&Trouble| {
            let (one, other) = (trouble.link, next.link);
            one != other && (is_protected(one) || is_protected(other)) && share_a_node(topology, one, other)
        };
        if let Some(other) = lasting.iter().find(meets) {
            let name = |link| topology.link_name(DirectedLink { link, direction: Direction::AToB });
            let rule = format!(
                "{} and {} may be down at the same time: packets that one switch keeps are overtaken by those that \
                 another reroutes",
                name(other.link),
                name(next.link)
            );
            let hint = "let one of them fail at a time, protect neither, or take the scheme \"same-port\"";
            return check.report(Problem::new(format!("{section}.links"), "", rule).hint(hint));
        }
        lasting.push(next);
    }
}

fn troubles(check: &Check<'_>, topology: &Topology, settings: &SqrSettings) -> Vec<Trouble> {
    let (_, failure) = settings.delays();
    let after = |time: Time, wait: Duration| Time(time.as_ps().saturating_add(wait.as_ps()));
    let mut troubles = Vec::new();
    for failure_of in &check.scenario.failures {
        let directed = select_links(topology, &failure_of.link).unwrap_or_default();
        let Some(link) = directed.first().map(|directed| directed.link) else { continue };
        let repair = check.scenario.repair_bound(failure_of, topology.link(link).slowest());
        for number in 0..failure_of.times().unwrap_or(MOST_FAILURES).min(MOST_FAILURES) {
            let from = failure_of.earliest(number);
            if !check.is_within_run(from) {
                break;
            }
            let last = after(after(from, failure_of.jitter), failure);
            // After the repair packets are still held until those on the backup have arrived.
            let to = repair.map_or(Time::NEVER, |repair| after(after(last, repair), settings.return_hold()));
            troubles.push(Trouble { from, to, link });
        }
    }
    troubles
}

fn share_a_node(topology: &Topology, one: LinkId, other: LinkId) -> bool {
    let (one, other) = (topology.link(one), topology.link(other));
    [one.a.node, one.b.node].iter().any(|node| [other.a.node, other.b.node].contains(node))
}
