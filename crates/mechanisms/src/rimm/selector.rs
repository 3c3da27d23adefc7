//! The detouring-port selector: the depths that neighbours reported for their queues towards us (section III-A2, the
//! QDM table).

use hitless_core::wire::PortId;
use hitless_switch::{Half, Pass, RegisterArray, RegisterUse, register_cell};

use super::clock::{Stamp, ticks};
use super::config::{Neighbour, RimmConfig};

/// Names of the entries. The minimum over all entries is taken in one pass, so that each is a separate register. A
/// pipeline does not have more.
const NAMES: [&str; 24] = [
    "QDM 0", "QDM 1", "QDM 2", "QDM 3", "QDM 4", "QDM 5", "QDM 6", "QDM 7", "QDM 8", "QDM 9", "QDM 10", "QDM 11",
    "QDM 12", "QDM 13", "QDM 14", "QDM 15", "QDM 16", "QDM 17", "QDM 18", "QDM 19", "QDM 20", "QDM 21", "QDM 22",
    "QDM 23",
];

/// The first stage, after LinkGuardian's stages, which share the pass.
const FIRST_STAGE: u8 = 6;

/// The two depths of a path through a neighbour (section V: "two queue-depth values for one port and its connecting
/// switch").
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct Entry {
    depth_segments: u16,
    told_at: Stamp,
    /// The last depth of our queue towards it from our egress, at a crossing or repeated.
    own_segments: u16,
    own_told_at: Stamp,
}

register_cell!(Entry { depth_segments: u16, told_at: Stamp, own_segments: u16, own_told_at: Stamp });

#[derive(Clone, Copy, Debug)]
pub struct ReportedDepth {
    pub port: PortId,
    pub depth_segments: u16,
}

/// The port of the neighbour with the shortest queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub port: PortId,
    pub depth_segments: u16,
    /// Whether the neighbour is too full for new packets.
    pub is_full: bool,
    /// Ports, one bit each, with a neighbour that could take the packet and is less than half full.
    pub roomy_ports: u128,
}

impl Choice {
    /// Whether the neighbour at `port` could take the packet instead, and everything sent there until its next report.
    pub fn is_roomy(&self, port: PortId) -> bool {
        bit(port) & self.roomy_ports != 0
    }
}

/// The bit of a port; 0 beyond the 128th port.
fn bit(port: PortId) -> u128 {
    1u128.checked_shl(port.0.into()).unwrap_or(0)
}

/// The QDM table. Ports that face hosts have no entry (NULL in the paper).
#[derive(Debug, hitless_core::state::State)]
pub struct DepthMonitor {
    #[configured]
    neighbours: Vec<Neighbour>,
    #[part]
    entries: Vec<RegisterArray<Entry>>,
    lifetime: Option<u64>,
    own_lifetime: u64,
}

impl DepthMonitor {
    pub fn new(config: &RimmConfig) -> Self {
        let name = |index: usize| NAMES[index.min(NAMES.len() - 1)];
        let entry = |index| RegisterArray::new(name(index), Half::Ingress, FIRST_STAGE, 1, Entry::default());
        Self {
            neighbours: config.neighbours.clone(),
            entries: (0..config.neighbours.len()).map(entry).collect(),
            lifetime: config.settings.telemetry_lifetime.map(ticks),
            own_lifetime: ticks(config.settings.crossing_lifetime),
        }
    }

    pub fn stated(&self) -> impl Iterator<Item = RegisterUse> {
        self.entries.iter().map(RegisterArray::stated)
    }

    pub fn note(&mut self, pass: &mut Pass, told: ReportedDepth, now: Stamp) {
        let Some(index) = self.neighbours.iter().position(|neighbour| neighbour.port == told.port) else { return };
        self.entries[index].access(pass, 0, |entry| {
            (entry.depth_segments, entry.told_at) = (told.depth_segments, now);
        });
    }

    /// Notes the depth of our queue of `port` towards a neighbour, as reported by egress.
    pub fn note_own(&mut self, pass: &mut Pass, port: PortId, depth_segments: u16, now: Stamp) {
        let Some(index) = self.neighbours.iter().position(|neighbour| neighbour.port == port) else { return };
        self.entries[index].access(pass, 0, |entry| (entry.own_segments, entry.own_told_at) = (depth_segments, now));
    }

    /// Notes a reported depth, and finds the neighbour with the shortest queue among those that `may_take` the packet;
    /// the lowest port wins ties. Returns `None` without such a neighbour.
    pub fn choose(
        &mut self,
        pass: &mut Pass,
        told: Option<ReportedDepth>,
        now: Stamp,
        may_take: impl Fn(usize) -> bool,
    ) -> Option<Choice> {
        let mut least: Option<Choice> = None;
        let mut roomy_ports = 0;
        for (index, (neighbour, entry)) in self.neighbours.iter().zip(&mut self.entries).enumerate() {
            // Each entry is read once per pass, also to take in the new depth: a second access would need another pass.
            let choice = entry.access(pass, 0, |entry| {
                if let Some(told) = told.filter(|told| told.port == neighbour.port) {
                    (entry.depth_segments, entry.told_at) = (told.depth_segments, now);
                }
                entry.depth(neighbour, self.lifetime, self.own_lifetime, now)
            });
            if may_take(index) {
                // Half of the threshold leaves room for the packets that are sent there before its next report.
                let is_roomy = !choice.is_full && choice.depth_segments < neighbour.full_segments / 2;
                roomy_ports |= if is_roomy { bit(choice.port) } else { 0 };
                // The shortest queue, not any queue with room: sending elsewhere could propagate
                // congestion (section III-A2).
                if least.is_none_or(|least| choice.depth_segments < least.depth_segments) {
                    least = Some(choice);
                }
            }
        }
        least.map(|least| Choice { roomy_ports, ..least })
    }
}

impl Entry {
    fn depth(&self, neighbour: &Neighbour, lifetime: Option<u64>, own_lifetime: u64, now: Stamp) -> Choice {
        // A neighbour without traffic towards us reports nothing, so that an old depth says little about its queue now.
        let is_stale = lifetime.is_some_and(|lifetime| self.told_at.until(now) > lifetime);
        let theirs = if is_stale { 0 } else { self.depth_segments };
        // Below the threshold our egress does not report; above it the report is repeated.
        let is_own_known = self.own_told_at.until(now) <= own_lifetime;
        let is_own_full = is_own_known && self.own_segments >= neighbour.own_full_segments;
        let depth_segments = if is_own_full { theirs.max(self.own_segments) } else { theirs };
        // Either queue of the path can be the full one, because the packet passes both (section V).
        let is_full = is_own_full || theirs >= neighbour.full_segments;
        Choice { port: neighbour.port, depth_segments, is_full, roomy_ports: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::RimmSettings;
    use super::*;

    fn monitor(lifetime: Option<u64>) -> DepthMonitor {
        let neighbour =
            |port| Neighbour { port: PortId(port), full_segments: 100, own_full_segments: 200, is_told: true };
        let config = RimmConfig {
            neighbours: [1, 2, 4].map(neighbour).to_vec(),
            settings: RimmSettings {
                telemetry_lifetime: lifetime.map(hitless_core::wire::Duration::from_ns),
                crossing_lifetime: hitless_core::wire::Duration::from_ns(5_000),
                ..RimmSettings::default()
            },
            ..RimmConfig::default()
        };
        DepthMonitor::new(&config)
    }

    fn choose(
        monitor: &mut DepthMonitor,
        told: Option<(u16, u16)>,
        at: u64,
        may_take: [bool; 3],
    ) -> Option<(u16, bool)> {
        let mut pass = Pass::new(true);
        pass.begin(Half::Ingress);
        let told = told.map(|(port, depth_segments)| ReportedDepth { port: PortId(port), depth_segments });
        let choice = monitor.choose(&mut pass, told, Stamp::new(at), |index| may_take[index]);
        assert_eq!(pass.violation(), None);
        choice.map(|choice| (choice.port.0, choice.is_full))
    }

    #[test]
    fn the_shortest_queue_of_those_that_may_take_the_packet_is_chosen() {
        let mut monitor = monitor(None);
        let all = [true; 3];
        let steps = [
            (None, all, Some((1, false))),
            (Some((1, 7)), all, Some((2, false))),
            (Some((2, 9)), all, Some((4, false))),
            (Some((4, 120)), all, Some((1, false))),
            (Some((1, 150)), all, Some((2, false))),
            (Some((2, 100)), all, Some((2, true))),
            (None, [true, false, false], Some((1, true))),
            (None, [false; 3], None),
            (Some((3, 0)), all, Some((2, true))),
        ];
        for (told, may_take, expected) in steps {
            assert_eq!(choose(&mut monitor, told, 0, may_take), expected, "{told:?}");
        }
    }

    #[test]
    fn a_way_whose_own_queue_is_above_the_threshold_is_as_deep_as_that() {
        let mut monitor = monitor(None);
        let own = |monitor: &mut DepthMonitor, port, depth_segments| {
            let mut pass = Pass::new(true);
            pass.begin(Half::Ingress);
            monitor.note_own(&mut pass, PortId(port), depth_segments, Stamp::new(0));
        };
        own(&mut monitor, 1, 205);
        assert_eq!(choose(&mut monitor, None, 0, [true; 3]), Some((2, false)));
        assert_eq!(choose(&mut monitor, Some((1, 3)), 0, [true, false, false]), Some((1, true)));
        own(&mut monitor, 1, 199);
        assert_eq!(choose(&mut monitor, None, 0, [true, false, false]), Some((1, false)));
        own(&mut monitor, 1, 205);
        assert_eq!(choose(&mut monitor, None, 5_000, [true, false, false]), Some((1, true)));
        assert_eq!(choose(&mut monitor, None, 5_001, [true, false, false]), Some((1, false)), "nobody has told again");
    }

    #[test]
    fn what_was_told_too_long_ago_counts_as_an_empty_queue() {
        let mut forgets = monitor(Some(1_000));
        for port in [1, 2, 4] {
            choose(&mut forgets, Some((port, 10 * port)), 500, [true; 3]);
        }
        assert_eq!(choose(&mut forgets, Some((1, 30)), 1_500, [true; 3]), Some((2, false)));
        assert_eq!(choose(&mut forgets, None, 1_501, [true; 3]), Some((2, false)));
        assert_eq!(choose(&mut forgets, Some((2, 5)), 1_501, [true; 3]), Some((4, false)), "port 4 counts as empty");
    }

    #[test]
    fn a_neighbour_is_roomy_below_half_of_what_fills_it_and_its_depth_holds_for_its_lifetime() {
        let mut half = monitor(None);
        for (depth_segments, is_roomy) in [(49, true), (50, false)] {
            let mut pass = Pass::new(true);
            pass.begin(Half::Ingress);
            let told = ReportedDepth { port: PortId(1), depth_segments };
            let choice = half.choose(&mut pass, Some(told), Stamp::new(0), |_| true).expect("all may take it");
            assert_eq!((choice.is_roomy(PortId(1)), choice.is_roomy(PortId(2))), (is_roomy, true), "{depth_segments}");
        }
        let mut forgets = monitor(Some(1_000));
        choose(&mut forgets, Some((1, 30)), 500, [true; 3]);
        choose(&mut forgets, Some((2, 10)), 1_000, [true; 3]);
        let first_two = [true, true, false];
        assert_eq!(choose(&mut forgets, None, 1_500, first_two), Some((2, false)));
        assert_eq!(choose(&mut forgets, None, 1_501, first_two), Some((1, false)), "port 1 counts as empty");
    }

    #[test]
    fn an_own_queue_at_what_fills_it_is_full() {
        let mut monitor = monitor(None);
        for (own_segments, is_full) in [(199, false), (200, true)] {
            let mut pass = Pass::new(true);
            pass.begin(Half::Ingress);
            monitor.note_own(&mut pass, PortId(1), own_segments, Stamp::new(0));
            assert_eq!(choose(&mut monitor, None, 0, [true, false, false]), Some((1, is_full)), "{own_segments}");
        }
    }
}
