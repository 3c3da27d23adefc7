//! `[host]`: the part of a host that is no transport: delays of its network stack, its NIC, its timers.

use hitless_wire::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{QueueLength, Text};

/// The hosts, all alike.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostSettings {
    /// Delays of packets whose transport is in the kernel or in a program: TCP, UDP.
    pub kernel: StackSettings,
    /// Delays of packets whose transport is in the network card: RoCE.
    pub network_card: StackSettings,
    /// Whether the card's backlog holds TCP back (Linux: TCP small queues). Without it TCP sends what its window allows.
    pub hold_back_tcp: bool,
    /// What may wait in the card; more is dropped.
    #[serde(with = "Text::<QueueLength>")]
    pub nic_queue: QueueLength,
    /// Timers fire at multiples of this: 1 ms or 4 ms for Linux kernels with 1000 or 250 ticks a second; 0 s: exactly.
    #[serde(with = "Text::<Duration>")]
    pub timer_tick: Duration,
    /// Hops that packets may take: each switch takes one. (Linux: 64.)
    #[schemars(range(min = 1, max = 255))]
    pub time_to_live: u8,
}

/// Delays between a transport and the network card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StackSettings {
    /// From the transport handing over a packet to the card.
    #[serde(with = "Text::<Duration>")]
    pub send: Duration,
    /// From the last bit of a frame to the transport.
    #[serde(with = "Text::<Duration>")]
    pub receive: Duration,
    /// What comes on top of both, drawn anew for packets that enter at different moments; a flow's packets keep their
    /// order.
    pub jitter: Jitter,
}

impl From<StackSettings> for hitless_hosts::StackConfig {
    fn from(settings: StackSettings) -> Self {
        let jitter = settings.jitter.into();
        let delay = |fixed| hitless_hosts::DelayConfig { fixed, jitter };
        Self { send: delay(settings.send), receive: delay(settings.receive) }
    }
}

impl From<Jitter> for hitless_hosts::Jitter {
    fn from(jitter: Jitter) -> Self {
        match jitter {
            Jitter::None => Self::None,
            Jitter::Exponential(ExponentialJitter { mean }) => Self::Exponential { mean },
            Jitter::Lognormal(LognormalJitter { median, p999 }) => Self::LogNormal { median, percentile_99_9: p999 },
        }
    }
}

/// A random delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Jitter {
    /// No random part.
    #[default]
    None,
    /// Exponential.
    Exponential(ExponentialJitter),
    /// Lognormal.
    Lognormal(LognormalJitter),
}

/// An exponential delay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialJitter {
    /// Its mean.
    #[serde(with = "Text::<Duration>")]
    pub mean: Duration,
}

/// A lognormal delay, given by two of its quantiles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LognormalJitter {
    /// Its median.
    #[serde(with = "Text::<Duration>")]
    pub median: Duration,
    /// Its 99.9th percentile; not below the median.
    #[serde(with = "Text::<Duration>")]
    pub p999: Duration,
}

impl Default for HostSettings {
    fn default() -> Self {
        Self {
            kernel: StackSettings::default(),
            network_card: StackSettings::default(),
            hold_back_tcp: true,
            nic_queue: QueueLength::Packets(4_000),
            timer_tick: Duration::ZERO,
            time_to_live: hitless_wire::Packet::INITIAL_TTL,
        }
    }
}
