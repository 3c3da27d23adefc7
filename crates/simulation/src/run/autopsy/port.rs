//! The fixed parts of a packet's way through a port.

use hitless_core::wire::{BitRate, Duration, LineClock, LineTiming, PortId, Time};
use hitless_switch::Switch;

/// An egress port of a switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Port {
    /// Both latencies; beyond any time if the link partner has ever paused a queue of the port.
    pub shortcut_ps: u64,
    /// Latency before the queue, if no event marks its end.
    pub lead: Duration,
    pub egress_latency: Duration,
    pub line: LineTiming,
    /// Number of the latest departure; 0 before the first.
    pub latest: u32,
    /// The line never stops: the frames in front of a packet take exactly its wait.
    pub is_fifo: bool,
}

/// Half of the range of times, so that a sum with a frame's time on the line does not overflow.
pub(super) const PAUSED_PS: u64 = 1 << 63;

impl Port {
    /// The port with this number; [`Self::missing`] if the switch has fewer.
    pub fn of(switch: &Switch, port: usize) -> Self {
        if port >= switch.port_count() {
            return Self::missing();
        }
        let (lead, egress_latency, line) = switch.port_timing(PortId(port as u16));
        let (shortcut_ps, is_fifo) = ((lead + egress_latency).as_ps(), switch.is_fifo(PortId(port as u16)));
        Self { shortcut_ps, lead, egress_latency, line, latest: 0, is_fifo }
    }

    /// The time at which a frame has left the queue, from that at which its last bit leaves the switch.
    pub fn left_at(&self, last_bit_at: Time) -> Time {
        Time(last_bit_at.as_ps().saturating_sub(self.egress_latency.as_ps()))
    }

    /// A port that nothing uses.
    pub fn missing() -> Self {
        let line = LineTiming { clock: LineClock::off_by(BitRate::from_gbps(1), 0), overhead_bytes: 20 };
        let (lead, egress_latency) = (Duration::ZERO, Duration::ZERO);
        Self { shortcut_ps: PAUSED_PS, lead, egress_latency, line, latest: 0, is_fifo: false }
    }
}
