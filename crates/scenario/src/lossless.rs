//! Flow control of a scenario: which classes are lossless, and the memory of each port for them.

use std::borrow::Cow;

use hitless_core::settings::quantity::QueueLength;
use hitless_core::wire::mac_control::PAUSE_FRAME_BYTES;
use hitless_core::wire::{BitRate, Bytes, Duration, HostId};
use hitless_hosts::CardFlowControl;
use hitless_switch::{FlowControl, FlowControlKind, PauseRules, PfcWatchdog, XoffThreshold};

use crate::network::link::LinkImpairment;
use crate::network::switch::{
    BufferSettings, PfcSettings, PfcWatchdogAction, PfcWatchdogSettings, SharedBuffer, StaticBuffer, SwitchSettings,
    response_quanta,
};
use crate::network::topology::{Port, SwitchId, Topology};
use crate::{Protocol, Scenario};

/// The headroom that a link needs, by its parts in bytes: everything that can arrive after the frame that exceeds the
/// threshold. After SONiC's formula (`buffer_headroom_mellanox.lua`), without memory cells and gearboxes, and with the
/// pipelines of both switches, because packets occupy the buffer after the ingress pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// Three frames: above the threshold, ahead of the pause frame, and in transmission at the partner.
    pub frames_bytes: u64,
    /// A pause frame and a resume frame of each lossless class.
    pub pause_bytes: u64,
    /// The cable in both directions.
    pub cable_bytes: u64,
    /// The partner's response time.
    pub response_bytes: u64,
    /// The pipelines of both ends.
    pub pipeline_bytes: u64,
}

impl Headroom {
    /// Returns the sum, rounded up to 1 KiB as in SONiC.
    pub fn bytes(&self) -> u64 {
        let parts = [self.frames_bytes, self.pause_bytes, self.cable_bytes, self.response_bytes, self.pipeline_bytes];
        parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part)).div_ceil(1_024).saturating_mul(1_024)
    }

    /// Writes the sum out for people.
    pub fn arithmetic(&self) -> String {
        let Self { frames_bytes, pause_bytes, cable_bytes, response_bytes, pipeline_bytes } = self;
        format!(
            "{} B = {frames_bytes} (three frames) + {pause_bytes} (pause frames) + {cable_bytes} (cable, both ways) + \
             {response_bytes} (response) + {pipeline_bytes} (pipelines), rounded up to 1024 B",
            self.bytes()
        )
    }
}

/// Returns the bytes that a link of `rate` carries in this time.
pub(crate) fn carried(rate: BitRate, time: Duration) -> u64 {
    let bits_ps = u128::from(rate.as_bps()) * u128::from(time.as_ps());
    u64::try_from(bits_ps.div_ceil(8_000_000_000_000)).unwrap_or(u64::MAX)
}

impl Scenario {
    /// Returns the lossless classes, one bit each; none without flow control.
    pub fn lossless_classes(&self) -> u8 {
        let (pfc, cbfc) = (self.switch.pfc.as_ref(), self.switch.cbfc.as_ref());
        let Some(given) = pfc.map(|pfc| &pfc.classes).or(cbfc.map(|cbfc| &cbfc.classes)) else { return 0 };
        if !given.is_empty() {
            return given.iter().fold(0, |classes, class| classes | 1 << (class & 7));
        }
        let is_rdma = |name: &str| {
            let transport = self.transports.iter().find(|transport| transport.name == name);
            transport.is_some_and(|transport| matches!(transport.protocol, Protocol::Roce(_)))
        };
        let of = |wanted: &dyn Fn(&str) -> bool| {
            let groups = self.flows.iter().filter(|group| wanted(&group.transport));
            groups.fold(0, |classes, group| classes | 1 << (group.class & 7))
        };
        let of_rdma = of(&is_rdma);
        if of_rdma == 0 { of(&|_| true) } else { of_rdma }
    }

    /// Returns the response time of a port or card on a link of `rate`.
    pub fn response(&self, rate: BitRate) -> Duration {
        let (pfc, cbfc) = (self.switch.pfc.as_ref(), self.switch.cbfc.as_ref());
        let given = pfc.and_then(|pfc| pfc.response).or(cbfc.and_then(|cbfc| cbfc.response));
        given.unwrap_or_else(|| rate.time_for(response_quanta(rate) * 64))
    }

    /// Returns flow control of the card of `host`, which has one port; `None` without.
    pub fn card_flow_control(&self, topology: &Topology, host: HostId) -> Option<CardFlowControl> {
        let port = &topology.host(host).ports[0];
        match &self.switch.cbfc {
            Some(cbfc) => Some(CardFlowControl::Credits(self.card_credits(cbfc, topology, port))),
            None => {
                let rate = topology.spec(port.link).rate;
                self.switch.pfc.is_some().then(|| CardFlowControl::Pauses(self.response(rate)))
            }
        }
    }

    /// Returns the headroom that a lossless class needs at `port` of a switch.
    pub fn headroom_needed(&self, topology: &Topology, port: &Port) -> Headroom {
        let link = topology.incoming(port);
        let frame_bytes = self.frame_max().0.saturating_add(link.overhead_bytes.into());
        let pause_bytes = u64::from(PAUSE_FRAME_BYTES + link.overhead_bytes);
        let response = self.response(link.rate);
        // The pause frame leaves through an egress pipeline, as do the partner's last frames.
        let own = self.switch.of_sender(topology, port.link);
        let partner = self.switch.of_sender(topology, port.link.reversed());
        let pipelines = [own.ingress_latency, own.egress_latency, partner.egress_latency];
        Headroom {
            frames_bytes: frame_bytes.saturating_mul(3),
            pause_bytes: pause_bytes * 2 * u64::from(self.lossless_classes().count_ones().max(1)),
            cable_bytes: carried(link.rate, link.flight_time()).saturating_mul(2),
            response_bytes: carried(link.rate, response),
            pipeline_bytes: pipelines.iter().map(|latency| carried(link.rate, *latency)).sum(),
        }
    }

    /// Returns the headroom of a lossless class at `port` of a switch.
    pub fn headroom(&self, pfc: &PfcSettings, topology: &Topology, port: &Port) -> u64 {
        pfc.headroom.map_or_else(|| self.headroom_needed(topology, port).bytes(), |bytes| bytes.0)
    }

    /// Returns the memory reserved for each lossless class of `port`: headroom, or with credits all of its memory.
    pub fn reserved(&self, topology: &Topology, port: &Port) -> u64 {
        match (&self.switch.pfc, &self.switch.cbfc) {
            (Some(pfc), _) => self.headroom(pfc, topology, port),
            (None, Some(cbfc)) => self.credit_memory(cbfc, topology, port.link.reversed()),
            (None, None) => 0,
        }
    }

    /// Returns the memory reserved for all ports and classes of a switch.
    pub fn headroom_of_switch(&self, topology: &Topology, switch: SwitchId) -> u64 {
        let of_ports = topology.switch(switch).ports.iter().map(|port| self.reserved(topology, port));
        of_ports.fold(0, u64::saturating_add).saturating_mul(self.lossless_classes().count_ones().into())
    }

    /// Returns the part of a static buffer for one class of `port`, or `None` if it is counted in packets or shared.
    pub fn class_share(&self, topology: &Topology, switch: SwitchId, port: &Port) -> Option<u64> {
        let settings = self.switch.of_port(topology, switch, port);
        match settings.buffer {
            BufferSettings::Static(StaticBuffer { per_port: QueueLength::Bytes(bytes) }) => {
                Some(bytes.0 / u64::from(settings.queue_count()))
            }
            BufferSettings::Static(_) | BufferSettings::Shared(_) => None,
        }
    }

    /// Returns flow control at `port` of `switch`; `None` without.
    pub fn port_flow_control(&self, topology: &Topology, switch: SwitchId, port: &Port) -> Option<FlowControl> {
        let headroom_bytes = self.reserved(topology, port);
        if let Some(cbfc) = &self.switch.cbfc {
            return Some(FlowControl {
                classes: self.lossless_classes(),
                kind: FlowControlKind::Credits(self.port_credits(cbfc, topology, port)),
                headroom_bytes,
                // Credits never grant memory twice, whatever is lost or late.
                is_guaranteed: true,
                watchdog: cbfc.watchdog.map(|watchdog| self.watchdog(topology, watchdog)),
            });
        }
        let pfc = self.switch.pfc.as_ref()?;
        let link = topology.incoming(port);
        let share = self.class_share(topology, switch, port).map(|share| share.saturating_sub(headroom_bytes));
        let xoff = match (pfc.xoff, self.switch.of_switch(topology, switch).buffer) {
            (Some(bytes), _) => XoffThreshold::Bytes(bytes.0),
            (None, BufferSettings::Shared(SharedBuffer { alpha, .. })) => XoffThreshold::OfFree(alpha),
            (None, BufferSettings::Static(_)) => XoffThreshold::Bytes(share.unwrap_or(0)),
        };
        let xon_offset_bytes = pfc.xon_offset.map_or(2 * self.frame_max().0, |bytes| bytes.0);
        let suffices = headroom_bytes >= self.headroom_needed(topology, port).bytes();
        Some(FlowControl {
            classes: self.lossless_classes(),
            kind: FlowControlKind::Pauses(PauseRules { xoff, xon_offset_bytes, response: self.response(link.rate) }),
            headroom_bytes,
            // A pause frame that is lost, or late behind a failure, leaves more to the headroom than was reserved.
            is_guaranteed: self.delivers_signals() && self.mechanisms.is_empty() && suffices && pfc.watchdog.is_none(),
            watchdog: pfc.watchdog.map(|watchdog| self.watchdog(topology, watchdog)),
        })
    }

    /// Returns whether no link loses a frame.
    pub(crate) fn delivers_signals(&self) -> bool {
        self.links.iter().all(LinkImpairment::is_faultless) && self.failures.is_empty()
    }

    fn watchdog(&self, topology: &Topology, settings: PfcWatchdogSettings) -> PfcWatchdog {
        let slowest = topology.links.iter().flat_map(|link| link.specs).map(|spec| spec.rate).min();
        let buffer_bytes = |switch: Cow<'_, SwitchSettings>| match switch.buffer {
            BufferSettings::Shared(buffer) => buffer.total.0,
            BufferSettings::Static(StaticBuffer { per_port: QueueLength::Bytes(bytes) }) => {
                let ports = topology.switches.iter().map(|switch| switch.ports.len()).max().unwrap_or(1);
                bytes.0.saturating_mul(ports as u64)
            }
            BufferSettings::Static(_) => 0,
        };
        let buffer_bytes = self.switch.variants().map(buffer_bytes).max().unwrap_or(0);
        let drained = slowest.map_or(Duration::ZERO, |rate| rate.time_for(buffer_bytes.saturating_mul(2)));
        let detection = settings.detection.unwrap_or(drained);
        PfcWatchdog {
            detection,
            restoration: settings.restoration.unwrap_or(detection),
            drops: settings.action == PfcWatchdogAction::Drop,
        }
    }

    /// Returns a warning for each rate and delay of links with less memory than they need.
    pub fn flow_control_shortages(&self, topology: &Topology) -> Vec<String> {
        match &self.switch.cbfc {
            Some(cbfc) => self.credit_shortages(cbfc, topology),
            None => self.headroom_shortages(topology),
        }
    }

    fn headroom_shortages(&self, topology: &Topology) -> Vec<String> {
        let Some(Bytes(given)) = self.switch.pfc.as_ref().and_then(|pfc| pfc.headroom) else { return Vec::new() };
        let mut warnings: Vec<String> = Vec::new();
        let ports = topology.switches.iter().flat_map(|switch| &switch.ports);
        for port in ports {
            let (link, needed) = (topology.incoming(port), self.headroom_needed(topology, port));
            let warning = format!(
                "switch.pfc.headroom is {given} B, and a link of {} with a delay of {} needs {}: packets can be lost",
                link.rate,
                link.delay,
                needed.arithmetic()
            );
            if given < needed.bytes() && !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        warnings
    }
}
