//! Bounds that follow from a scenario: flight times, frame lengths, durations of failures.

use std::borrow::Cow;

use hitless_core::settings::quantity::QueueLength;
use hitless_core::wire::packet::{MTU_FRAME_BYTES, VLAN_TAG_BYTES};
use hitless_core::wire::{Bytes, Duration, PriorityMark, Shim};

use crate::network::link::{LinkFailure, LinkImpairment};
use crate::network::recovery::{Detection, RecoveryScheme};
use crate::network::switch::{BufferSettings, StaticBuffer, SwitchSettings};
use crate::network::topology::select::{SwitchPort, select_links};
use crate::network::topology::{Crossing, DirectedLink, LinkId, LinkSpec, Topology};
use crate::{Protocol, Scenario};

/// Adds two durations, saturating at the end of the range.
fn sum(a: Duration, b: Duration) -> Duration {
    Duration(a.as_ps().saturating_add(b.as_ps()))
}

/// Returns the lengths of a full data frame and of an acknowledgement; a transport without one sends 0 B.
fn frames(protocol: &Protocol) -> [u64; 2] {
    let (payload, header, ack) = match protocol {
        Protocol::Tcp(tcp) => (tcp.mss, tcp.header_bytes, tcp.ack_bytes),
        Protocol::Roce(roce) => (roce.mtu, roce.header_bytes, roce.ack_bytes),
        Protocol::Udp(udp) => (udp.frame_bytes, Bytes::ZERO, Bytes::ZERO),
        Protocol::PacketPair(pair) => (pair.mss, pair.header_bytes, pair.ack_bytes),
        Protocol::Uet(uet) => (uet.mtu, uet.header_bytes, uet.ack_bytes),
    };
    [payload.0.saturating_add(header.0), ack.0]
}

impl Scenario {
    /// Returns the maximum length of a frame from any host: the transport's maximum, plus tag and mark if there are
    /// any. Without transports hosts are real and send full Ethernet frames.
    pub fn frame_max(&self) -> Bytes {
        let longest =
            self.transports.iter().map(|transport| frames(&transport.protocol)).map(|[data, ack]| data.max(ack));
        let unmarked = longest.max().unwrap_or(MTU_FRAME_BYTES.into());
        let tag = if self.flows.iter().any(|group| group.vlan != 0) { VLAN_TAG_BYTES } else { 0 };
        let mark = if self.marks_packets() { u64::from(PriorityMark::WIRE_BYTES) } else { 0 };
        Bytes(unmarked.saturating_add(mark).saturating_add(tag.into()))
    }

    /// Returns the minimum length of a full data frame over all transports. Without transports hosts are real and send
    /// full Ethernet frames.
    pub fn data_frame_min(&self) -> Bytes {
        let shortest = self.transports.iter().map(|transport| frames(&transport.protocol)[0]).min();
        Bytes(shortest.unwrap_or(MTU_FRAME_BYTES.into()))
    }

    pub fn marks_packets(&self) -> bool {
        self.host.priority_tagger.is_some() || self.flows.iter().any(|group| group.rank.is_some())
    }

    /// Returns the maximum time from the egress pipeline of a switch to the arrival of a frame's last bit at the other
    /// end, at the lowest rate and the longest delay of the link.
    pub fn flight_bound(&self, topology: &Topology, link: DirectedLink) -> Duration {
        let (spec, sender) = (topology.slowest_spec(link), self.switch.of_sender(topology, link));
        let on_the_line = spec.rate.time_for(self.frame_max().0.saturating_add(spec.overhead_bytes.into()));
        sum(sum(sender.egress_latency, on_the_line), spec.flight_time())
    }

    /// Returns [`Self::flight_bound`] and the ingress pipeline after it.
    pub fn hop_bound(&self, topology: &Topology, link: DirectedLink) -> Duration {
        let receiver = self.switch.of_sender(topology, link.reversed());
        sum(self.flight_bound(topology, link), receiver.ingress_latency)
    }

    /// Returns the round-trip time of the longest frame between the two hosts furthest apart, in an empty fabric and
    /// without the delays of hosts. `None` if no path connects two hosts.
    pub(crate) fn longest_round_trip(&self, topology: &Topology) -> Option<Duration> {
        let frame_bytes = self.frame_max().0;
        topology.longest_round_trip(&Crossing {
            there_bytes: frame_bytes,
            back_bytes: frame_bytes,
            in_switches: &self.switch.pipelines(topology),
            in_hosts: Duration::ZERO,
        })
    }

    /// Returns the maximum length of a port's queue while the other queues of its switch are empty. A limit in packets
    /// is converted to bytes with the longest frame.
    pub fn queue_max(&self, topology: &Topology, at: SwitchPort) -> Bytes {
        let port = &topology.switch(at.switch).ports[usize::from(at.port.0)];
        match self.switch.of_port(topology, at.switch, port).buffer {
            BufferSettings::Static(buffer) => self.static_limit(buffer),
            BufferSettings::Shared(buffer) => {
                // A queue alone grows until it has alpha times the free rest: alpha / (1 + alpha) of the buffer.
                let of_one = Bytes((buffer.total.0 as f64 * buffer.alpha / (1.0 + buffer.alpha)) as u64);
                buffer.queue_max.map_or(of_one, |limit| limit.min(of_one))
            }
        }
    }

    fn static_limit(&self, buffer: StaticBuffer) -> Bytes {
        match buffer.per_port {
            QueueLength::Bytes(bytes) => bytes,
            QueueLength::Packets(packets) => Bytes(packets.saturating_mul(self.frame_max().0)),
        }
    }

    /// Estimates the maximum time of a packet in the network: 32 cables, or four full queues. Shared buffers are left
    /// out: one queue could fill the whole buffer, which takes tens of milliseconds to drain.
    pub(crate) fn lateness_estimate(&self, topology: &Topology) -> Duration {
        const CABLES: u64 = 32;
        const FULL_QUEUES: u64 = 4;
        let cable = topology.specs().map(|link| link.delay.as_ps()).max().unwrap_or(0);
        let slowest = topology.specs().map(|link| link.rate).min();
        let limit = |switch: Cow<'_, SwitchSettings>| match switch.buffer {
            BufferSettings::Static(buffer) => self.static_limit(buffer).0,
            BufferSettings::Shared(_) => 0,
        };
        let queue = self.switch.variants().map(limit).max().unwrap_or(0);
        let drain = slowest.map_or(0, |rate| rate.time_for(queue).as_ps());
        Duration(cable.saturating_mul(CABLES).max(drain.saturating_mul(FULL_QUEUES)))
    }

    /// Returns how failures are detected; the default is F10's detection.
    pub fn detection(&self) -> Detection {
        self.recovery.as_ref().map(|recovery| recovery.detection).unwrap_or_default()
    }

    /// Iterates over the failures of `link`.
    pub fn failures_of<'a>(&'a self, topology: &'a Topology, link: LinkId) -> impl Iterator<Item = &'a LinkFailure> {
        let names_it = move |failure: &&LinkFailure| {
            select_links(topology, &failure.link).is_ok_and(|links| links.iter().any(|found| found.link == link))
        };
        self.failures.iter().filter(names_it)
    }

    /// Returns the maximum time from the detection of `failure` to the moment at which packets have a path again.
    pub fn reconfiguration_bound(&self, failure: &LinkFailure, link: LinkSpec) -> Duration {
        let Some(recovery) = &self.recovery else { return Duration::ZERO };
        let reconfiguration = recovery.reconfiguration();
        let after_detection = |outage: Duration| outage.saturating_sub(recovery.detection.least());
        match (recovery.scheme, failure.outage) {
            (RecoveryScheme::SamePort(_), Some(outage)) => reconfiguration.max(after_detection(outage)),
            (RecoveryScheme::None, Some(outage)) => {
                sum(after_detection(outage), recovery.detection.return_bound(link.flight_time()))
            }
            _ => reconfiguration,
        }
    }

    /// Returns the maximum time from `failure` to the moment at which the link is repaired and both ends know it;
    /// `None` if it stays down.
    pub fn repair_bound(&self, failure: &LinkFailure, link: LinkSpec) -> Option<Duration> {
        let Some(recovery) = &self.recovery else { return failure.outage };
        if let RecoveryScheme::SamePort(scheme) = recovery.scheme {
            let replaced = sum(recovery.detection.bound(), scheme.reconfiguration);
            return Some(failure.outage.map_or(replaced, |outage| outage.max(replaced)));
        }
        let noticed = recovery.detection.return_bound(link.flight_time());
        let restored =
            if let RecoveryScheme::Withdraw(scheme) = recovery.scheme { scheme.notice } else { Duration::ZERO };
        Some(sum(sum(failure.outage?, noticed), restored))
    }

    /// Returns the maximum loss rate of full frames on `link` during the run.
    pub fn loss_rate_max(&self, topology: &Topology, link: DirectedLink) -> f64 {
        let names_it = |name: &str| select_links(topology, name).is_ok_and(|links| links.contains(&link));
        let impairments = self.links.iter().filter(|impairment| names_it(&impairment.name));
        let models = impairments.flat_map(LinkImpairment::losses);
        let line_rate = topology.spec(link).rate;
        models.map(|model| model.rate(line_rate)).fold(0.0, f64::max)
    }

    /// Returns whether the link, in either direction, carries no frames for a part of the run.
    pub fn goes_down(&self, topology: &Topology, link: DirectedLink) -> bool {
        let names_it = |name: &str| {
            select_links(topology, name).is_ok_and(|links| links.iter().any(|found| found.link == link.link))
        };
        let has_outage = self.links.iter().any(|entry| !entry.schedule.is_empty() && names_it(&entry.name));
        let loses_all = [link, link.reversed()].iter().any(|&way| self.loss_rate_max(topology, way) >= 1.0);
        has_outage || loses_all || self.failures_of(topology, link.link).next().is_some()
    }
}
