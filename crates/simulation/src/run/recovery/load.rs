//! The control plane's view of port load: bytes sent in the last period.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::{Duration, PortId};
use hitless_scenario::network::recovery::{BackupChoice, RecoveryScheme, RecoverySettings};
use hitless_scenario::network::topology::SwitchId;
use rand::Rng;

use super::links::FailingLink;

/// A port with a polled counter.
#[derive(Clone, Copy, Debug, hitless_core::state::State)]
struct Polled {
    #[configured]
    switch: SwitchId,
    #[configured]
    port: PortId,
    /// Decides between ports of equal load.
    #[configured]
    tie: u32,
    counter: u64,
    bytes: u64,
}

/// The ports that can become backups; empty unless backups are chosen by load.
#[derive(Clone, Debug, Default, hitless_core::state::State)]
pub(super) struct PortLoads {
    #[configured]
    period: Duration,
    #[part]
    ports: Vec<Polled>,
}

impl PortLoads {
    /// Prepares the ports that can become a backup of `links`; `streams` decides between ports of equal load.
    pub fn new(settings: Option<&RecoverySettings>, links: &[FailingLink], streams: &RandomStreams) -> Self {
        let Some(RecoveryScheme::LocalReroute(scheme)) = settings.map(|settings| settings.scheme) else {
            return Self::default();
        };
        if scheme.backup != BackupChoice::Probed {
            return Self::default();
        }
        let ends = links.iter().flat_map(|link| &link.ends);
        let mut places: Vec<_> = ends
            .flat_map(|end| {
                end.switch().into_iter().flat_map(|switch| end.detours.iter().map(move |d| (switch, d.port)))
            })
            .collect();
        places.sort_unstable();
        places.dedup();
        let polled = |(switch, port): (SwitchId, PortId)| {
            let tie = streams.stream(&format!("switch {} port {} as a backup", switch.0, port.0)).next_u32();
            Polled { switch, port, tie, counter: 0, bytes: 0 }
        };
        Self { period: scheme.probe_period, ports: places.into_iter().map(polled).collect() }
    }

    /// Polling period; `None` if no counter is polled.
    pub fn period(&self) -> Option<Duration> {
        (!self.ports.is_empty()).then_some(self.period)
    }

    /// Polls all counters.
    pub fn poll(&mut self, bytes_sent: impl Fn(SwitchId, PortId) -> u64) {
        for port in &mut self.ports {
            let counter = bytes_sent(port.switch, port.port);
            port.bytes = counter - std::mem::replace(&mut port.counter, counter);
        }
    }

    /// Returns the place of a port in the order of loads: the bytes of the last period, and a random number. Otherwise
    /// the lowest of several idle ports would take all flows. Ports that are not polled are equal.
    pub fn of(&self, switch: SwitchId, port: PortId) -> (u64, u32) {
        let known = self.ports.iter().find(|known| (known.switch, known.port) == (switch, port));
        known.map_or((0, 0), |port| (port.bytes, port.tie))
    }
}
