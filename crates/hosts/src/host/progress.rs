//! The state of a flow's sending application: the next bytes to write, completed messages, and the end.

use hitless_core::wire::{Duration, Time};

use super::appended::AppendedMessages;
use super::appended::Message;
use crate::application::Application;

#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
enum Phase {
    /// A message is under way.
    Message,
    /// The previous message is complete; the next one is due at once.
    Due,
    /// The previous message is complete; the next one is due after a gap that has not started.
    Pause,
    /// The gap has started.
    Gap,
    /// Data is written as the buffer empties.
    Streaming,
    /// Messages are appended.
    Open,
    /// Nothing more will be written.
    Draining,
    /// Everything is done.
    Done,
}

/// The next action for the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Pass bytes to the sender.
    Write(u64),
    /// Report a complete message.
    Report(Message),
    /// Call [`Progress::next_message`] at this time.
    NextMessageAt(Time),
}

/// The sending application of a flow. The driver calls [`Self::start`] once. After every event of the flow it calls
/// [`Self::advance`] until that returns `None`.
///
/// The goal, which every packet needs, is last: the fields behind it in a flow are hot, too.
#[derive(Clone, Debug, hitless_core::state::Value)]
#[repr(C)]
pub struct Progress {
    application: Application,
    phase: Phase,
    number: u64,
    written_bytes: u64,
    started: Time,
    acknowledged: Time,
    /// The messages of an open connection.
    appended: Option<Box<AppendedMessages>>,
    /// Acknowledged bytes at which there is something to do next.
    acknowledged_goal: u64,
}

impl Progress {
    /// Creates an application that has not started.
    pub fn new(application: Application) -> Self {
        let is_open = application == Application::Appended;
        Self {
            application,
            phase: if is_open { Phase::Open } else { Phase::Due },
            number: 0,
            written_bytes: 0,
            started: Time::ZERO,
            acknowledged: Time::NEVER,
            appended: is_open.then(Box::default),
            acknowledged_goal: if is_open { u64::MAX } else { 0 },
        }
    }

    /// Starts the flow; returns when [`Self::stop_writing`] must be called, if ever.
    pub fn start(&mut self, now: Time) -> Option<Time> {
        let Application::Unlimited { stop, .. } = self.application else { return None };
        self.phase = if now < stop { Phase::Streaming } else { Phase::Draining };
        self.set_goals();
        (now < stop).then_some(stop)
    }

    pub fn next_message(&mut self) {
        if self.phase == Phase::Gap {
            self.phase = Phase::Due;
            self.set_goals();
        }
    }

    /// Appends a message on an open connection.
    pub fn append(&mut self, now: Time, bytes: u64) {
        assert!(self.phase == Phase::Open, "a message for a connection that is not open");
        if let Some(appended) = &mut self.appended {
            appended.append(now, bytes);
        }
        self.set_goals();
    }

    pub fn close(&mut self) {
        if self.phase == Phase::Open {
            self.phase = if self.is_at_rest() { Phase::Done } else { Phase::Draining };
            self.set_goals();
        }
    }

    /// Returns whether this is an open connection without a message under way.
    pub fn is_at_rest(&self) -> bool {
        self.phase == Phase::Open && self.appended.as_ref().is_some_and(|appended| appended.is_empty())
    }

    /// Stops writing; `withdrawn` bytes of the data written will not be sent.
    pub fn stop_writing(&mut self, withdrawn: u64) {
        self.written_bytes -= withdrawn;
        self.phase = Phase::Draining;
        self.set_goals();
    }

    #[inline]
    pub fn is_done(&self) -> bool {
        self.phase == Phase::Done
    }

    /// Returns the messages that have started and are incomplete, oldest first; a flow's first message starts with the
    /// flow.
    pub fn under_way(&self) -> impl Iterator<Item = Message> {
        let current = match self.phase {
            Phase::Due | Phase::Message => Some(Message { acknowledged: Time::NEVER, ..self.message() }),
            Phase::Pause | Phase::Gap | Phase::Streaming | Phase::Open | Phase::Draining | Phase::Done => None,
        };
        current.into_iter().chain(self.appended.iter().flat_map(|appended| appended.under_way()))
    }

    /// Returns whether the application writes as much as it can until a deadline.
    pub fn is_endless(&self) -> bool {
        matches!(self.application, Application::Unlimited { .. })
    }

    pub fn messages_completed(&self) -> u64 {
        self.number
    }

    /// Returns the bytes passed to the sender, minus those withdrawn.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Returns whether [`Self::advance`] has something to do at this number of acknowledged bytes.
    #[inline]
    pub fn wants_acknowledged(&self, bytes: u64) -> bool {
        bytes >= self.acknowledged_goal
    }

    /// Returns, for an open connection, the delivered bytes at which to call [`Self::advance`].
    pub fn delivered_goal(&self) -> Option<u64> {
        self.appended.as_ref().map(|appended| appended.delivered_goal())
    }

    fn set_goals(&mut self) {
        if let Some(appended) = &self.appended {
            self.acknowledged_goal = appended.acknowledged_goal();
            return;
        }
        self.acknowledged_goal = match self.phase {
            Phase::Due | Phase::Pause => 0,
            Phase::Message | Phase::Draining => self.written_bytes,
            Phase::Streaming => self.top_up_goal(),
            Phase::Open | Phase::Gap | Phase::Done => u64::MAX,
        };
    }

    /// Returns the next action at this number of acknowledged bytes. Deliveries matter only on an open connection, with
    /// both ends in one partition.
    pub fn advance(&mut self, now: Time, acknowledged_bytes: u64, delivered_bytes: u64) -> Option<Step> {
        debug_assert!(acknowledged_bytes <= self.written_bytes, "more acknowledged than written");
        let step = match &mut self.appended {
            Some(appended) => {
                appended.note_delivered(now, delivered_bytes);
                self.next_appended(now, acknowledged_bytes)
            }
            None => self.next_step(now, acknowledged_bytes),
        };
        self.set_goals();
        step
    }

    fn next_appended(&mut self, now: Time, acknowledged_bytes: u64) -> Option<Step> {
        let appended = self.appended.as_mut()?;
        let unwritten = appended.take_unwritten();
        if unwritten > 0 {
            self.written_bytes += unwritten;
            return Some(Step::Write(unwritten));
        }
        let completion = appended.take_acknowledged(now, acknowledged_bytes)?;
        self.number += 1;
        if self.phase == Phase::Draining && appended.is_empty() {
            self.phase = Phase::Done;
        }
        Some(Step::Report(completion))
    }

    fn next_step(&mut self, now: Time, acknowledged_bytes: u64) -> Option<Step> {
        let all_acknowledged = acknowledged_bytes >= self.written_bytes;
        match self.phase {
            Phase::Message if all_acknowledged => Some(self.message_acknowledged(now)),
            Phase::Due => Some(self.write_message(now)),
            Phase::Pause => Some(self.pause(now)),
            Phase::Streaming => self.top_up(acknowledged_bytes),
            Phase::Draining if all_acknowledged => {
                self.phase = Phase::Done;
                None
            }
            _ => None,
        }
    }

    /// Returns count, length and gap, for messages of equal length.
    fn messages(&self) -> (u64, u64, Duration) {
        match self.application {
            Application::Messages { count, bytes, gap } => (count, bytes, gap),
            Application::Unlimited { .. } | Application::Appended => (0, 0, Duration::ZERO),
        }
    }

    fn write_message(&mut self, now: Time) -> Step {
        let (_, bytes, _) = self.messages();
        self.phase = Phase::Message;
        self.started = now;
        self.written_bytes += bytes;
        Step::Write(bytes)
    }

    fn pause(&mut self, now: Time) -> Step {
        let (_, _, gap) = self.messages();
        self.phase = Phase::Gap;
        Step::NextMessageAt(now + gap)
    }

    /// Returns the latest message, for messages of equal length.
    fn message(&self) -> Message {
        let (_, bytes, _) = self.messages();
        let Self { number, started, acknowledged, .. } = *self;
        Message { number, bytes, started, delivered: Time::NEVER, acknowledged }
    }

    fn message_acknowledged(&mut self, now: Time) -> Step {
        self.acknowledged = now;
        let complete = self.message();
        self.number += 1;
        let (count, _, gap) = self.messages();
        self.phase = if self.number == count {
            Phase::Done
        } else if gap == Duration::ZERO {
            Phase::Due
        } else {
            Phase::Pause
        };
        Step::Report(complete)
    }

    /// Writes in pieces of a quarter of the buffer, so that not every acknowledgement costs a write.
    fn top_up_goal(&self) -> u64 {
        let Application::Unlimited { send_buffer_bytes, .. } = self.application else { return u64::MAX };
        (self.written_bytes + (send_buffer_bytes / 4).max(1)).saturating_sub(send_buffer_bytes)
    }

    fn top_up(&mut self, acknowledged_bytes: u64) -> Option<Step> {
        let Application::Unlimited { send_buffer_bytes, .. } = self.application else { return None };
        let room = (send_buffer_bytes + acknowledged_bytes).saturating_sub(self.written_bytes);
        if acknowledged_bytes < self.top_up_goal() || room == 0 {
            return None;
        }
        self.written_bytes += room;
        Some(Step::Write(room))
    }
}
