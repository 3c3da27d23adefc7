//! DIBS, Simple and Preemptive Deflection, AIFO and PABO on the switches of the ports that their entries name.

use hitless_engine::{RandomStreams, Stream};
use hitless_mechanisms::deflection::priority::{Arithmetic, DivideBy, Mean, QuantileConfig, RelativePriority};
use hitless_mechanisms::deflection::{
    AifoConfig, Capacity, Decision, DibsConfig, Occupancy, PaboConfig, PreemptiveConfig, ScanStart as Start,
    SimpleConfig,
};
use hitless_mechanisms::rank_guard::RankGuardConfig;
use hitless_mechanisms::{Aifo, Dibs, Pabo, PreemptiveDeflection, RankGuard, SimpleDeflection};
use hitless_wire::PortId;

use super::super::build::recirculation_port_id;
use super::Planner;
use crate::scenario::{
    AifoSettings, DeflectionCapacity, DeflectionDecision, DeflectionOccupancy, DibsSettings, DistributionArithmetic,
    DistributionMean, DistributionSettings, PaboSettings, PreemptiveDeflectionSettings, QuantileDivisor, QuantileOf,
    QuantileSettings, RankGuardSettings, RelativePrioritySettings, ScanStart, SimpleDeflectionSettings, UpdateGap,
};
use crate::topology::SwitchId;
use crate::topology::select::SwitchPort;

fn numbers(ports: &[SwitchPort]) -> Vec<PortId> {
    ports.iter().map(|port| port.port).collect()
}

impl Planner<'_> {
    pub(super) fn stream_of(&self, switch: SwitchId, mechanism: &str) -> Stream {
        RandomStreams::new(self.scenario.seed).stream(&format!("switch {} {mechanism}", switch.0))
    }

    pub(super) fn add_dibs(&mut self, settings: &DibsSettings) {
        for (switch, ports) in settings.ports_by_switch(self.topology) {
            let dibs = Dibs::new(DibsConfig {
                relieved: numbers(&ports),
                to_arrival_port: settings.to_arrival_port,
                to_full_ports: settings.to_full_ports,
                stream: self.stream_of(switch, "dibs"),
            });
            self.draft(switch).deflection = Some(dibs.into());
        }
    }

    pub(super) fn add_simple_deflection(&mut self, settings: &SimpleDeflectionSettings) {
        for (switch, ports) in settings.ports_by_switch(self.topology) {
            let simple = SimpleDeflection::new(SimpleConfig {
                relieved: numbers(&ports),
                to_arrival_port: settings.to_arrival_port,
                start: match settings.start {
                    ScanStart::Uniform => Start::Uniform,
                    ScanStart::FiveBit => Start::FiveBit,
                },
                occupancy: self.occupancy(switch, settings.occupancy),
                capacity: Capacity::CurrentThreshold,
                stream: self.stream_of(switch, "simple deflection"),
            });
            self.draft(switch).deflection = Some(simple.into());
        }
    }

    pub(super) fn add_preemptive_deflection(&mut self, settings: &PreemptiveDeflectionSettings) {
        for (switch, ports) in settings.ports_by_switch(self.topology) {
            let preemptive = PreemptiveDeflection::new(PreemptiveConfig {
                relieved: numbers(&ports),
                relative_priority: relative_priority(&settings.relative_priority),
                alpha: settings.alpha,
                decision: decision(&settings.decision),
                capacity: capacity(settings.capacity),
                occupancy: self.occupancy(switch, settings.occupancy),
                candidates: usize::from(settings.candidates),
                memory: settings.memory,
                draws_own_port: settings.draw_own_port,
                to_arrival_port: settings.to_arrival_port,
                stream: self.stream_of(switch, "preemptive deflection"),
            });
            self.draft(switch).deflection = Some(preemptive.into());
        }
    }

    pub(super) fn add_aifo(&mut self, settings: &AifoSettings) {
        for (switch, ports) in settings.ports_by_switch(self.topology) {
            let aifo = Aifo::new(AifoConfig {
                ports: numbers(&ports),
                headroom: settings.headroom,
                admits_all_in_headroom: settings.admit_in_headroom,
                window: settings.window as usize,
                sample_every: settings.sample_every,
                capacity: capacity(settings.capacity),
                boosts_retransmissions: settings.boost_retransmissions,
            });
            self.draft(switch).deflection = Some(aifo.into());
        }
    }

    pub(super) fn add_pabo(&mut self, settings: &PaboSettings) {
        for (switch, ports) in settings.ports_by_switch(self.topology) {
            let pabo = Pabo::new(PaboConfig {
                relieved: numbers(&ports),
                threshold: settings.threshold,
                lambda: settings.lambda,
                capacity: capacity(settings.capacity),
                stream: self.stream_of(switch, "pabo"),
            });
            self.draft(switch).deflection = Some(pabo.into());
        }
    }

    pub(super) fn add_rank_guard(&mut self, settings: &RankGuardSettings) {
        for (switch, ports) in settings.ports_by_switch(self.topology) {
            let guard = RankGuard::new(RankGuardConfig {
                ports: numbers(&ports),
                slots: settings.slots as usize,
                tolerance: settings.tolerance,
                allowance_bytes: settings.allowance.0,
                exempt_bytes: settings.exempt.0.try_into().unwrap_or(u32::MAX),
                idle: settings.idle,
            });
            self.draft(switch).rank_guard = Some(guard);
        }
    }

    fn occupancy(&self, switch: SwitchId, settings: DeflectionOccupancy) -> Occupancy {
        match settings {
            DeflectionOccupancy::Immediate(_) => Occupancy::Immediate,
            DeflectionOccupancy::UpdateGap(UpdateGap { gap, sees_full_at_once }) => {
                Occupancy::UpdateGap { gap, sees_full_at_once }
            }
            DeflectionOccupancy::ControlPackets(settings) => {
                let numbers = 0..self.scenario.switch.recirculation_ports;
                let port = |number| recirculation_port_id(self.topology, switch, number);
                Occupancy::ControlPackets {
                    packets: settings.packets.unwrap_or(0),
                    recirculation_ports: numbers.map(port).collect(),
                }
            }
        }
    }
}

fn relative_priority(settings: &RelativePrioritySettings) -> RelativePriority {
    match settings {
        RelativePrioritySettings::Quantile(settings) => RelativePriority::Quantile(quantile(settings)),
        RelativePrioritySettings::Distribution(settings) => distribution(settings),
    }
}

fn quantile(settings: &QuantileSettings) -> QuantileConfig {
    QuantileConfig {
        window: settings.window as usize,
        sample_every: settings.sample_every,
        of_evaluated: settings.of == QuantileOf::Evaluated,
        divide_by: match settings.divide_by {
            QuantileDivisor::Fill => DivideBy::Fill,
            QuantileDivisor::Window => DivideBy::Window,
        },
    }
}

fn distribution(settings: &DistributionSettings) -> RelativePriority {
    let mean = match settings.mean {
        DistributionMean::Exact => Mean::Exact,
        DistributionMean::MovingAverage => Mean::MovingAverage { parts: (1.0 / settings.gain).round() as u32 },
    };
    let arithmetic = match settings.arithmetic {
        DistributionArithmetic::Exact => Arithmetic::Exact,
        DistributionArithmetic::Tables => Arithmetic::Tables,
    };
    RelativePriority::Distribution { mean, arithmetic }
}

fn decision(settings: &DeflectionDecision) -> Decision {
    match settings {
        DeflectionDecision::Threshold(_) => Decision::Threshold,
        DeflectionDecision::Probabilistic(settings) => {
            Decision::Probabilistic { minimum_bytes: settings.minimum_threshold.0, times_alpha: settings.times_alpha }
        }
    }
}

const fn capacity(settings: DeflectionCapacity) -> Capacity {
    match settings {
        DeflectionCapacity::StaticLimit(_) => Capacity::StaticLimit,
        DeflectionCapacity::Constant(constant) => Capacity::Bytes(constant.size.0),
        DeflectionCapacity::CurrentThreshold(_) => Capacity::CurrentThreshold,
    }
}
