//! RIMM's counters and invariants.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use hitless_core::state::{Damaged, Reader, State, Writer};
use hitless_core::wire::{PortId, Time};
use hitless_switch::{Quantity, Report};

use super::alarm::End;
use super::sequencer::{ReturnTurn, Sequencer};
use crate::configured_ports::ConfiguredPorts;
use crate::detours::PACKET_DETOURS;

// Histograms.
const PEAK_DEPTH: Quantity = Quantity::new("peak_depth_segments", "peak depth above the threshold (segments)");
const MESSAGE_ROUND_TRIP: Quantity = Quantity::new("message_round_trip_ns", "message round trip (ns)");
const ALARM_TIME: Quantity = Quantity::new("alarm_time_ns", "time from alarm to its end (ns)");
const TIME_AWAY: Quantity = Quantity::new("time_away_ns", "time away (ns)");
// Series: 1 while an alarm lasts, and the port of the chosen neighbour.
const ALARM: Quantity = Quantity::new("alarm", "alarm");
const DETOURING_PORT: Quantity = Quantity::new("detouring_port", "detouring port");
pub const QUANTITIES: &[Quantity] =
    &[PEAK_DEPTH, MESSAGE_ROUND_TRIP, ALARM_TIME, PACKET_DETOURS, TIME_AWAY, ALARM, DETOURING_PORT];

hitless_switch::counters! {
    pub struct PortCounters {
        alarms = "alarms",
        /// Alarms that lasted too long.
        ended_by_congestion as detours_ended_by_congestion = "detours ended by congestion",
        ended_by_full_neighbours as detours_ended_by_full_neighbours = "detours ended by full neighbours",
        messages as messages_sent = "messages sent",
        /// Messages about a queue that stayed above its threshold.
        messages_repeated = "messages repeated",
        /// Crossings that no neighbour could carry back, so that ingress was not told.
        messages_without_path = "messages without a path",
        /// Messages refused by the queue to the neighbour, for lack of room.
        messages_refused = "messages refused",
        messages_returned = "messages returned",
        detoured as packets_detoured = "packets detoured",
        /// Detours of all packets together.
        detours = "detours",
        released as packets_released_in_order = "packets released in order",
        /// Released before packets with lower numbers, which had not come back.
        released_early as packets_released_early = "packets released early",
        /// Packets that came back after they had been given up.
        released_late as packets_released_late = "packets released late",
        /// Forwarded packets that had reached the maximum number of detours, or had no neighbour left.
        forced as packets_forced = "packets forced",
        /// Numbers that were given up.
        numbers_skipped = "numbers skipped",
        /// Packets forwarded before detoured packets of their slot were released.
        passed as new_packets_past_detoured = "new packets past detoured ones",
        /// New packets forwarded during an alarm, because no neighbour sends them back.
        without_path as packets_without_path = "packets without a path",
    }
}

hitless_switch::counters! {
    pub struct AwayCounters(counters: &SwitchCounters, open: usize) {
        packets_away = "packets away": counters.away.len() as u64,
        packets_away_max = "most packets away at once": counters.away_max,
        slots_open = "slots open": open as u64,
    }
}

hitless_switch::counters! {
    pub struct NeighbourCounters(counters: &SwitchCounters) {
        strays = "strays": counters.strays,
        depths_written = "depths written": counters.depths_written,
        depths_read = "depths read": counters.depths_read,
    }
}

#[derive(Clone, Debug, Default, hitless_core::state::Value)]
struct Series {
    alarms: Vec<(Time, u64)>,
    choices: Vec<(Time, u64)>,
}

#[derive(Debug, hitless_core::state::State)]
struct PortRecords {
    counters: PortCounters,
    /// Start and peak depth while the queue is above the threshold, as seen by egress.
    above: Option<(Time, u16)>,
    series: Option<Series>,
}

/// A histogram of values up to [`VALUE_MAX`]; takes no memory before the first value.
#[derive(Debug, Default)]
struct Values(Option<Histogram<u64>>);

/// Ten seconds in nanoseconds, longer than any packet is away.
const VALUE_MAX: u64 = 10_000_000_000;

impl Values {
    fn note(&mut self, value: u64) {
        self.histogram().saturating_record(value);
    }

    fn histogram(&mut self) -> &mut Histogram<u64> {
        self.0.get_or_insert_with(|| Histogram::new_with_max(VALUE_MAX, 3).expect("three digits are legal"))
    }
}

impl State for Values {
    fn save(&self, out: &mut Writer) {
        out.value(&self.0.is_some());
        if let Some(histogram) = &self.0 {
            histogram.save(out);
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        if from.value()? { self.histogram().load(from) } else { Ok(()) }
    }
}

#[derive(Debug, hitless_core::state::State)]
pub struct SwitchCounters {
    #[part]
    ports: ConfiguredPorts<PortRecords>,
    /// Time of the first detour, by slot and number. Lost packets stay in the map.
    away: BTreeMap<(u32, u32), Time>,
    away_max: u64,
    #[part]
    peak_segments: Values,
    #[part]
    message_ns: Values,
    #[part]
    circulations: Values,
    #[part]
    away_ns: Values,
    #[part]
    alarm_ns: Values,
    /// Headers of other switches removed from packets for hosts, and messages of others that ended here.
    pub strays: u64,
    pub depths_written: u64,
    pub depths_read: u64,
    /// Packets of all ports together, through any port.
    detoured: u64,
    forwarded: u64,
}

impl SwitchCounters {
    pub fn new(watched: impl IntoIterator<Item = PortId>, has_series: bool) -> Self {
        let records =
            || PortRecords { counters: PortCounters::default(), above: None, series: has_series.then(Series::default) };
        Self {
            ports: ConfiguredPorts::new(watched.into_iter().map(|port| (port, records()))),
            away: BTreeMap::new(),
            away_max: 0,
            peak_segments: Values::default(),
            message_ns: Values::default(),
            circulations: Values::default(),
            away_ns: Values::default(),
            alarm_ns: Values::default(),
            strays: 0,
            depths_written: 0,
            depths_read: 0,
            detoured: 0,
            forwarded: 0,
        }
    }

    pub fn count(&mut self, port: PortId, change: impl FnOnce(&mut PortCounters)) {
        if let Some(records) = self.ports.get_mut(port) {
            change(&mut records.counters);
        }
    }

    pub fn note_depth(&mut self, port: PortId, depth_segments: u16, threshold_segments: u16, now: Time) {
        let Some(records) = self.ports.get_mut(port) else { return };
        if depth_segments >= threshold_segments {
            let above = records.above.get_or_insert((now, depth_segments));
            above.1 = above.1.max(depth_segments);
        } else if let Some((_, peak)) = records.above.take() {
            self.peak_segments.note(peak.into());
        }
    }

    pub fn note_message(&mut self, port: PortId, is_above: bool, ended_ns: Option<u64>, now: Time) {
        let Some(records) = self.ports.get_mut(port) else { return };
        records.counters.messages_returned += 1;
        records.counters.alarms += u64::from(is_above);
        records.series.iter_mut().for_each(|series| series.alarms.push((now, is_above.into())));
        let since = records.above.map(|(since, _)| since).filter(|_| is_above);
        since.into_iter().for_each(|since| self.message_ns.note((now - since).as_ps() / 1_000));
        ended_ns.into_iter().for_each(|ns| self.alarm_ns.note(ns));
    }

    pub fn note_end(&mut self, port: PortId, end: End) {
        self.count(port, |counters| match end {
            End::Congestion => counters.ended_by_congestion += 1,
            End::NeighboursFull => counters.ended_by_full_neighbours += 1,
        });
    }

    pub fn note_detoured(&mut self, port: PortId, slot: usize, number: u32, now: Time) {
        self.away.insert((slot as u32, number), now);
        self.away_max = self.away_max.max(self.away.len() as u64);
        self.detoured += 1;
        self.count(port, |counters| counters.detoured += 1);
    }

    pub fn note_detour(&mut self, port: PortId) {
        self.count(port, |counters| counters.detours += 1);
    }

    pub fn note_choice(&mut self, port: PortId, by: PortId, now: Time) {
        let Some(records) = self.ports.get_mut(port) else { return };
        let Some(series) = &mut records.series else { return };
        if series.choices.last().is_none_or(|&(_, last)| last != u64::from(by.0)) {
            series.choices.push((now, by.0.into()));
        }
    }

    pub fn note_forwarded(&mut self, port: PortId, turn: ReturnTurn, packet: (usize, u32), detours: u8, now: Time) {
        self.forwarded += 1;
        let since = self.away.remove(&(packet.0 as u32, packet.1));
        since.into_iter().for_each(|since| self.away_ns.note((now - since).as_ps() / 1_000));
        self.circulations.note(detours.into());
        self.count(port, |counters| match turn {
            ReturnTurn::Released => counters.released += 1,
            ReturnTurn::Early => counters.released_early += 1,
            ReturnTurn::Late => counters.released_late += 1,
            ReturnTurn::Detour => {}
        });
    }

    /// The full report, with the final state of the numbers.
    pub fn report(&self, sequencer: &Sequencer) -> Report {
        let mut report = Report::new("rimm");
        for (port, records) in self.ports.iter().filter(|(_, records)| records.counters != PortCounters::default()) {
            let scope = format!("port {}", port.0);
            records.counters.report(&scope, &mut report);
            if let Some(series) = &records.series {
                report.series.push((scope.clone(), ALARM, series.alarms.clone()));
                report.series.push((scope, DETOURING_PORT, series.choices.clone()));
            }
        }
        let open: Vec<usize> = sequencer.open_slots().collect();
        if self.ports.iter().next().is_some() {
            report.count("switch", AwayCounters::values(self, open.len()));
        }
        report.count("switch", NeighbourCounters::values(self));
        report.acted = self.detoured + self.depths_written + self.depths_read > 0;
        self.histograms(&mut report);
        report.violated_invariants = self.violated_invariants(&open);
        report
    }

    fn histograms(&self, report: &mut Report) {
        let histograms = [
            (PEAK_DEPTH, &self.peak_segments),
            (MESSAGE_ROUND_TRIP, &self.message_ns),
            (ALARM_TIME, &self.alarm_ns),
            (PACKET_DETOURS, &self.circulations),
            (TIME_AWAY, &self.away_ns),
        ];
        let filled = histograms.into_iter().filter_map(|(quantity, values)| Some((quantity, values.0.clone()?)));
        report.histograms.extend(filled.map(|(quantity, histogram)| ("switch".to_owned(), quantity, histogram)));
    }

    /// Invariants: every detoured packet has been forwarded once or is away, and a slot without packets away has
    /// drained.
    fn violated_invariants(&self, open: &[usize]) -> Vec<String> {
        let (detoured, forwarded) = (self.detoured, self.forwarded);
        let away = self.away.len() as u64;
        let mut broken = Vec::new();
        if detoured > forwarded + away {
            broken.push(format!("{detoured} packets were detoured, {forwarded} forwarded, and {away} are away"));
        }
        let has_away = |slot: usize| self.away.range((slot as u32, 0)..=(slot as u32, u32::MAX)).next().is_some();
        if let Some(slot) = open.iter().find(|&&slot| !has_away(slot)) {
            broken.push(format!("no packet of slot {slot} is away, and its S_a and S_f differ"));
        }
        broken
    }
}
