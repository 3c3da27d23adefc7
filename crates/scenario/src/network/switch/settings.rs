//! `[switch]`: settings of the switches of the fabric.

use hitless_core::settings::quantity::{QueueLength, Text};
use hitless_core::wire::packet::MTU_FRAME_BYTES;
use hitless_core::wire::{BitRate, Bytes, Duration};
use hitless_switch::{Architecture, DepthVisibility};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::BudgetSettings;
use super::cbfc::CbfcSettings;
use super::exceptions::{SwitchException, SwitchPreset};
use super::flow_queueing::FlowQueueingSettings;
use super::pfc::PfcSettings;
use super::queues::PortSettings;
use super::queues::{BufferSettings, EcnSettings, SchedulerKind, SharedBuffer, StaticBuffer};
use crate::network::topology::{Port, SwitchId, Topology};

/// The switches. All are alike, except those with `[[switch.exceptions]]` or `[[switch.ports]]`. A preset gives every
/// field a value; fields that are also given override it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchSettings {
    /// Source of all values that are not given.
    pub preset: SwitchPreset,
    /// Time from the last bit of a frame at a port to the traffic manager.
    #[serde(with = "Text::<Duration>")]
    pub ingress_latency: Duration,
    /// Time from the traffic manager to the first bit of the frame on the wire, if the port is free.
    #[serde(with = "Text::<Duration>")]
    pub egress_latency: Duration,
    /// Time of a mirrored copy from the egress pipeline back to the traffic manager.
    #[serde(with = "Text::<Duration>")]
    pub mirror_latency: Duration,
    /// Time from a recirculation port back to its ingress pipeline.
    #[serde(with = "Text::<Duration>")]
    pub loopback_latency: Duration,
    /// Total time in the MACs, coding and error correction at both ends of a link; added to each link's delay.
    #[serde(with = "Text::<Duration>")]
    pub phy_latency: Duration,
    /// Size of the buffer, and its division among ports.
    pub buffer: BufferSettings,
    /// Number of queues of each port, in addition to those of mechanisms. Queue q holds the packets of traffic class q.
    #[schemars(range(min = 1, max = 128))]
    pub queues_per_port: u8,
    /// Order of service of a port's queues.
    pub scheduler: SchedulerKind,
    /// Bytes per turn of a queue in deficit round robin; only for the scheduler "drr".
    #[serde(with = "Text::<Bytes>")]
    pub drr_quantum: Bytes,
    /// Queueing by flow, which replaces the scheduler; left out: no queueing by flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_queueing: Option<FlowQueueingSettings>,
    /// Marking of congestion; left out: no marking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnSettings>,
    /// Lossless traffic classes by priority flow control; left out: every class can lose packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pfc: Option<PfcSettings>,
    /// Lossless traffic classes by credit-based flow control, instead of `pfc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cbfc: Option<CbfcSettings>,
    /// Exceptions for some switches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<SwitchException>,
    /// Exceptions for some ports.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortSettings>,
    /// Number of recirculation ports, shared by all mechanisms of a switch.
    #[schemars(range(max = 64))]
    pub recirculation_ports: u16,
    /// Rate of each recirculation port.
    #[serde(with = "Text::<BitRate>")]
    pub recirculation_rate: BitRate,
    /// Pipelines that can read queue depths.
    pub depth_visible: DepthVisible,
    /// Whether limits of the hardware are enforced: before the run mechanisms that exceed the budget are refused, and
    /// during the run, for example, two accesses to one register array in one pass.
    pub checked: bool,
    /// Resources of a pipeline for mechanisms; left out with the preset "ideal": no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetSettings>,
}

/// Pipelines that can read queue depths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DepthVisible {
    /// Only the egress pipeline, as on the first Tofino.
    Egress,
    /// Both pipelines, as on the second Tofino.
    IngressAndEgress,
}

impl Default for SwitchSettings {
    fn default() -> Self {
        Self::of(SwitchPreset::default())
    }
}

impl SwitchSettings {
    /// Returns the number of queues of each port. With the FIFO scheduler it is always 1, so that a scenario can vary
    /// only the scheduler.
    pub fn queue_count(&self) -> u8 {
        if self.scheduler == SchedulerKind::Fifo { 1 } else { self.queues_per_port }
    }

    /// Returns the queue of a traffic class.
    pub fn queue_of_class(&self, class: u8) -> u8 {
        class.min(self.queue_count() - 1)
    }

    /// Returns, for `classes` (one bit each), the first class in each queue that no other class uses: pausing these
    /// pauses no other class. If every queue is shared with other classes, it returns classes of the shared queues.
    pub fn classes_of_distinct_queues(&self, classes: u8) -> u8 {
        let first_in = |classes: u8, queue: u8| {
            (0..8).find(|&class| classes >> class & 1 == 1 && self.queue_of_class(class) == queue)
        };
        let firsts = |is_wanted: &dyn Fn(u8) -> bool| {
            let queues = (0..self.queue_count()).filter(|&queue| is_wanted(queue));
            queues.filter_map(|queue| first_in(classes, queue)).fold(0, |firsts, class| firsts | 1 << class)
        };
        let own = firsts(&|queue| first_in(!classes, queue).is_none());
        if own == 0 { firsts(&|_| true) } else { own }
    }

    /// Returns whether traffic classes are lossless.
    pub fn has_flow_control(&self) -> bool {
        self.pfc.is_some() || self.cbfc.is_some()
    }

    /// Returns whether any port marks packets.
    pub fn marks_somewhere(&self) -> bool {
        let by_flow = self.flow_queueing.as_ref().is_some_and(FlowQueueingSettings::marks);
        by_flow || self.ecn.is_some() || self.ports.iter().any(|entry| entry.ecn.is_some())
    }

    /// Returns the settings of `port` of `switch`, with exceptions applied.
    pub fn of_port(&self, topology: &Topology, switch: SwitchId, port: &Port) -> SwitchSettings {
        let mut settings = self.of_switch(topology, switch).into_owned();
        for entry in self.ports.iter().filter(|entry| entry.apply_to(topology, switch, port)) {
            settings.ecn = entry.ecn.or(settings.ecn);
            if let Some(per_port) = entry.buffer {
                settings.buffer = BufferSettings::Static(StaticBuffer { per_port });
            }
        }
        settings
    }

    /// Returns the values of a preset. The figures of the hardware, with their sources, are in [`Architecture`].
    pub fn of(preset: SwitchPreset) -> Self {
        match preset {
            SwitchPreset::TofinoLike => {
                // Assumed: 22 MB is the commonly stated buffer of the first Tofino, and alpha = 1 a common vendor
                // default.
                let buffer = SharedBuffer { total: Bytes(22_000_000), alpha: 1.0, queue_max: None };
                Self::on(preset, &Architecture::tofino_like(), BufferSettings::Shared(buffer), SchedulerKind::Strict)
            }
            SwitchPreset::Ideal => {
                // 300 KB per port, as in the deflection paper's simulations.
                let buffer = StaticBuffer { per_port: QueueLength::Bytes(Bytes(300_000)) };
                Self::on(preset, &Architecture::ideal(), BufferSettings::Static(buffer), SchedulerKind::Fifo)
            }
        }
    }

    fn on(preset: SwitchPreset, hardware: &Architecture, buffer: BufferSettings, scheduler: SchedulerKind) -> Self {
        Self {
            preset,
            ingress_latency: hardware.ingress_latency,
            egress_latency: hardware.egress_latency,
            mirror_latency: hardware.mirror_latency,
            loopback_latency: hardware.loopback_latency,
            phy_latency: hardware.phy_latency,
            buffer,
            queues_per_port: 1,
            scheduler,
            drr_quantum: Bytes(MTU_FRAME_BYTES.into()),
            flow_queueing: None,
            ecn: None,
            pfc: None,
            cbfc: None,
            exceptions: Vec::new(),
            ports: Vec::new(),
            recirculation_ports: 1,
            recirculation_rate: hardware.recirculation_rate,
            depth_visible: match hardware.depth_visibility {
                DepthVisibility::Egress => DepthVisible::Egress,
                DepthVisibility::IngressAndEgress => DepthVisible::IngressAndEgress,
            },
            checked: hardware.checked,
            budget: hardware.budget.map(BudgetSettings::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_of_some_classes_spares_the_queues_of_the_others() {
        // Queues of a port, the classes to pause, and the classes that a pause frame names.
        let cases = [
            (1, 0b1111_1111, 0b0000_0001),
            (2, 0b1111_1111, 0b0000_0011),
            (8, 0b1111_1111, 0b1111_1111),
            // Class 2 shares a queue with class 1, which must not be paused.
            (2, 0b1111_1101, 0b0000_0001),
            (4, 0b1111_1101, 0b0000_1101),
            (4, 0b0111_1111, 0b0000_0111),
            (8, 0b1111_1101, 0b1111_1101),
            // All classes share one queue.
            (1, 0b1111_1101, 0b0000_0001),
        ];
        for (queues_per_port, classes, expected) in cases {
            let switch = SwitchSettings { queues_per_port, ..SwitchSettings::default() };
            let paused = switch.classes_of_distinct_queues(classes);
            assert_eq!(paused, expected, "{queues_per_port} queues, {classes:#010b}: {paused:#010b}");
        }
    }
}
