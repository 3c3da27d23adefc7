//! DIBS, Simple and Preemptive Deflection on the switches of the ports that their entries name.

use hitless_engine::{RandomStreams, Stream};
use hitless_mechanisms::deflection::priority::{Arithmetic, DivideBy, Mean, QuantileConfig, RelativePriority};
use hitless_mechanisms::deflection::{
    Capacity, Decision, DibsConfig, PreemptiveConfig, ScanStart as Start, SimpleConfig,
};
use hitless_mechanisms::{Dibs, PreemptiveDeflection, SimpleDeflection};
use hitless_wire::PortId;

use super::Planner;
use crate::scenario::{
    DeflectionCapacity, DeflectionDecision, DibsSettings, DistributionArithmetic, DistributionMean,
    DistributionSettings, PreemptiveDeflectionSettings, QuantileDivisor, QuantileOf, QuantileSettings,
    RelativePrioritySettings, ScanStart, SimpleDeflectionSettings,
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
                candidates: usize::from(settings.candidates),
                memory: settings.memory,
                draws_own_port: settings.draw_own_port,
                to_arrival_port: settings.to_arrival_port,
                stream: self.stream_of(switch, "preemptive deflection"),
            });
            self.draft(switch).deflection = Some(preemptive.into());
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
