//! The sending end: numbers frames, keeps them until they are acknowledged, and replays them.

#[cfg(test)]
mod state;

use std::collections::VecDeque;

use crate::link_layer_retry::header::{Control, PreambleSequence, SequenceNumber};
use hitless_core::wire::shim::CheckNumber;
use hitless_core::wire::{Duration, Packet, PortId, QueueId, Time};
use hitless_switch::{Context, DropReason, HookSet, Needs, QueueConfig, QueueLimit, Report, Verdict};

use super::settings::{LinkLayerRetryAction, LinkLayerRetrySettings};
use super::timer::Timer;

/// Priority above all queues of the switch: replays of the MAC do not go through these queues.
const REPLAY_PRIORITY: u8 = u8::MAX;
/// The only role of this mechanism's packets.
const REPLAYED: u8 = 1;

/// The states of the transmitter (SAI: `sai_port_llr_tx_status_t`, with another state for a port without LLR).
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
enum State {
    /// Sends LLR_INIT until it is answered; the time of the last one.
    Init { asked_at: Time },
    /// Numbers frames and sends them.
    Advance,
    /// Resends the held frames, and nothing else; the next is this many behind the oldest.
    Replay { next: usize },
    /// Has given up its frames, since this time.
    Flush { since: Time },
}

#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Held {
    packet: Packet,
    sent_at: Time,
}

hitless_switch::counters! {
    /// Counters of the transmitter, named as in SAI without `SAI_PORT_STAT_LLR_`, and some outside the standard.
    pub struct Counters {
        tx_init_ctl_os = "tx_init_ctl_os",
        tx_discard = "tx_discard",
        tx_ok = "tx_ok",
        /// A store-and-forward switch poisons no frame.
        tx_poisoned = "tx_poisoned",
        tx_replay = "tx_replay",
        rx_init_echo_ctl_os = "rx_init_echo_ctl_os",
        rx_ack_ctl_os = "rx_ack_ctl_os",
        rx_nack_ctl_os = "rx_nack_ctl_os",
        rx_ack_nack_seq_error = "rx_ack_nack_seq_error",
        /// Each frame counts once.
        frames_numbered = "frames numbered",
        frames_unnumbered = "frames sent unnumbered",
        frames_replayed = "frames replayed",
        replays_by_timer = "replays by timer",
        flushes = "flushes",
        frames_flushed = "frames flushed",
        peak_bytes as replay_buffer_peak_bytes = "replay buffer peak (bytes)",
        peak_frames as replay_buffer_peak_frames = "replay buffer peak (frames)",
        times_full as replay_buffer_full_times = "times the replay buffer was full",
    }
}

#[derive(Debug, hitless_core::state::State)]
pub struct Transmitter {
    port: PortId,
    #[configured]
    settings: LinkLayerRetrySettings,
    replay_queue: QueueId,
    state: State,
    next: SequenceNumber,
    held: VecDeque<Held>,
    held_bytes: u64,
    replay_is_queued: bool,
    replays_in_a_row: u32,
    progress_at: Time,
    down_since: Option<Time>,
    wakes_at: Time,
    is_shut: bool,
    check_number: u32,
    counters: Counters,
}

impl Transmitter {
    pub fn each_held(&self, see: &mut dyn FnMut(&Packet)) {
        self.held.iter().for_each(|held| see(&held.packet));
    }

    pub fn new(port: PortId, settings: &LinkLayerRetrySettings) -> Self {
        Self {
            port,
            settings: settings.clone(),
            replay_queue: QueueId(0),
            state: State::Init { asked_at: Time::ZERO },
            next: SequenceNumber::default(),
            held: VecDeque::new(),
            held_bytes: 0,
            replay_is_queued: false,
            replays_in_a_row: 0,
            progress_at: Time::ZERO,
            down_since: None,
            wakes_at: Time::NEVER,
            is_shut: false,
            check_number: 0,
            counters: Counters::default(),
        }
    }

    pub fn subscribe(&mut self, queue_counts: &[usize], wanted: &mut Needs) {
        self.replay_queue = QueueId(queue_counts[usize::from(self.port.0)] as u8);
        let queue = QueueConfig::normal(QueueLimit::Unlimited).with_priority(REPLAY_PRIORITY).of_mechanism();
        wanted.queues.push((self.port, queue));
        wanted.hooks.push((self.port, HookSet::TX));
    }

    /// Asks the receiver whether it is ready for the next number.
    pub fn initialise(&mut self, context: &mut Context<'_>) {
        self.state = State::Init { asked_at: context.now() };
        self.counters.tx_init_ctl_os += 1;
        context.mac(self.port).send_ordered_set(Control::Init(self.next).ordered_set());
        self.set_gate(context);
        self.arm(context);
    }

    /// Handles a frame that leaves for the first time.
    pub fn send(&mut self, context: &mut Context<'_>) -> Verdict {
        match self.action() {
            None => self.number(context),
            Some(LinkLayerRetryAction::Discard) => {
                self.counters.tx_discard += 1;
                return Verdict::Drop(DropReason::Mechanism);
            }
            Some(_) => {
                self.counters.frames_unnumbered += 1;
                self.tell_flushed(context);
            }
        }
        Verdict::Continue
    }

    /// Tells the checker with the next frame that flushed frames are lost, because frames with numbers may never
    /// follow.
    fn tell_flushed(&self, context: &mut Context<'_>) {
        if self.counters.frames_flushed > 0 {
            let pushed = context.packet().push_shim(CheckNumber(self.check_number));
            pushed.expect("a composition whose shims do not fit is refused when the scenario is read");
        }
    }

    /// Handles the departure of a replayed frame, which the next one follows.
    pub fn replayed(&mut self, context: &mut Context<'_>) -> Verdict {
        self.replay_is_queued = false;
        self.counters.tx_ok += 1;
        self.counters.frames_replayed += 1;
        self.go_on_replaying(context);
        Verdict::Continue
    }

    /// Handles a replayed frame without room in the traffic manager: the replay timer starts another replay.
    pub fn on_tm_drop(&mut self, context: &mut Context<'_>) {
        self.replay_is_queued = false;
        if let State::Replay { .. } = self.state {
            self.state = State::Advance;
            self.progress_at = context.now();
        }
        self.set_gate(context);
        self.arm(context);
    }

    pub fn hear(&mut self, control: Control, context: &mut Context<'_>) {
        match control {
            Control::InitEcho(first) => {
                self.counters.rx_init_echo_ctl_os += 1;
                if matches!(self.state, State::Init { .. }) && first == self.next {
                    self.state = State::Advance;
                }
            }
            Control::Ack(latest) => {
                self.counters.rx_ack_ctl_os += 1;
                self.free(latest, context.now());
            }
            Control::Nack(latest) => {
                self.counters.rx_nack_ctl_os += 1;
                if self.free(latest, context.now()) && !self.held.is_empty() {
                    self.replay(context);
                }
            }
            Control::Init(_) => {}
        }
        self.set_gate(context);
        self.arm(context);
    }

    /// Handles the repair of the link, or the detection of its failure.
    pub fn link_is(&mut self, is_up: bool, context: &mut Context<'_>) {
        self.down_since = if is_up { None } else { self.down_since.or(Some(context.now())) };
        self.arm(context);
    }

    /// Handles a timer event, unless it was postponed.
    pub fn look_at_time(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        if now < self.wakes_at {
            return;
        }
        self.wakes_at = Time::NEVER;
        if now >= self.deadline() {
            match self.state {
                State::Flush { .. } | State::Init { .. } => self.initialise(context),
                State::Advance if now < self.gives_up_at() => {
                    self.counters.replays_by_timer += 1;
                    self.replay(context);
                }
                State::Advance | State::Replay { .. } => self.flush(context),
            }
        }
        self.set_gate(context);
        self.arm(context);
    }

    /// The treatment of frames in this state; `None` if they are numbered.
    fn action(&self) -> Option<LinkLayerRetryAction> {
        match self.state {
            State::Init { .. } => Some(self.settings.init_action),
            State::Flush { .. } => Some(self.settings.flush_action),
            State::Advance | State::Replay { .. } => None,
        }
    }

    fn number(&mut self, context: &mut Context<'_>) {
        let (now, tag, check) = (context.now(), PreambleSequence(self.next), CheckNumber(self.check_number));
        let packet = context.packet();
        let pushed = packet.push_shim(tag).and_then(|()| packet.push_shim(check));
        pushed.expect("a composition whose shims do not fit is refused when the scenario is read");
        if self.held.is_empty() {
            self.progress_at = now;
        }
        assert!((self.held.len() as u32) < SequenceNumber::RANGE / 2, "held numbers can be told apart");
        self.held_bytes += u64::from(packet.frame_bytes);
        self.held.push_back(Held { packet: *packet, sent_at: now });
        self.next = self.next.plus(1);
        self.check_number = self.check_number.wrapping_add(1);
        self.counters.tx_ok += 1;
        self.counters.frames_numbered += 1;
        self.counters.peak_bytes = self.counters.peak_bytes.max(self.held_bytes);
        self.counters.peak_frames = self.counters.peak_frames.max(self.held.len() as u64);
        self.counters.times_full += u64::from(self.is_full());
        self.set_gate(context);
        self.arm(context);
    }

    fn oldest(&self) -> SequenceNumber {
        self.next.plus(SequenceNumber::RANGE - self.held.len() as u32)
    }

    fn is_full(&self) -> bool {
        let LinkLayerRetrySettings { max_outstanding_frames, max_outstanding_bytes, .. } = self.settings;
        self.held.len() >= max_outstanding_frames as usize || self.held_bytes >= max_outstanding_bytes.0
    }

    /// Frees acknowledged frames; returns false if the number is impossible.
    fn free(&mut self, latest: SequenceNumber, now: Time) -> bool {
        let count = latest.offset_from(self.oldest()) + 1;
        if !(0..=self.held.len() as i32).contains(&count) {
            self.counters.rx_ack_nack_seq_error += 1;
            return false;
        }
        let freed_bytes: u64 = self.held.drain(..count as usize).map(|held| u64::from(held.packet.frame_bytes)).sum();
        assert!(freed_bytes <= self.held_bytes, "the replay buffer gives back no more bytes than it took");
        self.held_bytes -= freed_bytes;
        assert!((self.held_bytes == 0) == self.held.is_empty(), "an empty replay buffer has no bytes, and no other");
        if let State::Replay { next } = &mut self.state {
            *next = next.saturating_sub(count as usize);
        }
        // Progress of any size restarts the timers: the link works.
        if count > 0 {
            self.replays_in_a_row = 0;
            self.progress_at = now;
        }
        true
    }

    /// Starts or restarts a replay, or gives up.
    fn replay(&mut self, context: &mut Context<'_>) {
        if self.action().is_some() {
            return;
        }
        self.replays_in_a_row += 1;
        if self.replays_in_a_row > self.settings.max_replay_count {
            return self.flush(context);
        }
        self.state = State::Replay { next: 0 };
        // A frame of the earlier replay is still in the queue; its departure continues from the new place.
        if !self.replay_is_queued {
            self.go_on_replaying(context);
        }
    }

    fn go_on_replaying(&mut self, context: &mut Context<'_>) {
        let State::Replay { next } = self.state else { return };
        let Some(held) = self.held.get(next) else {
            self.counters.tx_replay += 1;
            self.progress_at = context.now();
            self.state = State::Advance;
            self.set_gate(context);
            return self.arm(context);
        };
        let tag = held.packet.shims.get::<PreambleSequence>().map(|tag| tag.0);
        assert!(tag == Some(self.oldest().plus(next as u32)), "frames are replayed in the order of their numbers");
        // The first frame of a replay is the lost one: its repeated loss is what a rare-event estimate weights.
        let packet = Packet { is_link_retransmission: next == 0, ..held.packet };
        context.queue(self.port, self.replay_queue).emit_at_mac(packet, REPLAYED);
        self.replay_is_queued = true;
        self.state = State::Replay { next: next + 1 };
    }

    fn flush(&mut self, context: &mut Context<'_>) {
        self.counters.flushes += 1;
        self.counters.frames_flushed += self.held.len() as u64;
        self.held.clear();
        self.held_bytes = 0;
        self.replays_in_a_row = 0;
        // Numbers continue after a flush, so that frames in flight cannot be taken for new ones.
        self.state = State::Flush { since: context.now() };
    }

    /// Lets the MAC take frames only if it can number them, or need not.
    fn set_gate(&mut self, context: &mut Context<'_>) {
        let is_shut = match self.state {
            State::Advance => self.is_full(),
            State::Replay { .. } => true,
            State::Init { .. } | State::Flush { .. } => self.action() == Some(LinkLayerRetryAction::Block),
        };
        if is_shut != self.is_shut {
            self.is_shut = is_shut;
            if is_shut {
                context.scheduler(self.port).close_all_but(&[self.replay_queue]);
            } else {
                context.scheduler(self.port).open_all();
            }
        }
    }

    fn gives_up_at(&self) -> Time {
        let of_age =
            self.held.front().and_then(|held| Some(held.sent_at + unless_zero(self.settings.data_age_timeout)?));
        let of_link = self.down_since.and_then(|since| Some(since + unless_zero(self.settings.pcs_lost_timeout)?));
        of_age.unwrap_or(Time::NEVER).min(of_link.unwrap_or(Time::NEVER))
    }

    fn deadline(&self) -> Time {
        let timer = self.settings.max_replay_timer;
        match self.state {
            State::Init { .. } | State::Flush { .. } if self.down_since.is_some() => Time::NEVER,
            State::Init { asked_at } => asked_at + timer,
            State::Flush { since } if self.settings.re_init_on_flush => since + timer,
            State::Flush { .. } => Time::NEVER,
            State::Replay { .. } => self.gives_up_at(),
            State::Advance if self.held.is_empty() => self.gives_up_at(),
            State::Advance => self.gives_up_at().min(self.progress_at + timer),
        }
    }

    fn arm(&mut self, context: &mut Context<'_>) {
        let deadline = self.deadline().max(context.now());
        if deadline < self.wakes_at {
            self.wakes_at = deadline;
            context.wake_at(deadline, Timer::Transmitter(self.port));
        }
    }

    pub fn report(&self, report: &mut Report) {
        let scope = format!("port {} tx", self.port.0);
        report.acted |= self.counters.frames_numbered > 0;
        self.counters.report(&scope, report);
    }
}

/// The duration; `None` for zero, which means never.
fn unless_zero(time: Duration) -> Option<Duration> {
    (time > Duration::ZERO).then_some(time)
}
