//! RIMM as a kind of mechanism, on the switches with relieved ports, and on their neighbours, which report depths.

use std::collections::{BTreeMap, BTreeSet};

use crate::rimm::headers::DetourHeader;
use hitless_core::wire::PortId;
use hitless_core::wire::link::LinkHeaders;
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claim, Claimed, Entries, Header, Kind, Reach, Stage, Surroundings, built};
use hitless_scenario::network::topology::select::{SwitchPort, select_ports_by_switch};
use hitless_scenario::network::topology::{DirectedLink, Node, SwitchId, Topology};

use super::headers::ON_LINKS;
use super::{Neighbour, Rimm, RimmConfig, RimmMessages, RimmSettings, WatchedPort, check};

impl Kind for Rimm {
    const NAME: &'static str = "rimm";
    const TITLE: &'static str = "RIMM";
    const SUMMARY: &'static str =
        "RIMM, microbursts detoured to a neighbour, on ports of switches (Lin, Hung and Wen, IEEE Access 2022).";
    const STAGE: Stage = Stage::Detour;
    /// A switch can have the ports of one entry and be the neighbour in others.
    const ENTRIES: Entries = Entries::Shared;
    const PLACES_FIELD: &'static str = "ports";
    const COUNTERS: hitless_switch::Declared = &[
        super::counters::PortCounters::ALL,
        super::counters::AwayCounters::ALL,
        super::counters::NeighbourCounters::ALL,
    ];
    const QUANTITIES: &'static [hitless_switch::Quantity] = super::counters::QUANTITIES;
    const ASKS_FOR_RETURNS: bool = true;

    type Settings = RimmSettings;

    fn resolve(settings: &mut RimmSettings, around: Surroundings<'_>) {
        settings.resolve(around.scenario, around.topology);
    }

    fn switches(settings: &RimmSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        settings.switches(topology)
    }

    fn memory_bytes(settings: &RimmSettings, around: Surroundings<'_>) -> u64 {
        64 * ((settings.switches(around.topology).len() as u64) << settings.hash_bits)
    }

    fn claims(settings: &RimmSettings, topology: &Topology) -> Vec<Claimed> {
        vec![
            Claim::Detours.at_ports(settings.ports_of_detours(topology)),
            Claim::KeepsOrder.on_switches(&settings.switches(topology)),
        ]
    }

    /// Headers at the ports of detours; at all ports if one of their links can fail and packets are rerouted.
    fn headers(settings: &RimmSettings, around: Surroundings<'_>, check: &Check<'_>) -> Vec<Header> {
        let topology = around.topology;
        let mut ports = settings.ports_of_detours(topology);
        if check.reroutes() && ports.iter().any(|&port| check.fails(topology, around.link_at(port))) {
            ports = select_ports_by_switch(topology, &[]).into_values().flatten().collect();
        }
        vec![Header::of::<DetourHeader>("detours of RIMM", Reach::Along(ports))]
    }

    /// A queue for messages, at a port that faces a switch.
    fn queues(settings: &RimmSettings) -> u16 {
        (settings.messages == RimmMessages::First).into()
    }

    fn check(settings: &RimmSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        check::check_entry(settings, around, section, check);
    }

    fn build(entries: &[&RimmSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let configs = configs(entries, around)?;
        Ok(configs.into_iter().map(|(switch, config)| built((switch, Self::new(config)))).collect())
    }

    fn link_headers(settings: &RimmSettings, topology: &Topology) -> Option<(&'static LinkHeaders, Vec<DirectedLink>)> {
        Some((&ON_LINKS, settings.links_to_neighbours(topology)))
    }
}

fn configs(entries: &[&RimmSettings], around: Surroundings<'_>) -> Result<BTreeMap<SwitchId, RimmConfig>, String> {
    let mut configs = BTreeMap::<SwitchId, RimmConfig>::new();
    for settings in entries {
        for switch in settings.switches(around.topology) {
            let own = config(settings, switch, around)?;
            let config = match configs.remove(&switch) {
                None => own,
                Some(other) => merge(other, own),
            };
            configs.insert(switch, config);
        }
    }
    Ok(configs)
}

fn config(settings: &RimmSettings, switch: SwitchId, around: Surroundings<'_>) -> Result<RimmConfig, String> {
    let mut relieved = settings.ports_by_switch(around.topology);
    let neighbours = neighbours(settings, switch, &relieved.keys().copied().collect(), around)?;
    let watched = relieved.remove(&switch).unwrap_or_default().into_iter().map(|at| {
        threshold(settings, at, around).map(|threshold_segments| WatchedPort { port: at.port, threshold_segments })
    });
    Ok(RimmConfig {
        origin: origin(switch, around)?,
        line_ports: around.topology.switch(switch).ports.len() as u16,
        recirculation_ports: around.scenario.switch.recirculation_ports,
        watched: watched.collect::<Result<_, _>>()?,
        neighbours,
        settings: settings.clone(),
    })
}

/// The number of a switch in headers: its position among the switches that detour. A switch that only reports depths
/// gets number 0, which it never uses.
fn origin(switch: SwitchId, around: Surroundings<'_>) -> Result<u8, String> {
    let entries = around.entries::<RimmSettings>();
    let all: BTreeSet<SwitchId> =
        entries.flat_map(|(_, settings)| settings.ports_by_switch(around.topology).into_keys()).collect();
    let place = all.iter().position(|&other| other == switch).unwrap_or(0);
    place.try_into().map_err(|_| format!("{} switches detour packets, and 256 can", all.len()))
}

fn threshold(settings: &RimmSettings, at: SwitchPort, around: Surroundings<'_>) -> Result<u16, String> {
    let bytes = settings.threshold_of(around.scenario, around.topology, at);
    let segments = bytes.0 / settings.segment.0.max(1);
    segments.try_into().map_err(|_| format!("a threshold of {segments} segments has more than 16 bits"))
}

fn neighbours(
    settings: &RimmSettings,
    switch: SwitchId,
    relieved: &BTreeSet<SwitchId>,
    around: Surroundings<'_>,
) -> Result<Vec<Neighbour>, String> {
    let mut neighbours = Vec::new();
    for (number, port) in (0..).zip(&around.topology.switch(switch).ports) {
        let Node::Switch(other) = port.peer.node else { continue };
        let theirs = SwitchPort { switch: other, port: port.peer.port };
        let ours = SwitchPort { switch, port: PortId(number) };
        neighbours.push(Neighbour {
            port: ours.port,
            full_segments: threshold(settings, theirs, around)?,
            own_full_segments: threshold(settings, ours, around)?,
            is_told: relieved.contains(&other),
        });
    }
    Ok(neighbours)
}

/// Merges the configurations of a switch from two entries: one for its ports, the other for a neighbour's ports.
fn merge(one: RimmConfig, other: RimmConfig) -> RimmConfig {
    let (mut main, side) = if other.watched.is_empty() { (one, other) } else { (other, one) };
    for (neighbour, again) in main.neighbours.iter_mut().zip(side.neighbours) {
        neighbour.is_told |= again.is_told;
    }
    main
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small_world::triangle_with;

    const RIMM: &str = r#"
    [[mechanism]]
    kind = "rimm"
    ports = ["sw4->i"]
    threshold = "100 KB"
    segment = "100 B"
    "#;

    #[test]
    fn the_ports_of_rimm_are_those_of_the_relieved_switch_and_its_neighbours_tell_it_depths() {
        let text = RIMM
            .replace("[[mechanism]]", "[switch]\nbuffer = { kind = \"static\", per_port = \"1 MB\" }\n[[mechanism]]");
        let (scenario, topology) = triangle_with::<Rimm>(&text);
        let around = Surroundings { scenario: &scenario, topology: &topology };
        let entries: Vec<&RimmSettings> = around.entries::<RimmSettings>().map(|(_, settings)| settings).collect();
        let configs = configs(&entries, around).expect("the mechanisms can be planned");
        let [sw3, sw4, sw5] = configs.values().collect::<Vec<_>>()[..] else { panic!("all three take part") };
        let neighbour =
            |port, is_told| Neighbour { port: PortId(port), full_segments: 1_000, own_full_segments: 1_000, is_told };
        let at_sw4 = RimmConfig {
            origin: 0,
            line_ports: 3,
            recirculation_ports: 1,
            watched: vec![WatchedPort { port: PortId(0), threshold_segments: 1_000 }],
            neighbours: vec![neighbour(1, false), neighbour(2, false)],
            settings: entries[0].clone(),
        };
        assert_eq!(*sw4, at_sw4);
        assert_eq!((sw3.watched.len(), &sw3.neighbours), (0, &vec![neighbour(1, true), neighbour(2, false)]));
        assert_eq!((sw5.watched.len(), &sw5.neighbours), (0, &vec![neighbour(0, false), neighbour(1, true)]));
    }
}
