//! AFQ on the ports that its entries name.

use hitless_engine::RandomStreams;
use hitless_mechanisms::afq::config::{
    Adaptive, AfqConfig, AfqPort, Charge, DropAhead, FlowKey, HashFamily, RoundSource, Scheduler, SketchConfig,
    UpdateRule,
};
use hitless_switch::{LatePackets, QueueLimit};
use hitless_wire::Duration;
use rand::Rng;

use super::Planner;
use crate::scenario::{
    AfqDropAhead, AfqFlowKey, AfqHash, AfqIdleRound, AfqLate, AfqRound, AfqScheduler, AfqSettings, AfqUpdate,
    QueueLength,
};
use crate::topology::SwitchId;
use crate::topology::select::SwitchPort;

impl Planner<'_> {
    pub(super) fn add_afq(&mut self, settings: &AfqSettings) {
        for (switch, ports) in settings.ports_by_switch(self.topology) {
            let ports = ports.iter().map(|&port| self.afq_port(settings, port)).collect();
            let config = AfqConfig { ports, ..config(settings, self.hash_seed(switch)) };
            self.draft(switch).afq.push(config);
        }
    }

    /// The hash functions of each switch are its own.
    fn hash_seed(&self, switch: SwitchId) -> u64 {
        RandomStreams::new(self.scenario.seed).stream(&format!("switch {} afq hashes", switch.0)).next_u64()
    }

    fn afq_port(&self, settings: &AfqSettings, at: SwitchPort) -> AfqPort {
        let limit = match settings.limit_of(self.scenario, self.topology, at) {
            None => QueueLimit::Unlimited,
            Some(QueueLength::Packets(packets)) => QueueLimit::Packets(packets as u32),
            Some(QueueLength::Bytes(bytes)) => QueueLimit::Bytes(bytes.0),
        };
        let link = self.topology.switch(at.switch).ports[usize::from(at.port.0)].link;
        let rate = self.topology.link(link.link).settings.rate;
        let round_time = || rate.time_for(settings.bytes_per_round.0).max(Duration::from_ps(1));
        let idle_round_time = (settings.idle_round == AfqIdleRound::LineRate).then(round_time);
        AfqPort { port: at.port, limit, idle_round_time }
    }
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
        drop_ahead: match settings.drop_ahead {
            AfqDropAhead::AtQueues => DropAhead::AtQueues,
            AfqDropAhead::BeyondQueues => DropAhead::BeyondQueues,
        },
        ecn_rounds: settings.ecn_rounds,
        charge_refused: settings.charge_refused,
        flow_key: match settings.flow_key {
            AfqFlowKey::FiveTuple => FlowKey::FiveTuple,
            AfqFlowKey::Source => FlowKey::Source,
            AfqFlowKey::Class => FlowKey::Class,
        },
        charges: settings.class_weights.iter().map(|&weight| Charge::for_weight(weight)).collect(),
        adaptive: settings.adaptive.map(|adaptive| Adaptive {
            queues_min: adaptive.queues_min,
            margin_bytes: adaptive.margin.0,
            low_divisor: adaptive.low_divisor,
        }),
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
        update: match settings.sketch.update {
            AfqUpdate::Increment => UpdateRule::Increment,
            AfqUpdate::PredicatedIncrement => UpdateRule::PredicatedIncrement,
            AfqUpdate::Figure3 => UpdateRule::Figure3,
        },
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
