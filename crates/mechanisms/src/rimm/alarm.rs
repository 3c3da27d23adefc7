//! The microburst detector (section III-A1). Egress sees the depth of a queue and tells ingress of threshold crossings.
//! If a queue towards a neighbour stays above its threshold, egress repeats the message, because messages can be lost.
//! Ingress keeps an alarm per port, and ends the detour of an alarm that lasts too long (sections III-B and V).

use hitless_core::wire::PortId;
use hitless_switch::{Half, Pass, RegisterArray, RegisterCell, RegisterUse, register_cell};

use super::clock::Stamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Phase {
    /// The queue is below the threshold.
    NoAlarm,
    Detour,
    /// The queue is above the threshold, but packets are forwarded until it falls below.
    Ended,
}

/// Why a port's detour ended while its queue was above the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The alarm has lasted too long: this is congestion.
    Congestion,
    NeighboursFull,
}

#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Alarm {
    phase: Phase,
    /// Time of the alarm, or of the first alarm of a row: packets waiting elsewhere keep bringing the queue back to the
    /// threshold.
    since: Stamp,
    raised_at: Stamp,
    /// Time when the last alarm was cleared, if packets were detoured until then. Otherwise the queue fell below the
    /// threshold without detours, and the row is over.
    cleared_at: Option<Stamp>,
}

impl RegisterCell for Phase {
    const BITS: u32 = 2;
}

register_cell!(Alarm { phase: Phase, since: Stamp, raised_at: Stamp, cleared_at: Option<Stamp> });

#[derive(Debug, hitless_core::state::State)]
pub struct Alarms {
    #[part]
    alarms: RegisterArray<Alarm>,
    congestion_after_ns: u64,
    row_gap_ns: u64,
}

impl Alarms {
    /// Creates ports without an alarm. An alarm that comes `row_gap_ns` after the end of the previous one is a new
    /// burst: by then each detoured packet has come back.
    pub fn new(ports: usize, congestion_after_ns: u64, row_gap_ns: u64) -> Self {
        let never = Stamp::default();
        let none = Alarm { phase: Phase::NoAlarm, since: never, raised_at: never, cleared_at: None };
        Self { alarms: RegisterArray::new("alarm", Half::Ingress, 7, ports, none), congestion_after_ns, row_gap_ns }
    }

    pub fn stated(&self) -> Option<RegisterUse> {
        Some(self.alarms.stated())
    }

    /// Handles the news that the queue of `port` is above the threshold, or below. Returns the duration in nanoseconds
    /// of the alarm that this ends.
    ///
    /// An alarm belongs to the row of the previous one if it comes before all packets of that one can be back. An alarm
    /// that is raised twice starts again: the message that would have cleared it was lost.
    pub fn told(&mut self, pass: &mut Pass, port: PortId, is_above: bool, now: Stamp) -> Option<u64> {
        let row_gap_ns = self.row_gap_ns;
        self.alarms.access(pass, usize::from(port.0), |alarm| {
            let ended = (alarm.phase != Phase::NoAlarm).then(|| alarm.raised_at.until(now));
            if !is_above {
                if alarm.phase != Phase::NoAlarm {
                    alarm.cleared_at = (alarm.phase == Phase::Detour).then_some(now);
                }
                alarm.phase = Phase::NoAlarm;
                return ended;
            }
            // A row counts from its first alarm, so that a burst held at the threshold by its detours still becomes
            // congestion ("Packet detouring will be deactivated after a period of time", section III-B).
            let cleared_at = alarm.cleared_at.filter(|_| ended.is_none());
            if cleared_at.is_none_or(|cleared_at| cleared_at.until(now) >= row_gap_ns) {
                alarm.since = now;
            }
            (alarm.phase, alarm.raised_at) = (Phase::Detour, now);
            ended
        })
    }

    /// The phase for a packet routed to `port`, and the reason if the detour ends with it. A new packet ends the detour
    /// if the neighbours `are_full`.
    pub fn phase(&mut self, pass: &mut Pass, port: PortId, are_full: bool, now: Stamp) -> (Phase, Option<End>) {
        let congestion_after_ns = self.congestion_after_ns;
        self.alarms.access(pass, usize::from(port.0), |alarm| {
            // Section III-B: "Packet detouring will be deactivated after a period of time (typically 1 ms) if a
            // microburst turns into congestion". Other controls must solve that.
            let end = match alarm.phase {
                Phase::NoAlarm | Phase::Ended => None,
                Phase::Detour if alarm.since.until(now) >= congestion_after_ns => Some(End::Congestion),
                Phase::Detour => are_full.then_some(End::NeighboursFull),
            };
            if end.is_some() {
                alarm.phase = Phase::Ended;
            }
            (alarm.phase, end)
        })
    }

    /// Whether the port has no alarm; read from outside the pipeline.
    pub fn has_no_alarm(&self, port: PortId) -> bool {
        self.alarms.peek(usize::from(port.0)).phase == Phase::NoAlarm
    }
}

/// News about a queue for ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThresholdEvent {
    /// The depth has crossed the threshold, in either direction.
    Crossed,
    StillAbove,
}

#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct Depth {
    segments: u16,
    told_at: Stamp,
}

register_cell!(Depth { segments: u16, told_at: Stamp });

/// The last depth of each port, in egress.
#[derive(Debug, hitless_core::state::State)]
pub struct Detector {
    #[part]
    depths: RegisterArray<Depth>,
    /// Threshold by port; `None` if the port is not watched.
    thresholds: Vec<Option<u16>>,
    /// Repetition period by port while the queue is above its threshold; `None` never repeats.
    repeat_after_ns: Vec<Option<u64>>,
}

impl Detector {
    /// Empty queues, with the threshold and the repetition period of each port.
    pub fn new(thresholds: Vec<Option<u16>>, repeat_after_ns: Vec<Option<u64>>) -> Self {
        assert_eq!(thresholds.len(), repeat_after_ns.len(), "each port has a threshold, or none, and a repetition");
        let depths = RegisterArray::new("depth", Half::Egress, 0, thresholds.len(), Depth::default());
        Self { depths, thresholds, repeat_after_ns }
    }

    pub fn stated(&self) -> Option<RegisterUse> {
        Some(self.depths.stated())
    }

    pub fn threshold(&self, port: PortId) -> Option<u16> {
        self.thresholds.get(usize::from(port.0)).copied().flatten()
    }

    /// The news of a dequeue with this depth; read from outside the pipeline. A depth at the threshold counts as above,
    /// as in section III-B.
    pub fn threshold_event(&self, port: PortId, depth_segments: u16, now: Stamp) -> Option<ThresholdEvent> {
        let threshold = self.threshold(port)?;
        let before = self.depths.peek(usize::from(port.0));
        let is_above = depth_segments >= threshold;
        // Section III-A1: "All message packets will be dropped except those carrying the change": the depths of two
        // dequeues lie on different sides of the threshold.
        if is_above != (before.segments >= threshold) {
            return Some(ThresholdEvent::Crossed);
        }
        let repeat_after_ns = self.repeat_after_ns[usize::from(port.0)].filter(|_| is_above)?;
        (before.told_at.until(now) >= repeat_after_ns).then_some(ThresholdEvent::StillAbove)
    }

    /// Records the depth of a port at a dequeue, and the time of the news to ingress, if any. Skip the call if news
    /// cannot be sent: the next packet then finds them.
    pub fn record(&mut self, pass: &mut Pass, port: PortId, depth_segments: u16, told_at: Option<Stamp>) {
        self.depths.access(pass, usize::from(port.0), |depth| {
            *depth = Depth { segments: depth_segments, told_at: told_at.unwrap_or(depth.told_at) };
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: PortId = PortId(1);

    fn ingress() -> Pass {
        let mut pass = Pass::new(true);
        pass.begin(Half::Ingress);
        pass
    }

    fn phase(alarms: &mut Alarms, are_full: bool, at: u64) -> (Phase, Option<End>) {
        alarms.phase(&mut ingress(), PORT, are_full, Stamp::new(at))
    }

    fn told(alarms: &mut Alarms, is_above: bool, at: u64) -> Option<u64> {
        alarms.told(&mut ingress(), PORT, is_above, Stamp::new(at))
    }

    #[test]
    fn an_alarm_that_lasts_too_long_ends_the_detour_until_the_queue_is_below_by_itself() {
        let mut alarms = Alarms::new(2, 1_000, 500);
        assert_eq!(phase(&mut alarms, true, 5), (Phase::NoAlarm, None));
        assert_eq!(told(&mut alarms, true, 10), None);
        assert_eq!(phase(&mut alarms, false, 1_009), (Phase::Detour, None));
        assert_eq!(phase(&mut alarms, false, 1_010), (Phase::Ended, Some(End::Congestion)));
        assert_eq!(phase(&mut alarms, false, 1_011), (Phase::Ended, None));
        assert_eq!(told(&mut alarms, false, 1_500), Some(1_490));
        assert_eq!(phase(&mut alarms, false, 1_501), (Phase::NoAlarm, None));
        told(&mut alarms, true, 1_600);
        assert_eq!(phase(&mut alarms, false, 1_700), (Phase::Detour, None));
        assert!(alarms.has_no_alarm(PortId(0)) && !alarms.has_no_alarm(PORT));
    }

    /// Detours hold the queue at the threshold, so that alarms come and go during the burst.
    #[test]
    fn alarms_in_a_row_are_one_burst_and_a_pause_ends_the_row() {
        let mut alarms = Alarms::new(2, 1_000, 500);
        for at in [0, 300, 600, 900] {
            assert_eq!(told(&mut alarms, true, at), None);
            assert_eq!(phase(&mut alarms, false, at + 50), (Phase::Detour, None), "{at}");
            assert_eq!(told(&mut alarms, false, at + 100), Some(100), "an alarm by itself is short");
        }
        told(&mut alarms, true, 1_200);
        assert_eq!(phase(&mut alarms, false, 1_201), (Phase::Ended, Some(End::Congestion)));
        told(&mut alarms, false, 5_000);
        for at in [5_100, 5_300, 5_900] {
            told(&mut alarms, true, at);
            assert_eq!(phase(&mut alarms, false, at + 99), (Phase::Detour, None), "{at}");
            told(&mut alarms, false, at + 100);
        }
    }

    /// Each burst lasts 200 ns and the next begins 600 ns later. They are not one congestion, because the packets of a
    /// burst are all back after 500 ns.
    #[test]
    fn bursts_whose_packets_are_all_back_are_no_congestion() {
        let mut alarms = Alarms::new(2, 1_000, 500);
        for at in (0..8).map(|burst| burst * 800) {
            told(&mut alarms, true, at);
            assert_eq!(phase(&mut alarms, false, at + 199), (Phase::Detour, None), "{at}");
            told(&mut alarms, false, at + 200);
        }
    }

    #[test]
    fn full_neighbours_end_it_too_and_a_second_alarm_begins_anew() {
        let mut alarms = Alarms::new(2, 1_000, 500);
        told(&mut alarms, true, 0);
        assert_eq!(phase(&mut alarms, true, 1), (Phase::Ended, Some(End::NeighboursFull)));
        assert_eq!(told(&mut alarms, true, 900), Some(900));
        assert_eq!(phase(&mut alarms, false, 1_500), (Phase::Detour, None));
    }

    #[test]
    fn only_crossings_are_told_and_only_of_watched_ports_and_what_stays_above_towards_neighbours_again() {
        let mut detector = Detector::new(vec![None, Some(100), Some(100)], vec![None, None, Some(1_000)]);
        let mut depth = |port, segments, at_ns| {
            let (mut pass, now) = (Pass::new(true), Stamp::new(at_ns));
            pass.begin(Half::Egress);
            let news = detector.threshold_event(PortId(port), segments, now);
            detector.record(&mut pass, PortId(port), segments, news.is_some().then_some(now));
            news
        };
        let (crossing, again) = (Some(ThresholdEvent::Crossed), Some(ThresholdEvent::StillAbove));
        let steps = [
            (99, 0, [None, None]),
            (100, 5_000, [crossing, crossing]),
            (5_000, 5_999, [None, None]),
            (100, 6_000, [None, again]),
            (200, 6_999, [None, None]),
            (200, 9_000, [None, again]),
            (99, 9_001, [crossing, crossing]),
            (0, 99_000, [None, None]),
        ];
        for (segments, at_ns, expected) in steps {
            assert_eq!([1, 2].map(|port| depth(port, segments, at_ns)), expected, "{segments} at {at_ns}");
        }
        assert_eq!(depth(0, 5_000, 100_000), None);
    }
}
