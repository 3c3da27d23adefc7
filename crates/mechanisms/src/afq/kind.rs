//! AFQ as a kind of mechanism, on the ports that its entries name.

use std::collections::BTreeSet;

use hitless_core::wire::Duration;
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claim, Claimed, Entries, Kind, Stage, Surroundings};
use hitless_scenario::network::topology::select::SwitchPort;
use hitless_scenario::network::topology::{SwitchId, Topology};
use hitless_switch::QueueLimit;
use rand::Rng;

use super::{Afq, AfqIdleRound, AfqPort, AfqSettings, check, classes, round_trip};
use crate::port_choice::on_each_switch;
use crate::queue_limit::queue_limit;

impl Kind for Afq {
    const NAME: &'static str = "afq";
    const TITLE: &'static str = "AFQ";
    const SUMMARY: &'static str = "AFQ, approximate fair queueing, on ports of switches (Sharma et al., NSDI 2018).";
    const STAGE: Stage = Stage::QueueChoice;
    const ENTRIES: Entries = Entries::Each;
    const PLACES_FIELD: &'static str = "ports";
    const COUNTERS: hitless_switch::Declared = &[
        super::counters::PortCounters::ALL,
        hitless_switch::queueing::GroupCounters::ALL,
        super::adaptive::QueueCounters::ALL,
        super::checker::BidCounters::ALL,
        super::occupancy::EstimateCounters::ALL,
    ];
    const QUEUES_FIELD: Option<&'static str> = Some("queues");

    type Settings = AfqSettings;

    fn resolve(settings: &mut AfqSettings, around: Surroundings<'_>) {
        round_trip::resolve(settings, around);
    }

    fn switches(settings: &AfqSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        settings.ports_by_switch(topology).into_keys().collect()
    }

    /// The sketches of all ports, in cells of 64 bits.
    fn memory_bytes(settings: &AfqSettings, around: Surroundings<'_>) -> u64 {
        let ports = settings.ports_by_switch(around.topology).into_values().flatten().count() as u64;
        8 * ports * u64::from(settings.sketch.rows) * u64::from(settings.sketch.columns)
    }

    fn claims(settings: &AfqSettings, topology: &Topology) -> Vec<Claimed> {
        vec![Claim::ChoosesQueue.at_ports(settings.ports_by_switch(topology).into_values().flatten())]
    }

    fn queues(settings: &AfqSettings) -> u16 {
        settings.queues.into()
    }

    fn marks(settings: &AfqSettings) -> bool {
        settings.ecn_rounds.is_some()
    }

    fn classes_weighed(settings: &AfqSettings) -> usize {
        settings.class_weights.len()
    }

    fn check(settings: &AfqSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        check::check_entry(settings, around, section, check);
    }

    fn build(entries: &[&AfqSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let ports = |settings: &AfqSettings| settings.ports_by_switch(around.topology);
        let nearest = round_trip::Nearest::new(around);
        Ok(on_each_switch(entries, ports, |settings, switch, ports| {
            let at = ports.iter().map(|&port| SwitchPort { switch, port });
            let short_queues = round_trip::short_queues(settings, at, &nearest, around);
            let ports = ports.into_iter().map(|port| afq_port(settings, SwitchPort { switch, port }, around)).collect();
            Self::new(ports, settings.clone(), seed(switch, around)).warning(short_queues)
        }))
    }
}

fn seed(switch: SwitchId, around: Surroundings<'_>) -> u64 {
    around.stream(switch, "afq hashes").next_u64()
}

fn afq_port(settings: &AfqSettings, at: SwitchPort, around: Surroundings<'_>) -> AfqPort {
    let limit = settings.limit_of(around.scenario, around.topology, at).map_or(QueueLimit::Unlimited, queue_limit);
    let rate = around.link_settings_at(at).rate;
    let round_time = || rate.time_for(settings.bytes_per_round().0).max(Duration::from_ps(1));
    let idle_round_time = (settings.idle_round == AfqIdleRound::LineRate).then(round_time);
    let switch = &around.scenario.switch.of_switch(around.topology, at.switch);
    let (classes, queue) = (classes::bits(settings, switch), classes::queue(settings, switch));
    AfqPort { port: at.port, limit, idle_round_time, classes, queue }
}

#[cfg(test)]
mod tests {
    use hitless_core::wire::PortId;

    use super::*;
    use crate::small_world::triangle_with;

    const AFQ: &str = r#"
    [[mechanism]]
    kind = "afq"
    ports = ["sw3", "sw4->i"]
    queues = 12
    bytes_per_round = "3 KB"
    idle_round = "line-rate"
    port_buffer = "400 KB"

    [[mechanism]]
    kind = "afq"
    ports = ["sw4->sw3"]
    "#;

    #[test]
    fn a_port_has_the_limit_and_the_idle_round_of_its_entry() {
        let (scenario, topology) = triangle_with::<Afq>(AFQ);
        let around = Surroundings { scenario: &scenario, topology: &topology };
        let entries: Vec<_> = around.entries::<AfqSettings>().map(|(_, settings)| settings).collect();
        let ports_of = |entry: &AfqSettings| {
            let ports = entry.ports_by_switch(&topology).into_values().flatten();
            ports.map(|at| (at.switch.0, afq_port(entry, at, around))).collect::<Vec<_>>()
        };
        let limit = QueueLimit::Bytes(400_000);
        // 3 KB at 10 Gbps.
        let time = Some(Duration::from_ns(2_400));
        let first = |port| AfqPort { idle_round_time: time, ..AfqPort::new(PortId(port), limit) };
        assert_eq!(ports_of(entries[0]), [(0, first(0)), (0, first(1)), (0, first(2)), (1, first(0))]);
        let last = AfqPort::new(PortId(1), QueueLimit::Unlimited);
        assert_eq!(ports_of(entries[1]), [(1, last)]);
        assert_ne!(seed(SwitchId(0), around), seed(SwitchId(1), around));
    }
}
