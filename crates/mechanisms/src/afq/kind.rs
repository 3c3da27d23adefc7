//! AFQ as a kind of mechanism: on the ports that its entries name.

use std::collections::BTreeSet;

use hitless_network::topology::select::SwitchPort;
use hitless_network::topology::{SwitchId, Topology};
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claim, Claimed, Entries, Kind, Stage, Surroundings, built};
use hitless_switch::{LatePackets, QueueLimit};
use hitless_wire::Duration;
use rand::Rng;

use super::{
    Afq, AfqConfig, AfqHash, AfqIdleRound, AfqLate, AfqPort, AfqRound, AfqScheduler, AfqSettings, Charge, HashFamily,
    RoundSource, Scheduler, SketchConfig, check,
};
use crate::queue_limit::queue_limit;

impl Kind for Afq {
    const NAME: &'static str = "afq";
    const TITLE: &'static str = "AFQ";
    const SUMMARY: &'static str = "AFQ, approximate fair queueing, on ports of switches (Sharma et al., NSDI 2018).";
    const STAGE: Stage = Stage::QueueChoice;
    const ENTRIES: Entries = Entries::Each;
    const PLACES_FIELD: &'static str = "ports";
    const QUEUES_FIELD: Option<&'static str> = Some("queues");

    type Settings = AfqSettings;

    fn switches(settings: &AfqSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        settings.ports_by_switch(topology).into_keys().collect()
    }

    /// The sketch of each port, in cells of 64 bits.
    fn memory_bytes(settings: &AfqSettings, around: Surroundings<'_>) -> u64 {
        let ports = settings.ports_by_switch(around.topology).into_values().flatten().count() as u64;
        8 * ports * u64::from(settings.sketch.rows) * u64::from(settings.sketch.columns)
    }

    fn claims(settings: &AfqSettings, topology: &Topology) -> Vec<Claimed> {
        vec![Claim::ChoosesQueue.at_ports(settings.ports_by_switch(topology).into_values().flatten())]
    }

    /// One for each of the next rounds.
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
        let on_switches = entries.iter().flat_map(|settings| configs(settings, around));
        Ok(on_switches.map(|(switch, config)| built((switch, Self::new(config)))).collect())
    }
}

fn configs(settings: &AfqSettings, around: Surroundings<'_>) -> impl Iterator<Item = (SwitchId, AfqConfig)> {
    settings.ports_by_switch(around.topology).into_iter().map(move |(switch, ports)| {
        let ports = ports.into_iter().map(|at| port(settings, at, around)).collect();
        // The hash functions of each switch are its own.
        let seed = around.stream(switch, "afq hashes").next_u64();
        (switch, AfqConfig { ports, ..config(settings, seed) })
    })
}

fn port(settings: &AfqSettings, at: SwitchPort, around: Surroundings<'_>) -> AfqPort {
    let limit = settings.limit_of(around.scenario, around.topology, at).map_or(QueueLimit::Unlimited, queue_limit);
    let rate = around.link_settings_at(at).rate;
    let round_time = || rate.time_for(settings.bytes_per_round.0).max(Duration::from_ps(1));
    let idle_round_time = (settings.idle_round == AfqIdleRound::LineRate).then(round_time);
    AfqPort { port: at.port, limit, idle_round_time }
}

/// What does not depend on the switch.
fn config(settings: &AfqSettings, seed: u64) -> AfqConfig {
    AfqConfig {
        ports: Vec::new(),
        queues: settings.queues,
        bytes_per_round: settings.bytes_per_round.0 as u32,
        sketch: sketch(settings, seed),
        scheduler: scheduler(settings.scheduler),
        round: round_source(settings),
        drop_ahead: settings.drop_ahead,
        ecn_rounds: settings.ecn_rounds,
        charge_refused: settings.charge_refused,
        flow_key: settings.flow_key,
        charges: settings.class_weights.iter().map(|&weight| Charge::for_weight(weight)).collect(),
        adaptive: settings.adaptive,
        measures_estimation: settings.measure_estimation,
    }
}

fn sketch(settings: &AfqSettings, seed: u64) -> SketchConfig {
    SketchConfig {
        rows: settings.sketch.rows,
        columns: settings.sketch.columns,
        hash: match settings.sketch.hash {
            AfqHash::MultiplyShift => HashFamily::MultiplyShift { seed },
            AfqHash::Checksums => HashFamily::Checksums,
        },
        update: settings.sketch.update,
        is_wide: settings.sketch.bid_bits == 64,
    }
}

fn scheduler(settings: AfqScheduler) -> Scheduler {
    match settings {
        AfqScheduler::RotatingStrictPriority(rotating) => Scheduler::RotatingStrictPriority {
            late: match rotating.late {
                AfqLate::ServedQueue => LatePackets::ServedQueue,
                AfqLate::NamedQueue => LatePackets::NamedQueue,
            },
            step: rotating.step,
        },
        AfqScheduler::DeficitRoundRobin(deficit) => {
            Scheduler::DeficitRoundRobin { quantum_bytes: deficit.quantum.0 as u32 }
        }
        AfqScheduler::TwoGroups(groups) => Scheduler::TwoGroups { period: groups.period, delay: groups.delay },
    }
}

fn round_source(settings: &AfqSettings) -> RoundSource {
    let occupancy = settings.occupancy.unwrap_or_default();
    match settings.round {
        AfqRound::Shared => RoundSource::Shared,
        AfqRound::FromOccupancy => {
            RoundSource::Occupancy { granularity_bytes: occupancy.granularity.0, refresh: occupancy.refresh }
        }
    }
}

#[cfg(test)]
mod tests {
    use hitless_wire::PortId;

    use super::super::{DropAhead, FlowKey, UpdateRule};
    use super::*;
    use crate::triangle::triangle_with;

    const AFQ: &str = r#"
    [[mechanism]]
    kind = "afq"
    ports = ["sw3", "sw4->i"]
    queues = 12
    bytes_per_round = "3 KB"
    sketch = { rows = 3, columns = 512, update = "increment", bid_bits = 64 }
    scheduler = { kind = "two-groups", period = "20 us", delay = "3 us" }
    drop_ahead = "beyond-queues"
    ecn_rounds = 5
    charge_refused = false
    idle_round = "line-rate"
    flow_key = "source"
    class_weights = [1.0, 4.0]
    port_buffer = "400 KB"
    measure_estimation = true

    [[mechanism]]
    kind = "afq"
    ports = ["sw4->sw3"]
    round = "from-occupancy"
    occupancy = { granularity = "80 B", refresh = "1 us" }
    sketch = { hash = "checksums" }
    "#;

    #[test]
    fn every_parameter_of_afq_reaches_its_ports() {
        let (scenario, topology) = triangle_with::<Afq>(AFQ);
        let around = Surroundings { scenario: &scenario, topology: &topology };
        let all = around.entries::<AfqSettings>().flat_map(|(_, settings)| configs(settings, around));
        let [(of_first, first), (_, sw4), (of_last, last)] = &all.collect::<Vec<_>>()[..] else { panic!("three") };
        assert_eq!([*of_first, *of_last], [0, 1].map(SwitchId));
        let port = |port, bytes, idle_ns: Option<u64>| AfqPort {
            port: PortId(port),
            limit: bytes,
            idle_round_time: idle_ns.map(Duration::from_ns),
        };
        let limit = QueueLimit::Bytes(400_000);
        // 3 KB at 10 Gbps.
        assert_eq!(first.ports, [0, 1, 2].map(|number| port(number, limit, Some(2_400))));
        let HashFamily::MultiplyShift { seed } = first.sketch.hash else { panic!("{:?}", first.sketch.hash) };
        let hash = HashFamily::MultiplyShift { seed };
        assert_eq!(
            first.sketch,
            SketchConfig { rows: 3, columns: 512, hash, update: UpdateRule::Increment, is_wide: true }
        );
        let (period, delay) = (Duration::from_us(20), Duration::from_us(3));
        assert_eq!(first.scheduler, Scheduler::TwoGroups { period, delay });
        assert_eq!((first.queues, first.bytes_per_round, first.ecn_rounds), (12, 3_000, Some(5)));
        assert_eq!((first.drop_ahead, first.flow_key), (DropAhead::BeyondQueues, FlowKey::Source));
        assert_eq!(first.charges, [1.0, 4.0].map(Charge::for_weight));
        assert!(!first.charge_refused && first.measures_estimation);
        let ports_of = |config: &AfqConfig| config.ports.iter().map(|port| port.port).collect::<Vec<_>>();
        assert_eq!((ports_of(sw4), ports_of(last)), (vec![PortId(0)], vec![PortId(1)]));
        assert_ne!(sw4.sketch.hash, hash, "each switch has hash functions of its own");
        assert_eq!(last.round, RoundSource::Occupancy { granularity_bytes: 80, refresh: Duration::from_us(1) });
        assert_eq!((last.sketch.hash, last.ports[0].limit), (HashFamily::Checksums, QueueLimit::Unlimited));
    }
}
