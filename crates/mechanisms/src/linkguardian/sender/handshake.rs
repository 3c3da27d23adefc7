//! Start and end of numbering, and their messages.
//!
//! Starting needs no message, or with a handshake the receiver's confirmation of the first number. Ending in order
//! needs a pause: packets without numbers would overtake those that wait for a repair. Therefore nothing else is sent
//! until the receiver has confirmed that it has seen everything and that nothing waits.

use crate::linkguardian::headers::{ControlHeader, Level, Message, SequenceNumber};
use hitless_core::wire::Time;
use hitless_switch::{Context, DropReason, ProtectionPhase, Verdict};

use super::super::frames::{Role, control_frame};
use super::super::settings::Mode;
use super::super::timer::{Timer, TimerKind};
use super::Sender;
use super::lifecycle::Phase;

const PROBES_MAX: u64 = 64;

impl Sender {
    /// Switches protection on or off for the control plane.
    pub fn set_active(&mut self, is_active: bool, context: &mut Context<'_>) {
        self.lifecycle.is_commanded = is_active;
        self.follow_wishes(context);
    }

    /// Changes copies and mode from the next packet. A buffered packet is retransmitted in the new number of copies
    /// too.
    pub fn set_protection(&mut self, copies: u32, mode: Option<Mode>) {
        self.config.copies = copies;
        self.lifecycle.commanded_mode = mode.unwrap_or(self.lifecycle.commanded_mode);
    }

    /// Applies the level of protection that the receiver asks for.
    pub fn set_level(&mut self, level: Level, context: &mut Context<'_>) {
        if self.config.follows_requests && self.lifecycle.level != level {
            self.lifecycle.level = level;
            self.counters.level_changes += 1;
            self.follow_wishes(context);
        }
    }

    /// Whether the control plane wants protection.
    pub fn is_switched_on(&self) -> bool {
        self.lifecycle.is_commanded
    }

    pub fn phase(&self) -> ProtectionPhase {
        match self.lifecycle.phase {
            Phase::Off => ProtectionPhase::Off,
            Phase::Starting { .. } => ProtectionPhase::Starting,
            Phase::On => ProtectionPhase::On,
            Phase::Closing { .. } => ProtectionPhase::Ending,
        }
    }

    pub fn mode(&self) -> Mode {
        self.lifecycle.mode()
    }

    /// Whether only packets of the protection itself may be sent.
    pub fn is_closing(&self) -> bool {
        matches!(self.lifecycle.phase, Phase::Closing { .. })
    }

    pub(super) fn is_numbering(&self) -> bool {
        matches!(self.lifecycle.phase, Phase::On | Phase::Closing { .. })
    }

    pub(super) fn follow_wishes(&mut self, context: &mut Context<'_>) {
        match (self.lifecycle.phase, self.lifecycle.is_wanted()) {
            (Phase::Off, true) if self.config.handshake => self.begin(context),
            (Phase::Off | Phase::Closing { .. }, true) => self.lifecycle.phase = Phase::On,
            (Phase::Starting { .. }, false) => self.lifecycle.phase = Phase::Off,
            // Packets without numbers would overtake those that wait at the receiver, so that the port closes first.
            (Phase::On, false) if self.keeps_order() => {
                self.lifecycle.phase = Phase::Closing { until: self.closing_until(context) };
                self.say(Message::Probe, context);
                self.arm(context);
            }
            (Phase::On, false) => self.end(context),
            _ => {}
        }
    }

    /// Whether packets may wait for others at the receiver.
    fn keeps_order(&self) -> bool {
        self.lifecycle.commanded_mode == Mode::Blocking && self.counters.protected > 0
    }

    pub fn take_message(&mut self, control: ControlHeader, context: &mut Context<'_>) -> Verdict {
        let phase = self.lifecycle.phase;
        match control.message {
            Message::Started if phase == (Phase::Starting { first: control.sequence }) => {
                self.forget_before(control.sequence, context);
                self.lifecycle.phase = Phase::On;
            }
            Message::AskForStart if self.config.handshake => match phase {
                Phase::On => self.begin(context),
                // The receiver has forgotten the numbers it should have waited for.
                Phase::Closing { .. } => self.end(context),
                Phase::Off | Phase::Starting { .. } => {}
            },
            Message::Answer { in_order } => self.take_answer(in_order, control.sequence, context),
            Message::Started => {}
            _ => {
                self.counters.refused += 1;
                return Verdict::Drop(DropReason::Mechanism);
            }
        }
        Verdict::Drop(DropReason::ControlAbsorbed)
    }

    /// Handles the answer to a probe. Only newly acknowledged packets extend the deadline of closing; otherwise a
    /// receiver with other numbers or with a permanent gap could keep the port closed for ever.
    fn take_answer(&mut self, in_order: bool, sequence: SequenceNumber, context: &mut Context<'_>) {
        let (_, progress) = self.acknowledge(sequence, context);
        self.counters.refused += u64::from(progress.is_none());
        if !self.is_closing() {
            return;
        }
        match progress {
            None => self.give_closing_up(context),
            Some(_) if in_order && sequence == self.latest_sent => self.lifecycle.phase = Phase::Off,
            Some(0) => {}
            Some(_) => self.lifecycle.phase = Phase::Closing { until: self.closing_until(context) },
        }
    }

    fn closing_until(&self, context: &Context<'_>) -> Time {
        context.now() + self.config.probe_period * PROBES_MAX
    }

    fn give_closing_up(&mut self, context: &mut Context<'_>) {
        self.end(context);
        self.counters.closings_given_up += 1;
    }

    /// Ends numbering before everything is acknowledged; [`Self::look_after_rest`] releases the copies.
    fn end(&mut self, context: &mut Context<'_>) {
        self.lifecycle.phase = Phase::Off;
        self.lifecycle.seen_at_probe = None;
        self.lifecycle.unanswered_probes = 0;
        self.arm(context);
    }

    /// After the end of numbering: asks for acknowledgements while they make progress, and then gives up the copies. A
    /// link that failed can have lost the last acknowledgement.
    fn look_after_rest(&mut self, context: &mut Context<'_>) {
        let latest = self.latest_acknowledged.peek(0);
        if latest == self.latest_sent {
            return;
        }
        if self.lifecycle.seen_at_probe.replace(latest) == Some(latest) {
            self.forget_before(self.latest_sent.plus(1), context);
        } else {
            self.say(Message::Probe, context);
            self.arm(context);
        }
    }

    /// Handles the timeout of a message that expects an answer.
    pub fn look_after_answers(&mut self, context: &mut Context<'_>) {
        self.lifecycle.is_armed = false;
        match self.lifecycle.phase {
            Phase::Starting { .. } => self.say(Message::Start, context),
            Phase::Closing { until } if context.now() >= until => return self.give_closing_up(context),
            Phase::Closing { .. } => self.say(Message::Probe, context),
            Phase::On if self.config.tail_probes => return self.probe_tail(context),
            Phase::Off => return self.look_after_rest(context),
            Phase::On => return,
        }
        self.arm(context);
    }

    /// Probes the receiver if a whole period brought no acknowledgement; while packets flow, acknowledgements arrive
    /// anyway. Gives the copies up after [`PROBES_MAX`] probes without an answer: on a link that stays down they would
    /// wait for ever.
    fn probe_tail(&mut self, context: &mut Context<'_>) {
        let latest = self.latest_acknowledged.peek(0);
        let is_stuck = self.lifecycle.seen_at_probe.replace(latest) == Some(latest);
        let gives_up = is_stuck && self.lifecycle.unanswered_probes == PROBES_MAX;
        if gives_up {
            self.counters.tails_given_up += 1;
            self.forget_before(self.latest_sent.plus(1), context);
        }
        if gives_up || latest == self.latest_sent {
            self.lifecycle.seen_at_probe = None;
            self.lifecycle.unanswered_probes = 0;
            return;
        }
        if is_stuck {
            self.lifecycle.unanswered_probes += 1;
            self.say(Message::Probe, context);
        } else {
            self.lifecycle.unanswered_probes = 0;
        }
        self.arm(context);
    }

    /// Stamps a message with the next number, in wire order. Drops a repeated start that has been answered in the
    /// meantime: it would make the receiver forget the packets ahead of it.
    pub fn stamp_message(&mut self, context: &mut Context<'_>) -> Verdict {
        let sequence = self.next_sequence.access(context.pass(), 0, |next| *next);
        let control = context.packet().shims.get::<ControlHeader>().expect("a message says what it says");
        if control.message == Message::Start && !matches!(self.lifecycle.phase, Phase::Starting { .. }) {
            return Verdict::Drop(DropReason::ControlAbsorbed);
        }
        context.packet().shims.replace(ControlHeader { sequence, ..control });
        Verdict::Continue
    }

    /// Schedules [`Self::look_after_answers`].
    pub(super) fn arm(&mut self, context: &mut Context<'_>) {
        if !std::mem::replace(&mut self.lifecycle.is_armed, true) {
            let at = context.now() + self.config.probe_period;
            let (port, channel) = (self.config.port, self.config.channel);
            context.wake_at(at, Timer { port, channel, kind: TimerKind::Answer });
        }
    }

    fn begin(&mut self, context: &mut Context<'_>) {
        self.lifecycle.phase = Phase::Starting { first: self.next_sequence.peek(0) };
        self.say(Message::Start, context);
        self.arm(context);
    }

    fn forget_before(&mut self, first: SequenceNumber, context: &mut Context<'_>) {
        let last = first.previous();
        let progress = self.latest_acknowledged.access(context.pass(), 0, |latest| {
            // Copies of the earlier numbers would otherwise circulate for ever: the receiver no longer acknowledges
            // them.
            let progress = last.steps_from(*latest);
            *latest = last;
            progress
        });
        self.latest_sent = last;
        self.release_copies(u64::from(progress), context);
    }

    fn say(&mut self, message: Message, context: &mut Context<'_>) {
        let channel = self.config.channel;
        self.counters.probes += u64::from(message == Message::Probe);
        let frame = control_frame(ControlHeader { message, channel, sequence: SequenceNumber::default() });
        context.queue(self.config.port, self.repair_queue).emit(frame, Role::Message.of_channel(channel));
    }
}
