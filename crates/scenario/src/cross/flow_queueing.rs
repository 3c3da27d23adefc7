//! Queueing by flow: what it goes with, and whether its parameters make sense.

use crate::network::switch::{BufferSettings, EcnPoint, FlowQueueingSettings, FqCodelSettings, SchedulerKind};
use hitless_core::settings::Problem;
use hitless_core::wire::{Bytes, Duration};

use super::check::Check;

const SECTION: &str = "switch.flow_queueing";

impl Check<'_> {
    pub(super) fn flow_queueing(&mut self) {
        let Some(settings) = &self.scenario.switch.flow_queueing else { return };
        self.goes_with_the_switch();
        let quantum = match settings {
            FlowQueueingSettings::IdealFq(ideal) => (ideal.bytes_per_round, "bytes_per_round"),
            FlowQueueingSettings::Drr(drr) => (drr.quantum, "quantum"),
            FlowQueueingSettings::Sfq(sfq) => (sfq.quantum, "quantum"),
            FlowQueueingSettings::FqCodel(codel) => (codel.quantum, "quantum"),
        };
        let (bytes, field) = quantum;
        let is_amount = (1..=1_000_000_000).contains(&bytes.0);
        self.require(is_amount, &format!("{SECTION}.{field}"), "must be from 1 B to 1 GB");
        for (class, &weight) in settings.weights().iter().enumerate() {
            let field = format!("{SECTION}.weights[{class}]");
            self.require((1..=1_000).contains(&weight), &field, "must be from 1 to 1000");
        }
        match settings {
            FlowQueueingSettings::FqCodel(codel) => self.fq_codel(codel),
            FlowQueueingSettings::Sfq(sfq) => {
                let takes_time = sfq.perturbation.is_none_or(|period| period > Duration::ZERO);
                self.require(takes_time, &format!("{SECTION}.perturbation"), "must be above zero");
            }
            FlowQueueingSettings::IdealFq(_) | FlowQueueingSettings::Drr(_) => {}
        }
    }

    fn goes_with_the_switch(&mut self) {
        let switch = &self.scenario.switch;
        let has_limits = matches!(switch.buffer, BufferSettings::Static(_));
        self.require_else(has_limits, || {
            Problem::new("switch.buffer", "", "queues of flows share the buffer of one port, not that of a switch")
                .hint("give buffer = { kind = \"static\", per_port = \"512 KB\" }")
        });
        self.require_else(switch.queues_per_port == 1, || {
            Problem::new("switch.queues_per_port", "", "a port that queues by flow has no queues for classes")
                .hint("leave it out; flow_queueing.weights (ideal-fq, drr) tells classes apart")
        });
        self.require_else(switch.scheduler != SchedulerKind::Drr, || {
            Problem::new("switch.scheduler", "", "flow_queueing decides what is served next")
                .hint("leave it out; deficit round robin by flow is flow_queueing = { kind = \"drr\" }")
        });
        let marks = switch.ecn.iter().chain(switch.ports.iter().filter_map(|entry| entry.ecn.as_ref()));
        self.require_else(marks.into_iter().all(|ecn| ecn.at == EcnPoint::Enqueue), || {
            Problem::new("switch.ecn.at", "", "a port that queues by flow marks at enqueue, by the depth of a flow")
                .hint("leave it out; flow_queueing = { kind = \"fq-codel\" } marks by delay when packets leave")
        });
        if !self.scenario.mechanisms.is_empty() {
            let rule = "mechanisms ask for queues of their own, and ports that queue by flow have none to give";
            self.report(Problem::new(SECTION, "", rule).hint("leave out [[mechanism]] or flow_queueing"));
        }
    }

    fn fq_codel(&mut self, codel: &FqCodelSettings) {
        let field = |name: &str| format!("{SECTION}.{name}");
        self.require(codel.target > Duration::ZERO, &field("target"), "must be above zero");
        self.require(codel.interval > codel.target, &field("interval"), "must be above target");
        let switch = &self.scenario.switch;
        let marks_by_depth = switch.ecn.is_some() || switch.ports.iter().any(|entry| entry.ecn.is_some());
        self.require_else(!marks_by_depth, || {
            Problem::new("switch.ecn", "", "FQ-CoDel marks by delay, never by depth")
                .hint("leave it out; flow_queueing.ecn says whether it marks")
        });
        let is_frame = codel.quantum >= Bytes(64);
        self.require(is_frame, &field("quantum"), "must be at least 64 B, the shortest frame");
    }
}
