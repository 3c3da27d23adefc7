//! The hardware's latencies, clocks and limits, as named presets with the source of each figure.

use hitless_core::wire::{BitRate, Duration};

use crate::resources::Budget;

/// The halves of the pipeline that can read the depth of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthVisibility {
    /// Only in egress, as on Tofino 1.
    Egress,
    /// In ingress too, as on Tofino 2.
    IngressAndEgress,
}

/// The parameters of a switch's hardware.
#[derive(Clone, Debug, PartialEq)]
pub struct Architecture {
    /// Time from the last bit at the MAC to the traffic manager.
    pub ingress_latency: Duration,
    /// Time from the traffic manager to the first bit at the MAC.
    pub egress_latency: Duration,
    /// Time from the egress hooks back to the traffic manager, for a mirrored copy.
    pub mirror_latency: Duration,
    /// Time from the MAC of a recirculation port back to its ingress.
    pub loopback_latency: Duration,
    /// Time in MAC, PCS and FEC of both ends of a link together; added to the propagation delay of each link.
    pub phy_latency: Duration,
    /// Rate at which a port's channel reads packets out of the buffer, unless the port is faster. A packet that egress
    /// consumes or sends back occupies its port for the time of this read; a packet that goes on occupies it for its
    /// transmission time.
    pub buffer_read_rate: BitRate,
    /// Rate of each recirculation port.
    pub recirculation_rate: BitRate,
    /// Packets per second that one pipeline can process: the denominator of recirculation overhead.
    pub pipeline_packets_per_second: u64,
    /// Width of the hardware's nanosecond timestamp in bits; the timestamp wraps.
    pub timestamp_bits: u32,
    /// Where mechanisms can read queue depth.
    pub depth_visibility: DepthVisibility,
    /// A pipeline's resources for mechanisms; `None` means unlimited.
    pub budget: Option<Budget>,
    /// Whether to refuse operations that the hardware cannot do (register accesses, depth visibility).
    pub checked: bool,
}

impl Architecture {
    /// A switch like the Intel Tofino in the papers' testbeds.
    ///
    /// | figure | source |
    /// |---|---|
    /// | ingress, egress and PHY latency, 680 ns together | calibrated on t_flight_resume of LinkGuardian B.1: 1.6 us at 100G and 1.9 us at 25G are two crossings of ingress, egress and a PHY, one packet time and at most one 100 ns timer period; hence those two figures are no evidence here |
    /// | how the 680 ns divide (200, 200, 280) | chosen; only the sum is known |
    /// | loopback 20 ns | chosen: the serial lanes are bypassed |
    /// | buffer read at 100G | P4 TNA: each of a pipe's 16 channels serves one 100G port or four of 25G or 10G |
    /// | recirculation 100G | LinkGuardian B.1: "the recirculation-based buffer drains at 100G" |
    /// | 1.22 thousand million packets a second | LinkGuardian section 3.5: 10 Mpps of timer packets are about 1 % |
    /// | 48-bit nanosecond timestamps | P4 TNA |
    pub fn tofino_like() -> Self {
        Self {
            ingress_latency: Duration::from_ns(200),
            egress_latency: Duration::from_ns(200),
            mirror_latency: Duration::from_ns(200),
            loopback_latency: Duration::from_ns(20),
            phy_latency: Duration::from_ns(280),
            buffer_read_rate: BitRate::from_gbps(100),
            recirculation_rate: BitRate::from_gbps(100),
            pipeline_packets_per_second: 1_220_000_000,
            timestamp_bits: 48,
            depth_visibility: DepthVisibility::Egress,
            budget: Some(Budget::tofino_like()),
            checked: false,
        }
    }

    /// A switch without latency and with all state visible everywhere, to study a protocol alone.
    pub fn ideal() -> Self {
        Self {
            ingress_latency: Duration::ZERO,
            egress_latency: Duration::ZERO,
            mirror_latency: Duration::ZERO,
            loopback_latency: Duration::ZERO,
            phy_latency: Duration::ZERO,
            buffer_read_rate: BitRate::from_gbps(1_000_000),
            depth_visibility: DepthVisibility::IngressAndEgress,
            budget: None,
            ..Self::tofino_like()
        }
    }
}
