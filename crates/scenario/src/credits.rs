//! The memory of lossless classes under credit-based flow control, and the throughput that it allows.

use hitless_core::wire::credits::CREDIT_COUNTS;
use hitless_core::wire::mac_control::{CREDIT_SYNC_BYTES, ORDERED_SET_BYTES};
use hitless_core::wire::{BitRate, Bytes, CreditRules, Duration};
use hitless_hosts::CardCreditsConfig;
use hitless_switch::PortCredits;

use crate::Scenario;
use crate::lossless::carried;
use crate::network::switch::CbfcSettings;
use crate::network::topology::{DirectedLink, LinkSpec, Port, Topology};

/// Minimum distance of updates by default, in bytes on the line; also the minimum of SAI's attribute
/// `SAI_PORT_ATTR_CBFC_CF_MIN_SPACING`.
const UPDATE_SPACING_MIN_BYTES: u64 = 800;
/// Minimum distance of counts of consumed credits by default, for each lossless class, so that the counts of all
/// classes take at most 0.6 % of a line.
const SYNC_SPACING_MIN_BYTES: u64 = 16_384;

/// The bytes that a line carries from the start of a frame until its credits can be used again, by their parts. A class
/// with memory for these bytes keeps the line busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditLoop {
    /// The frame, and a frame ahead of the update on the way back.
    pub frames_bytes: u64,
    /// The cable in both directions.
    pub cable_bytes: u64,
    /// The sender's response time.
    pub response_bytes: u64,
    /// The pipelines of both ends.
    pub pipeline_bytes: u64,
    /// The minimum distance of updates, and the messages of all classes.
    pub update_bytes: u64,
    /// Memory of the longest frame, in whole credits.
    pub frame_memory_bytes: u64,
    /// Bytes of the longest frame on the line.
    pub frame_line_bytes: u64,
}

impl CreditLoop {
    fn line_bytes(&self) -> u64 {
        let Self { frames_bytes, cable_bytes, response_bytes, pipeline_bytes, update_bytes, .. } = self;
        let parts = [frames_bytes, cable_bytes, response_bytes, pipeline_bytes, update_bytes];
        parts.into_iter().fold(0, |sum, part| sum.saturating_add(*part))
    }

    fn frames(&self) -> u64 {
        self.line_bytes().div_ceil(self.frame_line_bytes)
    }

    /// Returns the memory in bytes.
    pub fn bytes(&self) -> u64 {
        self.frames().saturating_mul(self.frame_memory_bytes)
    }

    /// Writes the sum out for people.
    pub fn arithmetic(&self) -> String {
        let Self { frames_bytes, cable_bytes, response_bytes, pipeline_bytes, update_bytes, .. } = self;
        format!(
            "{} B = {} frames of {} B, because the line carries {} B = {frames_bytes} (two frames) + {cable_bytes} \
             (cable, both ways) + {response_bytes} (response) + {pipeline_bytes} (pipelines) + {update_bytes} \
             (updates) until credits return",
            self.bytes(),
            self.frames(),
            self.frame_memory_bytes,
            self.line_bytes(),
        )
    }
}

impl Scenario {
    /// Returns the parts of the memory that a lossless class needs at the end of `link`.
    pub fn credit_loop(&self, cbfc: &CbfcSettings, topology: &Topology, link: DirectedLink) -> CreditLoop {
        let (there, back) = (topology.spec(link), topology.spec(link.reversed()));
        let line_bytes = |spec: LinkSpec| self.frame_max().0.saturating_add(spec.overhead_bytes.into());
        let at_line = |time: Duration| carried(there.rate, time);
        let messages =
            u64::from(ORDERED_SET_BYTES + CREDIT_SYNC_BYTES + back.overhead_bytes) * self.classes_with_credits();
        let pipelines = self.pipelines_of(topology, link);
        CreditLoop {
            frames_bytes: line_bytes(there).saturating_add(at_line(back.rate.time_for(line_bytes(back)))),
            cable_bytes: at_line(there.flight_time()).saturating_add(at_line(back.flight_time())),
            response_bytes: at_line(self.response(there.rate)),
            pipeline_bytes: pipelines.iter().map(|latency| at_line(*latency)).sum(),
            update_bytes: at_line(back.rate.time_for(self.update_spacing(cbfc).saturating_add(messages))),
            frame_memory_bytes: self.frame_max().0.div_ceil(cbfc.credit_bytes()).saturating_mul(cbfc.credit_bytes()),
            frame_line_bytes: line_bytes(there),
        }
    }

    /// Returns the latencies of the pipelines that a frame and its update pass: the sender's egress, and ingress and
    /// egress of the receiver, if these are switches.
    fn pipelines_of(&self, topology: &Topology, link: DirectedLink) -> Vec<Duration> {
        let (from, to) = topology.ends(link);
        let of = |switch| self.switch.of_switch(topology, switch);
        let sender = from.node.switch().map(|switch| of(switch).egress_latency);
        let receiver = to.node.switch().map(of).map(|settings| [settings.ingress_latency, settings.egress_latency]);
        sender.into_iter().chain(receiver.into_iter().flatten()).collect()
    }

    /// Returns the number of lossless classes (minimum 1).
    pub(crate) fn classes_with_credits(&self) -> u64 {
        u64::from(self.lossless_classes().count_ones().max(1))
    }

    fn update_spacing(&self, cbfc: &CbfcSettings) -> u64 {
        cbfc.update_spacing.map_or_else(|| self.frame_max().0.max(UPDATE_SPACING_MIN_BYTES), |bytes| bytes.0)
    }

    /// Returns the memory of a lossless class at the end of `link`, in whole credits.
    pub fn credit_memory(&self, cbfc: &CbfcSettings, topology: &Topology, link: DirectedLink) -> u64 {
        let credit_bytes = cbfc.credit_bytes();
        let given = cbfc.buffer.map(|bytes| bytes.0 / credit_bytes * credit_bytes);
        given.unwrap_or_else(|| self.credit_loop(cbfc, topology, link).bytes())
    }

    /// Returns the highest throughput of a class of long frames on `link`: its memory for each round trip of credits.
    pub fn credit_throughput(&self, cbfc: &CbfcSettings, topology: &Topology, link: DirectedLink) -> BitRate {
        let (there, back) = (topology.spec(link), topology.spec(link.reversed()));
        let parts = self.credit_loop(cbfc, topology, link);
        let frames = self.credit_memory(cbfc, topology, link) / parts.frame_memory_bytes;
        let pipelines = self.pipelines_of(topology, link);
        let times = [
            there.rate.time_for(parts.frame_line_bytes),
            there.flight_time(),
            back.flight_time(),
            self.response(there.rate),
            back.rate.time_for(ORDERED_SET_BYTES.into()),
        ];
        let round_trip_ps = times.iter().chain(&pipelines).map(|time| u128::from(time.as_ps())).sum::<u128>();
        let bits = u128::from(frames) * u128::from(parts.frame_line_bytes) * 8;
        let bps = u64::try_from(bits * 1_000_000_000_000 / round_trip_ps.max(1)).unwrap_or(u64::MAX);
        BitRate::from_bps(bps).map_or(there.rate, |rate| rate.min(there.rate))
    }

    /// Returns whether credits return that lost frames and messages take along: only if the scenario can lose any.
    pub fn repairs_credits(&self) -> bool {
        !self.delivers_signals()
    }

    fn credit_rules(&self, cbfc: &CbfcSettings, topology: &Topology, link: DirectedLink) -> CreditRules {
        let there = topology.spec(link);
        let memory = self.credit_memory(cbfc, topology, link);
        let sync_bytes_min = SYNC_SPACING_MIN_BYTES * self.classes_with_credits();
        let sync_bytes = cbfc.sync_spacing.map_or(memory.max(sync_bytes_min), |bytes| bytes.0);
        CreditRules {
            credit_bytes: cbfc.credit_bytes() as u32,
            response: self.response(there.rate),
            update_interval: there.rate.time_for(self.update_spacing(cbfc)),
            sync_interval: self.repairs_credits().then(|| there.rate.time_for(sync_bytes)),
        }
    }

    fn credit_limit(&self, cbfc: &CbfcSettings, topology: &Topology, link: DirectedLink) -> u32 {
        let credits = self.credit_memory(cbfc, topology, link) / cbfc.credit_bytes();
        assert!(credits < u64::from(CREDIT_COUNTS), "the check admits no memory beyond the counters");
        credits as u32
    }

    pub(crate) fn port_credits(&self, cbfc: &CbfcSettings, topology: &Topology, port: &Port) -> PortCredits {
        let rules = self.credit_rules(cbfc, topology, port.link);
        PortCredits { rules, limit: self.credit_limit(cbfc, topology, port.link) }
    }

    pub(crate) fn card_credits(&self, cbfc: &CbfcSettings, topology: &Topology, port: &Port) -> CardCreditsConfig {
        let PortCredits { rules, limit } = self.port_credits(cbfc, topology, port);
        CardCreditsConfig { rules, classes: self.lossless_classes(), limit }
    }

    /// Returns a warning for each rate and delay of links that the memory of a class does not keep busy.
    pub(crate) fn credit_shortages(&self, cbfc: &CbfcSettings, topology: &Topology) -> Vec<String> {
        let Some(Bytes(given)) = cbfc.buffer else { return Vec::new() };
        let mut warnings: Vec<String> = Vec::new();
        let ports = topology.switches.iter().flat_map(|switch| &switch.ports);
        for link in ports.flat_map(|port| [port.link, port.link.reversed()]) {
            let parts = self.credit_loop(cbfc, topology, link);
            let spec = topology.spec(link);
            let warning = format!(
                "switch.cbfc.buffer is {given} B, and a link of {} with a delay of {} needs {}: a class of frames of \
                 {} B gets at most {}",
                spec.rate,
                spec.delay,
                parts.arithmetic(),
                self.frame_max().0,
                self.credit_throughput(cbfc, topology, link),
            );
            if given < parts.bytes() && !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        warnings
    }
}
