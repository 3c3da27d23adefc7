//! The receiving end: accepts frames in order, and acknowledges them.

#[cfg(test)]
mod state;

use crate::link_layer_retry::header::{Control, PreambleSequence, SequenceNumber};
use hdrhistogram::Histogram;
use hitless_core::wire::shim::CheckNumber;
use hitless_core::wire::{PortId, Time};
use hitless_switch::{Context, DropReason, HookSet, Needs, Report, Verdict};

use super::settings::LinkLayerRetrySettings;
use super::timer::Timer;
use crate::link_checker::Checker;
use crate::one_link::RECOVERY_DELAY;

/// The states of the receiver (SAI: `sai_port_llr_rx_status_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, hitless_core::state::Value)]
enum State {
    /// No LLR_INIT has arrived yet.
    Off,
    /// Every frame was the expected one.
    SendAcks,
    /// A frame was not the expected one; the NACK waits for its slot.
    SendNack,
    /// The NACK is sent; until the expected frame arrives only replays of received frames are answered.
    NackSent,
}

hitless_switch::counters! {
    pub struct DeliveryCounters(receiver: &Receiver) {
        packets_lost = "packets lost": receiver.checker.lost(),
        longest_stall_ns = "longest stall (ns)": receiver.recovery_delay_ns.max(),
    }
}

hitless_switch::counters! {
    /// Counters of the receiver, named as in SAI without `SAI_PORT_STAT_LLR_`. No frame is poisoned, because a
    /// store-and-forward switch poisons none.
    pub struct Counters {
        rx_init_ctl_os = "rx_init_ctl_os",
        tx_init_echo_ctl_os = "tx_init_echo_ctl_os",
        tx_ack_ctl_os = "tx_ack_ctl_os",
        tx_nack_ctl_os = "tx_nack_ctl_os",
        rx_ok = "rx_ok",
        rx_poisoned = "rx_poisoned",
        rx_bad = "rx_bad",
        rx_expected_seq_good = "rx_expected_seq_good",
        rx_expected_seq_poisoned = "rx_expected_seq_poisoned",
        rx_expected_seq_bad = "rx_expected_seq_bad",
        rx_missing_seq = "rx_missing_seq",
        rx_duplicate_seq = "rx_duplicate_seq",
        rx_replay = "rx_replay",
    }
}

#[derive(Debug, hitless_core::state::State)]
pub struct Receiver {
    port: PortId,
    spacing_bytes: u32,
    state: State,
    expected: SequenceNumber,
    last: Option<SequenceNumber>,
    ack_is_due: bool,
    next_slot: Time,
    slot_is_awaited: bool,
    /// Time since when a frame has been missing; only valid in the last two states.
    missing_since: Time,
    #[part]
    recovery_delay_ns: Histogram<u64>,
    checker: Checker,
    counters: Counters,
}

impl Receiver {
    pub fn new(port: PortId, settings: &LinkLayerRetrySettings) -> Self {
        const HIGHEST_DELAY_NS: u64 = 1_000_000_000;
        Self {
            port,
            spacing_bytes: settings.ctlos_spacing.0 as u32,
            state: State::Off,
            expected: SequenceNumber::default(),
            last: None,
            ack_is_due: false,
            next_slot: Time::ZERO,
            slot_is_awaited: false,
            missing_since: Time::ZERO,
            recovery_delay_ns: Histogram::new_with_max(HIGHEST_DELAY_NS, 3).expect("valid bounds"),
            checker: Checker::default(),
            counters: Counters::default(),
        }
    }

    /// Requests the hooks. The TX hook makes the port decide when its line falls free, because sets go between frames.
    pub fn subscribe(&self, wanted: &mut Needs) {
        wanted.hooks.push((self.port, HookSet::RX.with(HookSet::TX)));
    }

    /// Handles LLR_INIT: the transmitter starts, or starts again.
    pub fn initialise(&mut self, first: SequenceNumber, context: &mut Context<'_>) {
        self.counters.rx_init_ctl_os += 1;
        self.counters.tx_init_echo_ctl_os += 1;
        self.state = State::SendAcks;
        self.expected = first;
        self.last = None;
        self.ack_is_due = false;
        context.mac(self.port).send_ordered_set(Control::InitEcho(first).ordered_set());
        self.next_slot = context.now() + context.mac(self.port).line_time(self.spacing_bytes);
    }

    pub fn take(&mut self, context: &mut Context<'_>) -> Verdict {
        let Some(PreambleSequence(number)) = context.packet().remove_shim() else {
            if let Some(CheckNumber(next)) = context.packet().remove_shim() {
                self.checker.skip_to(next);
            }
            return Verdict::Continue;
        };
        self.counters.rx_ok += 1;
        if self.last.is_some_and(|last| number.offset_from(last) <= 0) {
            self.counters.rx_replay += 1;
        }
        self.last = Some(number);
        match number.offset_from(self.expected) {
            _ if self.state == State::Off => Verdict::Drop(DropReason::OutOfSequence),
            0 => self.deliver(context),
            1.. => {
                // A gap: go-back-N drops everything until the replay brings the expected frame.
                self.counters.rx_missing_seq += 1;
                self.miss(context);
                Verdict::Drop(DropReason::OutOfSequence)
            }
            _ => {
                self.counters.rx_duplicate_seq += 1;
                self.ack_is_due = true;
                self.seek_slot(context);
                Verdict::Drop(DropReason::Duplicate)
            }
        }
    }

    /// Handles a frame with a bad check sequence.
    pub fn fcs_error(&mut self, context: &mut Context<'_>) {
        if self.state == State::Off {
            return;
        }
        self.counters.rx_bad += 1;
        // The number of a corrupted frame is unreadable. A link keeps order, so that it was the expected frame if none
        // is missing.
        self.counters.rx_expected_seq_bad += u64::from(self.state == State::SendAcks);
        self.miss(context);
    }

    pub fn slot_is_due(&mut self, context: &mut Context<'_>) {
        self.slot_is_awaited = false;
        self.seek_slot(context);
    }

    fn deliver(&mut self, context: &mut Context<'_>) -> Verdict {
        self.counters.rx_expected_seq_good += 1;
        self.expected = self.expected.plus(1);
        if self.state != State::SendAcks {
            let delay = context.now().saturating_since(self.missing_since);
            self.recovery_delay_ns.saturating_record(delay.as_ps() / 1_000);
            self.state = State::SendAcks;
        }
        self.ack_is_due = true;
        self.seek_slot(context);
        let packet = context.packet();
        packet.is_link_retransmission = false;
        if let Some(CheckNumber(number)) = packet.remove_shim() {
            self.checker.deliver(number);
        }
        Verdict::Continue
    }

    fn miss(&mut self, context: &mut Context<'_>) {
        if self.state == State::SendAcks {
            self.state = State::SendNack;
            // One NACK per gap: each would restart the replay.
            self.missing_since = context.now();
            self.seek_slot(context);
        }
    }

    /// Sends the pending control ordered set if a slot is free, otherwise waits for the next slot.
    fn seek_slot(&mut self, context: &mut Context<'_>) {
        let Some(control) = self.due() else { return };
        let now = context.now();
        // Sets are spaced, so that acknowledgements take a bounded share of the reverse direction.
        if now < self.next_slot {
            if !self.slot_is_awaited {
                self.slot_is_awaited = true;
                context.wake_at(self.next_slot, Timer::Receiver(self.port));
            }
            return;
        }
        if let Control::Nack(_) = control {
            self.state = State::NackSent;
            self.counters.tx_nack_ctl_os += 1;
        } else {
            self.counters.tx_ack_ctl_os += 1;
        }
        self.ack_is_due = false;
        context.mac(self.port).send_ordered_set(control.ordered_set());
        self.next_slot = now + context.mac(self.port).line_time(self.spacing_bytes);
    }

    fn due(&self) -> Option<Control> {
        let latest = self.expected.previous();
        match self.state {
            State::SendNack => Some(Control::Nack(latest)),
            // Also after a NACK: it may have been for a replay, with nothing missing, and lost.
            State::SendAcks | State::NackSent => self.ack_is_due.then_some(Control::Ack(latest)),
            State::Off => None,
        }
    }

    pub fn report(&self, report: &mut Report) {
        let scope = format!("port {} rx", self.port.0);
        let (counters, checker) = (&self.counters, &self.checker);
        report.acted |= counters.rx_expected_seq_good > 0;
        counters.report(&scope, report);
        report.count(&scope, DeliveryCounters::values(self));
        report.histograms.push((scope.clone(), RECOVERY_DELAY, self.recovery_delay_ns.clone()));
        for (how, count) in [("out of order", checker.reordered), ("twice", checker.duplicates)] {
            if count > 0 {
                report.violated_invariants.push(format!("link-layer-retry {scope}: delivered {count} frames {how}"));
            }
        }
    }
}
